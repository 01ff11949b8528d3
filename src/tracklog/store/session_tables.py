"""All sessions as a table reads them: whole rows at once, and only what changed of what is larger.

Rules of this room
  1. A row tells whether its session was put anew: then its values differ, or the number of its first call.
  2. Sums over parts of a session are asked for the sessions that changed.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from tracklog.store.odd_texts import as_text

_LEDGER_MARKS = (
    "select log.file, log.session, log.component, log.generation, log.contents_bytes, "
    "(select max(rowid) from sum_rows own where own.file = log.file) from ledger_logs log where is_counted"
)
_AT_ONCE = 5000  # sessions in one question; more are asked for by asking for all


class SessionLine(msgspec.Struct, gc=False, frozen=True):
    """A row of `session_rows`, as far as tables show it; there may be very many (call_tables.py)."""

    row: int
    agent: str
    session: str
    is_listed: int
    only_here: int
    path: str | None
    title: str | None
    project: str | None
    cwd: str | None
    cwds: str | None  # JSON; None: no other than `cwd`
    branch: str | None
    models: str | None  # JSON
    started_at: str | None
    last_at: str | None
    state: str | None
    turns: int | None
    requests: int | None
    calls: int | None
    errors: int | None
    first_call: int | None  # the number of its row


class SubagentLine(NamedTuple):
    """A thread below the main one."""

    thread: str
    type: str | None
    description: str | None
    state: str | None
    calls: int | None
    has_log: bool = True  # of its own


class LedgerMark(msgspec.Struct, gc=False, frozen=True):
    """What a log was counted with; the same mark, the same sums."""

    session: str
    component: int
    generation: int
    contents_bytes: int
    last_sum: int | None  # the number of its last row of sums


_COLUMNS = ", ".join(("id", *SessionLine.__struct_fields__[1:-1]))
_LINES = f"select {_COLUMNS}, (select c.id from call_rows c where c.session_row = s.id and c.n = 0) from session_rows s"


def session_lines(db: sqlite3.Connection) -> dict[int, SessionLine]:
    """All sessions that have a row, by its number."""
    return {row[0]: SessionLine(*_texts(row)) for row in db.execute(_LINES)}


def active_times(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, float]:
    """For how long the turns of some sessions lasted, in milliseconds, where that is known."""
    asked = (
        "select session_row, sum(took_ms) from turn_rows "
        "where thread = 'main' and not is_inherited and {} group by session_row"
    )
    return {row: ms for row, ms in _asked_of(db, asked, rows) if ms is not None}


def subagent_counts(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, int]:
    """How many subagents some sessions have that did more than get ready."""
    asked = (
        "select session_row, count(*) from thread_rows "
        "where n > 0 and not coalesce(is_warmup, 0) and {} group by session_row"
    )
    return dict(_asked_of(db, asked, rows))


def subagents_of(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, list[SubagentLine]]:
    """The same subagents one by one, in the order of their session."""
    asked = (
        "select session_row, thread, type, description, state, calls from thread_rows "
        "where n > 0 and not coalesce(is_warmup, 0) and {} order by session_row, n"
    )
    found: dict[int, list[SubagentLine]] = {}
    for row, *values in _asked_of(db, asked, rows):
        found.setdefault(row, []).append(SubagentLine(*_texts(tuple(values))))
    return found


def ledger_marks(db: sqlite3.Connection) -> dict[int, LedgerMark]:
    """The logs that are counted, by their numbers."""
    return {row[0]: LedgerMark(as_text(row[1]), *row[2:]) for row in db.execute(_LEDGER_MARKS)}


def _asked_of(db: sqlite3.Connection, asked: str, rows: Collection[int]) -> Iterable[tuple[Any, ...]]:
    """The answers for some sessions; where these are many, all of the table are looked at."""
    if len(rows) <= _AT_ONCE:
        some = "session_row in (select value from json_each(?))"
        return db.execute(asked.format(some), (json.dumps(sorted(rows)),)).fetchall()
    wanted = set(rows)
    return [one for one in db.execute(asked.format("true")) if one[0] in wanted]


def _texts(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(as_text, row)) if bytes in map(type, row) else row
