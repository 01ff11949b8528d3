"""`tracklog run --many` and `run --repeat K`: take the results of many children, show how far they are, obey signals.

Rules
  1. A result is on the disk before it is on stdout.
  2. A signal ends all children gently, a second one at once; in either case what was answered is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import click

from tracklog.app.run.many import (
    HowMany,
    ListQuery,
    ListRun,
    Result,
    TaskOutcome,
    TaskQueue,
    as_line,
    comparison_of,
    open_list,
    repeated,
)
from tracklog.errors import INTERRUPTED, NOT_FINE, TIME_IS_OVER, UserError
from tracklog.home import Home
from tracklog.model.run_request import Agent, RunRequest
from tracklog.views.cli.commands.run.child import confirmed, folder_of, request_from, signals_heard
from tracklog.views.cli.commands.run.option_values import ChildOptions
from tracklog.views.cli.commands.run.options import ManyOptions
from tracklog.views.cli.commands.run.progress_lines import ProgressDisplay, Tally
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.numbers import money, took
from tracklog.views.text.printing import answer, answer_json, count, safe_lines, short, talk

_LIMITS = ("timeout", "budget")


@dataclass
class DriveState:
    """How a drive ended."""

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
                progress.show_end(answer)
        progress.clear()
        done.is_interrupted |= bool(heard)
    return done


def exit_code(ended: Sequence[str], *, is_interrupted: bool, is_out_of_money: bool) -> int:
    """0 if all are completed; 124 if only limits were in the way; 130 if we were interrupted."""
    if is_interrupted:
        return INTERRUPTED
    failed = [how for how in ended if how != "completed"]
    if is_out_of_money or (failed and all(how in _LIMITS for how in failed)):
        return TIME_IS_OVER
    return NOT_FINE if failed else 0


_FROM_THE_LIST = "(each line has its own)"
_MOST_NAMED = 100  # ids of tasks that are left
_STDIN = "-"


def run_list(
    agent: Agent,
    given: ChildOptions,
    options: ManyOptions,
    ours: Home,
    *,
    as_json: bool,  # noqa: ARG001 - it says nothing new: results are JSON Lines in any case
) -> None:
    """Run a list from the command line."""
    if given.is_detached or given.contexts:
        raise UserError("--many goes with neither --detach nor --context-from")
    base = request_from(given, agent, _FROM_THE_LIST, folder_of(given))
    name = options.list or _STDIN
    lines = sys.stdin.buffer if name == _STDIN else None
    query = ListQuery(name, base, options.results, lines, options.again, given.has_worktree)
    with open_list(query, _how_many(options), ours, confirm=confirmed, talk=STDERR) as work:
        tally = Tally(work.n_tasks, dict(work.ended_before))
        done = drive(work.queue, tally, on_outcome=lambda outcome: _print_result(outcome, work))
        raise click.exceptions.Exit(_concluded(work.queue, tally, done))


def _how_many(options: ManyOptions) -> HowMany:
    return HowMany(options.jobs, options.retries, options.max_total_micro_usd)


def _print_result(outcome: TaskOutcome, work: ListRun) -> None:
    line = as_line(work.record(outcome))
    try:
        sys.stdout.write(line.decode())
        sys.stdout.flush()
    except BrokenPipeError:  # running children may end, and their results are written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        work.queue.stop("nobody reads the results any more")


def _concluded(many: TaskQueue, tally: Tally, done: DriveState) -> int:
    """Print which tasks were not done; returns the exit code."""
    left = [*(answer.task for answer in done.cut_off), *many.left]
    why = many.why_no_more
    if left:
        names = ", ".join(short(task.id, 40) for task in left[:_MOST_NAMED])
        more = f" and {count(len(left) - _MOST_NAMED, 'other')}" if len(left) > _MOST_NAMED else ""
        talk(f"tracklog: {why or 'interrupted'}; not done: {names}{more}; the same call goes on from here")
    if done.cut_off and (lost := sum(answer.cost_micro_usd for answer in done.cut_off)):
        talk(f"tracklog: ${lost / 1e6:.4f} went into what was cut off")
    if (left or why is not None) and not done.is_interrupted and not many.is_out_of_money:
        return NOT_FINE
    ended = list(tally.ended.values())
    return exit_code(ended, is_interrupted=done.is_interrupted, is_out_of_money=bool(left))


_PICO = 1_000_000  # in a micro-dollar


def run_repeatedly(
    request: RunRequest, options: ManyOptions, ours: Home, *, as_json: bool, in_worktree: bool = False
) -> None:
    """Run the same request several times from the command line, and compare."""
    many = repeated(
        request,
        options.repeat or 1,
        _how_many(options),
        ours,
        confirm=confirmed,
        talk=STDERR,
        in_worktree=in_worktree,
    )
    found: list[TaskOutcome] = []
    tally = Tally(many.n_left)
    done = drive(many, tally, on_outcome=found.append)
    found.sort(key=lambda one: one.task.n)
    comparison = comparison_of(found)
    if as_json:
        answer_json({"runs": [one.document() for one in found], "comparison": comparison})
    elif found:
        _show(comparison, {one.task.n: one.result for one in found})
    if (n_left := tally.n_tasks - len(found)) > 0:
        talk(f"tracklog: {many.why_no_more or 'interrupted'}; {count(n_left, 'run')} not done")
    ended = list(tally.ended.values())
    code = exit_code(ended, is_interrupted=done.is_interrupted, is_out_of_money=n_left > 0)
    raise click.exceptions.Exit(code)


def _show(comparison: Mapping[str, Any], results: Mapping[int, Result]) -> None:
    from tracklog.views.cli.output.drawing import table  # --json needs no rich

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
