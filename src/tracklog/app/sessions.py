"""Answer `sessions`: the newest sessions with their costs, from the index if there is one, else from the logs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from tracklog.app.prices import load_prices
from tracklog.app.scope.filters import Filters, moment_of
from tracklog.app.talk import QUIET, Talk
from tracklog.home import Home, tracklog_home
from tracklog.ledger.cost_sums import NOTHING, sums_by_session, sums_in
from tracklog.ledger.cost_sums import CostSum as CostSum
from tracklog.ledger.pricing import RequestFilter
from tracklog.model.session_rules import facts_of

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tracklog.app.scope.indexed_sessions import IndexedSessions, ReadSession
    from tracklog.app.scope.read_sessions import SessionReader
    from tracklog.ledger.prices.rates import Prices
    from tracklog.model.session import Session
    from tracklog.reading.session_files import SessionFiles
    from tracklog.sessions.tables_lists import KnownSession

# Lazy imports: the list in the index needs no reader, and the one of the logs no index.

_FEW = 300  # sessions whose costs are looked up one by one


class SessionsQuery(NamedTuple):
    """Which sessions to list."""

    roots: Sequence[Path] = ()
    agent: str | None = None
    filters: Filters = Filters()
    limit: int | None = None  # at most so many, the newest
    home: Path | None = None
    syncs: bool = True  # whether the index is brought up to date first


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session as lists show it."""

    id: str
    agent: str
    path: str | None
    title: str | None
    project: str | None
    cwd: str | None
    branch: str | None
    models: list[str]
    versions: list[str]
    entrypoint: str | None
    started_at: str | None
    last_at: str | None
    state: str
    evidence: list[str]
    turns: int
    requests: int
    calls: int
    errors: int
    threads: int
    only_here: bool  # only the archive has it
    cost: CostSum = CostSum()
    period_cost: CostSum | None = None  # what was spent between `since` and `until`; None without these


class SessionList(NamedTuple):
    """The newest sessions that fit, and how many more there are."""

    sessions: list[SessionSummary]
    n_more: int
    is_sure: bool = True  # False: older logs were not read, so `n_more` is what there may be


def list_sessions(query: SessionsQuery, talk: Talk = QUIET) -> SessionList:
    """The newest sessions that fit, from the index if it knows the roots, else from the logs."""
    found = _from_index(query, talk)
    return _from_logs(query, talk) if found is None else found


def _from_index(query: SessionsQuery, talk: Talk) -> SessionList | None:
    """The list as the index knows it; None if there is none, or it knows nothing of the roots."""
    if not Home(tracklog_home(query.home)).has_index():
        return None
    from tracklog.app.index.open_ledger import indexed_ledger
    from tracklog.app.scope.indexed_sessions import IndexedSessions

    prices = load_prices(query.home)
    with indexed_ledger(
        query.roots, home=query.home, prices=prices, talk=talk, syncs=query.syncs, settles=True
    ) as index:
        if index is None:
            return None
        sessions = IndexedSessions(index, agent=query.agent, filters=query.filters)
        if sessions.is_empty:
            return None
        sessions.say_what_is_not_readable(talk)
        fitting = sorted(sessions, key=lambda one: -_seconds(one.last_at))
        listed = _summaries(sessions, fitting[: query.limit])
        priced = _priced_by_index(sessions, listed, prices, query.filters)
        return SessionList(priced, len(fitting) - len(listed))


def _summaries(
    sessions: IndexedSessions, chosen: Sequence[KnownSession | ReadSession]
) -> list[SessionSummary]:
    from tracklog.app.scope.indexed_sessions import ReadSession
    from tracklog.sessions.tables_lists import listed_sessions

    numbers = [one.row for one in chosen if not isinstance(one, ReadSession)]
    listed = dict(zip(numbers, listed_sessions(sessions.database.db, numbers), strict=True))
    made = []
    for one in chosen:
        if isinstance(one, ReadSession):
            made.append(_summary(one.session, only_here=one.is_only_here))
            continue
        row, now = listed[one.row], sessions.state_now(one)
        state = {} if now is None else {"state": now.state, "evidence": now.evidence}
        made.append(SessionSummary(**{**row.facts, **state}, only_here=row.only_here))
    return made


def _summary(session: Session, *, only_here: bool) -> SessionSummary:

    return SessionSummary(id=session.id, agent=session.agent, **facts_of(session), only_here=only_here)


