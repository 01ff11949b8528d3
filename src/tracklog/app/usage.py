"""Answer `usage`: from the index where that can tell, else from the logs; and find the lines of uncertain requests.

A log that cannot be read to its end is reported, once; what was read of it counts.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.agents.supported import support_for
from tracklog.app.prices import load_prices
from tracklog.app.scope.filters import Filters, is_in_project
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import UserError
from tracklog.home import Home, tracklog_home
from tracklog.ledger.blocks import Burn as Burn  # what the rows of blocks say more
from tracklog.ledger.blocks import block_end as block_end
from tracklog.ledger.blocks import burn as burn
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter, folders
from tracklog.model.events import Place
from tracklog.model.usage import CountRule, Entry, Group, UsageReport
from tracklog.sources.gc_pause import no_collecting
from tracklog.sources.line_at import line_numbers
from tracklog.sources.log_file import FileKind, LogFile

# Lazy imports: sums in the index need no reader and no report of logs.

UNKNOWN = 0  # where a log is gone, or was cut, since it was read


def with_lines(entries: Sequence[Entry], kept: Iterable[LogFile] = ()) -> list[Entry]:
    """The requests, oldest first, with line numbers instead of offsets.

    `kept` are logs whose bytes no longer stand at their path.
    """
    log_at = {str(log.path): log for log in kept}
    offsets: dict[str, set[int]] = defaultdict(set)
    for entry in entries:
        offsets[entry.place.path].add(entry.place.line)
    numbers = {path: line_numbers(log_at.get(path, Path(path)), ours) for path, ours in offsets.items()}

    def numbered(entry: Entry) -> Entry:
        path, offset = entry.place.path, entry.place.line
        return msgspec.structs.replace(entry, place=Place(path, numbers[path].get(offset, UNKNOWN)))

    return sorted(map(numbered, entries), key=lambda entry: (entry.at or "", entry.place, entry.key))


_BY_OWNER = ("session", "thread", "project", "entrypoint")  # groups in which it matters whose a request is
_READ = frozenset({FileKind.TRANSCRIPT, FileKind.DOCUMENT, FileKind.SUBAGENT})  # the files that hold requests


class UsageQuery(NamedTuple):
    """What to sum up, and how."""

    group: Group
    rule: CountRule
    zone: tzinfo
    filters: Filters
    as_model: str | None = None
    as_of: datetime | None = None
    with_uncertain: bool = False


class UsageResult(NamedTuple):
    """The answer, and what it was made from."""

    report: UsageReport
    projects: dict[str, str]  # the folder of each session
    n_sessions: int


def spent(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    asked: UsageQuery,
    syncs: bool = True,
    talk: Talk = QUIET,
) -> UsageResult:
    """Answer a question: from the index where that can tell, else from the logs."""
    prices = load_prices(home)
    if asked.as_model is not None and prices.rates(asked.as_model) is None:
        raise UserError(
            f"no price is known for {asked.as_model}: `tracklog prices` lists the models that have one"
        )
    roots = _absolute(roots)
    if asked.rule == "ours" and Home(tracklog_home(home)).has_index():
        found = _from_index(roots, agent=agent, home=home, asked=asked, prices=prices, syncs=syncs, talk=talk)
        if found is not None:
            return found
    return _from_logs(roots, agent=agent, home=home, asked=asked, prices=prices, talk=talk)


def _from_index(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    asked: UsageQuery,
    prices: Prices,
    syncs: bool,
    talk: Talk,
) -> UsageResult | None:
    """Answer from the index; None where it cannot tell."""
    # imported here because without an index nothing of it is needed
    from tracklog.app.index.open_ledger import indexed_ledger
    from tracklog.ledger.stored.query import LedgerQuery, answer

    group, _, zone, filters, as_model, as_of, with_uncertain = asked
    question = LedgerQuery(group, zone, _wanted(filters), as_model, as_of, with_uncertain)
    has_tools = group == "tool"
    with (
        no_collecting(),
        indexed_ledger(
            roots, home=home, prices=prices, talk=talk, syncs=syncs, with_tools=has_tools
        ) as index,
    ):
        if index is None:
            return None
        found = answer(index.database.db, prices, question, scope=index.scope, agent=agent)
        if found is None:
            return None
        if with_uncertain:
            from tracklog.archive.locate import logs_beyond

            kept = logs_beyond(index.database, index.scope, ())
            found.report.uncertain = with_lines(found.report.uncertain, kept)
    _tell_problems(found.problems, talk)
    return UsageResult(found.report, found.projects, found.n_sessions)


def _from_logs(
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    asked: UsageQuery,
    prices: Prices,
    talk: Talk,
) -> UsageResult:
    from tracklog.app.scope.resolve import find_logs  # where there is an index, nobody looks for logs

    files = find_logs(roots, agent=agent, home=tracklog_home(home), talk=talk).files
    if not files:
        return _summed_up(Ledger([], asked.rule), [], prices, asked, n_sessions=0, talk=talk)

    with no_collecting():
        ledger, n_sessions = _ledger_of(files, asked, talk)
        return _summed_up(ledger, files, prices, asked, n_sessions=n_sessions, talk=talk)


def _summed_up(
    ledger: Ledger,
    files: Sequence[LogFile],
    prices: Prices,
    asked: UsageQuery,
    *,
    n_sessions: int,
    talk: Talk,
) -> UsageResult:
    from tracklog.ledger.report import report

    _tell_problems([(ledger.sources[file].path, why) for file, why in sorted(ledger.problems.items())], talk)
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
    return UsageResult(made, folders(ledger), n_sessions)


def _tell_problems(problems: Sequence[tuple[str, str]], talk: Talk) -> None:
    for path, why in problems:
        talk.say(f"tracklog: {path}: not readable: {why}")


def _ledger_of(files: Sequence[LogFile], asked: UsageQuery, talk: Talk) -> tuple[Ledger, int]:
    # imported here because every reader comes with them: where there is nothing to read, none is needed
    from tracklog.ledger.scan import spent_in
    from tracklog.reading.session_files import group

    sessions = group(files)
    if asked.group == "blocks":  # an agent whose plans count in blocks has them for itself
        sessions = [one for one in sessions if support_for(one.agent).usage.counts_in_blocks] or sessions
    total = sum(file.size for one in sessions for file in one.files if file.kind in _READ)
    by_owner = asked.group in _BY_OWNER or asked.filters.project is not None
    with talk.progress("reading") as (set_total, advance):
        set_total(total)
        ledger = spent_in(
            sessions,
            rule=asked.rule,
            with_tools=asked.group == "tool",
            with_owners=by_owner,
            on_bytes=advance,
        )
    if by_owner:
        from tracklog.ledger.scan import settle_folders

        settle_folders(ledger, sessions)
    if not by_owner and ledger.elsewhere and _has_compactions(ledger):
        from tracklog.ledger.owners import settle_owners  # what is hidden is listed by session

        settle_owners(ledger, sessions)
    return ledger, len(sessions)


def _has_compactions(ledger: Ledger) -> bool:
    beside = (one for aside in ledger.asides.values() for one in aside.beside)
    return any(what == "compaction" for what, _, _ in beside)


def _wanted(filters: Filters) -> RequestFilter:
    project = filters.project
    is_project = None if project is None else lambda cwd: is_in_project(cwd, project)
    return RequestFilter(filters.since, filters.until, filters.model, is_project)


def _absolute(roots: Sequence[Path]) -> list[Path]:
    """Evidence must be found from any folder. What is not there is reported as it was called."""
    return [root.absolute() if os.path.lexists(root) else root for root in roots]
