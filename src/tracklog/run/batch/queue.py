"""Run many children, some at a time: start order, retries, and when to stop starting.

Rules
  1. Every task ends in exactly one outcome, or it is left. The cost of each try is in the outcome, once.
  2. A retry is for tries that cost nothing and gave no answer: an overloaded API, a client that died before its first
     request. A task that waits for a retry keeps its place, and for a moment no other task starts.
  3. When the money is spent no further task starts; running ones may end. When the queue is cancelled all are ended, gently.
  4. Threads start children and read their events; the consumer of `answers` writes and shows. Nothing here prints.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tracklog.errors import UserError, why_failed
from tracklog.home import Home
from tracklog.run.batch.results_file import ANSWERED
from tracklog.run.batch.tasks import BatchTask
from tracklog.run.launch import start
from tracklog.run.prepare import new_run
from tracklog.run.result import Result
from tracklog.run.stream import RunEvent
from tracklog.run.worktree import Worktree, add, leave

if TYPE_CHECKING:
    from tracklog.ledger.prices.rates import Prices
    from tracklog.run.child import Child

JOBS = 2
RETRIES = 2
_LONGEST_BACKOFF_S = 60.0
_CALM_S = 1.0  # after an overload no other task starts
_TICK_S = 0.1
_DIED = ("killed", "crashed")
_COUNTS_WHEN_CANCELLED = ("completed", "timeout", "budget")  # other ends may be caused by the cancelling


class Running(Protocol):
    """A running child, as the queue needs it."""

    def events(self) -> Iterator[RunEvent]: ...
    def result(self) -> Result: ...
    def cancel(self) -> None: ...


Start = Callable[[BatchTask], Running]
Recover = Callable[
    [BatchTask], Iterable[Result]
]  # the results of earlier, unrecorded runs of this task, oldest first


class TaskOutcome(NamedTuple):
    """The outcome of one task: the last result, and all tries."""

    task: BatchTask
    result: Result
    attempts: tuple[Result, ...]
    is_left: bool = False  # we were ended before its result came: the next call runs it again

    @property
    def cost_micro_usd(self) -> int:
        """The known cost of all tries."""
        return sum(one.cost_micro_usd or 0 for one in self.attempts)

    def document(self, *, batch: str | None = None) -> dict[str, Any]:
        """The result with its place in the list and its tries."""
        ours = {"id": self.task.id, "n": self.task.n, "digest": self.task.digest}
        tries = {
            "attempts": [_attempt_row(one) for one in self.attempts],
            "cost_micro_usd_all_attempts": self.cost_micro_usd,
        }
        return {
            **ours,
            **self.result.document,
            **ours,
            **tries,
            **({"batch": batch} if batch is not None else {}),
        }


@dataclass
class Slot:
    """A task that runs now."""

    task: BatchTask
    since: float  # on the monotonic clock
    n_tries: int = 1
    is_hopeless: bool = False  # the request cannot be carried out: no retry helps
    child: Running | None = None
    last: RunEvent | None = None
    waits_until: float | None = None  # for a retry


class TaskQueue:
    """Runs tasks, `jobs` at a time."""

    def __init__(
        self,
        tasks: Iterable[BatchTask],
        *,
        start: Start,
        recover: Recover | None = None,
        jobs: int = JOBS,
        retries: int = RETRIES,
        max_total_micro_usd: int | None = None,
        spent_micro_usd: int = 0,
        first_pause_s: float = 1.0,
    ) -> None:
        self._left = deque(tasks)
        self._start = start
        self._recover = recover
        self._jobs = jobs
        self._retries = retries
        self._most = max_total_micro_usd
        self._first_pause_s = first_pause_s
        self._lock = threading.Lock()
        self._slots: dict[int, Slot] = {}
        self._news: SimpleQueue[TaskOutcome | BaseException | None] = SimpleQueue()
        self._is_cancelled = threading.Event()
        self._hand_over = threading.Semaphore(0)  # released for each outcome that the consumer took
        self._calm_until = 0.0
        self._is_blind = False  # a request had no known price
        self._why_stopped: str | None = None
        self.spent_micro_usd = spent_micro_usd

    @property
    def left(self) -> list[BatchTask]:
        """The tasks that did not start."""
        with self._lock:
            return list(self._left)

    @property
    def n_left(self) -> int:
        """The number of tasks that did not start."""
        return len(self._left)

    @property
    def running(self) -> list[Slot]:
        """The tasks that run now."""
        with self._lock:
            return [replace(slot) for slot in self._slots.values()]

    @property
    def is_out_of_money(self) -> bool:
        """Whether the total is reached, or can no longer be known."""
        return self._most is not None and (self._is_blind or self.spent_micro_usd >= self._most)

    @property
    def why_no_more(self) -> str | None:
        """Why no further child starts, if so: the budget is used up, or the queue was stopped."""
        if self._why_stopped is not None or not self.is_out_of_money:
            return self._why_stopped
        if self._is_blind:
            return "a model has no price, so that --max-total-cost cannot be kept"
        return f"${self.spent_micro_usd / 1e6:.4f} of ${(self._most or 0) / 1e6:.4f} are spent"

    def answers(self) -> Generator[TaskOutcome | None, None, None]:
        """Each outcome as soon as it is there, and None now and then; closing the generator cancels the rest."""
        n_workers = min(self._jobs, len(self._left))
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(n_workers)]
        for worker in workers:
            worker.start()
        try:
            while n_workers:
                try:
                    news = self._news.get(timeout=_TICK_S)
                except Empty:
                    yield None
                    continue
                if isinstance(news, BaseException):
                    raise news
                if news is None:
                    n_workers -= 1
                else:
                    yield news
                    self._hand_over.release()
        finally:
            if n_workers:
                self.cancel()
                self._hand_over.release(self._jobs)
            for worker in workers:
                worker.join()

    def stop(self, why: str) -> None:
        """Start no further task; running ones may end."""
        self._why_stopped = why

    def cancel(self) -> None:
        """Start no further task, and end those that run: gently the first time, at once the second."""
        self._is_cancelled.set()
        with self._lock:
            children = [slot.child for slot in self._slots.values() if slot.child is not None]
        for child in children:
            child.cancel()

    def _work(self) -> None:
        try:
            while (slot := self._next()) is not None:
                answer = self._answered(slot)
                with self._lock:
                    del self._slots[id(slot)]
                if answer is not None:
                    self._news.put(answer)
                    self._hand_over.acquire()  # no further task may start if an outcome cannot be written
        except BaseException as error:  # a door: raised again in `answers`
            self._news.put(error)
        self._news.put(None)

    def _next(self) -> Slot | None:
        """Wait for the next task that may start."""
        while not self._is_cancelled.is_set():
            with self._lock:
                if not self._left or self.why_no_more is not None:
                    return None
                wait_s = self._calm_until - time.monotonic()
                if wait_s <= 0:
                    slot = Slot(self._left.popleft(), time.monotonic())
                    self._slots[id(slot)] = slot
                    return slot
            self._is_cancelled.wait(wait_s)
        return None

    def _answered(self, slot: Slot) -> TaskOutcome | None:
        """Run one task with all its tries; None if it was put back without a try."""
        task = slot.task
        tries = list(self._recover(task)) if self._recover is not None else []
        for result in tries:
            self._note(result)
        if tries and _is_answer(tries[-1]):
            return TaskOutcome(task, tries[-1], tuple(tries))
        for n_tries in range(1, self._retries + 2):
            if self._is_cancelled.is_set() or (n_tries > 1 and self.why_no_more is not None):
                return self._given_back(task, tries)
            slot.n_tries = n_tries
            tries.append(self._tried(slot))
            self._note(tries[-1])
            if slot.is_hopeless or not is_worth_another_try(task, tries[-1]):
                break
            if n_tries <= self._retries:
                self._pause(slot, tries[-1], n_tries)
        is_cut_off = self._is_cancelled.is_set() and tries[-1].ended_by not in _COUNTS_WHEN_CANCELLED
        return TaskOutcome(task, tries[-1], tuple(tries), is_left=is_cut_off)

    def _given_back(self, task: BatchTask, tries: list[Result]) -> TaskOutcome | None:
        if tries:
            return TaskOutcome(task, tries[-1], tuple(tries), is_left=True)
        with self._lock:
            self._left.appendleft(task)
        return None

    def _tried(self, slot: Slot) -> Result:
        try:
            child = self._start(slot.task)
        except UserError as error:
            slot.is_hopeless = True
            return _not_started(slot.task, str(error))
        except OSError as error:  # no more processes, no more descriptors: that may pass
            return _not_started(slot.task, why_failed(error))
        with self._lock:
            slot.child = child
        if self._is_cancelled.is_set():
            child.cancel()
        for event in child.events():
            slot.last = event
        try:
            return child.result()
        except Exception as error:  # a door: a bug that one child meets must not end the others
            return _not_started(slot.task, f"tracklog failed: {error!r}")
        finally:
            with self._lock:
                slot.child = None

    def _note(self, result: Result) -> None:
        with self._lock:
            self.spent_micro_usd += result.cost_micro_usd or 0
            self._is_blind |= bool(result.document.get("unpriced_requests"))

    def _pause(self, slot: Slot, result: Result, n_tries: int) -> None:
        """Wait before a retry: longer each time, with a random part."""
        wait_s = min(
            self._first_pause_s * 2**n_tries + random.uniform(0, self._first_pause_s), _LONGEST_BACKOFF_S
        )
        now = time.monotonic()
        with self._lock:
            slot.waits_until = now + wait_s
            if result.is_overloaded:
                self._calm_until = max(self._calm_until, now + min(_CALM_S, wait_s))
        self._is_cancelled.wait(wait_s)
        slot.waits_until = None


def is_worth_another_try(task: BatchTask, result: Result) -> bool:
    """Whether the API was overloaded, or the client died before it cost anything."""
    if result.is_overloaded:
        return True
    document = result.document
    if result.ended_by not in _DIED:
        return False
    counted = ("unpriced_requests", "partial_requests", "num_turns")
    return (
        task.request.persists
        and not result.cost_micro_usd
        and not any(document.get(name) for name in counted)
    )


def _is_answer(result: Result) -> bool:
    """Whether an earlier run has answered the task."""
    return result.ended_by in ANSWERED and not result.is_overloaded


def _attempt_row(result: Result) -> dict[str, Any]:
    """A try, shortened for the document."""
    return {
        "ended_by": result.ended_by,
        "cost_micro_usd": result.cost_micro_usd,
        "session": result.session,
        "run": result.document.get("run"),
        "error": result.document.get("error"),
    }


def _not_started(task: BatchTask, why: str) -> Result:
    """A result for a child that could not start; the task is run again by the next call."""
    said: dict[str, Any] = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": None,
        "num_turns": 0,
        "result": None,
        "session_id": None,
        "total_cost_usd": 0.0,
        "usage": None,
        "modelUsage": {},
    }
    ours: dict[str, Any] = {
        "agent": task.request.agent,
        "run": None,
        "transcript_path": None,
        "exit_code": None,
        "ended_by": "crashed",
        "error": why,
        "calls": {},
        "denials": [],
        "files_changed": [],
        "entrypoint": None,
        "cost_micro_usd": 0,
        "bounds": None,
        "unpriced_requests": 0,
        "partial_requests": 0,
        "sources": {},
        "left_behind": 0,
        "problems": [],
    }
    return Result({**said, **ours})


class _InWorktree:
    """A child in a worktree of its own, which is removed if nothing changed in it."""

    def __init__(self, child: Child, worktree: Worktree) -> None:
        self._child = child
        self._worktree = worktree

    def events(self) -> Iterator[RunEvent]:
        """The child's events."""
        return self._child.events()

    def cancel(self) -> None:
        """End the child."""
        self._child.cancel()

    def result(self) -> Result:
        """The result, with what became of the worktree. Call it once."""
        return Result({**self._child.result().document, "worktree": leave(self._worktree)})


def started(task: BatchTask, home: Home, *, prices: Callable[[], Prices]) -> Running:
    """Start the child of a task; the prices are read once for all tasks."""
    run = new_run()
    if not task.in_worktree:
        return start(task.request, home=home, run=run, prices=prices)
    worktree = add(Path(task.request.cwd), home, run)
    try:
        request = task.request._replace(cwd=worktree.cwd, trusted_as=task.request.cwd)
        child = start(request, home=home, run=run, prices=prices)
    except BaseException:
        leave(worktree)
        raise
    return _InWorktree(child, worktree)
