"""What one run has cost, from a log as Claude Code writes it."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tracklog.ledger.prices.rates import Prices
from tracklog.run.find_logs import ChildLogs
from tracklog.run.log_facts import RunUsage, StreamRequest, spent_since

SESSION = "00000000-0000-4000-8000-000000000001"
MODEL = "claude-sonnet-4-5-20250929"
BEGAN = datetime(2026, 11, 16, 12, tzinfo=UTC)


def answer(id: str, at: datetime, *, output: int) -> str:
    usage = {"input_tokens": 100, "output_tokens": output}
    message = {
        "id": id,
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    line = {"type": "assistant", "uuid": id, "sessionId": SESSION, "message": message}
    return json.dumps(line | {"timestamp": at.isoformat().replace("+00:00", "Z"), "requestId": f"req_{id}"})


def spent(tmp_path: Path, *lines: str, streamed: tuple[StreamRequest, ...] = ()) -> RunUsage:
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    logs = ChildLogs("claude", tmp_path, env, since_ns=time.time_ns())
    path = logs.path_of(SESSION)
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    files = logs.files_of(SESSION)
    assert files is not None
    return spent_since(files, [], Prices.load(), since=BEGAN, streamed=streamed)


def test_only_what_came_since_the_run_began_counts(tmp_path: Path) -> None:
    before = answer("msg_01aaaaaaaaaaaaaaaaaaaaaa", BEGAN - timedelta(hours=1), output=1000)
    since = answer("msg_01bbbbbbbbbbbbbbbbbbbbbb", BEGAN + timedelta(seconds=1), output=10)
    found = spent(tmp_path, before, since)
    assert (found.total.requests, found.total.tokens.output, found.cost_micro_usd) == (1, 10, 450)
    assert list(found.by_model) == [MODEL]


@pytest.mark.parametrize("id", ["msg_01aaaaaaaaaaaaaaaaaaaaaa", "chatcmpl-7"])
def test_what_the_stream_has_and_the_log_holds_counts_once_whatever_its_id(tmp_path: Path, id: str) -> None:
    streamed = (StreamRequest(id, MODEL, {"input_tokens": 100, "output_tokens": 1}),)
    found = spent(tmp_path, answer(id, BEGAN + timedelta(seconds=1), output=10), streamed=streamed)
    assert (found.total.requests, found.n_stream_only, found.cost_micro_usd) == (1, 0, 450)
    assert found.bounds["cost_micro_usd"] == [450, 450]


def test_what_only_the_stream_has_is_within_the_bounds(tmp_path: Path) -> None:
    streamed = (
        StreamRequest("msg_01cccccccccccccccccccccc", MODEL, {"input_tokens": 100, "output_tokens": 1}),
    )
    first = answer("msg_01bbbbbbbbbbbbbbbbbbbbbb", BEGAN + timedelta(seconds=1), output=10)
    found = spent(tmp_path, first, streamed=streamed)
    low, high = found.bounds["cost_micro_usd"]
    assert (found.total.requests, found.n_stream_only, low) == (2, 1, 450 + 315)
    assert high == 450 + 300 + Prices.load().most_output(MODEL) * 15
