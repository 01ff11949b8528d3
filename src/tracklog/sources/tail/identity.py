"""Whether a file is still the one that was read: its device and inode, and marks of the bytes that were read.

Rules
  1. The bytes decide. A file goes on as long as the bytes that were read are where they were: also under another inode (a
     client wrote it whole and renamed it), under another name, or compressed. Else it was rewritten; if its inode is
     another one, too, it was replaced. An inode proves nothing: systems give the number of a deleted file to the next one.
  2. The marks are of the first 16 KiB, of the last 256 bytes, and of the first 256 bytes of the last line: the ends of two
     lines are alike more often than one thinks. A change that leaves all of them as they were is not seen here. Where
     the times differ and the length does not, the index compares all bytes (index/record_changes.py).
  3. Size, times and inode are the cheap question before this one (`FileStamp`): where they are as they were, nothing is read.
     They are no part of the answer: a time may be set back.
  4. A file that cannot be read now is not gone: NotReadable, and nothing is known. Gone is a path at which no regular
     file is.
  5. A caller that goes on reading compares the open file (`compare_open`) and reads by the same descriptor, so that nothing
     can be put in its place in between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

from tracklog.errors import why_failed
from tracklog.sources.files import NotReadable, chunks, readable, stored_path
from tracklog.sources.log_file import LogFile, is_compressed

IdentityAnswer = Literal["same", "grown", "rewritten", "replaced", "gone"]
GOES_ON: frozenset[IdentityAnswer] = frozenset({"same", "grown"})  # with the bytes that were read
HEAD_BYTES = 16 * 1024
TAIL_BYTES = 256
_DIGEST = 16
_MARK = 4 + _DIGEST
_Span = tuple[int, int]  # where some bytes begin, and how many


class FileIdentity(NamedTuple):
    """What is remembered of a file: which one it was, how many of its bytes were read, and the marks of those."""

    device: int
    inode: int
    offset: int = 0
    head: bytes | None = None  # its mark: how many bytes, and their digest
    tail: bytes | None = (
        None  # its mark; behind it where the last line begins, if that is known, and the mark of that
    )

    def compare(self, file: LogFile | Path) -> IdentityAnswer:
        """What became of the file; raises NotReadable where nothing is known because it cannot be read now."""
        path = stored_path(file)
        try:
            with readable(file) as (log, descriptor):
                if not is_compressed(stored_path(log)):
                    return self.compare_open(descriptor)
                pieces, n_bytes = _gathered(_contents(log), self._spans, most=self.offset + 1)
                return self._answer(os.fstat(descriptor), n_bytes, pieces)
        except NotReadable:
            if is_gone(path):
                return "gone"
            raise
        except OSError as error:
            raise NotReadable(path, why_failed(error)) from error

    def compare_open(self, descriptor: int) -> IdentityAnswer:
        """What became of the file that is open here; raises OSError where it cannot be read."""
        status = os.fstat(descriptor)
        is_short = status.st_size < self.offset
        return self._answer(status, status.st_size, [] if is_short else _read(descriptor, self._spans))

    def is_at(self, device: int, inode: int) -> bool:
        """Whether it has this device and inode."""
        return (self.device, self.inode) == (device, inode)

    def read_to(self, tracker: IdentityTracker) -> FileIdentity:
        """The same file, read as far as the tracker has come."""
        return self._replace(offset=tracker.offset, head=tracker.head, tail=tracker.tail)

    def _answer(self, status: os.stat_result, n_bytes: int, pieces: Sequence[bytes]) -> IdentityAnswer:
        if n_bytes < self.offset or not self._has(pieces):
            return "rewritten" if self.is_at(status.st_dev, status.st_ino) else "replaced"
        return "grown" if n_bytes > self.offset else "same"

    def _has(self, pieces: Iterable[bytes]) -> bool:
        if not self.head or not self.tail:
            return not self.offset
        marks = [self.head, self.tail[:_MARK], self.tail[_MARK + 8 :]]
        return all(mark_of(piece) == mark for piece, mark in zip(pieces, marks, strict=False))

    @property
    def _spans(self) -> list[_Span]:
        """What the marks are of: the head, the tail, and the beginning of the last line if that is known."""
        if not self.head or not self.tail:
            return []
        n_tail = length_of(self.tail)
        spans = [(0, length_of(self.head)), (self.offset - n_tail, n_tail)]
        if len(self.tail) > _MARK:
            line_at = int.from_bytes(self.tail[_MARK : _MARK + 8], "little")
            spans.append((line_at, length_of(self.tail[_MARK + 8 :])))
        return spans


class IdentityTracker:
    """Takes the marks of a file while its bytes go by."""

    def __init__(self) -> None:
        self.offset = 0
        self._head = blake2b(digest_size=_DIGEST)
        self._tail = b""
        self._line_at: int | None = 0
        self._line = b""

    @classmethod
    def at(cls, file: LogFile | Path | int, offset: int) -> IdentityTracker:
        """For a file, or a descriptor, whose first `offset` bytes are taken as read."""
        head, tail = pieces_of(file, ends_before(offset))
        return cls.behind(head, tail, offset)

    @classmethod
    def behind(cls, head: bytes, tail: bytes, offset: int) -> IdentityTracker:
        """For a file of which `offset` bytes were read, with the first and the last of these (`ends_before`)."""
        made = cls()
        if offset > len(tail):
            made._line_at = None  # in bytes that nobody has read again
        made.offset = offset - len(tail)
        made.add(tail)
        made._head = blake2b(head, digest_size=_DIGEST)
        return made

    def add(self, chunk: bytes) -> None:
        """Takes the next bytes."""
        if not chunk:
            return
        if self.offset < HEAD_BYTES:
            self._head.update(chunk[: HEAD_BYTES - self.offset])
        begins = chunk.rfind(b"\n", 0, -1) + 1
        if begins or self._tail.endswith(b"\n"):
            self._line_at, self._line = self.offset + begins, chunk[begins : begins + TAIL_BYTES]
        elif len(self._line) < TAIL_BYTES:
            self._line = (self._line + chunk)[:TAIL_BYTES]
        self.offset += len(chunk)
        self._tail = (self._tail + chunk[-TAIL_BYTES:])[-TAIL_BYTES:]

    def copy(self) -> IdentityTracker:
        """Another one that has come as far."""
        made = IdentityTracker()
        made.offset, made._head, made._tail = self.offset, self._head.copy(), self._tail
        made._line_at, made._line = self._line_at, self._line
        return made

    @property
    def head(self) -> bytes:
        """The mark of the first bytes."""
        return _mark(min(self.offset, HEAD_BYTES), self._head.digest())

    @property
    def tail(self) -> bytes:
        """The mark of the last bytes, with that of the last line."""
        if self._line_at is None:
            return mark_of(self._tail)
        return mark_of(self._tail) + self._line_at.to_bytes(8, "little") + mark_of(self._line)

    def identity(self, status: os.stat_result) -> FileIdentity:
        """What is to be remembered of the file, which has this status."""
        return FileIdentity(status.st_dev, status.st_ino).read_to(self)


def mark_of(data: bytes) -> bytes:
    """How many bytes, and their digest."""
    return _mark(len(data), blake2b(data, digest_size=_DIGEST).digest())


def _mark(length: int, digest: bytes) -> bytes:
    return length.to_bytes(4, "little") + digest


def length_of(mark: bytes) -> int:
    """Over how many bytes a mark was taken."""
    return int.from_bytes(mark[:4], "little")


def ends_before(offset: int) -> list[_Span]:
    """Where the first and the last bytes before an offset are that `IdentityTracker.behind` needs."""
    n_tail = min(offset, TAIL_BYTES)
    return [(0, min(offset, HEAD_BYTES)), (offset - n_tail, n_tail)]


def bytes_at(file: LogFile, start: int, length: int) -> bytes:
    """Some bytes of a log's contents; fewer where it ends before."""
    return pieces_of(file, [(start, length)])[0]


