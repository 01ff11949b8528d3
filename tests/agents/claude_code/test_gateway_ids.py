"""Ids of gateways: which lines of a log are one message, and which are another with the same id."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.claude_code.test_usage_scan import MAIN, ONE, four, log_file, read
from tests.oracle.logs import NOON, ClaudeLog, Json, later, message_id, tool_use, usage
from tracklog.agents.base import LogToScan
from tracklog.agents.claude_code.usage_scan import scan
from tracklog.ledger.ledger import Ledger
from tracklog.model.usage import Source, UsageBlock

often = settings(max_examples=20, deadline=None)
GATEWAY = "msg_20251030084941"  # a clock that counts seconds


def counts(log: ClaudeLog) -> list[tuple[int, ...]]:
    return [four(row) for row in read(log).values()]


def test_an_id_is_one_message_while_nothing_stands_between() -> None:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(GATEWAY, usage(65, 0), stop=None)
    log.reply(GATEWAY, usage(63, 475))
    assert counts(log) == [(63, 475, 0, 0)]


def test_a_prompt_between_and_other_figures_make_another_message() -> None:
    log = ClaudeLog(ONE)
    log.reply(GATEWAY, usage(5, 10))
    log.prompt()
    log.reply(GATEWAY, usage(9, 20))
    assert counts(log) == [(5, 10, 0, 0), (9, 20, 0, 0)]


def test_a_prompt_between_and_the_same_figures_make_none() -> None:
    log = ClaudeLog(ONE)
    log.reply(GATEWAY, usage(5, 10))
    log.prompt()
    log.reply(GATEWAY, usage(5, 20))
    assert counts(log) == [(5, 20, 0, 0)]


def test_a_result_of_its_own_call_makes_another_message() -> None:
    log = ClaudeLog(ONE)
    log.reply(GATEWAY, usage(5, 10), content=[tool_use("toolu_1")])
    log.result("toolu_1")
    log.reply(GATEWAY, usage(9, 20))
    assert counts(log) == [(5, 10, 0, 0), (9, 20, 0, 0)]


def test_a_result_of_anothers_call_makes_none() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1), content=[tool_use("toolu_1")])
    log.reply(GATEWAY, usage(5, 10), stop=None)
    log.result("toolu_1")
    log.reply(GATEWAY, usage(9, 20))
    assert counts(log) == [(1, 1, 0, 0), (9, 20, 0, 0)]


@pytest.mark.parametrize("kind", ["msg_", "msg_bdrk_", "msg_vrtx_"])
def test_ids_of_anthropic_are_never_taken_apart(kind: str) -> None:
    log = ClaudeLog(ONE)
    id = f"{kind}01{7:022d}"
    log.reply(id, usage(5, 10), content=[tool_use("toolu_1")])
    log.result("toolu_1")
    log.prompt()
    log.reply(id, usage(9, 20, read=500))
    assert counts(log) == [(9, 20, 0, 500)]


def test_chunks_of_each_message_are_put_together() -> None:
    log = ClaudeLog(ONE)
    for n in (1, 2, 3):
        log.prompt()
        for output in (1, 10 * n, 2):
            log.reply(GATEWAY, usage(n, output), stop="end_turn" if output > 2 else None)
    assert counts(log) == [(1, 10, 0, 0), (2, 20, 0, 0), (3, 30, 0, 0)]
    assert all(row.has_ended for row in read(log).values())


@pytest.mark.parametrize("mark", [{"timestamp": NOON}, {"requestId": "req_always_the_same"}])
def test_two_messages_of_one_file_stay_two_whatever_they_share(mark: Json) -> None:
    log = ClaudeLog(ONE)
    log.reply(GATEWAY, usage(5, 10), **mark)
    log.prompt()
    log.reply(GATEWAY, usage(9, 20), **mark)
    assert counts(log) == [(5, 10, 0, 0), (9, 20, 0, 0)]


def over_files(tmp_path: Path, *logs: ClaudeLog) -> list[tuple[int, ...]]:
    sources = [Source(f"{n}.jsonl", "claude", log.session, "main") for n, log in enumerate(logs)]
    ledger = Ledger(sources)
    for n, log in enumerate(logs):
        file = log_file(tmp_path / f"{n}.jsonl", log.bytes())
        ledger.take(scan(LogToScan(n, sources[n], file)))
    ledger.settle()
    return sorted(four(row) for row in ledger.rows())


def logs_with(one: Json, other: Json, **alike: Any) -> tuple[ClaudeLog, ClaudeLog]:
    """Two files, each with an answer of the same id."""
    logs = ClaudeLog(ONE), ClaudeLog("22222222-bbbb-4bbb-8bbb-222222222222", at=later(NOON, seconds=99))
    for log, over in zip(logs, (one, other), strict=True):
        more = alike | over
        log.reply(GATEWAY, more.pop("usage", usage(5, 10)), **more)
    return logs


def test_in_another_file_the_id_is_another_message(tmp_path: Path) -> None:
    assert over_files(tmp_path, *logs_with({}, {})) == [(5, 10, 0, 0)] * 2


@pytest.mark.parametrize("mark", [{"uuid": "u"}, {"timestamp": NOON}, {"requestId": "req_1"}])
def test_in_another_file_a_shared_mark_makes_it_the_same(tmp_path: Path, mark: Json) -> None:
    assert over_files(tmp_path, *logs_with(mark, mark)) == [(5, 10, 0, 0)]


def test_agents_that_are_answered_in_the_same_millisecond_have_a_message_each(tmp_path: Path) -> None:
    logs = logs_with({"timestamp": NOON, "usage": usage(5, 10)}, {"timestamp": NOON, "usage": usage(9, 20)})
    assert over_files(tmp_path, *logs) == [(5, 10, 0, 0), (9, 20, 0, 0)]


@pytest.mark.parametrize("name", ["uuid", "timestamp", "requestId"])
@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_no_mark(tmp_path: Path, name: str, nothing: str | None) -> None:
    assert over_files(tmp_path, *logs_with({name: nothing}, {name: nothing})) == [(5, 10, 0, 0)] * 2


def test_a_fork_of_a_gateways_session_adds_nothing(tmp_path: Path) -> None:
    parent, fork = ClaudeLog(ONE), ClaudeLog("22222222-bbbb-4bbb-8bbb-222222222222")
    for n in (1, 2, 3):
        parent.prompt()
        parent.reply(GATEWAY, usage(n, n))
    fork.copy(parent.records)
    assert over_files(tmp_path, parent, fork) == [(1, 1, 0, 0), (2, 2, 0, 0), (3, 3, 0, 0)]


@often
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=6))
def test_each_prompt_with_new_figures_is_answered_by_one_message(turns: list[tuple[int, int]]) -> None:
    """The rule by hand: with a prompt before each message, a new figure of the prompt is a new message."""
    log, expected = ClaudeLog(ONE), []
    seen: set[int] = set()
    for input, n_chunks in turns:
        log.prompt()
        if input not in seen:
            expected.append((input, n_chunks))
            seen = {input}
        else:
            before = expected.pop()
            expected.append((input, max(before[1], n_chunks)) if n_chunks >= before[1] else before)
        for output in range(1, n_chunks + 1):
            log.reply(GATEWAY, usage(input, output))
    assert [row[:2] for row in counts(log)] == expected


def long_log(n: int, *, ids: int = 1) -> bytes:
    """A session behind a gateway that gives few ids: each turn has a prompt and an answer."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply("@@", usage(7777777, 3))
    prompt, answer = (json.dumps(record).encode() for record in log.records)
    lines = []
    for turn in range(n):
        lines.append(prompt)
        lines.append(answer.replace(b"@@", b"gw-%d" % (turn % ids)).replace(b"7777777", b"%d" % turn))
    return b"\n".join(lines) + b"\n"


