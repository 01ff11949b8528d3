"""The next prompt or error of a thread, from a line on: what the keys of its page ask for.

Rules of this room
  1. The index alone is asked; no line is read. It knows prompts and calls. Other rows that a page shows as bad, as an API
     error or a broken line, are none of its rows: a page finds them where it has loaded them.
  2. A line that is not shown, as it stands on a branch that is not followed, is passed by.
"""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Literal

from tracklog.pipeline.session_page import SessionHead
from tracklog.pipeline.thread_branches import Seen
from tracklog.pipeline.thread_lines import ThreadLines
from tracklog.store.session_places import places_of_errors, places_of_prompts

What = Literal["prompt", "error"]
_PLACES = {"prompt": places_of_prompts, "error": places_of_errors}


def lines_of(db: Connection, head: SessionHead, lines: ThreadLines, what: What) -> list[int]:
    """The lines of a thread with prompts, or with errors, in order; none while the index does not know the session."""
    if head.known is None:
        return []
    paths = {number: path for path, number in head.numbers.items()}
    places = {place for place in _PLACES[what](db, head.known.row) if place.file in paths}
    found = (lines.seq_of(paths[place.file], place.line) for place in places)
    return sorted({seq for seq in found if seq is not None})


def next_of(
    seqs: Iterable[int], *, after: int | None = None, before: int | None = None, seen: Seen | None = None
) -> int | None:
    """The first of some lines behind one, or the last before one; `seen`: only of those that are shown there."""
    ordered = sorted(seqs)
    if before is not None:
        candidates = [seq for seq in reversed(ordered) if seq < before]
    else:
        candidates = [seq for seq in ordered if seq > (after or 0)]
    heads = {turn.seq for turn in seen.turns if turn.is_head} if seen is not None else set()
    return next((seq for seq in candidates if seen is None or seq in heads or _is_shown(seen, seq)), None)


def _is_shown(seen: Seen, seq: int) -> bool:
    return not seen.left_lines(seq, seq)
