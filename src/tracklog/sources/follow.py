"""Follows a log while an agent writes it.

Rules of this room
  1. Each question opens the file anew: nothing is held open, and what stands at the path now is what is read.
  2. Logs do not only grow. Claude Code cuts off a message after a broken stream, and both agents move files: a file
     that is shorter, is another one, or no longer ends where we stopped with the same bytes, starts over.
  3. Bytes come as they are, also half a line; a compressed log never grows and is not followed.
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


class Follower:
    """Reads what was appended to one file since the last question."""

    def __init__(self, path: Path, offset: int = 0, *, limit: int = CHUNK) -> None:
        self.path = path
        self.offset = offset
        self._limit = limit
        self._identity: tuple[int, int] | None = None
        self._tail = b""

    def ask(self) -> Appended | Restarted | Gone:
        """What changed, at most `limit` bytes of it."""
        try:
            with open_log(self.path) as stream:
                return self._read(stream)
        except NotReadable as refusal:
            return Gone(refusal.why)
        except OSError as error:
            return Gone(why_failed(error))

    def _read(self, stream: BinaryIO) -> Appended | Restarted:
        why = self._why_not_the_same(stream)
        if why:
            self.offset, self._tail = 0, b""
            return Restarted(why)
        data = os.pread(stream.fileno(), self._limit, self.offset)
        appended = Appended(self.offset, data)
        self.offset += len(data)
        self._tail = (self._tail + data)[-_REMEMBERED:]
        return appended

    def _why_not_the_same(self, stream: BinaryIO) -> str | None:
        status = os.fstat(stream.fileno())
        before, self._identity = self._identity, (status.st_dev, status.st_ino)
        if not self.offset:
            return None
        if before not in (None, self._identity):
            return "replaced"
        if status.st_size < self.offset:
            return "shorter"
        tail_now = os.pread(stream.fileno(), len(self._tail), self.offset - len(self._tail))
        return None if tail_now == self._tail else "rewritten"
