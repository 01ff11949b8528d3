"""All sessions and calls as the tables of pages need them: few columns of each, details on request.

Rules
  1. A call is identified by the row of its session and its number in the session.
  2. A value that its column could not hold is in the rest of a call, and is read from there.
  3. A row shows whether its session was replaced: then its values differ, or the number of its first call.
  4. Sums over the parts of sessions are queried only for sessions that changed.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, NamedTuple

import msgspec

from tracklog.sessions.tables_calls import unpacked
from tracklog.store.surrogates import as_text, storable

NO_TIME = -1
NAMELESS = "(none)"  # a tool without a name
_ASKED = (
    "select called_ms, session_row, n, name, verdict, took_ms, took_by, is_inherited, owner, "
    "case when took_ms is null and took_by is not null then rest end from call_rows"
)
_LONGEST = 300  # letters of a name
_FEW = 2000  # sessions in one question; more are asked for by asking for all


class CallLine(msgspec.Struct, gc=False, frozen=True, order=True):
    """A call with what filters and sorting need; calls sort by time, row and number.

    There may be very many: the garbage collector does not track them.
    """

    called_ms: int  # NO_TIME: the log does not say
    row: int  # of its session
    n: int
    tool: str
    verdict: str
    took_ms: float | None
    took_by: str | None


class CopiedCall(NamedTuple):
    """A call that a session copied from another one."""

    line: CallLine
    owner: str  # the session that made it


class CallDetails(NamedTuple):
    """The further values of a call that a table shows."""

    call: str
    thread: str
    called_at: str | None
    returned_at: str | None
    outcome: str | None
    sureness: str
    why: str | None
    timed_out: bool
    did: str
    error: str | None


def call_lines(
    db: sqlite3.Connection, rows: Collection[int] | None
) -> tuple[list[CallLine], list[CopiedCall]]:
    """The calls of some sessions, or of all (None), in no order: own ones and copies."""
    own: list[CallLine] = []
    copied: list[CopiedCall] = []
    for row in _lines(db, rows):
        called_ms, session_row, n, name, verdict, took_ms, took_by, is_copy, owner, rest = row
        if rest is not None:
            took_ms = _odd_time(rest)
        line = CallLine(
            NO_TIME if called_ms is None else called_ms,
            session_row,
            n,
            intern(sayable(as_text(name)) or NAMELESS),
            intern(verdict),
            took_ms,
            intern(took_by) if took_by is not None else None,
        )
        if is_copy:
            copied.append(CopiedCall(line, as_text(owner) or ""))
        else:
            own.append(line)
    return own, copied


def call_details(
    db: sqlite3.Connection, calls: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], CallDetails]:
    """Details of some calls, each given by the row of its session and its number in it."""
    columns = ", ".join(("call", *CallDetails._fields[1:]))
    found = db.execute(
        f"select session_row, n, {columns} from json_each(?) asked "
        "join call_rows on session_row = asked.value ->> 0 and n = asked.value ->> 1",
        (json.dumps([list(one) for one in calls]),),
    )
    return {(row, n): _details(values) for row, n, *values in found}


def places_in_thread(db: sqlite3.Connection, rows: Collection[int], thread: str) -> set[tuple[int, int]]:
    """The calls of one thread of some sessions, each as the row of its session and its number in it."""
    return set(
        db.execute(
            "select session_row, n from call_rows "
            "where session_row in (select value from json_each(?)) and thread = ?",
            (json.dumps(sorted(rows)), storable(thread)),
        )
    )


def whole(text: str) -> str:
    """A text that is valid UTF-8 in an address: lone surrogates are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def sayable(name: str) -> str:
    """A name as addresses contain it: valid UTF-8, stripped, and cut to a limit."""
    return whole(name[:_LONGEST]).strip()


def _lines(db: sqlite3.Connection, rows: Collection[int] | None) -> Iterator[tuple[Any, ...]]:
    if rows is None:
        return db.execute(_ASKED)
    if len(rows) <= _FEW:
        some = json.dumps(sorted(rows))
        return db.execute(f"{_ASKED} where session_row in (select value from json_each(?))", (some,))
    wanted = set(rows)
    return (row for row in db.execute(_ASKED) if row[1] in wanted)


def _odd_time(rest: bytes) -> float | None:
    value = unpacked(rest).odd.get("took_ms")
    try:
        return float(value) if isinstance(value, (int, float)) else None
    except OverflowError:
        return None


def _details(values: Iterable[Any]) -> CallDetails:
    made = CallDetails(*map(as_text, values))
    return made._replace(timed_out=bool(made.timed_out), did=made.did or "")


_AT_ONCE = 5000  # sessions in one question; more are asked for by asking for all


class SessionLine(msgspec.Struct, gc=False, frozen=True):
    """The columns of `session_rows` that tables show; there may be very many rows (app/pages/partial.py)."""

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
    """The thread of a subagent."""

    thread: str
    type: str | None
    description: str | None
    state: str | None
    calls: int | None
    has_log: bool = True  # of its own


_COLUMNS = ", ".join(("id", *SessionLine.__struct_fields__[1:-1]))
_LINES = f"select {_COLUMNS}, (select c.id from call_rows c where c.session_row = s.id and c.n = 0) from session_rows s"


def session_lines(db: sqlite3.Connection, rows: Collection[int] | None = None) -> dict[int, SessionLine]:
    """The rows of some sessions, or of all (None), by their numbers."""
    if rows is None:
        found = db.execute(_LINES)
    else:
        found = db.execute(
            f"{_LINES} where s.id in (select value from json_each(?))", (json.dumps(list(rows)),)
        )
    return {row[0]: SessionLine(*_texts(row)) for row in found}


def active_times(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, float]:
    """Milliseconds that the turns of some sessions lasted, where known."""
    asked = (
        "select session_row, sum(took_ms) from turn_rows "
        "where thread = 'main' and not is_inherited and {} group by session_row"
    )
    return {row: ms for row, ms in _asked_of(db, asked, rows) if ms is not None}


def subagent_counts(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, int]:
    """Number of subagents per session, without those that only warmed up."""
    asked = (
        "select session_row, count(*) from thread_rows "
        "where n > 0 and not coalesce(is_warmup, 0) and {} group by session_row"
    )
    return dict(_asked_of(db, asked, rows))


def subagents_of(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, list[SubagentLine]]:
    """The subagents of some sessions, in order, without those that only warmed up."""
    asked = (
        "select session_row, thread, type, description, state, calls from thread_rows "
        "where n > 0 and not coalesce(is_warmup, 0) and {} order by session_row, n"
    )
    found: dict[int, list[SubagentLine]] = {}
    for row, *values in _asked_of(db, asked, rows):
        found.setdefault(row, []).append(SubagentLine(*_texts(tuple(values))))
    return found


def _asked_of(db: sqlite3.Connection, asked: str, rows: Collection[int]) -> Iterable[tuple[Any, ...]]:
    """Runs a query for some sessions; if these are many, over the whole table."""
    if len(rows) <= _AT_ONCE:
        some = "session_row in (select value from json_each(?))"
        return db.execute(asked.format(some), (json.dumps(sorted(rows)),)).fetchall()
    wanted = set(rows)
    return [one for one in db.execute(asked.format("true")) if one[0] in wanted]


def _texts(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(as_text, row)) if bytes in map(type, row) else row
