"""Write sessions with their parts as rows: insert, replace, mark and delete.

Rules
  1. A session's rows are replaced all at once, in the caller's transaction; the number of its own row stays the same.
  2. A session that is known but not settled has a row too, so that it is settled later.
  3. Texts are passed in a form that SQLite accepts (store/surrogates.py).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tracklog.store.surrogates import as_text, storable
from tracklog.store.values import SessionRows

# Lazy imports: answers from the index load this module, and write no list.

Name = tuple[str, str]  # agent and session
_RECENT_MS = 24 * 3600 * 1000  # rows of an earlier version that are younger are made again

_COLUMNS = (
    "is_listed, path, title, project, cwd, cwds, branch, models, versions, entrypoint, started_at, last_at, last_ms, "
    "state, turns, requests, calls, errors, threads, forked_from, not_understood, signs, life, evidence"
)
_NAMES = tuple(_COLUMNS.split(", "))
_PARTS = {
    "thread_rows": 13,
    "turn_rows": 13,
    "prompt_rows": 9,
    "request_rows": 17,
    "branch_rows": 8,
    "problem_rows": 5,
}
_CALL_COLUMNS = (
    "session_row, n, call, call_key, owner, thread, turn, request, name, verdict, outcome, sureness, why, timed_out, "
    "called_at, called_ms, returned_at, took_ms, took_by, exit_code, on_active_branch, is_inherited, file, line, did, "
    "error, rest"
)


def put_session(db: sqlite3.Connection, rows: SessionRows, *, only_here: bool) -> None:
    """Replaces the rows of a session by those of its settled state."""
    from tracklog.sessions.tables_listed import refresh_lists

    row = _row_of(db, rows.agent, rows.session)
    if row is None:
        row = _put_bare(db, rows.agent, rows.session)
    else:
        _drop_parts(db, row)
    changes = ", ".join(f"{name} = ?" for name in _NAMES)
    values = [*(rows.session_row[name] for name in _NAMES), only_here, row]
    db.execute(f"update session_rows set is_settled = 1, {changes}, only_here = ? where id = ?", values)
    _put_parts(db, row, rows)
    refresh_lists(db, [row])


def knows_more(db: sqlite3.Connection, rows: SessionRows) -> bool:
    """Whether the stored rows know more than new ones, because a log that was read before is now unreadable.

    New rows with more turns than before count as newer all the same: then its other logs grew.
    """
    if not rows.unread:
        return False
    asked = "select 1 from log_files where id in (select value from json_each(?)) and contents_bytes > 0"
    was_read = db.execute(asked, (json.dumps(rows.unread),)).fetchone()
    name = (rows.agent, storable(rows.session))
    found = db.execute("select turns from session_rows where agent = ? and session = ?", name).fetchone()
    turns = found[0] if found is not None else None
    return was_read is not None and turns is not None and turns >= (rows.session_row["turns"] or 0)


def mark_settled(db: sqlite3.Connection, agent: str, session: str) -> None:
    """Marks the rows of a session as up to date, as far as possible now."""
    name = (agent, storable(session))
    db.execute("update session_rows set is_settled = 1 where agent = ? and session = ?", name)


def drop_session(db: sqlite3.Connection, agent: str, session: str) -> None:
    """Deletes a session."""
    from tracklog.sessions.tables_listed import drop_listed, refresh_copies

    row = _row_of(db, agent, session)
    if row is not None:
        _drop_parts(db, row)
        drop_listed(db, row)
        db.execute("delete from session_rows where id = ?", (row,))
        refresh_copies(db, session)


def mark_unsettled(db: sqlite3.Connection, names: Iterable[Name]) -> None:
    """Marks sessions whose rows are missing or older than their logs."""
    for agent, session in names:
        row = _row_of(db, agent, session)
        if row is None:
            _put_bare(db, agent, session)
        else:
            db.execute("update session_rows set is_settled = 0 where id = ?", (row,))


def unsettled(db: sqlite3.Connection) -> list[Name]:
    """Sessions whose rows are stale: their logs changed, or an earlier version made recent ones."""
    found = db.execute(
        "select agent, session from session_rows where is_settled = 0 "
        "or (is_listed and signs is null and state is not null and last_ms > ?)",
        (time.time_ns() // 1_000_000 - _RECENT_MS,),
    )
    return [(agent, as_text(session)) for agent, session in found]


class RestingRow(NamedTuple):
    """A session whose state or verdicts may have changed since."""

    agent: str
    session: str
    path: str | None
    state: str
    life: str | None
    last_ms: int  # 0: its logs name no moment
    signs: bytes | None
    evidence: str | None


def resting_rows(db: sqlite3.Connection, alive: Collection[str], *, since_ms: int) -> Iterator[RestingRow]:
    """Settled sessions that may change without a new line: unfinished, recent, or in `alive` (ids or paths)."""
    found = db.execute(
        f"select {', '.join(RestingRow._fields)} from session_rows where is_settled and signs is not null and "
        "(state not in ('ended', 'crashed') or life is not null or last_ms > ?1 or session in (select value from "
        "json_each(?2)) or path in (select value from json_each(?2)))",
        (since_ms, json.dumps(sorted(alive))),
    )
    return (
        RestingRow(
            row[0],
            as_text(row[1]),
            as_text(row[2]) if row[2] is not None else None,
            row[3],
            row[4],
            row[5] or 0,
            *row[6:],
        )
        for row in found
    )


def put_states(db: sqlite3.Connection, states: Mapping[Name, tuple[str, str]]) -> None:
    """Stores the current states of sessions, each with a JSON list of its evidence."""
    db.executemany(
        "update session_rows set state = ?, evidence = ? where agent = ? and session = ?",
        [(*state, agent, storable(session)) for (agent, session), state in states.items()],
    )
    db.executemany(
        "update list_rows set state = ? where row = (select id from session_rows where agent = ? and session = ?)",
        [(state, agent, storable(session)) for (agent, session), (state, _) in states.items()],
    )


def _row_of(db: sqlite3.Connection, agent: str, session: str) -> int | None:
    name = (agent, storable(session))
    found = db.execute("select id from session_rows where agent = ? and session = ?", name).fetchone()
    return None if found is None else int(found[0])


def _put_bare(db: sqlite3.Connection, agent: str, session: str) -> int:
    from tracklog.sessions.tables_listed import refresh_copies

    made = db.execute(
        "insert into session_rows (agent, session, is_settled, is_listed, only_here) values (?, ?, 0, 0, 0)",
        (agent, storable(session)),
    )
    assert made.lastrowid is not None
    refresh_copies(db, session)
    return made.lastrowid


def _drop_parts(db: sqlite3.Connection, row: int) -> None:
    for table in ("call_rows", *_PARTS):
        db.execute(f"delete from {table} where session_row = ?", (row,))


def _put_parts(db: sqlite3.Connection, row: int, rows: SessionRows) -> None:
    parts = (rows.threads, rows.turns, rows.prompts, rows.requests, rows.branches, rows.problems)
    for (table, n_columns), part in zip(_PARTS.items(), parts, strict=True):
        db.executemany(
            f"insert into {table} values ({_marks(n_columns)})", ((row, *values) for values in part)
        )
    marks = _marks(_CALL_COLUMNS.count(",") + 1)
    db.executemany(
        f"insert into call_rows ({_CALL_COLUMNS}) values ({marks})", ((row, *values) for values in rows.calls)
    )


def _marks(n: int) -> str:
    return ", ".join("?" * n)


def session_names(db: sqlite3.Connection) -> set[Name]:
    """All sessions that have a row."""
    return {
        (agent, as_text(session)) for agent, session in db.execute("select agent, session from session_rows")
    }


def mark_only_here(db: sqlite3.Connection, names: Iterable[Name] | None = None) -> None:
    """Sets `only_here` of these or all sessions: the main thread (or if none, every thread) is only in the archive."""
    logs = (
        "select 1 from log_files f where f.session = session_rows.session and f.agent = session_rows.agent "
        "and f.state <> 'past' and f.kind in "
    )
    mains, threads = "('transcript', 'document')", "('transcript', 'document', 'subagent')"
    gone = (
        f"(case when exists ({logs} {mains}) then not exists ({logs} {mains} and f.state = 'here') "
        f"else exists ({logs} {threads}) and not exists ({logs} {threads} and f.state = 'here') end)"
    )
    update = f"update session_rows set only_here = {gone}"
    if names is None:
        db.execute(f"{update} where only_here <> {gone}")
    else:
        db.executemany(
            f"{update} where agent = ? and session = ?", [(agent, storable(id)) for agent, id in names]
        )
