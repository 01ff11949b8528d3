r"""Cuts bytes into lines; knows nothing of files or JSON.

Rules
  1. Only b"\n" separates. "\r", U+2028 and friends are content.
  2. Feed bytes in any pieces: the lines are the same as if they had come at once.
  3. A last line without newline is a line; it comes out of `end()`, with `ended` false.
  4. Memory is bounded by KEPT_BYTES, not by the file: of a longer line only the head is kept, the rest
     stays where it is (`offset`, `length`) and is never decoded. A run of NUL bytes longer than NUL_RUN
     in front of a line (what a crash leaves behind) is counted instead of kept.
  5. No byte is lost: lines and their newlines, in order, are the input.
"""

from collections.abc import Iterable, Iterator

import msgspec

KEPT_BYTES = 32 * 1024 * 1024
HEAD_BYTES = 64 * 1024
NUL_RUN = 64 * 1024


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a log: the fact that everything else is a reading of."""

    number: int  # 1 is the first
    offset: int  # of its first byte
    length: int  # in bytes, without the newline
    raw: bytes  # without the newline; only the head if the line is not whole
    nuls: int = 0  # NUL bytes in front of `raw` that were counted and not kept
    ended: bool = True  # by a newline of its own

    @property
    def whole(self) -> bool:
        """Whether `raw` holds all of the line (but for counted NUL bytes)."""
        return self.nuls + len(self.raw) == self.length


class Cutter:
    """Cuts a stream of bytes into lines; `offset` and `number` say where the stream starts."""

    def __init__(self, *, offset: int = 0, number: int = 1, kept_bytes: int = KEPT_BYTES) -> None:
        self._offset = offset  # where the open line starts
        self._number = number
        self._kept_bytes = kept_bytes
        self._nuls = 0  # at the start of the open line
        self._held = bytearray()  # of the open line, behind those NULs
        self._dropped = 0  # bytes of the open line that were not kept

    def feed(self, data: bytes) -> Iterator[Line]:
        """Yields the lines that `data` completes. Exhaust it before you feed again."""
        start = 0
        if self._nuls or self._held or self._dropped:
            end = data.find(b"\n")
            self._hold(data if end < 0 else data[:end])
            if end < 0:
                return
            yield self._close(ended=True)
            start = end + 1
        find, kept_bytes = data.find, self._kept_bytes
        while (end := find(b"\n", start)) >= 0:
            raw = data[start:end]
            start = end + 1
            length = len(raw)
            if length > kept_bytes or raw[:1] == b"\0":
                self._hold(raw)
                yield self._close(ended=True)
                continue
            line = Line(self._number, self._offset, length, raw)
            self._number += 1
            self._offset += length + 1
            yield line
        if start < len(data):
            self._hold(data[start:])

    def end(self) -> Iterator[Line]:
        """Yields the last line if no newline ended it."""
        if self._nuls or self._held or self._dropped:
            yield self._close(ended=False)

    def peek(self) -> Line | None:
        """The line that no newline has ended yet, as far as it came; it stays open. None if too long to keep, or empty."""
        if self._nuls or self._dropped or not self._held:
            return None
        return Line(self._number, self._offset, len(self._held), bytes(self._held), ended=False)

    @property
    def held_end(self) -> int | None:
        """The last byte of the line that is open; None if there is none. It costs nothing."""
        return self._held[-1] if self._held else None

    @property
    def open_since(self) -> int:
        """The offset of the line that is not complete yet: where to go on reading later."""
        return self._offset

    @property
    def n_cut(self) -> int:
        """How many lines of the file, from its first, are behind us."""
        return self._number - 1

    def _hold(self, part: bytes) -> None:
        if not self._held and not self._dropped:
            rest = part.lstrip(b"\0")
            self._nuls += len(part) - len(rest)
            if not rest:
                return
            part = rest
            if self._nuls <= NUL_RUN:
                self._held += bytes(self._nuls)
                self._nuls = 0
        if len(self._held) + len(part) > self._kept_bytes or self._dropped:
            self._drop(part)
        else:
            self._held += part

    def _drop(self, part: bytes) -> None:
        room = max(0, HEAD_BYTES - len(self._held))
        self._held += part[:room]
        self._dropped += len(part) - len(part[:room])
        if len(self._held) > HEAD_BYTES:
            self._dropped += len(self._held) - HEAD_BYTES
            del self._held[HEAD_BYTES:]

    def _close(self, *, ended: bool) -> Line:
        if not self._held and self._nuls <= NUL_RUN:
            self._held += bytes(self._nuls)
            self._nuls = 0
        length = self._nuls + len(self._held) + self._dropped
        line = Line(self._number, self._offset, length, bytes(self._held), self._nuls, ended)
        self._offset += length + 1
        self._number += 1
        self._nuls = self._dropped = 0
        self._held = bytearray()
        return line


def cut(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Yields the lines of a whole stream."""
    cutter = Cutter()
    for chunk in chunks:
        yield from cutter.feed(chunk)
    yield from cutter.end()


def whole(chunks: Iterable[bytes]) -> Line:
    """All of a stream as one line, newlines included: for files that hold one JSON document."""
    held = bytearray()
    length = 0
    for chunk in chunks:
        length += len(chunk)
        held += chunk[: max(0, KEPT_BYTES - len(held))]
    raw = bytes(held) if length == len(held) else bytes(held[:HEAD_BYTES])
    return Line(1, 0, length, raw, 0, False)
