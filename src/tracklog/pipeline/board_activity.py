"""How busy a session is: lines of its logs per minute, of the last hour.

Rules of this room
  1. A line counts in the minute that it names. One that names none, or a moment that is still to come, counts when it is seen.
  2. What was written before the watch began is read from the end of the log, as far back as an hour, and no further than
     it costs next to nothing.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.sources.files import NotReadable, open_log
from tracklog.sources.found import LogFile
from tracklog.sources.reasons import why_failed

MINUTE_MS = 60_000
SHOWN = 60  # minutes
_HEAD = 256 << 10
_AT_ONCE = 256 << 10
_FURTHEST_BACK = 16 << 20
_TIME = re.compile(
    rb'"timestamp"\s*:\s*"([0-9TZ:.+-]{16,40})"'
)  # quotes within a text are escaped: no text is taken for it


class Minutes(NamedTuple):
    """Lines by minute, numbered since 1970; `since` is the first minute of which all is known."""

    lines: tuple[tuple[int, int], ...] = ()
    since: int | None = None

    def last(self, now_ms: int, *, n: int = SHOWN) -> list[int | None]:
        """Lines in each of the last minutes, the current one last; None for those of which nothing is known."""
        now, known = now_ms // MINUTE_MS, dict(self.lines)
        first = self.since if self.since is not None else now + 1
        return [known.get(at, 0 if at >= first else None) for at in range(now - n + 1, now + 1)]


class Activity:
    """Counts lines as they come."""

    def __init__(self) -> None:
        self._lines: dict[int, int] = {}
        self.first_ms: int | None = None  # the earliest moment that was named

    def see(self, at_ms: int) -> None:
        """A line of this moment came."""
        minute = at_ms // MINUTE_MS
        self._lines[minute] = self._lines.get(minute, 0) + 1
        self.first_ms = at_ms if self.first_ms is None else min(self.first_ms, at_ms)
        if len(self._lines) > 2 * SHOWN:
            self._lines = dict(sorted(self._lines.items())[-SHOWN:])

    def with_before(self, before: Minutes, now_ms: int) -> Minutes:
        """All that is known, with what was written before."""
        oldest = now_ms // MINUTE_MS - SHOWN + 1
        lines = {at: n for at, n in before.lines if at >= oldest}
        for at, n in self._lines.items():
            if at >= oldest:
                lines[at] = lines.get(at, 0) + n
        first = before.since if before.since is not None else (self.first_ms or 0) // MINUTE_MS + 1
        return Minutes(tuple(sorted(lines.items())), max(first, oldest) if self.first_ms else None)


def began_ms(file: LogFile) -> int | None:
    """The first moment that a log names."""
    with _opened(file) as log:
        found = _TIME.search(log.read(_HEAD))
    at = moment_ms(found[1].decode()) if found else NO_TIME
    return None if at == NO_TIME else at


def minutes_in(file: LogFile, until_ms: int | None) -> Minutes:
    """What a log says was written in the hour before a moment."""
    if until_ms is None or file.path.suffix == ".zst":
        return Minutes()
    oldest, is_whole = until_ms - SHOWN * MINUTE_MS, False
    counted: Counter[int] = Counter()
    with _opened(file) as log:
        for moments, is_first in _moments_backwards(log):
            counted.update(at // MINUTE_MS for at in moments if oldest <= at < until_ms)
            is_whole = is_first or any(0 <= at < oldest for at in moments)
            if is_whole:
                break
    first = min(counted, default=until_ms // MINUTE_MS)
    return Minutes(tuple(sorted(counted.items())), oldest // MINUTE_MS if is_whole else first + 1)


def _moments_backwards(log: io.FileIO) -> Iterator[tuple[list[int], bool]]:
    """The moments in each piece of a log from its end on, and whether the piece is its first. One on a cut is passed over."""
    end = log.seek(0, os.SEEK_END)
    least = max(end - _FURTHEST_BACK, 0)
    while end > least:
        start = max(end - _AT_ONCE, least)
        log.seek(start)
        yield [moment_ms(found.decode()) for found in _TIME.findall(log.read(end - start))], start == 0
        end = start


@contextmanager
def _opened(file: LogFile) -> Iterator[io.FileIO]:
    try:
        with open_log(file) as log:
            yield log
    except OSError as error:
        raise NotReadable(file.path, why_failed(error)) from error