def _priced_by_index(
    sessions: IndexedSessions, listed: Sequence[SessionSummary], prices: Prices, filters: Filters
) -> list[SessionSummary]:
    """The same with their costs: from the ledger, or from the logs of sessions that had to be read."""
    ids = {one.id for one in listed}

    def sums(wanted: RequestFilter) -> _Sums:
        return _Sums(
            _sums_in_ledger(sessions.database.db, ids, prices, wanted),
            _sums_of_logs(sessions.apart, prices, wanted),
        )

    whole, period = sums(RequestFilter()), sums(filters.requests_meant) if filters.has_period else None
    apart = {(one.agent, one.id) for one in sessions.apart}
    priced = []
    for one in listed:
        is_read = (one.agent, one.id) in apart
        cost = whole.of(one.id, is_read=is_read, default=CostSum())
        spent = period.of(one.id, is_read=is_read, default=NOTHING) if period is not None else None
        priced.append(replace(one, cost=cost or CostSum(), period_cost=spent))
    return priced


class _Sums(NamedTuple):
    """Costs by session: as the ledger knows them (None: it was never settled), and from logs that were read."""

    known: dict[str, CostSum] | None
    read: dict[str, CostSum]

    def of(self, session: str, *, is_read: bool, default: CostSum) -> CostSum | None:
        sums = self.read if is_read else self.known
        return None if sums is None else sums.get(session, default)


def _sums_in_ledger(
    db: Connection, ids: set[str], prices: Prices, wanted: RequestFilter
) -> dict[str, CostSum] | None:
    """Costs of at least these sessions; None if the ledger was never settled (another process writes the index)."""
    from tracklog.ledger.stored.freshness import was_settled
    from tracklog.ledger.stored.query import LedgerQuery, report_of
    from tracklog.sessions.tables_lists import logs_beside

    if not was_settled(db):
        return None
    files = None if len(ids) > _FEW else logs_beside(db, ids)
    made, _ = report_of(db, prices, LedgerQuery("session", UTC, wanted), files)
    return sums_in(made)


def _sums_of_logs(files: Sequence[SessionFiles], prices: Prices, wanted: RequestFilter) -> dict[str, CostSum]:
    if not files:
        return {}
    from tracklog.ledger.scan import spent_in  # all readers come with it

    return sums_by_session(spent_in(files), prices, wanted)


def _from_logs(query: SessionsQuery, talk: Talk) -> SessionList:
    from tracklog.app.scope.read_sessions import SessionReader  # all readers come with it

    roots, agent, filters, limit, home, _ = query
    reader = SessionReader(roots, agent=agent, filters=filters, home=home, talk=talk)
    newest = _Newest(limit)
    for session in reader.each(until=newest.is_complete_before):
        newest.add(_summary(session, only_here=reader.is_only_here(session)))
    listed = _priced_by_logs(newest.sessions(), reader, query, talk)
    n_all = newest.n_seen if newest.saw_all else len(reader.groups)
    return SessionList(listed, n_all - len(listed), is_sure=newest.saw_all)


def _priced_by_logs(
    listed: Sequence[SessionSummary], reader: SessionReader, query: SessionsQuery, talk: Talk
) -> list[SessionSummary]:
    from tracklog.ledger.scan import spent_in

    files = reader.files_of_all({(one.agent, one.id) for one in listed})
    with talk.progress("pricing") as (set_total, advance):
        set_total(sum(file.size for one in files for file in one.files))
        ledger, prices = spent_in(files, on_bytes=advance), load_prices(query.home)
    whole, filters = sums_by_session(ledger, prices), query.filters
    period = sums_by_session(ledger, prices, filters.requests_meant) if filters.has_period else None
    return [
        replace(
            one,
            cost=whole.get(one.id, CostSum()),
            period_cost=None if period is None else period.get(one.id, NOTHING),
        )
        for one in listed
    ]


class _Newest:
    """Collects the sessions that were last alive, and knows when there can be no newer one."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._kept: list[tuple[float, int, SessionSummary]] = []  # a heap where they are bounded
        self.n_seen = 0
        self.saw_all = True

    def add(self, one: SessionSummary) -> None:
        """Keep a session if it is among the newest."""
        self.n_seen += 1
        entry = (_seconds(one.last_at), -self.n_seen, one)
        if self._most is None or len(self._kept) < self._most:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def is_complete_before(self, files: SessionFiles) -> bool:
        """Whether all that were changed no later than these files are too old: nothing is written before it happens."""
        if self._most is None or len(self._kept) < self._most or files.changed_ns / 1e9 >= self._kept[0][0]:
            return False
        self.saw_all = False
        return True

    def sessions(self) -> list[SessionSummary]:
        """The newest first."""
        return [one for _, _, one in sorted(self._kept, key=lambda entry: entry[:2], reverse=True)]


def _seconds(at: str | None) -> float:
    moment = moment_of(at)
    return moment.timestamp() if moment else 0.0
