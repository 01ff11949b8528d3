"""`tracklog run --repeat K`: the same wish several times, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from tracklog.errors import UserError
from tracklog.run.comparing import compare
from tracklog.run.many import Answer, Many, Start
from tracklog.run.many_list import Task, same_again
from tracklog.run.results import Result
from tracklog.run.starting import prices_of
from tracklog.run.wishes import Wish
from tracklog.store.home import Home
from tracklog.views.cli.children import trusted
from tracklog.views.cli.printing import answer, answer_json, count, safe_lines, talk
from tracklog.views.cli.run_driving import drive, exit_code
from tracklog.views.cli.run_many_lines import Tally
from tracklog.views.cli.run_many_options import Many as Asked
from tracklog.views.cli.run_many_start import started
from tracklog.views.cli.times import took
from tracklog.views.cli.usage_numbers import money

_PICO = 1_000_000  # in a micro-dollar


def run_repeatedly(wish: Wish, asked: Asked, ours: Home, *, as_json: bool, in_worktree: bool = False) -> None:
    """Does the same several times from the command line, and compares."""
    if wish.session is not None:
        raise UserError("--repeat makes several sessions: leave --session-id out")
    if wish.resume is not None and not wish.is_fork:
        raise UserError("--repeat cannot go on with one session several times: fork it")
    wish = trusted(wish, ours)
    tasks = same_again(wish, asked.repeat or 1, in_worktree=in_worktree)
    prices = prices_of(ours)
    code = run_repeat(tasks, asked, start=lambda task: started(task, ours, prices=prices), as_json=as_json)
    raise click.exceptions.Exit(code)


def run_repeat(tasks: Sequence[Task], asked: Asked, *, start: Start, as_json: bool) -> int:
    """Does the tasks and compares what came; returns the exit code."""
    most = asked.max_total_micro_usd
    many = Many(tasks, start=start, jobs=asked.jobs, retries=asked.retries, max_total_micro_usd=most)
    found: list[Answer] = []
    tally = Tally(len(tasks))
    done = drive(many, tally, take=found.append)
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
    from tracklog.views.cli.drawing import table

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