def pieces_of(file: LogFile | Path | int, spans: Sequence[_Span]) -> list[bytes]:
    """Some pieces of a log's contents, which is opened once; shorter ones where it ends before."""
    if isinstance(file, int):
        return _read(file, spans)
    try:
        with readable(file) as (log, descriptor):
            if not is_compressed(stored_path(log)):
                return _read(descriptor, spans)
            most = max(start + length for start, length in spans)
            return _gathered(_contents(log), spans, most=most)[0]
    except OSError as error:
        raise NotReadable(stored_path(file), why_failed(error)) from error


def _read(descriptor: int, spans: Sequence[_Span]) -> list[bytes]:
    return [os.pread(descriptor, length, start) for start, length in spans]


def _gathered(parts: Iterator[bytes], spans: Sequence[_Span], *, most: int) -> tuple[list[bytes], int]:
    """The pieces as they go by, and how many bytes there are; read is no more than `most` of them needs."""
    pieces, n_bytes = [b""] * len(spans), 0
    while n_bytes < most and (part := next(parts, b"")):
        for n, (start, length) in enumerate(spans):
            pieces[n] += part[max(start - n_bytes, 0) : max(start + length - n_bytes, 0)]
        n_bytes += len(part)
    return pieces, n_bytes


def _contents(file: LogFile | Path) -> Iterator[bytes]:
    return chunks(file._replace(until=None) if isinstance(file, LogFile) else file)


def is_gone(path: Path | str) -> bool:
    """Whether no regular file is at a path; of one that we may not look at, nothing is known."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
