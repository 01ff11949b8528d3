"""What became of the calls that stand in some lines of a thread.

Rules of this room
  1. The index tells it where it knows the end of a call. Of the others the lines around them are folded, as if they were
     all there is; a verdict that a later line could change is given only if no later line is left.
  2. The index follows a log later: of a call that runs the lines themselves are always asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import NamedTuple

from tracklog.model.assemble import assemble
from tracklog.model.fold import FileFold
from tracklog.model.ids import MAIN, SessionId
from tracklog.model.life import Life
from tracklog.model.session import Call
from tracklog.pipeline.event_rows import Row
from tracklog.pipeline.thread_rows import ThreadReading
from tracklog.store.session_lists import KnownSession
from tracklog.store.session_logs import calls_called, calls_on

_AHEAD = 1_000  # lines in which the result of a call is looked for
_OPEN = frozenset({"running", "lost", "abandoned"})
RowName = tuple[int, int]  # line and number of a row


class Asked(NamedTuple):
    """Of which session, and what is known of it."""

    agent: str
    session: str
    known: KnownSession | None
    db: Connection | None
    is_settled: bool
    life: Life
    now: datetime


def calls_in(asked: Asked, reading: ThreadReading, rows: Sequence[Row]) -> dict[RowName, Call]:
    """What became of the calls in some rows, by row; those of which nobody knows yet are not there."""
    ours = [row for row in rows if row.kind == "call"]
    found = _matched(reading, ours, _told_by_index(asked, reading, ours))
    unsure = [row for row in ours if _is_unsure(found.get((row.seq, row.n)), is_settled=asked.is_settled)]
    if unsure:
        span = (unsure[0].seq, unsure[-1].seq)
        found |= _matched(reading, unsure, _folded(asked, reading, span))
    return found


def _is_unsure(call: Call | None, *, is_settled: bool) -> bool:
    if call is None or call.verdict == "running":
        return True
    return call.verdict in _OPEN and not is_settled


def _told_by_index(asked: Asked, reading: ThreadReading, rows: Sequence[Row]) -> list[Call]:
    """The calls that the index knows under these ids; where a line holds another one, all of that line."""
    if asked.known is None or asked.db is None or not rows:
        return []
    by_id = [
        one.call for one in calls_called(asked.db, asked.known, sorted({row.call or "" for row in rows}))
    ]
    matched = _matched(reading, rows, by_id)
    odd = {row.seq for row in rows if (row.seq, row.n) not in matched}
    lines = {place[1] for seq in odd if (place := reading.lines.place_of(seq)) is not None}
    return by_id + [one.call for one in calls_on(asked.db, asked.known, sorted(lines))]


def _matched(reading: ThreadReading, rows: Sequence[Row], calls: Sequence[Call]) -> dict[RowName, Call]:
    """Each row with its call: the one that stands in its line, under its id or one made of it (model/thread_fold.py)."""
    standing: dict[int, list[Call]] = {}
    for call in calls:
        if call.evidence and (seq := reading.lines.seq_of(call.evidence[0].path, call.evidence[0].line)):
            standing.setdefault(seq, []).append(call)
    found: dict[RowName, Call] = {}
    for row in rows:
        here = standing.get(row.seq, [])
        meant = next(
            (one for one in here if one.id == row.call or one.id.startswith(_made_id(row, one))), None
        )
        if meant is not None:
            found[row.seq, row.n] = meant
            standing[row.seq] = [one for one in here if one is not meant]
    return found


def _made_id(row: Row, call: Call) -> str:
    """What the id of a call begins with that had none, or not one of its own."""
    place = call.evidence[0]
    return f"{row.call or place.path}:{place.line}:"


def _folded(asked: Asked, reading: ThreadReading, span: tuple[int, int]) -> list[Call]:
    """What the lines from a span on tell by themselves."""
    first, last = span
    until = min(last + _AHEAD, reading.lines.n)
    place = reading.lines.place_of(first)
    if place is None:
        return []
    fold = FileFold(str(place[0].path), MAIN, with_text=False)
    told = reading.told(first, until)
    for _, event in told:
        event.is_sidechain = False
        fold.add([event])
    session = assemble(
        [fold],
        session=SessionId(asked.session),
        agent=asked.agent,
        life=asked.life,
        now=asked.now,
        with_text=False,
    )
    is_all = until >= reading.lines.n
    return [call for call in session.calls if is_all or call.verdict not in _OPEN]
