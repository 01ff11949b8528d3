"""`tracklog doctor`: how healthy the logs are, and how much of them is understood."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from tracklog.pipeline.survey import Strange, Survey
from tracklog.sources.found import LogFile
from tracklog.views.cli import coverage
from tracklog.views.cli.check import Check
from tracklog.views.cli.checks import all_checks
from tracklog.views.cli.choosing import Found, find_logs
from tracklog.views.cli.drawing import Cell, line, painted, paragraphs, table
from tracklog.views.cli.ending import NOT_FINE
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.places import skipped_rows
from tracklog.views.cli.printing import answer_json, count, short, tilde
from tracklog.views.cli.progress import progress

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
    by: str,
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
    found, kept = _told_apart(find_logs(roots, agent=agent, home=tracklog_home(home)))
    survey = survey_of(found)
    checks = all_checks(found, survey, home=tracklog_home(home), given=roots, n_kept=len(kept))
    if as_json:
        answer_json(_document(checks, survey, found))
    else:
        _show(checks, survey, by=by, show_all=show_all)
    if any(check.state == "fail" for check in checks):
        raise click.exceptions.Exit(NOT_FINE)


def _told_apart(found: Found) -> tuple[Found, list[LogFile]]:
    """What stands at its source, and the logs that only the archive has; their folders may be gone."""
    kept = [file for file in found.files if file.stored is not None]
    gone = {
        root.path
        for root in found.roots
        if any(file.path.is_relative_to(root.path.absolute()) for file in kept)
    }
    here = [file for file in found.files if file.stored is None]
    return found._replace(files=here, skipped=[one for one in found.skipped if one.path not in gone]), kept


def survey_of(found: Found) -> Survey:
    """Reads all files, with a progress bar if that takes long."""
    survey = Survey()
    with progress("reading", found.bytes, done=lambda: survey.bytes):
        for file in found.files:
            survey.add(file)
    return survey


def _document(checks: list[Check], survey: Survey, found: Found) -> dict[str, object]:
    return {
        "checks": [check._asdict() for check in checks],
        "coverage": msgspec.to_builtins(survey.coverage),
        "unknown": msgspec.to_builtins(survey.unknown),
        "broken": survey.broken,
        "skipped": skipped_rows([*found.skipped, *survey.skipped]),
    }


def _show(checks: list[Check], survey: Survey, *, by: str, show_all: bool) -> None:
    _show_checks(checks)
    if survey.coverage:
        coverage.show(survey.coverage, by=by, most=None if show_all else _KINDS_SHOWN)
    _show_strange(survey.unknown, show_all=show_all)
    _show_summary(checks)


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
