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
from tracklog.model.prices import Prices
from tracklog.sources.found import FileKind, LogFile
from tracklog.store.home import Home
from tracklog.views.cli.filters import Filters, is_in_project
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.own_prices import load_prices
from tracklog.views.cli.printing import talk
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


def spent(
    roots: Sequence[Path], *, agent: str | None, home: Path | None, asked: Asked, syncs: bool = True
) -> Spent:
    """Sums up what is asked for: from the index where that can tell, else from the logs."""
    prices = load_prices(home)
    if asked.as_model is not None and prices.rates(asked.as_model) is None:
        raise UserError(
            f"no price is known for {asked.as_model}: `tracklog prices` lists the models that have one"
        )
    roots = _absolute(roots)
    if asked.rule == "ours" and Home(tracklog_home(home)).has_index():
        found = _from_index(roots, agent=agent, home=home, asked=asked, prices=prices, syncs=syncs)
        if found is not None:
            return found
    return _from_logs(roots, agent=agent, home=home, asked=asked, prices=prices)


def _from_index(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    asked: Asked,
    prices: Prices,
    syncs: bool,
) -> Spent | None:
    """What the index says; None where it cannot tell."""
    # imported here because without an index nothing of it is needed
    from tracklog.pipeline.collecting import no_collecting
    from tracklog.pipeline.ledger_answers import Question, answer
    from tracklog.views.cli.indexed_ledger import indexed_ledger

    group, _, zone, filters, as_model, as_of, with_uncertain = asked
    question = Question(group, zone, _wanted(filters), as_model, as_of, with_uncertain)
    has_tools = group == "tool"
    with (
        no_collecting(),
        indexed_ledger(roots, home=home, prices=prices, syncs=syncs, with_tools=has_tools) as index,
    ):
        if index is None:
            return None
        found = answer(index.database.db, prices, question, scope=index.scope, agent=agent)
        if found is None:
            return None
        if with_uncertain:
            from tracklog.pipeline.known_logs import logs_beyond

            kept = logs_beyond(index.database, index.scope, ())
            found.report.uncertain = with_lines(found.report.uncertain, kept)
    _tell_problems(found.problems)
    return Spent(found.report, found.projects, found.n_sessions)


def _from_logs(
    roots: Sequence[Path], *, agent: str | None, home: Path | None, asked: Asked, prices: Prices
) -> Spent:
    from tracklog.views.cli.choosing import find_logs  # where there is an index, nobody looks for logs

    files = find_logs(roots, agent=agent, home=tracklog_home(home)).files
    if not files:
        return _summed_up(Ledger([], asked.rule), [], prices, asked, n_sessions=0)
    from tracklog.pipeline.collecting import no_collecting  # no reader where there is nothing to read

    with no_collecting():
        ledger, n_sessions = _ledger_of(files, asked)
        return _summed_up(ledger, files, prices, asked, n_sessions=n_sessions)


def _summed_up(
    ledger: Ledger, files: Sequence[LogFile], prices: Prices, asked: Asked, *, n_sessions: int
) -> Spent:
    from tracklog.model.report import report

    _tell_problems([(ledger.sources[file].path, why) for file, why in sorted(ledger.problems.items())])
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
        made.uncertain = with_lines(made.uncertain, [file for file in files if file.stored is not None])
    return Spent(made, folders(ledger), n_sessions)


def _tell_problems(problems: Sequence[tuple[str, str]]) -> None:
    for path, why in problems:
        talk(f"tracklog: {path}: not readable: {why}")


def _ledger_of(files: Sequence[LogFile], asked: Asked) -> tuple[Ledger, int]:
    # imported here because every reader comes with them: where there is nothing to read, none is needed
    from tracklog.pipeline.sessions import group
    from tracklog.pipeline.spending import spent_in
    from tracklog.views.cli.progress import progress

    done = 0

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    sessions = group(files)
    if asked.group == "blocks" and any(one.agent == "claude" for one in sessions):
        sessions = [one for one in sessions if one.agent == "claude"]  # its plans count in blocks, for itself
    total = sum(file.size for one in sessions for file in one.files if file.kind in _READ)
    by_owner = asked.group in _BY_OWNER or asked.filters.project is not None
    with progress("reading", total, done=lambda: done):
        ledger = spent_in(
            sessions,
            rule=asked.rule,
            with_tools=asked.group == "tool",
            with_owners=by_owner,
            on_bytes=tell,
        )
    if by_owner:
        from tracklog.pipeline.first_folders import settle_folders

        settle_folders(ledger, sessions)
    if not by_owner and ledger.elsewhere and _has_compactions(ledger):
        from tracklog.pipeline.owners import settle_owners  # what is hidden is listed by session

        settle_owners(ledger, sessions)
    return ledger, len(sessions)


def _has_compactions(ledger: Ledger) -> bool:
    beside = (one for aside in ledger.asides.values() for one in aside.beside)
    return any(what == "compaction" for what, _, _ in beside)


def _wanted(filters: Filters) -> Wanted:
    project = filters.project
    is_project = None if project is None else lambda cwd: is_in_project(cwd, project)
    return Wanted(filters.since, filters.until, filters.model, is_project)


def _absolute(roots: Sequence[Path]) -> list[Path]:
    """Evidence must be found from any folder. What is not there is reported as it was called."""
    return [root.absolute() if os.path.lexists(root) else root for root in roots]
