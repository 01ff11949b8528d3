"""Follows one log while it grows: new bytes become lines, pieces and events, each once.

Rules of this room
  1. What stood there before is read only as far as it tells how things stand now: the end of the log.
  2. A line comes when it is ended; half a line waits.
  3. A log that was cut, rewritten or replaced is read from its beginning, and only lines that were not there before
     come out; that it was is said. Of one that was put aside under another name in its folder, the rest comes first.
  4. Nothing is held open: five thousand logs take no file handle.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tracklog.model.events import Event
from tracklog.pipeline.reading import reader_for
from tracklog.pipeline.story import translator_of
from tracklog.pipeline.watch_marks import LineMarks
from tracklog.records.base import Piece
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.follow import Appended, Follower, Left, Restarted, found_beside, stands_at
from tracklog.sources.found import LogFile
from tracklog.sources.lines import Cutter, Line

READ_BEFORE = 512 << 10  # bytes of what stood there before: the last turns
_AT_ONCE = 256 << 10


class Seen(NamedTuple):
    """A piece of a log, and what it tells."""

    piece: Piece
    events: list[Event]


class Replaced(NamedTuple):
    """The log is no longer what was read."""

    why: str


class Tail:
    """One log. `before` gives what its end told when it was first looked at, `more` what came since."""

    def __init__(self, file: LogFile, *, told_to: int | None = None) -> None:
        """`told_to` is how many of its bytes are no news; None: all that stand there now."""
        self.file = file
        self._began_at = file.size if told_to is None else min(told_to, file.size)
        start, n_lines = _start_of_the_end(file, self._began_at)
        self._follower = Follower(file.path, start, limit=_AT_ONCE)
        self._cutter = Cutter(offset=start, number=n_lines + 1)
        self._reader = reader_for(file)
        self._translator = translator_of(file)
        self._marks = LineMarks(file, start)
        self._old_from = 0  # of a log that is read again: from where on its old lines tell how things stand

    @property
    def offset(self) -> int:
        """How far it was read."""
        return self._follower.offset

    def move_to(self, file: LogFile) -> None:
        """The log stands at another place now."""
        self.file = self._marks.file = file
        self._follower.path = file.path

    def told_of(self, file: LogFile) -> int | None:
        """How far a file was read that was this log, and stands under another name now; None if it never was."""
        known = (self._follower.stands, self._follower.left)
        ours = (left for left in known if left and left.identity == (file.device, file.inode))
        return next((left.offset for left in ours if stands_at(left, file.path)), None)

    def before(self) -> Iterator[Seen]:
        """What the end of the log told when it was first looked at."""
        while (left := self._began_at - self.offset) > 0:
            match self._follower.ask(left):
                case Appended(_, data) if data:
                    for line in self._cutter.feed(data):
                        self._marks.remember(line)
                        yield from self._read(line)
                case Restarted():
                    self._begin_again()
                case _:
                    return

    def more(self) -> Iterator[Seen | Replaced]:
        """What was written since the last question."""
        while True:
            match self._follower.ask():
                case Appended(_, data):
                    yield from self._lines(data)
                    if len(data) < _AT_ONCE:
                        return
                case Restarted(why):
                    if why == "replaced":
                        yield from self._rest()
                    self._begin_again()
                    yield Replaced(why)
                case _:
                    return

    def _rest(self) -> Iterator[Seen]:
        """What was not read yet of a file that was put aside."""
        left = self._follower.left
        aside = found_beside(left, self.file.path.parent) if left is not None else None
        if left is None or aside is None:
            return
        try:
            for data in chunks(aside, left.offset):
                yield from self._lines(data)
                left = Left(left.identity, left.offset + len(data), (left.tail + data)[-len(left.tail) :])
        except NotReadable:
            pass  # it went away meanwhile: what came of it has come
        self._follower.left = left

    def _begin_again(self) -> None:
        size = _size_of(self.file.path)
        self._cutter = Cutter()
        self._translator = translator_of(self.file)
        self._marks.begin_again(size)
        self._old_from = max(size - READ_BEFORE, 0)

    def _lines(self, data: bytes) -> Iterator[Seen]:
        for line in self._cutter.feed(data):
            if self._marks.is_new(line):
                yield from self._read(line)
            elif line.offset >= self._old_from:
                self._translate(line)

    def _translate(self, line: Line) -> None:
        for piece in self._reader.read([line]):
            self._translator.translate(piece)

    def _read(self, line: Line) -> Iterator[Seen]:
        for piece in self._reader.read([line]):
            yield Seen(piece, self._translator.translate(piece))


def _start_of_the_end(file: LogFile, end: int) -> tuple[int, int]:
    """Where the last turns before `end` begin, and how many lines stand before."""
    wanted, offset, n_lines = end - READ_BEFORE, 0, 0
    if wanted <= 0:
        return 0, 0
    start = 0
    try:
        for chunk in chunks(file):
            if offset + len(chunk) <= wanted:
                n_lines += chunk.count(b"\n")
                last = chunk.rfind(b"\n")
                start = offset + last + 1 if last >= 0 else start
                offset += len(chunk)
                continue
            before = chunk[: wanted - offset]
            last = before.rfind(b"\n")
            return (offset + last + 1, n_lines + before.count(b"\n")) if last >= 0 else (start, n_lines)
    except NotReadable:
        return 0, 0
    return start, n_lines


def _size_of(path: Path) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0
