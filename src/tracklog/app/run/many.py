"""Run many children, some at a time: a list whose results are kept in a file, or the same request several times.

Rules
  1. Nothing starts before the whole list is known to be right, and every folder in it is trusted.
  2. A result is on the disk before it is shown.
  3. A list that is run again goes on from its results; what an earlier run left unwritten is looked up in its log.
  4. The caller takes the outcomes out of the queue: it shows how far they are, and obeys signals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.app.run.child import Confirm, trusted
from tracklog.app.talk import Talk
from tracklog.errors import UserError, why_failed
from tracklog.home import Home, tilde
from tracklog.ledger.prices.rates import Prices
from tracklog.live.run_entries import RunEntry
from tracklog.live.run_register import runs
from tracklog.model.run_request import RunRequest
from tracklog.run import recover
from tracklog.run.batch.compare import compare
from tracklog.run.batch.queue import Recover, started
from tracklog.run.batch.queue import Slot as Slot
from tracklog.run.batch.queue import TaskOutcome as TaskOutcome
from tracklog.run.batch.queue import TaskQueue as TaskQueue
from tracklog.run.batch.results_file import ResultsFile, cut_off, key_of, left_behind
from tracklog.run.batch.results_file import as_line as as_line
from tracklog.run.batch.tasks import BatchTask, TaskList, read_list, same_again
from tracklog.run.launch import prices_of
from tracklog.run.process.supervise import await_end
from tracklog.run.result import Result as Result

_MOST_WRONG = 100  # lines that are said one by one


class HowMany(NamedTuple):
    """How many children run at once, how often each is tried again, and what all may cost together."""

    jobs: int
    retries: int
    max_total_micro_usd: int | None = None


class ListQuery(NamedTuple):
    """A list of children, and where its results are kept."""

    name: str  # a file, or what its lines are called
    base: RunRequest  # what a line may leave out
    results: Path | None = None  # None: beside the list
    lines: Iterable[bytes] | None = None  # in place of the file
    again: frozenset[str] = frozenset()  # do those again that ended so
    in_worktree: bool = False


class ListRun:
    """A list that is being run: its queue, and what earlier calls have answered."""

    def __init__(self, tasks: Sequence[BatchTask], queue: TaskQueue, file: ResultsFile, talk: Talk) -> None:
        to_do = {task.id for task in queue.left}
        self.queue = queue
        self.n_tasks = len(tasks)
        self.ended_before: Mapping[str, str] = {
            task.id: file.earlier.by_id[task.id].ended_by for task in tasks if task.id not in to_do
        }
        self._file = file
        self._talk = talk

    def record(self, outcome: TaskOutcome) -> dict[str, Any]:
        """Write an outcome down and give its document; if that fails, nothing else starts, and the document says so."""
        document = outcome.document(batch=self._file.batch)
        try:
            self._file.append(document)
        except OSError as error:
            why = f"cannot write {tilde(self._file.path)}: {why_failed(error)}"
            self._talk.say(f"tracklog: {why}; nothing else is started")
            self.queue.stop(why)
            document["problems"] = [*(document.get("problems") or []), why]
        return document


@contextmanager
def open_list(
    query: ListQuery, how: HowMany, home: Home, *, confirm: Confirm, talk: Talk
) -> Iterator[ListRun]:
    """What is missing of a list, ready to run; its file of results is ours until the block ends."""
    place = _results_path(query)
    tasks = _tasks(query, talk)
    with ResultsFile(place) as file:
        if file.earlier.n_broken:
            talk.say(f"tracklog: {_lines(file.earlier.n_broken)} of {tilde(place)} cannot be read")
        to_do = [task for task in tasks if not file.earlier.is_answered(task, again=query.again)]
        for request in {(task.request.agent, task.request.cwd): task.request for task in to_do}.values():
            trusted(request, home, confirm=confirm, talk=talk)
        prices = prices_of(home)
        queue = TaskQueue(
            to_do,
            start=lambda task: started(_in_batch(task, file.batch), home, prices=prices),
            recover=_recovery(file, home, prices),
            jobs=how.jobs,
            retries=how.retries,
            max_total_micro_usd=how.max_total_micro_usd,
            spent_micro_usd=file.earlier.spent_micro_usd,
        )
        if len(to_do) < len(tasks):
            n_before = len(tasks) - len(to_do)
            talk.say(f"tracklog: {n_before} of {_lines(len(tasks))} are answered already")
        yield ListRun(tasks, queue, file, talk)


def repeated(
    request: RunRequest,
    times: int,
    how: HowMany,
    home: Home,
    *,
    confirm: Confirm,
    talk: Talk,
    in_worktree: bool = False,
) -> TaskQueue:
    """The same request several times, ready to run."""
    if request.session is not None:
        raise UserError("--repeat makes several sessions: leave --session-id out")
    if request.resume is not None and not request.is_fork:
        raise UserError("--repeat cannot go on with one session several times: fork it")
    request = trusted(request, home, confirm=confirm, talk=talk)
    prices = prices_of(home)
    return TaskQueue(
        same_again(request, times, in_worktree=in_worktree),
        start=lambda task: started(task, home, prices=prices),
        jobs=how.jobs,
        retries=how.retries,
        max_total_micro_usd=how.max_total_micro_usd,
    )


def comparison_of(outcomes: Sequence[TaskOutcome]) -> dict[str, Any]:
    """How alike the runs of one request are: a document."""
    return compare([one.result for one in outcomes], runs=[one.task.n for one in outcomes])


def _in_batch(task: BatchTask, batch: str) -> BatchTask:
    return task._replace(request=task.request._replace(batch=key_of(batch, task)))


def _tasks(query: ListQuery, talk: Talk) -> list[BatchTask]:
    found = _listed(query)
    if found.wrong:
        for one in found.wrong[:_MOST_WRONG]:
            talk.say(f"{query.name}:{one.n}: {one.why}")
        more = len(found.wrong) - _MOST_WRONG
        if more > 0:
            talk.say(f"and {more:,} other line{'' if more == 1 else 's'}")
        raise UserError(f"{_lines(len(found.wrong))} of the list cannot be done: nothing was started")
    return found.tasks


def _listed(query: ListQuery) -> TaskList:
    if query.lines is not None:
        return read_list(query.lines, query.base, folder=Path.cwd(), in_worktree=query.in_worktree)
    path = Path(query.name)
    try:
        with path.open("rb") as lines:
            folder = path.absolute().parent
            return read_list(lines, query.base, folder=folder, in_worktree=query.in_worktree)
    except OSError as error:
        raise UserError(f"cannot read {query.name}: {why_failed(error)}") from error


def _results_path(query: ListQuery) -> Path:
    if query.lines is not None:
        if query.results is None:
            raise UserError("a list from stdin needs a place for its results: --results FILE")
        return query.results
    place = query.results or Path(f"{query.name.removesuffix('.jsonl')}.results.jsonl")
    if os.path.exists(place) and os.path.exists(query.name) and os.path.samefile(place, query.name):
        raise UserError("the results cannot stand in the list itself: name another file with --results")
    return place


def _recovery(file: ResultsFile, home: Home, prices: Callable[[], Prices]) -> Recover:
    """What the register knows of earlier calls that did not come to write their results down."""
    behind = left_behind(runs(home), file.batch, file.earlier.runs)

    def recovered(task: BatchTask) -> list[Result]:
        return [result_of(run, task.request) for run in behind.get(key_of(file.batch, task), ())]

    def result_of(run: RunEntry, request: RunRequest) -> Result:
        await_end(run, home)
        found = recover(run, request, home=home, prices=prices)
        return found or cut_off(run, request, env=os.environ, prices=prices)

    return recovered


def _lines(n: int) -> str:
    return f"{n:,} line{'' if n == 1 else 's'}"