def scanned(tmp_path: Path, data: bytes) -> UsageBlock:
    return scan(LogToScan(0, MAIN, log_file(tmp_path / "one.jsonl", data)))


def steps_of(work: Callable[[], Any]) -> int:
    """How much a piece of work does: every call, of Python or of C, and every step of a generator. Time plays no part."""
    n_steps = 0

    def count(_frame: Any, _event: str, _what: Any) -> None:
        nonlocal n_steps
        n_steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n_steps


@pytest.mark.parametrize("turns_of_an_id", [None, 4])
def test_the_work_for_ids_that_come_again_and_again_grows_with_the_file_alone(
    tmp_path: Path, turns_of_an_id: int | None
) -> None:
    """With one id for the whole session, and with one for every four turns."""
    steps = []
    for n_turns in (600, 1200):
        data = long_log(n_turns, ids=n_turns // turns_of_an_id if turns_of_an_id else 1)
        steps.append(steps_of(partial(scanned, tmp_path, data)))
    assert steps[1] < 2.2 * steps[0]


def test_any_number_of_lines_of_one_message_are_one_message(tmp_path: Path) -> None:
    n_lines = 30_000
    log = ClaudeLog(ONE)
    log.reply(GATEWAY, usage(5, 7777777))
    [answer] = (json.dumps(record).encode() for record in log.records)
    head, tail = answer.split(b"7777777")
    data = b"".join(b"%s%d%s\n" % (head, n, tail) for n in range(n_lines))
    [one] = scanned(tmp_path, data).loose
    ledger = Ledger([MAIN])
    ledger.take(UsageBlock(file=0, names=["", "m", "c"], loose=[one]))
    ledger.settle()
    assert [four(row) for row in ledger.rows()] == [(5, n_lines - 1, 0, 0)]
