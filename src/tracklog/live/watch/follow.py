"""Follow the bytes of a growing log (`Follower`), and remember its lines (`LineMarks`).

Rules
  1. Each read opens the file at the path again and closes it; no file stays open.
  2. Logs do not only grow. Claude Code cuts off a message after a broken stream, and both agents move files: a
     file that no longer holds the bytes that were read (sources/tail/identity.py) is read from its start.
  3. Bytes come as they are, also half a line; a compressed log never grows and is not followed.
  4. A file that was put aside may hold unread bytes: `left` keeps how far it was read, and it is recognised under
     another name by its inode and its bytes. So another file at the path is read from its start, whatever it
     begins with.
  5. A rewritten log repeats no line: a line is known by a hash of its bytes (eight bytes). As long as a log only
     grows, nothing is compared. When a log is read again, a line is new if it was not there before.
  6. Memory is bounded: only the last lines of a very long log are remembered, and fewer of a quiet one. Lines
     before them, or never read, are old. Where the remembered lines begin is found by a run of them at any place;
     or, if the log begins as it did, by their former place. If neither is certain, a later place is taken.
  7. Until the place is found the marks are lost, and no line is new: the log may be half rewritten. The reader
     decides when it has waited long enough (`give_up`): then it is another log, or one that was cut very short.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import why_failed
from tracklog.sources.files import CHUNK, NotReadable, chunks, open_log
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile
from tracklog.sources.tail.identity import GOES_ON, FileIdentity, IdentityTracker

MOST_REMEMBERED = 4_000  # lines of one log, at least half of it: twenty times what clients rewrite at its end
OF_A_QUIET_ONE = 256
CAUGHT_UP = 1_000  # after so many new lines in a row, a log that was read again only grows
_RUN = 16  # different lines in a row: more than the notes that Claude Code repeats word by word
_HEAD, _SHORT_HEAD = 4096, 512


class LineMarks:
    """Remembers the lines of one log; `unread` is the number of bytes at its start that were never read."""

    def __init__(self, file: LogFile, unread: int = 0) -> None:
        self._unread = unread
        self._head = _head_of(file, unread)
        self._marks = array("q")
        self._middle: int | None = None  # the offset of the newer half of the remembered lines, if known
        self._before: array[int] | None = None  # sorted: the marks when reading began again
        self._n_new = 0  # new lines since the last old one
        self._lost: _Lost | None = None
        self._old_to = 0  # in a log that was cut very short, all before this offset is old

    @property
    def is_lost(self) -> bool:
        """Whether the log is read again, and no remembered line was found yet."""
        return self._lost is not None

    @property
    def begins_alike(self) -> bool:
        """Whether a log that is read again begins as before, as far as it was read."""
        return self._lost is None or self._lost.begins_with(self._head)

    def remember(self, line: Line) -> None:
        """Note a line."""
        self._note_head(line)
        self._marks.append(hash(line.raw))
        end = line.offset + line.length + 1
        if len(self._marks) == MOST_REMEMBERED // 2:
            self._middle = end
        elif len(self._marks) >= MOST_REMEMBERED:
            del self._marks[: MOST_REMEMBERED // 2]
            self._unread, self._middle = end if self._middle is None else self._middle, end

    def is_new(self, line: Line) -> bool:
        """Note a line; whether it was not there before."""
        if self._before is not None:
            if self._is_old(line):
                self._note_head(line)
                self._n_new = 0
                return False
            self._n_new += 1
            if self._n_new == CAUGHT_UP:
                self._before = None
        self.remember(line)
        return True

    def begin_again(self, size: int) -> None:
        """Expect the log from its beginning; `size` bytes of it may be old."""
        head = self._head[: self._unread] if self._lost is None else self._lost.head
        self._lost = _Lost(head, size) if self._unread else None
        self._before, self._n_new = array("q", sorted(self._marks)), 0
        self._head, self._old_to, self._middle = b"", 0, None

    def give_up(self) -> None:
        """Stop looking for the remembered lines; the log must be read from its beginning once more."""
        assert self._lost is not None
        self._old_to = self._lost.size if self._lost.begins_with(self._head[: self._lost.size]) else 0
        self._unread = min(self._unread, self._old_to)
        self._lost, self._head = None, b""

    def shrink(self, end: int) -> None:
        """Forget all but the last lines of a quiet log that was read up to `end`."""
        self._head = self._head[:_SHORT_HEAD]
        if len(self._marks) <= OF_A_QUIET_ONE or self.is_lost:
            return
        self._marks = self._marks[-OF_A_QUIET_ONE:]
        self._unread, self._middle = end, None
        if self._before is not None:
            self._before = array("q", sorted(self._marks))

    def _is_old(self, line: Line) -> bool:
        was_there = self._was_there(line)
        if self._lost is not None and not self._is_found_at(line, was_there=was_there):
            return True
        return was_there or line.offset < self._old_to

    def _is_found_at(self, line: Line, *, was_there: bool) -> bool:
        """Whether this line shows where the remembered lines begin."""
        assert self._lost is not None
        if line.offset >= self._unread and self.begins_alike:
            self._lost = None
        elif (begins := self._lost.run(line, was_there=was_there)) is not None:
            self._unread, self._lost = begins, None
        return self._lost is None

    def _was_there(self, line: Line) -> bool:
        assert self._before is not None
        mark = hash(line.raw)
        at = bisect_left(self._before, mark)
        return at < len(self._before) and self._before[at] == mark

    def _note_head(self, line: Line) -> None:
        if line.offset == len(self._head) < _HEAD:
            self._head = b"".join((self._head, line.raw[:_HEAD], b"\n"))[:_HEAD]


class _Lost:
    """A log that is read again, in which no remembered line was found yet."""

    def __init__(self, head: bytes, size: int) -> None:
        self.head = head  # of what is not remembered
        self.size = size
        self._run: set[int] = set()
        self._run_at = 0

    def begins_with(self, head: bytes) -> bool:
        n = min(len(head), len(self.head))
        return head[:n] == self.head[:n]

    def run(self, line: Line, *, was_there: bool) -> int | None:
        """The offset of the run of known lines, if it is long enough with this line."""
        if not was_there:
            self._run.clear()
            return None
        if not self._run:
            self._run_at = line.offset
        self._run.add(hash(line.raw))
        return self._run_at if len(self._run) >= _RUN else None


def _head_of(file: LogFile, most: int) -> bytes:
    try:
        return next(chunks(file, size=_HEAD), b"")[: min(_HEAD, most)]
    except NotReadable:
        return b""


class Appended(NamedTuple):
    """New bytes and their offset; empty when nothing was written."""

    offset: int
    data: bytes


class Restarted(NamedTuple):
    """The file no longer holds what was read; the next read starts at its beginning."""

    why: str


class Gone(NamedTuple):
    """The path has no file that can be read now; it may come back."""

    why: str


OnPlace = Callable[[int, int], object]  # hears device and inode


class Follower:
    """Reads what was appended to one file since the last read."""

    def __init__(
        self, path: Path, offset: int = 0, *, limit: int = CHUNK, on_place: OnPlace | None = None
    ) -> None:
        """`on_place` is called with device and inode of each file that is followed, before it is read."""
        self.path = path
        self.offset = offset
        self.left: FileIdentity | None = None  # the file that was here before, if it was replaced
        self._limit = limit
        self._on_place = on_place
        self._status: os.stat_result | None = None  # of the file when it was last read
        self._tracker = IdentityTracker()  # of what was read before, with the first question

    @property
    def identity(self) -> FileIdentity | None:
        """The identity of the followed file, by which it is found elsewhere; None before the first read."""
        if self._status is None or not 0 < self.offset == self._tracker.offset:
            return None
        return self._tracker.identity(self._status)

    def is_of(self, device: int, inode: int) -> bool:
        """Whether the followed file has this device and inode."""
        return self._status is not None and (self._status.st_dev, self._status.st_ino) == (device, inode)

    def ask(self, most: int | None = None) -> Appended | Restarted | Gone:
        """Read what changed: at most `limit` bytes, or `most` if that is less."""
        try:
            with open_log(self.path) as stream:
                return self._read(stream.fileno(), min(self._limit, self._limit if most is None else most))
        except NotReadable as refusal:
            return Gone(refusal.why)
        except OSError as error:
            return Gone(why_failed(error))

    def _read(self, descriptor: int, most: int) -> Appended | Restarted:
        why = self._why_not_the_same(descriptor)
        if why is not None:
            self.offset, self._tracker = 0, IdentityTracker()
            return Restarted(why)
        appended = Appended(self.offset, os.pread(descriptor, most, self.offset))
        self._tracker.add(appended.data)
        self.offset = self._tracker.offset
        return appended

    def _why_not_the_same(self, descriptor: int) -> str | None:
        before, status = self.identity, os.fstat(descriptor)
        if self._on_place is not None and not self.is_of(status.st_dev, status.st_ino):
            self._on_place(status.st_dev, status.st_ino)
        self._status = status
        if before is not None and not self.is_of(before.device, before.inode):
            self.left = before
            return "replaced"
        if status.st_size < self.offset:
            return "shorter"
        if before is None:
            self._tracker = IdentityTracker.at(descriptor, self.offset)
            return None
        return None if before.compare_open(descriptor) in GOES_ON else "rewritten"


def goes_on_at(left: FileIdentity, path: Path) -> bool:
    """Whether the file at a path is the one that was left, and continues from there."""
    try:
        status = os.lstat(path)
        return left.is_at(status.st_dev, status.st_ino) and left.compare(path) in GOES_ON
    except (NotReadable, OSError):
        return False


def found_beside(left: FileIdentity, folder: Path) -> Path | None:
    """The path in a folder at which the file that was left is now; None if it is gone."""
    try:
        with os.scandir(folder) as entries:
            alike = [entry.name for entry in entries if entry.inode() == left.inode]
    except OSError:
        return None
    return next((folder / name for name in alike if goes_on_at(left, folder / name)), None)
