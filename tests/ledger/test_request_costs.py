from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tracklog.agents.discovery import find_at
from tracklog.ledger.context_window import PromptRates
from tracklog.ledger.cost_sums import CostSum
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.request_costs import Costs
from tracklog.model.ids import RequestId
from tracklog.model.session import Session
from tracklog.reading.session_files import group
from tracklog.reading.session_reader import read_session

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
THREAD = "0199a2b3-0000-7000-8000-000000000001"
MICRO = 1_000_000  # pico-dollars


def costs(folder: Path, id: str) -> tuple[Session, Costs]:
    sessions = group(find_at(folder))
    ours = next(one for one in sessions if one.id == id)
    story = read_session(ours)
    return story, Costs(story, sessions, Prices.load())


def answered(id: str, uuid: str, session: str = ONE, *, at: int = 1, **message: Any) -> dict[str, Any]:
    said = {
        "id": id,
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": "yes"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }
    line = {"type": "assistant", "uuid": uuid, "parentUuid": None, "sessionId": session}
    return {**line, "timestamp": f"2026-03-01T10:00:{at:02d}.000Z", "message": {**said, **message}}


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_each_request_has_its_figures_and_their_price(tmp_path: Path) -> None:
    write(
        tmp_path / f"{ONE}.jsonl",
        answered("msg_01" + "a" * 22, "u1"),
        answered("msg_01" + "b" * 22, "u2", at=2),
    )
    story, found = costs(tmp_path, ONE)
    one = found.of(RequestId("msg_01" + "a" * 22))
    assert [(cost.cost_pico_usd, cost.entry.certainty) for cost in one] == [(750 * MICRO, "final")]
    assert found.sum == found.sum_over(story.requests) == CostSum(1500 * MICRO, is_lower_bound=False)
    spent = found.spent()[RequestId("msg_01" + "b" * 22)]
    assert (spent.tokens.input, spent.is_final) == (100, True)
    assert spent.rates == PromptRates(
        input=5_000_000, cache_read=500_000, cache_write_5m=6_250_000, cache_write_1h=10_000_000
    )


def test_ids_that_a_gateway_hands_out_are_joined_by_their_place(tmp_path: Path) -> None:
    write(tmp_path / f"{ONE}.jsonl", answered("gw-1", "u1"), answered("gw-2", "u2", at=2))
    story, found = costs(tmp_path, ONE)
    assert [len(found.of(request.id)) for request in story.requests] == [1, 1]
    assert found.sum_over(story.requests) == found.sum == CostSum(1500 * MICRO, is_lower_bound=False)


def test_a_copied_request_is_measured_but_costs_its_writer(tmp_path: Path) -> None:
    id = "msg_01" + "a" * 22
    write(tmp_path / f"{ONE}.jsonl", answered(id, "u1"))
    write(tmp_path / f"{TWO}.jsonl", answered(id, "u1", TWO), answered("msg_01" + "b" * 22, "u2", TWO, at=9))
    _, found = costs(tmp_path, TWO)
    assert (found.sum, found.of(RequestId(id))) == (CostSum(750 * MICRO, is_lower_bound=False), [])
    spent = found.spent()[RequestId(id)]
    assert (spent.tokens.input, spent.rates) == (100, None)


def test_what_has_no_price_or_no_end_makes_a_lower_bound(tmp_path: Path) -> None:
    write(
        tmp_path / f"{ONE}.jsonl",
        answered("msg_01" + "a" * 22, "u1"),
        answered("msg_01" + "b" * 22, "u2", at=2, model="nobody-s"),
    )
    story, found = costs(tmp_path, ONE)
    assert found.sum == found.sum_over(story.requests) == CostSum(750 * MICRO, is_lower_bound=True)
    assert found.sum_over(story.requests[1:]) == CostSum(None, is_lower_bound=False)
    write(tmp_path / f"{ONE}.jsonl", answered("msg_01" + "a" * 22, "u1", stop_reason=None))
    assert costs(tmp_path, ONE)[1].sum == CostSum(750 * MICRO, is_lower_bound=True)


def test_counts_of_codex_belong_to_the_answer_before_them(tmp_path: Path) -> None:
    def line(kind: str, payload: dict[str, Any], at: int) -> dict[str, Any]:
        return {"timestamp": f"2026-03-01T10:00:{at:02d}.000Z", "type": kind, "payload": payload}

    def said(text: str, at: int) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text}]
        return line("response_item", {"type": "message", "role": "assistant", "content": content}, at)

    def counted(last: int, total: int, at: int) -> dict[str, Any]:
        last_usage, total_usage = (
            {"input_tokens": n, "output_tokens": n, "total_tokens": 2 * n} for n in (last, total)
        )
        info = {"last_token_usage": last_usage, "total_token_usage": total_usage}
        return line("event_msg", {"type": "token_count", "info": info}, at)

    meta = {"id": THREAD, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/p", "cli_version": "0.98.0"}
    write(
        tmp_path / f"rollout-2026-03-01T10-00-00-{THREAD}.jsonl",
        line("session_meta", meta, 0),
        line("turn_context", {"cwd": "/p", "model": "gpt-5"}, 1),
        line("event_msg", {"type": "user_message", "message": "go"}, 2),
        said("one", 3),
        counted(100, 100, 4),
        line("event_msg", {"type": "user_message", "message": "on"}, 5),
        said("two", 6),
        counted(200, 300, 7),
    )
    story, found = costs(tmp_path, THREAD)
    assert [[cost.entry.tokens.input for cost in found.of(request.id)] for request in story.requests] == [
        [100],
        [200],
    ]
    assert found.sum_over(story.requests) == found.sum
    assert found.sum.cost_pico_usd == 300 * (1_250_000 + 10_000_000)
