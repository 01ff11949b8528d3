"""Which lines of a log came already: eight bytes for each, so that a log that is written anew is not told anew.

Rules of this room
  1. A line is known by a hash of its bytes. As long as a log only grows, nothing is compared.
  2. When a log is read again, a line is new if it was not there before.
  3. Memory is bounded: of a very long log only the last lines are remembered. What stands before them, or was never
     looked at, is old if the log begins as it did.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import LogFile
from tracklog.sources.lines import Line

MOST_REMEMBERED = 4_000  # lines of one log, at least half of it: twenty times what clients rewrite at its end
CAUGHT_UP = 1_000  # new lines, one behind the other, and a log that was read again only grows again
_HEAD = 4096


class LineMarks:
    """Remembers the lines of one log; `unread` is how many bytes at its beginning were never looked at."""

    def __init__(self, file: LogFile, unread: int = 0) -> None:
        self.file = file
        self._unread = unread
        self._head = _head_of(file, unread)
        self._marks = array("q")
        self._middle = unread  # where the younger half of the remembered lines begins
        self._before: array[int] | None = None  # sorted; the lines that were there when it was begun again
        self._n_new = 0  # since then, since the last old one

    def remember(self, line: Line) -> None:
        """Notes that a line came."""
        self._marks.append(hash(line.raw))
        end = line.offset + line.length + 1
        if len(self._marks) == MOST_REMEMBERED // 2:
            self._middle = end
        elif len(self._marks) >= MOST_REMEMBERED:
            del self._marks[: MOST_REMEMBERED // 2]
            self._unread, self._middle = self._middle, end
            self._head = _head_of(self.file, self._unread)

    def is_new(self, line: Line) -> bool:
        """Whether a line did not come before; it is noted that it came now."""
        if self._before is not None:
            if line.offset < self._unread or self._was_there(line):
                self._n_new = 0
                return False
            self._n_new += 1
            if self._n_new == CAUGHT_UP:
                self._before = None
        self.remember(line)
        return True

    def begin_again(self, size: int) -> None:
        """From here on the log is read from its beginning, and is so long by now."""
        self._before, self._n_new = array("q", sorted(self._marks)), 0
        head = _head_of(self.file, self._unread)
        most = size if head == self._head[: len(head)] else 0
        self._unread, self._middle = min(self._unread, most), min(self._middle, most)
        self._head = head[: self._unread]

    def _was_there(self, line: Line) -> bool:
        assert self._before is not None
        mark = hash(line.raw)
        at = bisect_left(self._before, mark)
        return at < len(self._before) and self._before[at] == mark


def _head_of(file: LogFile, most: int) -> bytes:
    try:
        return next(chunks(file, size=_HEAD), b"")[: min(_HEAD, most)]
    except NotReadable:
        return b""
