"""`tracklog run --many`: does a list, shows how far it is, and writes every result down when it is there.

Rules of this room
  1. A result is on the disk before it is on stdout.
  2. Nothing is started before all of the list is known to be right, and every folder in it trusted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from tracklog.errors import UserError
from tracklog.run import recover
from tracklog.run.many import Answer, Many, Start
from tracklog.run.many_left import cut_off, left_behind
from tracklog.run.many_list import Task, TaskList, read_list
from tracklog.run.many_results import ResultsFile, as_line, key_of
from tracklog.run.outliving import await_end
from tracklog.run.register import Run, runs
from tracklog.run.results import Result
from tracklog.run.starting import prices_of
from tracklog.run.wishes import Agent, Wish
from tracklog.sources.reasons import why_failed
from tracklog.store.home import Home
from tracklog.views.cli.children import folder_of, trusted
from tracklog.views.cli.ending import NOT_FINE
from tracklog.views.cli.printing import count, short, talk, tilde
from tracklog.views.cli.run_driving import Done, drive, exit_code
from tracklog.views.cli.run_given import Given
from tracklog.views.cli.run_many_lines import Tally
from tracklog.views.cli.run_many_options import Many as Asked
from tracklog.views.cli.run_many_start import started
from tracklog.views.cli.run_repeat import run_repeatedly

__all__ = ["run_list", "run_many", "run_repeatedly"]

STDIN = "-"
_FROM_THE_LIST = "(each line has its own)"
_MOST_TOLD = 100  # wrong lines, and ids that are left

RecoverRun = Callable[[Run, Wish], Result]  # what a run has come to by its log


def run_list(
    agent: Agent,
    given: Given,
    asked: Asked,
    ours: Home,
    *,
    as_json: bool,  # noqa: ARG001 - it says nothing new: results are JSON Lines in any case
) -> None:
    """Does a list from the command line."""
    if given.is_detached or given.contexts:
        raise UserError("--many goes with neither --detach nor --context-from")
    base = given.wish(agent, _FROM_THE_LIST, folder_of(given))

    prices = prices_of(ours)

    def recovered(run: Run, wish: Wish) -> Result:
        await_end(run, ours)
        return recover(run, wish, home=ours, prices=prices) or cut_off(
            run, wish, env=os.environ, prices=prices
        )

    def check(tasks: Sequence[Task]) -> None:
        for wish in {(task.wish.agent, task.wish.cwd): task.wish for task in tasks}.values():
            trusted(wish, ours)

    code = run_many(
        asked,
        base,
        start=lambda task: started(task, ours, prices=prices),
        home=ours,
        recover=recovered,
        check=check,
        in_worktree=given.has_worktree,
    )
    raise click.exceptions.Exit(code)


def run_many(
    asked: Asked,
    base: Wish,
    *,
    start: Start,
    home: Home,
    recover: RecoverRun | None = None,
    check: Callable[[Sequence[Task]], None] | None = None,
    in_worktree: bool = False,
) -> int:
    """Does what is missing of a list; returns the exit code. `check` may refuse before anything is started."""
    place = _results_path(asked)
    tasks = _tasks(asked, base, in_worktree=in_worktree)
    with ResultsFile(place) as file:
        if file.earlier.n_broken:
            talk(f"tracklog: {count(file.earlier.n_broken, 'line')} of {tilde(place)} cannot be read")
        to_do = [task for task in tasks if not file.earlier.is_answered(task, again=asked.again)]
        if check is not None:
            check(to_do)
        many = Many(
            to_do,
            start=lambda task: start(task._replace(wish=task.wish._replace(batch=key_of(file.batch, task)))),
            recover=_recovery(file, home, recover) if recover is not None else None,
            jobs=asked.jobs,
            retries=asked.retries,
            max_total_micro_usd=asked.max_total_micro_usd,
            spent_micro_usd=file.earlier.spent_micro_usd,
        )
        return _driven(many, file, tasks, n_before=len(tasks) - len(to_do))


def _driven(many: Many, file: ResultsFile, tasks: Sequence[Task], *, n_before: int) -> int:
    to_do = {task.id for task in many.left}
    tally = Tally(
        len(tasks), {task.id: file.earlier.by_id[task.id].ended_by for task in tasks if task.id not in to_do}
    )
    if n_before:
        talk(f"tracklog: {n_before} of {count(len(tasks), 'line')} are answered already")
    done = drive(many, tally, take=lambda answer: _take(answer, file, many))
    return _concluded(many, tally, done)


def _take(answer: Answer, file: ResultsFile, many: Many) -> None:
    document = answer.document(batch=file.batch)
    try:
        file.append(document)
    except OSError as error:
        why = f"cannot write {tilde(file.path)}: {why_failed(error)}"
        talk(f"tracklog: {why}; nothing else is started")
        many.stop(why)
        document["problems"] = [*(document.get("problems") or []), why]
    try:
        sys.stdout.write(as_line(document).decode())
        sys.stdout.flush()
    except BrokenPipeError:  # those that run may end, and are written down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        many.stop("nobody reads the results any more")


def _concluded(many: Many, tally: Tally, done: Done) -> int:
    """Says what was not done, and how it ended."""
    left = [*(answer.task for answer in done.cut_off), *many.left]
    why = many.why_no_more
    if left:
        names = ", ".join(short(task.id, 40) for task in left[:_MOST_TOLD])
        more = f" and {count(len(left) - _MOST_TOLD, 'other')}" if len(left) > _MOST_TOLD else ""
        talk(f"tracklog: {why or 'interrupted'}; not done: {names}{more}; the same call goes on from here")
    if done.cut_off and (lost := sum(answer.cost_micro_usd for answer in done.cut_off)):
        talk(f"tracklog: ${lost / 1e6:.4f} went into what was cut off")
    if (left or why is not None) and not done.is_interrupted and not many.is_out_of_money:
        return NOT_FINE
    ended = list(tally.ended.values())
    return exit_code(ended, is_interrupted=done.is_interrupted, is_out_of_money=bool(left))


def _tasks(asked: Asked, base: Wish, *, in_worktree: bool) -> list[Task]:
    found = _listed(asked.list or STDIN, base, in_worktree=in_worktree)
    if found.wrong:
        for one in found.wrong[:_MOST_TOLD]:
            talk(f"{asked.list}:{one.n}: {one.why}")
        more = len(found.wrong) - _MOST_TOLD
        if more > 0:
            talk(f"and {count(more, 'other line')}")
        raise UserError(f"{count(len(found.wrong), 'line')} of the list cannot be done: nothing was started")
    return found.tasks


def _listed(name: str, base: Wish, *, in_worktree: bool) -> TaskList:
    if name == STDIN:
        return read_list(sys.stdin.buffer, base, folder=Path.cwd(), in_worktree=in_worktree)
    path = Path(name)
    try:
        with path.open("rb") as lines:
            return read_list(lines, base, folder=path.absolute().parent, in_worktree=in_worktree)
    except OSError as error:
        raise UserError(f"cannot read {name}: {why_failed(error)}") from error


def _results_path(asked: Asked) -> Path:
    if asked.list in (None, STDIN):
        if asked.results is None:
            raise UserError("a list from stdin needs a place for its results: --results FILE")
        return asked.results
    place = asked.results or Path(f"{asked.list.removesuffix('.jsonl')}.results.jsonl")
    if os.path.exists(place) and os.path.exists(asked.list) and os.path.samefile(place, asked.list):
        raise UserError("the results cannot stand in the list itself: name another file with --results")
    return place


def _recovery(file: ResultsFile, home: Home, recover: RecoverRun) -> Callable[[Task], list[Result]]:
    """What the register knows of earlier calls that did not come to write their results down."""
    behind = left_behind(runs(home), file.batch, file.earlier.runs)

    def recovered(task: Task) -> list[Result]:
        found = behind.get(key_of(file.batch, task), ())
        return [recover(run, task.wish) for run in found]

    return recovered
