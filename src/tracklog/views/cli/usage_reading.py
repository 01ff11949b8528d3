"""From what a person asked for to what was spent, read from the logs themselves.

A log that cannot be read to its end is said on stderr, once; what was read of it counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import UserError
from tracklog.model.books import Wanted, folders
from tracklog.model.ledger import Ledger
from tracklog.model.ledger_values import CountRule, Group, Report
from tracklog.model.report import report
from tracklog.sources.found import FileKind, LogFile
from tracklog.views.cli.choosing import find_logs
from tracklog.views.cli.filters import Filters, is_in_project
from tracklog.views.cli.own_prices import load_prices
from tracklog.views.cli.printing import talk
from tracklog.views.cli.progress import progress
from tracklog.views.cli.usage_lines import with_lines

_BY_OWNER = ("session", "thread", "project", "entrypoint")  # groups in which it matters whose a request is
_READ = frozenset(
    {FileKind.TRANSCRIPT, FileKind.DOCUMENT, FileKind.SUBAGENT}
)  # the files in which requests stand


class Asked(NamedTuple):
    """What is to be summed up, and how."""

    group: Group
    rule: CountRule
    zone: tzinfo
    filters: Filters
    as_model: str | None = None
    as_of: datetime | None = None
    with_uncertain: bool = False


class Spent(NamedTuple):
    """The answer, and what it was made from."""

    report: Report
    projects: dict[str, str]  # the folder of each session
    n_sessions: int


def spent(roots: Sequence[Path], *, agent: str | None, home: Path | None, asked: Asked) -> Spent:
    """Reads the logs and sums up what is asked for."""
    prices = load_prices(home)
    if asked.as_model is not None and prices.rates(asked.as_model) is None:
        raise UserError(
            f"no price is known for {asked.as_model}: `tracklog prices` lists the models that have one"
        )
    files = find_logs(_absolute(roots), agent=agent).files
    ledger, n_sessions = _ledger_of(files, asked) if files else (Ledger([], asked.rule), 0)
    for file, problem in sorted(ledger.problems.items()):
        talk(f"tracklog: {ledger.sources[file].path}: not readable: {problem}")
    made = report(
        ledger,
        prices,
        asked.group,
        zone=asked.zone,
        wanted=_wanted(asked.filters),
        as_model=asked.as_model,
        as_of=asked.as_of,
        with_uncertain=asked.with_uncertain,
    )
    if asked.with_uncertain:
        made.uncertain = with_lines(made.uncertain)
    return Spent(made, folders(ledger), n_sessions)


def _ledger_of(files: Sequence[LogFile], asked: Asked) -> tuple[Ledger, int]:
    # imported here because every reader comes with them: where there is nothing to read, none is needed
    from tracklog.pipeline.sessions import group
    from tracklog.pipeline.spending import spent_in

    done = 0

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    sessions = group(files)
    if asked.group == "blocks" and any(one.agent == "claude" for one in sessions):
        sessions = [one for one in sessions if one.agent == "claude"]  # its plans count in blocks, for itself
    total = sum(file.size for one in sessions for file in one.files if file.kind in _READ)
    with progress("reading", total, done=lambda: done):
        ledger = spent_in(
            sessions,
            rule=asked.rule,
            with_tools=asked.group == "tool",
            with_owners=asked.group in _BY_OWNER or asked.filters.project is not None,
            on_bytes=tell,
        )
    return ledger, len(sessions)


def _wanted(filters: Filters) -> Wanted:
    project = filters.project
    is_project = None if project is None else lambda cwd: is_in_project(cwd, project)
    return Wanted(filters.since, filters.until, filters.model, is_project)


def _absolute(roots: Sequence[Path]) -> list[Path]:
    """Evidence must be found from any folder. What is not there is reported as it was called."""
    return [root.absolute() if os.path.lexists(root) else root for root in roots]
