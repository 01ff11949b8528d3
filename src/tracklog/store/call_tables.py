"""All calls as a table reads them: a few values of each, and the rest of those that are shown.

Rules of this room
  1. A call is named by the row of its session and its place there.
  2. What a column could not hold stands in the rest of a call, and is taken from there.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, NamedTuple

import msgspec

from tracklog.store.call_rest import unpacked
from tracklog.store.odd_texts import as_text, storable

NO_TIME = -1
NAMELESS = "(none)"  # a tool without a name
_ASKED = (
    "select called_ms, session_row, n, name, verdict, took_ms, took_by, is_inherited, owner, "
    "case when took_ms is null and took_by is not null then rest end from call_rows"
)
_LONGEST = 300  # letters of a name
_FEW = 2000  # sessions in one question; more are asked for by asking for all


class CallLine(msgspec.Struct, gc=False, frozen=True, order=True):
    """A call, as far as one must know it to choose and to sort: they are sorted by time, row and place.

    There may be very many: the collector of garbage need not look at them.
    """

    called_ms: int  # NO_TIME: the log does not say
    row: int  # of its session
    n: int
    tool: str
    verdict: str
    took_ms: float | None
    took_by: str | None


class CopiedCall(NamedTuple):
    """A call that a session took over from another one."""

    line: CallLine
    owner: str  # the session that made it


class CallDetails(NamedTuple):
    """What a table shows of a call beside."""

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
    """The calls of some sessions, or of all (None), in no order; those that are copies apart."""
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
    """What is shown of some calls, each named by the row of its session and its place there."""
    columns = ", ".join(("call", *CallDetails._fields[1:]))
    found = db.execute(
        f"select session_row, n, {columns} from json_each(?) asked "
        "join call_rows on session_row = asked.value ->> 0 and n = asked.value ->> 1",
        (json.dumps([list(one) for one in calls]),),
    )
    return {(row, n): _details(values) for row, n, *values in found}


def places_in_thread(db: sqlite3.Connection, rows: Collection[int], thread: str) -> set[tuple[int, int]]:
    """The calls that one thread of some sessions made, each by the row of its session and its place there."""
    return set(
        db.execute(
            "select session_row, n from call_rows "
            "where session_row in (select value from json_each(?)) and thread = ?",
            (json.dumps(sorted(rows)), storable(thread)),
        )
    )


def whole(text: str) -> str:
    """A text that can be sent, and comes back from an address: half characters are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def sayable(name: str) -> str:
    """A name as an address says it: whole, no space around it, not very long."""
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
