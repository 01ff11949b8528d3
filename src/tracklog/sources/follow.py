"""Follows a log while an agent writes it.

Rules of this room
  1. Each question opens the file anew: nothing is held open, and what stands at the path now is what is read.
  2. Logs do not only grow. Claude Code cuts off a message after a broken stream, and both agents move files: a file
     that is shorter, is another one, or no longer ends where we stopped with the same bytes, starts over. So does one
     whose last line no longer begins as it did: the ends of two lines are alike more often than one thinks.
  3. Bytes come as they are, also half a line; a compressed log never grows and is not followed.
  4. A file that was put aside may hold bytes that nobody has read: where it was left is kept (`Left`), and it is known
     again under another name by its inode and its bytes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tracklog.sources.files import CHUNK, NotReadable, open_log
from tracklog.sources.reasons import why_failed

_REMEMBERED = 256  # bytes before our position that must still be there


class Appended(NamedTuple):
    """New bytes, and where in the file they stand; empty when nothing was written."""

    offset: int
    data: bytes


class Restarted(NamedTuple):
    """What was read so far no longer holds; the next question reads from the beginning."""

    why: str


class Gone(NamedTuple):
    """There is nothing to read at the path now; it may come back."""

    why: str


class Left(NamedTuple):
    """A file that is no longer followed: which it was, how far it was read, and the bytes before that."""

    identity: tuple[int, int]  # device and inode
    offset: int
    tail: bytes


class Follower:
    """Reads what was appended to one file since the last question."""

    def __init__(self, path: Path, offset: int = 0, *, limit: int = CHUNK) -> None:
        self.path = path
        self.offset = offset
        self.left: Left | None = None  # the file that stood here before, if it was replaced
        self._limit = limit
        self._identity: tuple[int, int] | None = None
        self._tail = b""
        self._line_at = offset  # where the last line begins of which anything was read
        self._line_head = b""

    @property
    def stands(self) -> Left | None:
        """The file that is followed, as one that may be found elsewhere; None before anything was read of it."""
        return Left(self._identity, self.offset, self._tail) if self._identity and self.offset else None

    def ask(self, most: int | None = None) -> Appended | Restarted | Gone:
        """What changed, at most `limit` bytes of it, or `most` if that is less."""
        try:
            with open_log(self.path) as stream:
                return self._read(stream, min(self._limit, self._limit if most is None else most))
        except NotReadable as refusal:
            return Gone(refusal.why)
        except OSError as error:
            return Gone(why_failed(error))

    def _read(self, stream: BinaryIO, most: int) -> Appended | Restarted:
        why = self._why_not_the_same(stream)
        if why:
            self.offset = self._line_at = 0
            self._tail = self._line_head = b""
            return Restarted(why)
        data = os.pread(stream.fileno(), most, self.offset)
        appended = Appended(self.offset, data)
        self._note_last_line(data)
        self.offset += len(data)
        self._tail = (self._tail + data)[-_REMEMBERED:]
        return appended

    def _note_last_line(self, data: bytes) -> None:
        begins = data.rfind(b"\n", 0, -1) + 1
        if begins or (data and self._tail.endswith(b"\n")):
            self._line_at, self._line_head = self.offset + begins, data[begins : begins + _REMEMBERED]
        elif len(self._line_head) < _REMEMBERED:
            self._line_head = (self._line_head + data)[:_REMEMBERED]

    def _why_not_the_same(self, stream: BinaryIO) -> str | None:
        status = os.fstat(stream.fileno())
        before, self._identity = self._identity, (status.st_dev, status.st_ino)
        if not self.offset:
            return None
        if before is not None and before != self._identity:
            self.left = Left(before, self.offset, self._tail)
            return "replaced"
        if status.st_size < self.offset:
            return "shorter"
        tail_now = os.pread(stream.fileno(), len(self._tail), self.offset - len(self._tail))
        head_now = os.pread(stream.fileno(), len(self._line_head), self._line_at)
        return None if (tail_now, head_now) == (self._tail, self._line_head) else "rewritten"


def stands_at(left: Left, path: Path) -> bool:
    """Whether the file that was left is the one that stands at a path now, and still goes on from there."""
    try:
        with open_log(path) as stream:
            status = os.fstat(stream.fileno())
            before = os.pread(stream.fileno(), len(left.tail), left.offset - len(left.tail))
    except (NotReadable, OSError):
        return False
    is_it = (status.st_dev, status.st_ino) == left.identity and status.st_size >= left.offset
    return is_it and bool(left.tail) and before == left.tail


def found_beside(left: Left, folder: Path) -> Path | None:
    """Where in a folder the file stands that was left; None if it is gone."""
    try:
        with os.scandir(folder) as entries:
            alike = [entry.name for entry in entries if entry.inode() == left.identity[1]]
    except OSError:
        return None
    return next((folder / name for name in alike if stands_at(left, folder / name)), None)
