"""The tables of all sessions and calls, kept in memory beside the index and brought up to date as it changes.

Rules of this room
  1. A shot of the tables never changes: who asked one question goes on with the same answers.
  2. When the index has changed, only the sessions are taken in anew that did. Work goes on beside; who has an older
     shot waits for it a moment and no longer; of very many sessions it is not done at every change.
  3. Sessions and calls are those that `tracklog sessions` and `tracklog calls` list for the same roots.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Lock, Thread
from typing import NamedTuple

from msgspec.structs import replace

from tracklog.app.old_lists.call_tables import CallTable
from tracklog.app.old_lists.costs import SessionCost, SessionCosts, spent_during
from tracklog.app.old_lists.partial import ApartSession, ApartSessions, spent_apart
from tracklog.app.old_lists.sets import SessionTable, TableSession, Use
from tracklog.app.scope.indexed_sessions import ScopedSessions
from tracklog.archive.locate import known_log
from tracklog.clock import moment_ms
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.model.session_rules import last_part
from tracklog.reading.session_files import thread_of
from tracklog.sessions.tables_columns import (
    CallDetails,
    CallLine,
    CopiedCall,
    SessionLine,
    SubagentLine,
    active_times,
    call_details,
    call_lines,
    places_in_thread,
    sayable,
    session_lines,
    subagent_counts,
    subagents_of,
    whole,
)
from tracklog.sessions.tables_lists import texts_in
from tracklog.sessions.tables_session import logs_of_session
from tracklog.sources.log_file import FileStamp
from tracklog.store.database import Database, reading
from tracklog.store.scope import Scope

PATIENCE_S = 0.12
_LONG_S = 0.2  # who takes longer to bring the tables up to date
_SHARE = 4  # does so at most one part in so many of the time
_SIDES = ("", "-wal")
_UNUSED: frozenset[Use] = frozenset()
_Mark = tuple[FileStamp | None, ...]


class Shot(NamedTuple):
    """The tables at one moment."""

    sessions: SessionTable
    calls: CallTable
    by_row: Mapping[int, TableSession]
    apart: Mapping[int, ApartSession]

    def subagents(self, database: Database, rows: Iterable[int]) -> dict[int, list[SubagentLine]]:
        """The subagents of some sessions."""
        wanted = list(rows)
        found = subagents_of(database.db, [row for row in wanted if row >= 0])
        for row, lines in found.items():
            logged = _logged_threads(database, self.by_row[row])
            found[row] = [line._replace(has_log=line.thread in logged) for line in lines]
        return found | {row: self.apart[row].subagents for row in wanted if row in self.apart}

    def details(self, database: Database, calls: Iterable[CallLine]) -> dict[tuple[int, int], CallDetails]:
        """The rest of some calls; of those that the index has put elsewhere since nothing is told."""
        asked = [(one.row, one.n) for one in calls]
        found = call_details(database.db, [one for one in asked if one[0] >= 0])
        for row, n in asked:
            if row in self.apart and (row, n) in self.apart[row].details:
                found[row, n] = self.apart[row].details[row, n]
        return found

    def in_thread(
        self, database: Database | None, rows: Iterable[int], thread: str
    ) -> frozenset[tuple[int, int]]:
        """The calls that one thread of some sessions made."""
        wanted = set(rows)
        known = [row for row in wanted if row >= 0]
        found = places_in_thread(database.db, known, thread) if database is not None else set()
        for row in wanted & self.apart.keys():
            found |= {place for place, more in self.apart[row].details.items() if more.thread == thread}
        return frozenset(found)


def _logged_threads(database: Database, session: TableSession) -> set[str]:
    """The threads of a session that have a log of their own."""
    logs = logs_of_session(database.db, session.agent, session.id)
    return {thread_of(known_log(log.file, log.archived, database.home.archive)) for log in logs}


class Tables:
    """Gives out shots of the tables of an index."""

    def __init__(
        self, home: Home, scope: Scope, prices: Callable[[], Prices], *, patience_s: float = PATIENCE_S
    ) -> None:
        self._home = home
        self._scope = scope
        self._prices = prices
        self._patience_s = patience_s
        self._lock = Lock()
        self._growing: _Growing | None = None
        self._shot: Shot | None = None
        self._made_at: _Mark | None = None  # how the index stood
        self._work: Thread | None = None
        self._failure: Exception | None = None
        self._again_at = 0.0

    def shot(self) -> Shot | None:
        """The tables as the index tells them now, or a moment ago; None if there is none."""
        mark = mark_of(self._home)
        with self._lock:
            is_fresh = mark == self._made_at or time.monotonic() < self._again_at
            if is_fresh and self._failure is None and self._made_at is not None:
                return self._shot
            work = self._work or self._begin()
            has_older = self._shot is not None
        work.join(self._patience_s if has_older else None)
        with self._lock:
            if self._failure is not None:
                raise self._failure
            return self._shot

    def spent_during(self, database: Database, wanted: RequestFilter) -> dict[str, SessionCost] | None:
        """What each session of these tables spent in a period; None: nothing was counted yet."""
        spent = spent_during(database.db, self._prices(), wanted)
        if self._scope.is_everything(database.db):
            return spent
        sessions = ScopedSessions(database, self._scope)
        apart = {one.id for one in sessions.apart}
        known = {session: one for session, one in (spent or {}).items() if session not in apart}
        return known | spent_apart(sessions, self._prices(), wanted) if apart else spent

    def warm(self) -> None:
        """Begins to make the first tables, so that nobody waits for them."""
        with self._lock:
            if self._work is None and self._made_at is None:
                self._begin()

    def _begin(self) -> Thread:
        self._failure = None
        self._work = Thread(target=self._run, name="tables", daemon=True)
        self._work.start()
        return self._work

    def _run(self) -> None:
        mark, began = mark_of(self._home), time.monotonic()
        shot, failure = None, None
        try:
            shot = self._made(mark)
        except Exception as error:  # a door: it is raised again where it was asked for
            failure = error
            self._growing = None
        with self._lock:
            self._work, self._failure = None, failure
            if failure is None:
                self._shot, self._made_at = shot, mark
            took_s = time.monotonic() - began
            self._again_at = time.monotonic() + (took_s * _SHARE if took_s > _LONG_S else 0.0)

    def _made(self, mark: _Mark) -> Shot | None:
        with reading(self._home) as database:
            if database is None:
                self._growing = None
                return None
            inode = mark[0].inode if mark[0] else 0
            if (
                self._growing is None or self._growing.inode != inode
            ):  # another index: rows have other numbers
                self._growing = _Growing(self._prices(), inode)
            database.db.execute("begin")  # all of it as it stood at one moment
            try:
                shot = self._growing.take_in(database, self._scope)
            finally:
                database.db.execute("rollback")
        shot.sessions.prepare()
        shot.calls.prepare()
        return shot


def mark_of(home: Home) -> _Mark:
    """What differs whenever something was written to the index."""
    return tuple(_stamp(f"{home.index}{side}") for side in _SIDES)


def _stamp(path: str) -> FileStamp | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    # an empty file beside it says nothing: who only reads may have made it
    return FileStamp.of(found) if found.st_size else None


class _Growing:
    """What is known of one index, while it grows."""

    def __init__(self, prices: Prices, inode: int) -> None:
        self.inode = inode
        self._costs = SessionCosts(prices)
        self._apart = ApartSessions(prices)
        self._lines: dict[int, SessionLine] = {}
        self._sessions: dict[int, TableSession] = {}
        self._uses: dict[int, frozenset[Use]] = {}
        self._calls: list[CallLine] = []  # in the order of their times, copies aside
        self._copies: dict[int, list[CopiedCall]] = {}
        self._models: dict[str, tuple[str, ...]] = {}
        self._last: tuple[int, tuple[list[CallLine], list[CopiedCall]]] | None = None
        self._table = CallTable()

    def take_in(self, database: Database, scope: Scope) -> Shot:
        """Takes in what has changed."""
        db = database.db
        lines = session_lines(db)
        changed = self._changed(lines) | self._put_last(database, lines)
        gone = self._lines.keys() - lines.keys()
        self._take_calls(database, changed, gone)
        active, subagents = active_times(db, changed), subagent_counts(db, changed)
        for row in gone:
            self._sessions.pop(row, None)
        for row in changed:
            self._sessions[row] = self._session(lines[row], active.get(row), subagents.get(row, 0))
        self._lines = lines
        self._costs.bring_up_to_date(db)
        return self._shot(database, scope)

    def _changed(self, lines: Mapping[int, SessionLine]) -> set[int]:
        """The sessions that were put anew."""
        old = self._lines
        return {row for row, line in lines.items() if old.get(row) != line}

    def _take_calls(self, database: Database, changed: set[int], gone: Iterable[int]) -> None:
        stale = changed.union(gone)
        if not stale:
            return
        is_first = not self._lines
        own, copied = call_lines(database.db, None if is_first else changed)
        kept = [] if is_first else [one for one in self._calls if one.row not in stale]
        self._calls = sorted([*kept, *own])
        for row in stale:
            self._copies.pop(row, None)
            self._uses.pop(row, None)
        for copy in copied:
            self._copies.setdefault(copy.line.row, []).append(copy)
        self._uses |= _uses(own)

    def _put_last(self, database: Database, lines: Mapping[int, SessionLine]) -> set[int]:
        """The session whose calls were written last, if they are others than before.

        Numbers of calls grow, but for the last: who is put again there may have the same ones.
        """
        last = max(lines.values(), key=lambda line: line.first_call or 0, default=None)
        if last is None or last.first_call is None:
            return set()
        calls = call_lines(database.db, [last.row])
        before, self._last = self._last, (last.row, calls)
        return {last.row} if before is not None and before[0] == last.row and before[1] != calls else set()

    def _session(self, line: SessionLine, active_ms: float | None, subagents: int) -> TableSession:
        folders = tuple(map(whole, _folders(line)))
        made = TableSession(
            row=line.row,
            agent=line.agent,
            id=line.session,
            title=whole(line.title) if line.title else None,
            project=(sayable(line.project) or None) if line.project else None,
            folders=folders,
            projects=tuple(dict.fromkeys(filter(None, map(_project, folders)))),
            branch=whole(line.branch) if line.branch else None,
            models=self._models_in(line.models),
            started_at=line.started_at,
            last_at=line.last_at,
            started_ms=moment_ms(line.started_at),
            last_ms=moment_ms(line.last_at),
            state=line.state or "unknown",
            turns=line.turns or 0,
            calls=line.calls or 0,
            errors=line.errors or 0,
            subagents=subagents,
            active_ms=active_ms,
            only_here=bool(line.only_here),
        )
        if active_ms is not None and made.wall_ms is not None and active_ms > made.wall_ms:
            return replace(made, active_ms=float(made.wall_ms))  # turns whose times contradict each other
        return made

    def _models_in(self, text: str | None) -> tuple[str, ...]:
        if text is None:
            return ()
        made = self._models.get(text)
        if made is None:
            made = self._models[text] = tuple(dict.fromkeys(filter(None, map(sayable, texts_in(text)))))
        return made

    def _shot(self, database: Database, scope: Scope) -> Shot:
        rows, sessions = self._rows_meant(database, scope)
        apart = self._apart.bring_up_to_date(sessions) if sessions is not None else {}
        ids = {line.session for row, line in self._lines.items() if row in rows}
        ids |= {one.id for one in sessions.apart} if sessions is not None else set()
        listed = [row for row in rows if self._lines[row].is_listed]
        copies = {row: _orphans(self._copies[row], ids) for row in listed if row in self._copies}
        made = [self._with_calls(row, copies.get(row, [])) for row in listed]
        made += [self._read(one, ids) for one in apart.values()]
        orphans = [*copies.values(), *(_orphans(one.copies, ids) for one in apart.values())]
        calls = self._calls_of(listed, [*orphans, *(one.calls for one in apart.values())])
        self._keep_table(calls, {(one.row, one.n) for some in orphans for one in some})
        spent = self._costs.spent if self._costs.is_counted else None
        if sessions is not None and apart:
            spent = {**(spent or {}), **self._apart.spent(sessions)}
        by_row = {one.row: one for one in made}
        return Shot(SessionTable(made, spent), self._table, by_row, apart)

    def _keep_table(self, calls: list[CallLine], copies: set[tuple[int, int]]) -> None:
        """What was worked out about calls holds as long as they are the same."""
        if self._table.calls is not calls or self._table.copies != copies:
            self._table = CallTable(calls, copies)

    def _rows_meant(self, database: Database, scope: Scope) -> tuple[set[int], ScopedSessions | None]:
        """The sessions of a scope that the index can tell of; the others, if there are any."""
        if scope.is_everything(database.db):
            return set(self._lines), None
        sessions = ScopedSessions(database, scope)
        return {one.row for one in sessions.known}, sessions

    def _with_calls(self, row: int, orphans: list[CallLine]) -> TableSession:
        session, uses = self._sessions[row], self._uses.get(row, _UNUSED)
        if orphans:
            uses = uses.union((one.tool, one.verdict) for one in orphans)
        if session.uses != uses or session.copies != len(orphans):
            session = replace(session, uses=uses, copies=len(orphans))  # older shots keep theirs
            self._sessions[row] = session
        return session

    def _read(self, apart: ApartSession, ids: set[str]) -> TableSession:
        session = self._session(apart.line, apart.active_ms, len(apart.subagents))
        calls = _apart_calls(apart, ids)
        session.uses = frozenset((one.tool, one.verdict) for one in calls)
        session.copies = len(calls) - len(apart.calls)
        return session

    def _calls_of(self, listed: list[int], more: Iterable[list[CallLine]]) -> list[CallLine]:
        added = [one for some in more for one in some]
        unlisted = self._lines.keys() - set(listed)
        kept = [one for one in self._calls if one.row not in unlisted] if unlisted else self._calls
        return sorted([*kept, *added]) if added else kept


def _uses(calls: Iterable[CallLine]) -> dict[int, frozenset[Use]]:
    found: dict[int, set[Use]] = {}
    for one in calls:
        found.setdefault(one.row, set()).add((one.tool, one.verdict))
    same: dict[frozenset[Use], frozenset[Use]] = {}  # most sets are like another
    return {row: same.setdefault(one, one) for row, one in ((row, frozenset(s)) for row, s in found.items())}


def _orphans(copies: Iterable[CopiedCall], ids: set[str]) -> list[CallLine]:
    """Copies whose original stands in none of the sessions that are meant."""
    return [copy.line for copy in copies if copy.owner not in ids]


def _apart_calls(apart: ApartSession, ids: set[str]) -> list[CallLine]:
    return [*apart.calls, *_orphans(apart.copies, ids)]


def _project(folder: str) -> str:
    return sayable(last_part(folder)).lower()


def _folders(line: SessionLine) -> list[str]:
    named = texts_in(line.cwds) if line.cwds is not None else []
    return list(dict.fromkeys([*named, line.cwd] if line.cwd else named))
