"""Lists for a server that shows only some of the logs that the index knows.

Rules
  1. They are made as the index makes its own, in a database in memory: of the sessions in the scope what the index knows,
     of sessions with only some logs in the scope what these logs say, as if there were no more.
  2. A session is not read again while its logs are the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import NamedTuple

from tracklog.app.scope.indexed_sessions import ScopedSessions
from tracklog.clock import NO_TIME, moment_ms
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.report import report
from tracklog.ledger.scan import spent_in as counted_in
from tracklog.ledger.stored.tables_costs import SessionCost, costs_at, costs_in, put_costs
from tracklog.model.call_summary import told
from tracklog.model.ids import ThreadId
from tracklog.model.session import Call, Session
from tracklog.model.session_rules import facts_of, is_listed
from tracklog.reading.session_files import SessionFiles, thread_of
from tracklog.sessions.listed import ShownCall
from tracklog.sessions.rows import json_text
from tracklog.sessions.tables_columns import (
    NAMELESS,
    CallDetails,
    CallLine,
    CopiedCall,
    SessionLine,
    SubagentLine,
    active_times,
    call_lines,
    sayable,
    session_lines,
    subagent_counts,
)
from tracklog.sessions.tables_listed import listed_of, put_line, put_listed
from tracklog.sources.log_file import FileStamp
from tracklog.store.database import Database
from tracklog.store.migrate import migrate
from tracklog.store.scope import Scope

Name = tuple[str, str]  # agent and session
_Stamp = tuple[tuple[str, FileStamp], ...]


class ApartSession(NamedTuple):
    """A session that was read, as the index would list it."""

    line: SessionLine
    active_ms: float | None
    subagents: list[SubagentLine]
    calls: list[CallLine]
    copies: list[CopiedCall]
    details: dict[tuple[int, int], CallDetails]


class ScopedLists(NamedTuple):
    """The lists of a scope, and the sessions that had to be read."""

    db: sqlite3.Connection
    apart: Mapping[int, ApartSession]


def scoped_lists(database: Database, scope: Scope, read: ApartSessions) -> ScopedLists:
    """Makes the lists of a scope."""
    sessions = ScopedSessions(database, scope)
    apart = read.bring_up_to_date(sessions)
    rows = [one.row for one in sessions.known]
    lines, active = session_lines(database.db, rows), active_times(database.db, rows)
    subagents = subagent_counts(database.db, rows)
    own, copied = call_lines(database.db, rows)
    for row, one in apart.items():
        lines[row] = one.line
        subagents[row] = len(one.subagents)
        if one.active_ms is not None:
            active[row] = one.active_ms
        own += one.calls
        copied += one.copies
    calls: dict[int, list[ShownCall]] = {}
    for line in own:
        calls.setdefault(line.row, []).append(ShownCall(line, is_copy=False))
    ids = sessions.ids
    for copy in copied:
        if copy.owner not in ids:
            calls.setdefault(copy.line.row, []).append(ShownCall(copy.line, is_copy=True))
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(db)
    db.execute("begin")
    for row, session in lines.items():
        if session.is_listed:
            put_line(db, session)
            shown = calls.get(row, [])
            put_listed(db, listed_of(session, active, subagents, shown), shown)
    known = costs_at(database.db, (one.id for one in sessions.known))
    put_costs(db, {**known, **read.spent(sessions)}, gone=())
    db.execute("commit")
    return ScopedLists(db, apart)


class ApartSessions:
    """The sessions of a scope that the index cannot tell of."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._read: dict[Name, tuple[_Stamp, ApartSession | None]] = {}
        self._rows: dict[Name, int] = {}
        self._counted: tuple[list[_Stamp], dict[str, SessionCost]] = ([], {})

    def bring_up_to_date(self, sessions: ScopedSessions) -> dict[int, ApartSession]:
        """All that are listed, each by a number of its own that is below 0."""
        before, self._read = self._read, {}
        for files in sessions.apart:
            name, stamp = (str(files.agent), files.id), _stamp(files)
            old = before.get(name)
            if old is not None and old[0] == stamp:
                self._read[name] = old
            else:
                row = self._rows.setdefault(name, -len(self._rows) - 1)
                self._read[name] = (stamp, _read(sessions, files, row))
        return {one.line.row: one for _, one in self._read.values() if one is not None}

    def spent(self, sessions: ScopedSessions) -> dict[str, SessionCost]:
        """What they cost."""
        stamps = [_stamp(files) for files in sessions.apart]
        if stamps != self._counted[0]:
            self._counted = (stamps, spent_apart(sessions, self._prices, RequestFilter()))
        return self._counted[1]


def spent_apart(sessions: ScopedSessions, prices: Prices, wanted: RequestFilter) -> dict[str, SessionCost]:
    """What those of a scope spent with the requests that are meant."""
    if not sessions.apart:
        return {}
    ledger = counted_in(sessions.apart)
    return costs_in(report(ledger, prices, "session", zone=UTC, wanted=wanted))


def _stamp(files: SessionFiles) -> _Stamp:
    return tuple((str(file.path), file.stamp) for file in files.files)


def _read(sessions: ScopedSessions, files: SessionFiles, row: int) -> ApartSession | None:
    session = sessions.read(files)
    if not is_listed(session):
        return None
    times = [turn.took_ms for turn in session.turns if not turn.is_inherited and turn.took_ms is not None]
    lines = [(_line(call, row, n), call) for n, call in enumerate(session.calls_by_thread)]
    return ApartSession(
        line=_session_line(session, row, only_here=files.is_only_here),
        active_ms=sum(times) if times else None,
        subagents=list(_subagents(session, set(map(thread_of, files.files)))),
        calls=[line for line, call in lines if not call.is_inherited],
        copies=[CopiedCall(line, call.session) for line, call in lines if call.is_inherited],
        details={(row, line.n): _details(call, session.cwd) for line, call in lines},
    )


def _session_line(session: Session, row: int, *, only_here: bool) -> SessionLine:
    facts = facts_of(session)
    return SessionLine(
        row=row,
        agent=session.agent,
        session=session.id,
        is_listed=1,
        only_here=int(only_here),
        cwds=json_text(session.cwds) if len(session.cwds) > 1 else None,
        models=json_text(session.models),
        first_call=None,
        **{name: facts[name] for name in SessionLine.__struct_fields__ if name in facts and name != "models"},
    )


def _subagents(session: Session, logged: set[ThreadId]) -> Iterable[SubagentLine]:
    for thread in session.threads[1:]:
        if not thread.is_warmup:
            told = (thread.id, thread.type, thread.description, thread.state, len(thread.calls))
            yield SubagentLine(*told, has_log=thread.id in logged)


def _line(call: Call, row: int, n: int) -> CallLine:
    called_ms = moment_ms(call.called_at)
    took_ms = None if call.took_ms is None else float(call.took_ms)
    return CallLine(
        called_ms if called_ms != NO_TIME else -1,
        row,
        n,
        sayable(call.name) or NAMELESS,
        call.verdict,
        took_ms,
        call.took_by,
    )


def _details(call: Call, cwd: str | None) -> CallDetails:
    return CallDetails(
        call=call.id,
        thread=call.thread,
        called_at=call.called_at,
        returned_at=call.returned_at,
        outcome=call.outcome,
        sureness=call.sureness,
        why=call.why,
        timed_out=call.timed_out,
        did=told(call.arguments, cwd),
        error=call.error,
    )
