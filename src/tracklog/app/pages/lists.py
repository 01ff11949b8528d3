"""Lists in the browser: what is selected, a part of it in order, and details of the rows in that part.

Rules
  1. The index answers, by SQL. A server that shows only some of its logs asks lists of these (app/pages/partial.py).
  2. An open list is of one moment: whatever is written meanwhile, all its answers agree.
  3. Sessions and calls are those that `tracklog sessions` and `tracklog calls` list for the same roots.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from tracklog.archive.locate import known_log
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.stored.freshness import has_costs
from tracklog.ledger.stored.tables_costs import SessionCost as SessionCost
from tracklog.ledger.stored.tables_costs import stored_costs
from tracklog.reading.session_files import thread_of
from tracklog.sessions.listed import IN_WORDS as IN_WORDS
from tracklog.sessions.listed import SORTS as SORTS
from tracklog.sessions.listed import Cursor as Cursor
from tracklog.sessions.listed import FacetCount as FacetCount
from tracklog.sessions.listed import FacetKind

# Values that views show:
from tracklog.sessions.listed import Month as Month
from tracklog.sessions.listed import Name as Name
from tracklog.sessions.listed import Page as Page
from tracklog.sessions.listed import SelectionTotals as SelectionTotals
from tracklog.sessions.listed import SessionFilter as SessionFilter
from tracklog.sessions.listed import ShownCall as ShownCall
from tracklog.sessions.listed import TableSession as TableSession
from tracklog.sessions.listed import fits as fits
from tracklog.sessions.tables_choose import SessionSelection as SessionSelection
from tracklog.sessions.tables_choose import sessions_at
from tracklog.sessions.tables_choose_calls import CallCursor as CallCursor
from tracklog.sessions.tables_choose_calls import CallPage as CallPage
from tracklog.sessions.tables_choose_calls import CallSelection as CallSelection
from tracklog.sessions.tables_choose_calls import Sort as Sort
from tracklog.sessions.tables_choose_calls import ToolFigures as ToolFigures
from tracklog.sessions.tables_choose_calls import WantedCalls as WantedCalls
from tracklog.sessions.tables_choose_calls import rows_named
from tracklog.sessions.tables_columns import CallDetails as CallDetails
from tracklog.sessions.tables_columns import CallLine as CallLine
from tracklog.sessions.tables_columns import SubagentLine as SubagentLine
from tracklog.sessions.tables_columns import call_details, places_in_thread, subagents_of
from tracklog.sessions.tables_list_values import ListValues
from tracklog.sessions.tables_listed import MISSING, has_session, last_titled
from tracklog.sessions.tables_session import logs_of_session
from tracklog.sources.log_file import FileStamp
from tracklog.store.database import Database, reading, setting
from tracklog.store.scope import Scope

if TYPE_CHECKING:
    from tracklog.app.pages.partial import ApartSession, ApartSessions, ScopedLists

# Lazy imports: only a server that shows some of the logs reads sessions itself.

_SIDES = ("", "-wal")
_SHARE = 4  # lists of a scope are made at most one part in so many of the time
_Mark = tuple[FileStamp | None, ...]


class SessionsPage(NamedTuple):
    """The selected sessions, a page of them, and the subagents of those on it."""

    chosen: SessionSelection
    page: Page
    subagents: Mapping[int, list[SubagentLine]]


class CallsPage(NamedTuple):
    """The selected calls, a page of them, and the details and sessions of those on it."""

    chosen: CallSelection
    page: CallPage
    details: Mapping[tuple[int, int], CallDetails]
    sessions: Mapping[int, TableSession]


class Lists:
    """The lists of the logs that a server shows."""

    def __init__(self, home: Home, scope: Scope, prices: Callable[[], Prices]) -> None:
        self._home = home
        self._scope = scope
        self._prices = prices
        self._lock = Lock()
        self._made_at: _Mark | None = None  # how the index was when the lists were made
        self._scoped: ScopedLists | None = None  # None: those of the index are all in the scope
        self._apart: ApartSessions | None = None
        self._again_at = 0.0

    @contextmanager
    def opened(self) -> Iterator[OpenLists | None]:
        """The lists as they are now; None while there are none. Raises StoreError."""
        mark = mark_of(self._home)
        with reading(self._home) as database:
            if database is None:
                yield None
                return
            database.db.execute("begin")
            try:
                if setting(database.db, MISSING) is not None:
                    yield None
                    return
                scoped = self._lists_of_scope(database, mark)
                if scoped is None:
                    yield OpenLists(database, self._scope, self._prices, database.db, {})
                    return
                with self._lock:  # one connection for all
                    yield OpenLists(database, self._scope, self._prices, scoped.db, scoped.apart)
            finally:
                database.db.execute("rollback")

    def _lists_of_scope(self, database: Database, mark: _Mark) -> ScopedLists | None:
        with self._lock:
            if mark == self._made_at or time.monotonic() < self._again_at:
                return self._scoped
            if self._scope.is_everything(database.db):
                self._scoped = None
            else:
                from tracklog.app.pages.partial import ApartSessions, scoped_lists

                began = time.monotonic()
                self._apart = self._apart or ApartSessions(self._prices())
                self._scoped = scoped_lists(database, self._scope, self._apart)
                self._again_at = time.monotonic() + (time.monotonic() - began) * _SHARE
            self._made_at = mark
            return self._scoped


class OpenLists:
    """The lists at one moment."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        prices: Callable[[], Prices],
        db: sqlite3.Connection,
        apart: Mapping[int, ApartSession],
    ) -> None:
        self._database = database
        self._scope = scope
        self._prices = prices
        self._db = db
        self._apart = apart
        self._values = ListValues(db)

    @property
    def is_empty(self) -> bool:
        """Whether no session is listed."""
        return not has_session(self._db)

    @cached_property
    def is_counted(self) -> bool:
        """Whether anybody has looked at what sessions cost."""
        return has_costs(self._database.db) or bool(self._apart)

    @property
    def project_labels(self) -> dict[str, str]:
        """Projects as they are written, by their names in small letters."""
        return self._values.project_labels

    @property
    def projects(self) -> set[str]:
        """The names of projects, in small letters."""
        return set(self._values.of(FacetKind.PROJECT).values())

    def titled(self, session: str) -> str | None:
        """The title of the session with this id; of several that of the last."""
        row = last_titled(self._db, session)
        return None if row is None else self.sessions_at([row])[row].title

    def sessions_at(self, rows: Iterable[int]) -> dict[int, TableSession]:
        """The sessions with these rows."""
        return sessions_at(self._db, rows)

    def sessions_page(
        self,
        wanted: SessionFilter,
        *,
        states: Mapping[Name, str],
        sort: str,
        is_descending: bool,
        after: Cursor | None,
        most: int,
    ) -> SessionsPage:
        """A page of the sessions that fit; with a period, they cost what was spent in it."""
        spent = None
        if wanted.has_period and self.is_counted:
            spent = self._spent_during(RequestFilter(_moment(wanted.since_ms), _moment(wanted.until_ms)))
        chosen = SessionSelection(self._db, wanted, states=states, spent=spent, is_counted=self.is_counted)
        page = chosen.page(sort, is_descending=is_descending, after=after, most=most)
        return SessionsPage(
            chosen, page, self._subagents({one.row: one for one in page.sessions if one.subagents})
        )

    def _spent_during(self, wanted: RequestFilter) -> dict[str, SessionCost]:
        """What each session spent in a period."""
        prices, db = self._prices(), self._database.db
        spent = stored_costs(db, prices, wanted) if has_costs(db) else {}
        if not self._apart:
            return spent
        from tracklog.app.pages.partial import spent_apart
        from tracklog.app.scope.indexed_sessions import ScopedSessions

        sessions = ScopedSessions(self._database, self._scope)
        apart = {one.id for one in sessions.apart}
        known = {session: one for session, one in spent.items() if session not in apart}
        return known | spent_apart(sessions, prices, wanted)

    def _subagents(self, sessions: Mapping[int, TableSession]) -> dict[int, list[SubagentLine]]:
        found = subagents_of(self._database.db, [row for row in sessions if row >= 0])
        for row, lines in found.items():
            logged = _logged_threads(self._database, sessions[row])
            found[row] = [line._replace(has_log=line.thread in logged) for line in lines]
        return found | {row: self._apart[row].subagents for row in sessions if row in self._apart}

    def calls_page(
        self,
        wanted: WantedCalls,
        sessions: SessionFilter | None,
        *,
        thread: str | None,
        sort: Sort,
        is_descending: bool,
        after: CallCursor | None,
        most: int,
    ) -> CallsPage:
        """A page of the calls that fit: of all sessions, of some, or of one thread of them."""
        meant = SessionSelection(self._db, sessions) if sessions is not None else None
        if thread:
            rows = rows_named(self._db, meant, wanted.session or "")
            wanted = wanted._replace(places=self._in_thread(rows, thread))
        chosen = CallSelection(self._db, wanted, meant)
        page = chosen.page(sort, is_descending=is_descending, after=after, most=most)
        rows = list(dict.fromkeys(one.line.row for one in page.calls))
        return CallsPage(chosen, page, self._details(page.calls), self.sessions_at(rows))

    def _details(self, calls: Iterable[ShownCall]) -> dict[tuple[int, int], CallDetails]:
        asked = [(one.line.row, one.line.n) for one in calls]
        found = call_details(self._database.db, [one for one in asked if one[0] >= 0])
        for row, n in asked:
            if row in self._apart and (row, n) in self._apart[row].details:
                found[row, n] = self._apart[row].details[row, n]
        return found

    def _in_thread(self, rows: Iterable[int], thread: str) -> frozenset[tuple[int, int]]:
        """The calls that one thread of some sessions made."""
        wanted = set(rows)
        found = places_in_thread(self._database.db, [row for row in wanted if row >= 0], thread)
        for row in wanted & self._apart.keys():
            found |= {place for place, more in self._apart[row].details.items() if more.thread == thread}
        return frozenset(found)


def _logged_threads(database: Database, session: TableSession) -> set[str]:
    """The threads of a session that have a log of their own."""
    logs = logs_of_session(database.db, session.agent, session.id)
    return {thread_of(known_log(log.file, log.archived, database.home.archive)) for log in logs}


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def mark_of(home: Home) -> _Mark:
    """What differs whenever something was written to the index."""
    return tuple(_stamp(f"{home.index}{side}") for side in _SIDES)


def _stamp(path: str) -> FileStamp | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    # an empty file beside it says nothing: a reader may have made it
    return FileStamp.of(found) if found.st_size else None
