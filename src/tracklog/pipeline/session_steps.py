"""The next prompt or error of a thread, from a line on: what the keys of its page ask for.

Rules of this room
  1. The index says where prompts stand, calls that failed, answers that are errors, and lines that were not understood.
     Of what else is said beside the talk it knows only where: those lines are looked at, MOST_LOOKED at most.
  2. A line that is not shown, as it stands on a branch that is not followed, is passed by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from sqlite3 import Connection
from typing import Literal, NamedTuple

from tracklog.pipeline.session_page import SessionHead
from tracklog.pipeline.thread_branches import Seen
from tracklog.pipeline.thread_lines import ThreadLines
from tracklog.pipeline.thread_rows import ThreadReading
from tracklog.store.session_places import LogLine, places_of_asides, places_of_errors, places_of_prompts

What = Literal["prompt", "error"]
MOST_LOOKED = 500
_PLACES: dict[What, Callable[[Connection, int], list[LogLine]]] = {
    "prompt": places_of_prompts,
    "error": places_of_errors,
}


class NextLine(NamedTuple):
    """Where the next one stands; `is_sure`: if there is none, there really is none."""

    seq: int | None = None
    is_sure: bool = False


def next_line(
    db: Connection,
    head: SessionHead,
    reading: ThreadReading,
    what: What,
    *,
    after: int | None = None,
    before: int | None = None,
    seen: Seen | None = None,
) -> NextLine:
    """The first prompt or error behind a line, or the last one before it; `seen`: only of what is shown there."""
    known = lines_of(db, head, reading.lines, what)
    asides = _asides(db, head, reading.lines) if what == "error" else set()
    to_look = MOST_LOOKED
    for seq in in_order({*known, *asides}, after=after, before=before, seen=seen):
        if seq not in known:
            to_look -= 1
        if to_look < 0:
            return NextLine()
        if seq in known or _is_bad(reading, seq):
            return NextLine(seq, head.is_settled)
    return NextLine(None, head.is_settled)


def _is_bad(reading: ThreadReading, seq: int) -> bool:
    return any(
        row.is_bad and row.kind != "result" for row in reading.rows(seq, seq)
    )  # a result belongs to its call


def lines_of(db: Connection, head: SessionHead, lines: ThreadLines, what: What) -> set[int]:
    """The lines of a thread with prompts or errors; none while the index does not know the session."""
    return set() if head.known is None else _seqs(head, lines, _PLACES[what](db, head.known.row))


def _asides(db: Connection, head: SessionHead, lines: ThreadLines) -> set[int]:
    """The lines that must be looked at to know whether they tell of an error."""
    files = [head.numbers[path] for file in lines.files if (path := str(file.path)) in head.numbers]
    return _seqs(head, lines, places_of_asides(db, files)) if head.known is not None else set()


def _seqs(head: SessionHead, lines: ThreadLines, places: Iterable[LogLine]) -> set[int]:
    paths = {number: path for path, number in head.numbers.items()}
    found = (lines.seq_of(paths[place.file], place.line) for place in places if place.file in paths)
    return {seq for seq in found if seq is not None}


def in_order(
    seqs: Iterable[int], *, after: int | None = None, before: int | None = None, seen: Seen | None = None
) -> Iterator[int]:
    """Of some lines those behind one, or those before one, nearest first; `seen`: only those that are shown there."""
    if before is not None:
        candidates = sorted((seq for seq in seqs if seq < before), reverse=True)
    else:
        candidates = sorted(seq for seq in seqs if seq > (after or 0))
    heads = {turn.seq for turn in seen.turns if turn.is_head} if seen is not None else set()
    return (seq for seq in candidates if seen is None or seq in heads or _is_shown(seen, seq))


def _is_shown(seen: Seen, seq: int) -> bool:
    return not seen.left_lines(seq, seq)
