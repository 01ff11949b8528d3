"""What the log of a run tells when it is over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracklog.run.find_logs import ChildLogs
from tracklog.run.log_facts import collect

SESSION = "01a1ef78-2cbc-7e60-bc06-04cc6418a422"
ENDS: dict[str, dict[str, Any]] = {
    "completed": {"type": "task_complete", "turn_id": "t", "last_agent_message": None},
    "interrupted": {"type": "turn_aborted", "turn_id": "t", "reason": "interrupted"},
}


def rollout(home: Path, end: dict[str, Any]) -> None:
    """A turn of Codex with one call, and its end."""
    call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    lines = [
        (
            "session_meta",
            {"id": SESSION, "cwd": str(home), "cli_version": "0.169.0", "originator": "codex_exec"},
        ),
        ("event_msg", {"type": "task_started", "turn_id": "t"}),
        ("turn_context", {"turn_id": "t", "cwd": str(home), "model": "gpt-5.1-codex"}),
        ("event_msg", {"type": "user_message", "message": "please work"}),
        ("response_item", call),
        (
            "event_msg",
            {"type": "token_count", "info": {"last_token_usage": usage, "total_token_usage": usage}},
        ),
        ("event_msg", end),
    ]
    log = home / f".codex/sessions/2026/11/18/rollout-2026-11-18T16-23-12-{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    dated = (
        {"timestamp": f"2026-11-18T16:23:{n:02}.000Z", "type": kind, "payload": payload}
        for n, (kind, payload) in enumerate(lines, 12)
    )
    log.write_text("".join(f"{json.dumps(line)}\n" for line in dated))


@pytest.mark.parametrize("end", ENDS)
def test_a_turn_of_codex_that_was_interrupted_is_closed_but_not_finished(end: str, tmp_path: Path) -> None:
    rollout(tmp_path, ENDS[end])
    logs = ChildLogs("codex", tmp_path, {"HOME": str(tmp_path)}, since_ns=0)
    found = collect(lambda: logs.files_of(SESSION), since_ms=1, cwd=tmp_path, said=None, patience_s=0)
    assert (found.n_requests, found.is_finished) == (1, end == "completed")
