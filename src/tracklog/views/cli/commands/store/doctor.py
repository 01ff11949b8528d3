"""`tracklog doctor`: how healthy the logs are, and how much of them is understood."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click
from rich.text import Text

from tracklog.app.doctor.checks import Check
from tracklog.app.doctor.coverage import (
    READINGS,
    Coverage,
    CoverageBy,
    Share,
    by_agent,
    shares,
    version_key,
    versions_of,
)
from tracklog.app.doctor.examine import Examination, Strange, examine
from tracklog.errors import NOT_FINE
from tracklog.home import tilde
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.drawing import Cell, bar, line, painted, paragraphs, table
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.places import doctor_document
from tracklog.views.text.printing import answer_json, count, percent, short, size

_LONGEST_NAME = 60
_COLOURS = dict(zip(READINGS, ("green", "yellow", "red"), strict=True))


def show_in_short(rows: Sequence[Coverage]) -> None:
    """One line per agent."""
    table(
        [
            (
                painted(share.name, "bold"),
                _bar_of(share, share.all_lines),
                f"{percent(share.lines['read'], share.all_lines)} read",
                count(share.all_lines, "line"),
                size(share.all_bytes),
                _spoken(versions_of(rows, share.agent)),
            )
            for share in by_agent(rows)
        ],
        "<<>>><",
    )


def show(rows: Sequence[Coverage], *, by: CoverageBy, most: int | None) -> None:
    """A block of bars per agent; `most` is how many of them are shown before the rest is summed up."""
    for agent, group in groupby(shares(rows, by=by), key=lambda share: share.agent):
        _show_agent(agent or "unknown agent", list(group), by=by, most=most)


def _show_agent(name: str, group: list[Share], *, by: str, most: int | None) -> None:
    lines = sum(share.all_lines for share in group)
    read = percent(sum(share.lines["read"] for share in group), lines)
    line()
    line(
        painted(name, "bold"),
        f"  {count(lines, 'line')}, {size(sum(s.all_bytes for s in group))}, {read} read",
    )
    shown = group if most is None else _with_what_was_not_read_first(group)[:most]
    largest = max(share.all_lines for share in shown)
    table([_row(share, largest, lines) for share in _in_order(shown, by)], "<<>>>>", gives_way=0)
    _show_rest([share for share in group if share not in shown], by=by)


def _in_order(group: list[Share], by: str) -> list[Share]:
    if by == "version":
        return sorted(group, key=lambda share: version_key(share.name), reverse=True)
    return sorted(group, key=lambda share: -share.all_lines)


def _show_rest(rest: list[Share], *, by: str) -> None:
    if rest:
        lines, read = sum(s.all_lines for s in rest), sum(s.lines["read"] for s in rest)
        text = f"{count(len(rest), f'more {by}')} with {count(lines, 'line')}, {percent(read, lines)} read"
        line(painted(f"  … {text}: --all lists them", "dim"))


def _with_what_was_not_read_first(group: list[Share]) -> list[Share]:
    return sorted(group, key=lambda share: (share.lines["read"] == share.all_lines, -share.all_lines))


def _row(share: Share, largest: int, of: int) -> tuple[str | Text, ...]:
    read = share.lines["read"]
    return (
        short(share.name, _LONGEST_NAME),
        _bar_of(share, largest),
        percent(share.all_lines, of),
        f"{share.all_lines:,}",
        size(share.all_bytes),
        "" if read == share.all_lines else painted(f"{percent(read, share.all_lines)} read", "yellow"),
    )


def _bar_of(share: Share, of: int) -> Text:
    return bar([(share.lines[reading], _COLOURS[reading]) for reading in READINGS], of, width=14)


def _spoken(versions: list[str]) -> str:
    return " ".join(versions) if len(versions) < 3 else f"{versions[0]} … {versions[-1]}"


_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}
_KINDS_SHOWN = 12
_STRANGE_SHOWN = 20


@click.command
@click.option(
    "--by",
    type=click.Choice(["kind", "version"]),
    default="kind",
    show_default=True,
    help="What the bars stand for.",
)
@click.option(
    "--all", "show_all", is_flag=True, help="Show every bar and everything unknown, not only the first."
)
@shared_options
def doctor(
    by: CoverageBy,
    show_all: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """How healthy the logs are, and how much of them is understood.

    Reads all logs and shows: checks with what to do; the share of lines understood, by agent and kind or client
    version; every unknown kind and every key without a name in our records, with a place where it stands. What
    stands in the logs never changes the exit code: it is 1 only if a check of tracklog's own home fails.
    """
    found = examine(roots, agent=agent, home=home, talk=STDERR)
    if as_json:
        answer_json(doctor_document(found))
    else:
        _show(found, by=by, show_all=show_all)
    if any(check.state == "fail" for check in found.checks):
        raise click.exceptions.Exit(NOT_FINE)


def _show(found: Examination, *, by: CoverageBy, show_all: bool) -> None:
    _show_checks(found.checks)
    if found.coverage:
        show(found.coverage, by=by, most=None if show_all else _KINDS_SHOWN)
    _show_strange(found.unknown, show_all=show_all)
    _show_summary(found.checks)


def _show_checks(checks: list[Check]) -> None:
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        mark, colour = _MARKS[check.state]
        rows.append((painted(mark, colour), check.name, check.evidence))
        if check.advice and check.state != "ok":
            rows.append(("", "", painted(f"→ {check.advice}", "dim")))
    paragraphs(rows)


def _show_summary(checks: list[Check]) -> None:
    remarks = [check.name for check in checks if check.state != "ok"]
    line()
    if remarks:
        line(painted("to look at", "bold"), f"  {', '.join(remarks)}: what to do stands above, behind →")
    else:
        line(painted("all is well", "bold"), "  nothing is unknown, broken or unreadable")


def _show_strange(unknown: list[Strange], *, show_all: bool) -> None:
    """What known agents wrote: there a new client shows. Of unknown agents everything is unknown."""
    named = unknown if show_all else [strange for strange in unknown if strange.agent is not None]
    shown = named if show_all else named[:_STRANGE_SHOWN]
    if shown:
        line()
        line(painted("unknown", "bold"), "  kinds, and keys without a name in our records; all are kept")
    for strange in shown:
        what = [strange.agent or "unknown agent", short(strange.kind, 60), strange.key or strange.why]
        line(f"{strange.count:>7,}×  {'  '.join(what)}")
        table([(painted(tilde(strange.example), "dim"),)], "<", indent=10)
    if len(shown) < len(named):
        others = count(len(named) - len(shown), "other")
        line(painted(f"  … and {others}: --all or --json lists them", "dim"))
