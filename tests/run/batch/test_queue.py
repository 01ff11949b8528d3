"""Many children at once: who begins when, who gets another try, when nobody else begins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tracklog.errors import UserError
from tracklog.model.run_request import RunRequest
from tracklog.run.batch.queue import TaskOutcome, TaskQueue, is_worth_another_try
from tracklog.run.batch.tasks import BatchTask
from tracklog.run.result import Result
from tracklog.run.stream import RunEvent

OVERLOADED = {"ended_by": "error", "api_error_status": 529}
DONE = {"ended_by": "completed", "cost_micro_usd": 10}
KILLED = {"ended_by": "killed", "cost_micro_usd": 0, "num_turns": 0}


def tasks(n: int) -> list[BatchTask]:
    request = RunRequest(agent="claude", prompt="p", cwd=Path("/"))
    return [BatchTask(f"t{number}", number, request, "d") for number in range(1, n + 1)]


class Staged:
    """A child that does as it is told: it ends after a time, or when it is cancelled."""

    def __init__(
        self, document: dict[str, Any], *, takes_s: float = 0.0, ends_by_cancel: bool = True
    ) -> None:
        self._document = document
        self._takes_s = takes_s
        self._cancelled = threading.Event()
        self._ends_by_cancel = ends_by_cancel

    def events(self) -> Iterator[RunEvent]:
        yield RunEvent(0, "stream", "assistant", {})
        if self._cancelled.wait(self._takes_s) and self._ends_by_cancel:
            self._document = {**self._document, "ended_by": "cancelled"}

    def result(self) -> Result:
        return Result(self._document)

    def cancel(self) -> None:
        self._cancelled.set()


class Stage:
    """Starts staged children; every task has its results in turn, and the last of them for good."""

    def __init__(self, *documents: dict[str, Any], takes_s: float = 0.0) -> None:
        self._documents = documents
        self._takes_s = takes_s
        self._lock = threading.Lock()
        self.starts: list[tuple[str, float]] = []
        self.n_at_once = 0
        self.most_at_once = 0

    def __call__(self, task: BatchTask) -> Staged:
        with self._lock:
            n = sum(id == task.id for id, _ in self.starts)
            self.starts.append((task.id, time.monotonic()))
        document = self._documents[min(n, len(self._documents) - 1)]
        return _Counted(self, {**document, "run": f"{task.id}-{n}"}, takes_s=self._takes_s)


class _Counted(Staged):
    def __init__(self, stage: Stage, document: dict[str, Any], *, takes_s: float) -> None:
        super().__init__(document, takes_s=takes_s)
        self._stage = stage

    def events(self) -> Iterator[RunEvent]:
        self._stage.n_at_once += 1
        self._stage.most_at_once = max(self._stage.most_at_once, self._stage.n_at_once)
        yield from super().events()
        self._stage.n_at_once -= 1


def all_of(many: TaskQueue) -> list[TaskOutcome]:
    return [answer for answer in many.answers() if answer is not None]


def endings(answers: list[TaskOutcome]) -> dict[str, list[str]]:
    return {answer.task.id: [one.ended_by for one in answer.attempts] for answer in answers}


def test_every_task_has_one_answer_and_no_more_than_the_jobs_run_at_once() -> None:
    stage = Stage(DONE, takes_s=0.02)
    answers = all_of(TaskQueue(tasks(30), start=stage, jobs=4))
    assert sorted(answer.task.n for answer in answers) == list(range(1, 31))
    assert (stage.most_at_once, len(stage.starts)) == (4, 30)


def test_an_empty_list_has_no_answers() -> None:
    assert all_of(TaskQueue([], start=Stage(DONE))) == []


def test_an_overloaded_api_is_asked_again_and_every_try_is_accounted_for() -> None:
    stage = Stage({**OVERLOADED, "cost_micro_usd": 3}, {**OVERLOADED, "cost_micro_usd": 4}, DONE)
    (answer,) = all_of(TaskQueue(tasks(1), start=stage, first_pause_s=0.01))
    assert answer.document() == {
        "id": "t1",
        "n": 1,
        "digest": "d",
        "run": "t1-2",
        **DONE,
        "attempts": [
            {"ended_by": "error", "cost_micro_usd": 3, "session": None, "run": "t1-0", "error": None},
            {"ended_by": "error", "cost_micro_usd": 4, "session": None, "run": "t1-1", "error": None},
            {"ended_by": "completed", "cost_micro_usd": 10, "session": None, "run": "t1-2", "error": None},
        ],
        "cost_micro_usd_all_attempts": 17,
    }


def test_after_the_last_try_the_error_is_the_answer() -> None:
    stage = Stage(OVERLOADED)
    answers = all_of(TaskQueue(tasks(1), start=stage, retries=2, first_pause_s=0.01))
    assert (endings(answers), answers[0].is_left) == ({"t1": ["error"] * 3}, False)


def test_pauses_between_tries_double() -> None:
    stage = Stage(OVERLOADED)
    all_of(TaskQueue(tasks(1), start=stage, retries=3, first_pause_s=0.1))
    begun = [at for _, at in stage.starts]
    pauses = [after - before for before, after in pairwise(begun)]
    for pause, least in zip(pauses, (0.2, 0.4, 0.8), strict=True):
        assert least <= pause < least + 0.1 + 0.15  # with the jitter, and the slowness of this machine


def test_while_one_waits_for_room_nobody_else_begins_for_a_moment_and_then_they_do() -> None:
    full, free = Stage(OVERLOADED, DONE), Stage(DONE)
    all_of(TaskQueue(tasks(3), start=lambda task: full(task) if task.id == "t1" else free(task), jobs=2))
    (_, first), (_, second) = full.starts
    assert first + 0.9 <= free.starts[-1][1] < second
    assert second - first >= 2.0


@pytest.mark.parametrize(
    ("document", "is_worth_it"),
    [
        (OVERLOADED, True),
        (KILLED, True),
        ({**KILLED, "ended_by": "crashed", "cost_micro_usd": None}, True),
        ({**KILLED, "cost_micro_usd": 1}, False),
        ({**KILLED, "num_turns": 1}, False),
        ({**KILLED, "unpriced_requests": 1}, False),
        ({**KILLED, "partial_requests": 1}, False),
        ({"ended_by": "error", "error": "no such model"}, False),
        ({"ended_by": "error", "error": "API Error: 529 Overloaded"}, True),
        ({"ended_by": "timeout"}, False),
        ({"ended_by": "cancelled"}, False),
        (DONE, False),
    ],
)
def test_only_what_cost_nothing_and_settled_nothing_is_worth_another_try(
    document: dict[str, Any], is_worth_it: bool
) -> None:
    (task,) = tasks(1)
    assert is_worth_another_try(task, Result(document)) is is_worth_it


def test_once_the_total_is_spent_nobody_else_begins_and_the_rest_is_left() -> None:
    stage = Stage(DONE)
    many = TaskQueue(tasks(10), start=stage, jobs=1, max_total_micro_usd=35)
    assert len(all_of(many)) == 4
    assert (many.is_out_of_money, [task.n for task in many.left]) == (True, [5, 6, 7, 8, 9, 10])
    assert many.why_no_more == "$0.0000 of $0.0000 are spent"


def test_what_earlier_calls_have_spent_counts() -> None:
    many = TaskQueue(tasks(3), start=Stage(DONE), max_total_micro_usd=100, spent_micro_usd=100)
    assert (all_of(many), many.n_left) == ([], 3)


def test_without_a_price_no_total_can_be_kept() -> None:
    many = TaskQueue(
        tasks(3), start=Stage({**DONE, "unpriced_requests": 1}), jobs=1, max_total_micro_usd=10**9
    )
    assert (len(all_of(many)), many.is_out_of_money) == (1, True)
    assert many.why_no_more == "a model has no price, so that --max-total-cost cannot be kept"


def test_another_try_is_not_begun_when_the_money_is_spent() -> None:
    stage = Stage({**OVERLOADED, "cost_micro_usd": 50}, DONE)
    many = TaskQueue(tasks(1), start=stage, max_total_micro_usd=50, first_pause_s=0.01)
    (answer,) = all_of(many)
    assert (answer.is_left, endings([answer]), len(stage.starts)) == (True, {"t1": ["error"]}, 1)


def test_who_is_cancelled_while_running_is_left_and_who_was_not_begun_stays() -> None:
    stage = Stage(DONE, takes_s=30)
    many = TaskQueue(tasks(5), start=stage, jobs=2)
    answers = []
    for answer in many.answers():
        if answer is None and len(many.running) == 2:
            many.cancel()
        elif answer is not None:
            answers.append(answer)
    assert {answer.task.id: (answer.is_left, answer.result.ended_by) for answer in answers} == {
        "t1": (True, "cancelled"),
        "t2": (True, "cancelled"),
    }
    assert [task.id for task in many.left] == ["t3", "t4", "t5"]


def test_who_was_done_when_we_were_cancelled_keeps_its_answer_and_who_failed_by_it_does_not() -> None:
    def start(task: BatchTask) -> Staged:
        document = DONE if task.id == "t1" else {"ended_by": "error", "error": "interrupted"}
        return Staged(document, takes_s=30, ends_by_cancel=False)

    many = TaskQueue(tasks(2), start=start)
    answers = []
    for answer in many.answers():
        if answer is None:
            many.cancel()
        else:
            answers.append(answer)
    assert {answer.task.id: answer.is_left for answer in answers} == {"t1": False, "t2": True}


def test_who_waits_for_another_try_when_we_are_cancelled_is_left_at_once() -> None:
    many = TaskQueue(tasks(1), start=Stage(OVERLOADED), first_pause_s=100)
    began = time.monotonic()
    answers = []
    for answer in many.answers():
        if answer is None and many.running[0].waits_until is not None:
            many.cancel()
        elif answer is not None:
            answers.append(answer)
    assert ([answer.is_left for answer in answers], time.monotonic() - began < 60) == ([True], True)


def test_who_stops_asking_for_answers_cancels_all() -> None:
    stage = Stage(DONE, takes_s=30)
    many = TaskQueue(tasks(5), start=stage, jobs=2)
    asked = many.answers()
    assert next(asked) is None
    asked.close()
    assert (many.running, many.n_left, stage.n_at_once) == ([], 3, 0)


def test_a_request_that_cannot_be_done_is_told_once_and_the_others_go_on() -> None:
    good = Stage(DONE)

    def start(task: BatchTask) -> Staged:
        if task.id == "t1":
            raise UserError("no program claude")
        return good(task)

    answers = all_of(TaskQueue(tasks(3), start=start, first_pause_s=0.01))
    assert endings(answers) == {"t1": ["crashed"], "t2": ["completed"], "t3": ["completed"]}
    assert next(answer.result.why for answer in answers if answer.task.id == "t1") == "no program claude"


def test_a_system_without_room_for_a_process_is_asked_again() -> None:
    good, fails = Stage(DONE), [OSError(11, "Resource temporarily unavailable")]

    def start(task: BatchTask) -> Staged:
        if fails:
            raise fails.pop()
        return good(task)

    assert endings(all_of(TaskQueue(tasks(1), start=start, first_pause_s=0.01))) == {
        "t1": ["crashed", "completed"]
    }


def test_a_mistake_of_ours_flies_and_leaves_nobody_running() -> None:
    stage = Stage(DONE, takes_s=30)

    def start(task: BatchTask) -> Staged:
        if task.id == "t2":
            raise ZeroDivisionError
        return stage(task)

    with pytest.raises(ZeroDivisionError):
        all_of(TaskQueue(tasks(2), start=start))
    assert stage.n_at_once == 0


def recovering(*documents: dict[str, Any]) -> Callable[[BatchTask], list[Result]]:
    return lambda _task: [Result(document) for document in documents]


def test_what_an_earlier_call_had_finished_is_not_paid_again() -> None:
    stage = Stage(DONE)
    many = TaskQueue(tasks(1), start=stage, recover=recovering(KILLED, DONE))
    assert (endings(all_of(many)), stage.starts) == ({"t1": ["killed", "completed"]}, [])
    assert many.spent_micro_usd == 10


@pytest.mark.parametrize("before", [OVERLOADED, {"ended_by": "cancelled", "cost_micro_usd": 5}, KILLED])
def test_what_an_earlier_call_had_not_finished_is_done_again_and_its_cost_stands_with_the_answer(
    before: dict[str, Any],
) -> None:
    many = TaskQueue(tasks(1), start=Stage(DONE), recover=recovering(before))
    (answer,) = all_of(many)
    assert endings([answer]) == {"t1": [before["ended_by"], "completed"]}
    assert answer.cost_micro_usd == many.spent_micro_usd == 10 + before.get("cost_micro_usd", 0)
