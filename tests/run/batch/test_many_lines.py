"""How far a list is, in words; and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tracklog.model.run_request import RunRequest
from tracklog.run.batch.queue import Running, Slot, TaskOutcome, TaskQueue
from tracklog.run.batch.tasks import BatchTask
from tracklog.run.result import Result
from tracklog.run.stream import RunEvent
from tracklog.views.cli.commands.run.many import exit_code
from tracklog.views.cli.commands.run.progress_lines import Tally, ended_line, head_line, last_word, slot_line

TASK = BatchTask("a\x1b[31m", 1, RunRequest(agent="claude", prompt="p", cwd=Path("/")), "d")


def never(task: BatchTask) -> Running:
    raise AssertionError(task)


def answer(*documents: dict[str, Any]) -> TaskOutcome:
    results = tuple(map(Result, documents))
    return TaskOutcome(TASK, results[-1], results)


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"message": {"content": list(blocks)}}


@pytest.mark.parametrize(
    ("document", "word"),
    [
        (said({"type": "text", "text": "one\n two\x1b[2J"}), "one two\\x1b[2J"),
        (said({"type": "text", "text": "x"}, {"name": "Bash", "input": {"command": "ls"}}), "Bash ls"),
        (said({"name": "Odd", "input": [1]}), "Odd"),
        ({"item": {"type": "command_execution", "command": "make"}}, "make"),
        ({"item": {"type": "agent_message", "text": "hi"}}, "hi"),
        ({"message": {"content": "text"}}, "what it was"),
        ({"message": None, "item": None}, "what it was"),
        ({}, "what it was"),
    ],
)
def test_the_last_word_is_what_was_said_or_done_in_safe_letters(document: dict[str, Any], word: str) -> None:
    assert last_word(RunEvent(0, "stream", "what it was", document)) == word


def test_one_that_has_ended_is_told_on_one_line() -> None:
    done = {"ended_by": "completed", "cost_micro_usd": 4_500, "duration_ms": 1_200}
    assert ended_line(answer(done)) == "a\\x1b[31m: completed, $0.0045, 1.2 s"
    failed = {"ended_by": "error", "error": "no\nroom", "cost_micro_usd": 1_000_000}
    assert ended_line(answer(failed, failed)) == "a\\x1b[31m: error, $2.00, 2 tries, no room"


def test_the_first_line_counts_what_is_done_failed_running_and_left() -> None:
    tally = Tally(5, {"x": "completed", "y": "error", "z": "timeout"})
    many = TaskQueue([TASK, TASK], start=never, spent_micro_usd=1_500_000)
    assert head_line(tally, many) == "1 done · 2 failed · 0 running · 2 left · $1.50"


def test_one_that_waits_for_another_try_says_so() -> None:
    line = slot_line(Slot(TASK, since=0.0, n_tries=2, waits_until=0.0))
    assert line.startswith("  a\\x1b[31m  ")
    assert line.endswith(" (try 2)  tries again in 0 ms")


@pytest.mark.parametrize(
    ("ended", "is_interrupted", "is_out_of_money", "code"),
    [
        ([], False, False, 0),
        (["completed", "completed"], False, False, 0),
        (["completed", "error"], False, False, 1),
        (["timeout", "killed"], False, False, 1),
        (["completed", "timeout", "budget"], False, False, 124),
        (["error"], False, True, 124),
        (["completed"], True, True, 130),
    ],
)
def test_the_exit_code_says_whether_all_are_completed_and_what_stood_in_the_way(
    ended: list[str], is_interrupted: bool, is_out_of_money: bool, code: int
) -> None:
    assert exit_code(ended, is_interrupted=is_interrupted, is_out_of_money=is_out_of_money) == code
