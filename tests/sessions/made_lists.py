"""Lists of sessions and calls in a database in memory, written by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Set
from typing import Any

from tracklog.ledger.stored.tables_costs import SessionCost, put_costs
from tracklog.sessions.listed import ShownCall, TableSession
from tracklog.sessions.tables_columns import CallLine, SessionLine
from tracklog.sessions.tables_listed import put_line, put_listed
from tracklog.store.migrate import migrate

Place = tuple[int, int]
Use = tuple[str, str]  # tool and verdict


def table_session(n: int, **more: Any) -> TableSession:
    """A session with this number."""
    known: dict[str, Any] = {
        "row": n,
        "agent": "claude",
        "id": f"id-{n}",
        "title": f"session {n}",
        "project": "Alpha",
        "folders": ("/work/Alpha",),
        "projects": ("alpha",),
        "branch": None,
        "models": ("claude-opus-4-6",),
        "started_at": None,
        "last_at": None,
        "started_ms": 0,
        "last_ms": 1000,
        "state": "ended",
        "turns": 1,
        "calls": 2,
        "errors": 0,
        "subagents": 0,
        "active_ms": 1000.0,
        "only_here": False,
    }
    return TableSession(**{**known, **more})


def lists_of(
    sessions: Iterable[tuple[TableSession, Iterable[Use]]] = (),
    spent: Mapping[str, SessionCost] | None = None,
) -> sqlite3.Connection:
    """The lists of some sessions, each with a call of each use."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    for one, uses in sessions:
        lines = (CallLine(-1, one.row, n, *use, None, None) for n, use in enumerate(sorted(uses)))
        _put(db, one, [ShownCall(line, is_copy=False) for line in lines])
    put_costs(db, spent or {}, gone=())
    return db


def lists_of_calls(calls: Iterable[CallLine], copies: Set[Place] = frozenset()) -> sqlite3.Connection:
    """The lists of some calls, and of a session for each of their rows."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    by_row: dict[int, list[ShownCall]] = {}
    for line in calls:
        by_row.setdefault(line.row, []).append(ShownCall(line, (line.row, line.n) in copies))
    for row, some in by_row.items():
        _put(db, table_session(row), some)
    return db


def _put(db: sqlite3.Connection, one: TableSession, calls: list[ShownCall]) -> None:
    known = dict.fromkeys(SessionLine.__struct_fields__)
    line = {**known, "row": one.row, "agent": one.agent, "session": one.id, "is_listed": 1, "only_here": 0}
    put_line(db, SessionLine(**{**line, "title": one.title}))  # type: ignore[arg-type]
    put_listed(db, one, calls)
