"""Marks by which a log is known again: of its first bytes, and of the last ones that were read.

Rules
  1. A log that only grew still begins with its head and has its tail where it was. Both must fit.
  2. A mark says over how many bytes it was taken, so a log that was short then can be compared when it is long.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from tracklog.sources.files import CHUNK, chunks
from tracklog.sources.log_file import LogFile

HEAD_BYTES = 16 * 1024
TAIL_BYTES = 256
_DIGEST = 16


class IdentityTracker:
    """Takes the marks of a log while its bytes go by; `head` is the mark of what was read before, if any was."""

    def __init__(self, head: bytes | None = None, offset: int = 0) -> None:
        self._given = head if head is not None and length_of(head) in (HEAD_BYTES, 0) and offset else None
        self._head = bytearray()
        self._tail = b""
        self.offset = offset

    def see(self, chunk: bytes) -> None:
        """The next bytes."""
        if self._given is None and self.offset < HEAD_BYTES:
            self._head += chunk[: HEAD_BYTES - self.offset]
        self.offset += len(chunk)
        self._tail = (self._tail + chunk[-TAIL_BYTES:])[-TAIL_BYTES:]

    def before(self, head: bytes, tail: bytes) -> None:
        """The first and the last bytes before those to come."""
        self._head, self._tail = bytearray(head[:HEAD_BYTES]), tail[-TAIL_BYTES:]

    @property
    def head(self) -> bytes:
        """The mark of the first bytes."""
        return self._given or mark_of(bytes(self._head))

    @property
    def tail(self) -> bytes:
        """The mark of the last bytes so far."""
        return mark_of(self._tail)


def mark_of(data: bytes) -> bytes:
    """How many bytes, and their digest."""
    return len(data).to_bytes(4, "little") + blake2b(data, digest_size=_DIGEST).digest()


def length_of(mark: bytes) -> int:
    """Over how many bytes a mark was taken."""
    return int.from_bytes(mark[:4], "little")


def bytes_at(file: LogFile, start: int, length: int) -> bytes:
    """Some bytes of a log's contents; fewer where it ends before."""
    return _first(chunks(file._replace(until=None), start, size=min(max(length, 1), CHUNK)), length)


def _first(parts: Iterator[bytes], length: int) -> bytes:
    held = bytearray()
    for part in parts:
        held += part
        if len(held) >= length:
            break
    return bytes(held[:length])


def still_begins(file: LogFile, head: bytes | None, tail: bytes | None, n_bytes: int) -> bool:
    """Whether the first `n_bytes` of a log are, by their marks, those that were read before."""
    if head is None or tail is None:
        return n_bytes == 0
    n_head, n_tail = length_of(head), length_of(tail)
    return (
        mark_of(bytes_at(file, 0, n_head)) == head
        and mark_of(bytes_at(file, n_bytes - n_tail, n_tail)) == tail
    )
