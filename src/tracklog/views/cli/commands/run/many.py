"""`tracklog run --many`: does a list, shows how far it is, and writes every result down when it is there.

Rules
  1. A result is on the disk before it is on stdout.
  2. Nothing is started before all of the list is known to be right, and every folder in it trusted.

`tracklog run --repeat K`: the same request several times, side by side.

Drives many children: asks for answers, shows how far they are, and obeys signals.

Rules
  1. A signal ends all children gently, a second one at once; in either case what was answered is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tracklog.errors import NOT_FINE, UserError, why_failed
from tracklog.home import Home, tilde
from tracklog.live.run_entries import RunEntry
from tracklog.live.run_register import runs
from tracklog.model.run_request import Agent, RunRequest
from tracklog.run import recover
from tracklog.run.batch.compare import compare
from tracklog.run.batch.queue import Start, TaskOutcome, TaskQueue, started
from tracklog.run.batch.results_file import ResultsFile, as_line, cut_off, key_of, left_behind
from tracklog.run.batch.tasks import BatchTask, TaskList, read_list, same_again
from tracklog.run.launch import prices_of
from tracklog.run.process.supervise import await_end
from tracklog.run.result import INTERRUPTED, LIMIT, SUCCESS, Result
from tracklog.views.cli.commands.run.await_child import signals_heard
from tracklog.views.cli.commands.run.child import folder_of, request_from, trusted
from tracklog.views.cli.commands.run.option_values import ChildOptions
from tracklog.views.cli.commands.run.options import ManyOptions
from tracklog.views.cli.commands.run.progress_lines import ProgressDisplay, Tally
from tracklog.views.text.numbers import money, took
from tracklog.views.text.printing import answer, answer_json, count, safe_lines, short, talk

__all__ = ["run_list", "run_many", "run_repeatedly"]


_LIMITS = ("timeout", "budget")


@dataclass
class DriveState:
    """What drive has seen."""

    cut_off: list[TaskOutcome] = field(default_factory=list)
    is_interrupted: bool = False


def drive(many: TaskQueue, tally: Tally, *, on_outcome: Callable[[TaskOutcome], None]) -> DriveState:
    """Collect all outcomes, show the progress, and pass on those that count."""
    done, progress = DriveState(), ProgressDisplay(many, tally)
    with signals_heard() as heard, closing(many.answers()) as answers:
        for answer in answers:
            if heard:
                heard.clear()
                done.is_interrupted = True
                many.cancel()
            if answer is None:
                progress.tick()
            elif answer.is_left:
                done.cut_off.append(answer)
            else:
                tally.add(answer)
                progress.clear()
                on_outcome(answer)
                progress.tell(answer)
        progress.clear()
        done.is_interrupted |= bool(heard)
    return done


def exit_code(ended: Sequence[str], *, is_interrupted: bool, is_out_of_money: bool) -> int:
    """0 if all are completed; 124 if only limits were in the way; 130 if we were interrupted."""
    if is_interrupted:
        return INTERRUPTED
    failed = [how for how in ended if how != "completed"]
    if is_out_of_money or (failed and all(how in _LIMITS for how in failed)):
        return LIMIT
    return NOT_FINE if failed else SUCCESS


STDIN = "-"
_FROM_THE_LIST = "(each line has its own)"
_MOST_TOLD = 100  # wrong lines, and ids that are left
RecoverRun = Callable[[RunEntry, RunRequest], Result]  # what a run has come to by its log


def run_list(
    agent: Agent,
    given: ChildOptions,
    options: ManyOptions,
    ours: Home,
    *,
    as_json: bool,  # noqa: ARG001 - it says nothing new: results are JSON Lines in any case
) -> None:
    """Does a list from the command line."""
    if given.is_detached or given.contexts:
        raise UserError("--many goes with neither --detach nor --context-from")
    base = request_from(given, agent, _FROM_THE_LIST, folder_of(given))

    prices = prices_of(ours)

    def recovered(run: RunEntry, request: RunRequest) -> Result:
        await_end(run, ours)
        return recover(run, request, home=ours, prices=prices) or cut_off(
            run, request, env=os.environ, prices=prices
        )

    def check(tasks: Sequence[BatchTask]) -> None:
        for request in {(task.request.agent, task.request.cwd): task.request for task in tasks}.values():
            trusted(request, ours)

    code = run_many(
        options,
        base,
        start=lambda task: started(task, ours, prices=prices),
        home=ours,
        recover=recovered,
        check=check,
        in_worktree=given.has_worktree,
    )
    raise click.exceptions.Exit(code)


def run_many(
    options: ManyOptions,
    base: RunRequest,
    *,
    start: Start,
    home: Home,
    recover: RecoverRun | None = None,
    check: Callable[[Sequence[BatchTask]], None] | None = None,
    in_worktree: bool = False,
) -> int:
    """Does what is missing of a list; returns the exit code. `check` may refuse before anything is started."""
    place = _results_path(options)
    tasks = _tasks(options, base, in_worktree=in_worktree)
    with ResultsFile(place) as file:
        if file.earlier.n_broken:
            talk(f"tracklog: {count(file.earlier.n_broken, 'line')} of {tilde(place)} cannot be read")
        to_do = [task for task in tasks if not file.earlier.is_answered(task, again=options.again)]
        if check is not None:
            check(to_do)
        many = TaskQueue(
            to_do,
            start=lambda task: start(
                task._replace(request=task.request._replace(batch=key_of(file.batch, task)))
            ),
            recover=_recovery(file, home, recover) if recover is not None else None,
            jobs=options.jobs,
            retries=options.retries,
            max_total_micro_usd=options.max_total_micro_usd,
            spent_micro_usd=file.earlier.spent_micro_usd,
        )
        return _driven(many, file, tasks, n_before=len(tasks) - len(to_do))


def _driven(many: TaskQueue, file: ResultsFile, tasks: Sequence[BatchTask], *, n_before: int) -> int:
    to_do = {task.id for task in many.left}
    tally = Tally(
        len(tasks), {task.id: file.earlier.by_id[task.id].ended_by for task in tasks if task.id not in to_do}
    )
    if n_before:
        talk(f"tracklog: {n_before} of {count(len(tasks), 'line')} are answered already")
    done = drive(many, tally, on_outcome=lambda answer: _record(answer, file, many))
    return _concluded(many, tally, done)


def _record(answer: TaskOutcome, file: ResultsFile, many: TaskQueue) -> None:
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


def _concluded(many: TaskQueue, tally: Tally, done: DriveState) -> int:
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


def _tasks(options: ManyOptions, base: RunRequest, *, in_worktree: bool) -> list[BatchTask]:
    found = _listed(options.list or STDIN, base, in_worktree=in_worktree)
    if found.wrong:
        for one in found.wrong[:_MOST_TOLD]:
            talk(f"{options.list}:{one.n}: {one.why}")
        more = len(found.wrong) - _MOST_TOLD
        if more > 0:
            talk(f"and {count(more, 'other line')}")
        raise UserError(f"{count(len(found.wrong), 'line')} of the list cannot be done: nothing was started")
    return found.tasks


def _listed(name: str, base: RunRequest, *, in_worktree: bool) -> TaskList:
    if name == STDIN:
        return read_list(sys.stdin.buffer, base, folder=Path.cwd(), in_worktree=in_worktree)
    path = Path(name)
    try:
        with path.open("rb") as lines:
            return read_list(lines, base, folder=path.absolute().parent, in_worktree=in_worktree)
    except OSError as error:
        raise UserError(f"cannot read {name}: {why_failed(error)}") from error


def _results_path(options: ManyOptions) -> Path:
    if options.list in (None, STDIN):
        if options.results is None:
            raise UserError("a list from stdin needs a place for its results: --results FILE")
        return options.results
    place = options.results or Path(f"{options.list.removesuffix('.jsonl')}.results.jsonl")
    if os.path.exists(place) and os.path.exists(options.list) and os.path.samefile(place, options.list):
        raise UserError("the results cannot stand in the list itself: name another file with --results")
    return place


def _recovery(file: ResultsFile, home: Home, recover: RecoverRun) -> Callable[[BatchTask], list[Result]]:
    """What the register knows of earlier calls that did not come to write their results down."""
    behind = left_behind(runs(home), file.batch, file.earlier.runs)

    def recovered(task: BatchTask) -> list[Result]:
        found = behind.get(key_of(file.batch, task), ())
        return [recover(run, task.request) for run in found]

    return recovered


_PICO = 1_000_000  # in a micro-dollar


def run_repeatedly(
    request: RunRequest, options: ManyOptions, ours: Home, *, as_json: bool, in_worktree: bool = False
) -> None:
    """Does the same several times from the command line, and compares."""
    if request.session is not None:
        raise UserError("--repeat makes several sessions: leave --session-id out")
    if request.resume is not None and not request.is_fork:
        raise UserError("--repeat cannot go on with one session several times: fork it")
    request = trusted(request, ours)
    tasks = same_again(request, options.repeat or 1, in_worktree=in_worktree)
    prices = prices_of(ours)
    code = run_repeat(tasks, options, start=lambda task: started(task, ours, prices=prices), as_json=as_json)
    raise click.exceptions.Exit(code)


def run_repeat(tasks: Sequence[BatchTask], options: ManyOptions, *, start: Start, as_json: bool) -> int:
    """Does the tasks and compares what came; returns the exit code."""
    most = options.max_total_micro_usd
    many = TaskQueue(tasks, start=start, jobs=options.jobs, retries=options.retries, max_total_micro_usd=most)
    found: list[TaskOutcome] = []
    tally = Tally(len(tasks))
    done = drive(many, tally, on_outcome=found.append)
    found.sort(key=lambda one: one.task.n)
    comparison = compare([one.result for one in found], runs=[one.task.n for one in found])
    if as_json:
        answer_json({"runs": [one.document() for one in found], "comparison": comparison})
    elif found:
        _show(comparison, {one.task.n: one.result for one in found})
    if (n_left := len(tasks) - len(found)) > 0:
        talk(f"tracklog: {many.why_no_more or 'interrupted'}; {count(n_left, 'run')} not done")
    ended = list(tally.ended.values())
    return exit_code(ended, is_interrupted=done.is_interrupted, is_out_of_money=n_left > 0)


def _show(comparison: Mapping[str, Any], results: Mapping[int, Result]) -> None:
    from tracklog.views.cli.output.drawing import table

    head = ("run", "ended by", "cost", "time", "turns", "calls", "files", "result")
    table([head, *map(_cells, comparison["rows"])], "><>>><><", gives_way=5, indent=0)
    for line in _spread_lines(comparison):
        answer(line)
    first = next((one for one in comparison["groups"] if one["name"] == comparison["first"]), None)
    if first is not None:
        answer(f"\n{first['name']} (run {', '.join(map(str, first['runs']))}):")
        answer("\n".join(safe_lines(results[first["runs"][0]].text or "")))
    for one in comparison["diffs"]:
        answer("")
        answer("\n".join(safe_lines(one["diff"])))
        if one["is_cut"]:
            answer("… the rest is left out")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    cost = row["cost_micro_usd"]
    return (
        str(row["run"]),
        row["ended_by"],
        money(None if cost is None else cost * _PICO),
        took(row["duration_ms"]),
        "" if row["num_turns"] is None else str(row["num_turns"]),
        ", ".join(f"{n} {verdict}" for verdict, n in row["calls"].items()),
        str(len(row["files_changed"])),
        row["group"],
    )


def _spread_lines(comparison: Mapping[str, Any]) -> list[str]:
    cost, time = comparison["cost_micro_usd"], comparison["duration_ms"]
    lines = []
    if cost is not None:
        lines.append("cost: " + ", ".join(f"{name} {money(value * _PICO)}" for name, value in cost.items()))
    if time is not None:
        lines.append("time: " + ", ".join(f"{name} {took(value)}" for name, value in time.items()))
    return lines
