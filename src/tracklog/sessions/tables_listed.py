"""Write what lists of sessions and calls filter, count and sort by.

Rules
  1. It is written in the transaction that writes the rows of a session, and made from these rows.
  2. A copied call is listed if no session with the id of its owner is known. A session that comes or goes therefore
     changes the lists of those that copied from it.
  3. Values get a number when they are first seen, and keep it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping

from tracklog.sessions.listed import (
    FacetKind,
    ShownCall,
    TableSession,
    facets_of,
    sort_text,
    table_session,
)
from tracklog.sessions.tables_columns import (
    CopiedCall,
    SessionLine,
    active_times,
    call_lines,
    session_lines,
    subagent_counts,
)
from tracklog.store.surrogates import storable

MISSING = "lists"  # the setting of an index whose lists an earlier version did not write
_AT_ONCE = 500  # sessions


def refresh_lists(db: sqlite3.Connection, rows: Collection[int]) -> None:
    """Makes the lists of some sessions from their rows."""
    lines = session_lines(db, rows)
    active, subagents = active_times(db, rows), subagent_counts(db, rows)
    own, copied = call_lines(db, rows)
    shown: dict[int, list[ShownCall]] = {}
    for one in own:
        shown.setdefault(one.row, []).append(ShownCall(one, is_copy=False))
    for copy in _without_original(db, copied):
        shown.setdefault(copy.line.row, []).append(ShownCall(copy.line, is_copy=True))
    for row in rows:
        drop_listed(db, row)
        line = lines.get(row)
        if line is not None and line.is_listed:
            put_listed(db, listed_of(line, active, subagents, calls := shown.get(row, [])), calls)


def listed_of(
    line: SessionLine, active: Mapping[int, float], subagents: Mapping[int, int], calls: Iterable[ShownCall]
) -> TableSession:
    """A session with what is known of its turns, subagents and calls."""
    copies = sum(one.is_copy for one in calls)
    return table_session(
        line, active_ms=active.get(line.row), subagents=subagents.get(line.row, 0), copies=copies
    )


def refresh_copies(db: sqlite3.Connection, session: str) -> None:
    """Makes the lists of the sessions that copied calls of this one, which came or went."""
    asked = "select distinct session_row from call_rows where is_inherited and owner = ?"
    rows = [row for (row,) in db.execute(asked, (storable(session),))]
    if rows:
        refresh_lists(db, rows)


def fill_lists(db: sqlite3.Connection) -> None:
    """Makes the lists of all sessions, for an index of an earlier version."""
    rows = [row for (row,) in db.execute("select id from session_rows order by id")]
    for start in range(0, len(rows), _AT_ONCE):
        refresh_lists(db, rows[start : start + _AT_ONCE])
    db.execute("delete from settings where name = ?", (MISSING,))


def put_line(db: sqlite3.Connection, line: SessionLine) -> None:
    """Writes the row of a session that another database has, or none."""
    names = SessionLine.__struct_fields__[1:-1]
    columns = ("id", "is_settled", *names)
    values = (line.row, 1, *(storable(getattr(line, name)) for name in names))
    db.execute(
        f"insert into session_rows ({', '.join(columns)}) values ({', '.join('?' * len(values))})", values
    )


def put_listed(db: sqlite3.Connection, session: TableSession, calls: Collection[ShownCall]) -> None:
    """Writes the lists of one session, which has none."""
    values = (
        session.row,
        session.agent,
        storable(session.id),
        session.state,
        session.started_ms,
        session.last_ms,
        session.turns,
        session.calls,
        session.errors,
        session.subagents,
        session.copies,
        session.active_ms,
        session.wall_ms,
        sort_text(session.title),
        sort_text(session.project),
        sort_text(session.models[0]) if session.models else None,
        session.words,
    )
    db.execute(f"insert into list_rows values ({', '.join('?' * len(values))})", values)
    numbers = _numbers(
        db, {*facets_of(session, calls), *((FacetKind.CALLED, one.line.tool) for one in calls)}
    )
    db.executemany(
        "insert into facets values (?, ?)",
        [(number, session.row) for (kind, _), number in numbers.items() if kind is not FacetKind.CALLED],
    )
    db.executemany(
        "insert into list_calls values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                line.called_ms,
                line.row,
                line.n,
                numbers[FacetKind.CALLED, line.tool],
                line.verdict,
                line.took_ms,
                line.took_by,
                is_copy,
            )
            for line, is_copy in calls
        ),
    )


def drop_listed(db: sqlite3.Connection, row: int) -> None:
    """Deletes the lists of one session."""
    for table in ("list_rows", "facets", "list_calls"):
        db.execute(f"delete from {table} where row = ?", (row,))


def has_session(db: sqlite3.Connection) -> bool:
    """Whether any session is listed."""
    return db.execute("select 1 from list_rows limit 1").fetchone() is not None


def last_titled(db: sqlite3.Connection, session: str) -> int | None:
    """The row of the session with this id that has a title; of several the last."""
    asked = "select row from list_rows where session = ? and title is not null order by last_ms desc, agent desc limit 1"
    found = db.execute(asked, (storable(session),)).fetchone()
    return None if found is None else int(found[0])


def _numbers(
    db: sqlite3.Connection, values: Collection[tuple[FacetKind, str]]
) -> dict[tuple[FacetKind, str], int]:
    """The numbers of some values; new ones get one."""
    found: dict[tuple[FacetKind, str], int] = {}
    for kind, name in sorted(values):
        row = db.execute("select id from list_values where kind = ? and name = ?", (kind, name)).fetchone()
        if row is None:
            row = db.execute(
                "insert into list_values (kind, name) values (?, ?) returning id", (kind, name)
            ).fetchone()
        found[kind, name] = row[0]
    return found


def _without_original(db: sqlite3.Connection, copied: Collection[CopiedCall]) -> Iterator[CopiedCall]:
    """The copies whose original no known session has."""
    if not copied:
        return
    owners = sorted({one.owner for one in copied})
    known = {
        owner
        for owner in owners
        if db.execute("select 1 from session_rows where session = ?", (storable(owner),)).fetchone()
    }
    yield from (one for one in copied if one.owner not in known)
