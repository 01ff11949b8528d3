"""The lines of a log that hold some bytes: found by a search over whole chunks, without cutting the others.

Rules of this room
  1. The lines are those that `lines.cut` gives, with the same offsets; longer ones than it keeps are left out, and so
     are those behind a run of NUL bytes that is as long.
  2. Memory is bounded by a chunk and the longest line that is kept.
  3. Lines come in batches, one for each chunk. They are copies: a source may fill the same buffer again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stringzilla import find, rfind

from tracklog.sources.lines import KEPT_BYTES

Hit = tuple[int, bytes]  # offset, and the line
Chunk = bytes | memoryview
_NEVER = 1 << 62


class LinesWith:
    """The lines that hold one of the needles.

    After each batch `chunk` and `chunk_from` are what its lines came from. At the end `behind` is what follows the last
    of them, or None if that is more than the last chunk, and `behind_from` is where it begins.
    """

    def __init__(self, source: Iterable[Chunk], *needles: bytes) -> None:
        self._source = source
        self._needles = needles
        self.chunk: Chunk = b""
        self.chunk_from = 0
        self.behind_from = 0
        self.behind: bytes | None = b""

    def __iter__(self) -> Iterator[Hit]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> Iterator[list[Hit]]:
        """The lines of one chunk after the other; the first of a batch may have begun in the chunk before."""
        position = 0
        chunk: Chunk = b""
        open_line = _OpenLine()
        for chunk in self._source:
            batch: list[Hit] = []
            start = 0
            if open_line.is_begun:
                start = find(chunk, b"\n") + 1
                open_line.hold(bytes(chunk[: start - 1] if start else chunk))
                if start and (raw := open_line.close()) is not None and self._is_hit(raw):
                    batch.append((position + start - 1 - len(raw), raw))
            if start or not open_line.is_begun:
                end = rfind(chunk, b"\n") + 1
                batch += self._hits(chunk, start, end, position)
                if end < len(chunk):
                    open_line.hold(bytes(chunk[end:]))
            self.chunk, self.chunk_from = chunk, position
            position += len(chunk)
            if batch:
                self.behind_from = batch[-1][0] + len(batch[-1][1]) + 1
                yield batch
        if (raw := open_line.close()) is not None and self._is_hit(raw):
            self.behind_from = position
            yield [(position - len(raw), raw)]
        behind = position - self.behind_from
        self.behind = bytes(chunk[len(chunk) - behind :]) if behind <= len(chunk) else None

    def _is_hit(self, raw: bytes) -> bool:
        return any(find(raw, needle) >= 0 for needle in self._needles)

    def _hits(self, chunk: Chunk, start: int, end: int, position: int) -> list[Hit]:
        """The lines with a needle that begin and end in the chunk."""
        needle, *others = self._needles
        view = memoryview(chunk)
        nexts = {
            one: _next_of(one, chunk, start, end) for one in others
        }  # the next place of each that is rare
        rare = min(nexts.values(), default=_NEVER)
        hit = find(chunk, needle, start, end)
        hits: list[Hit] = []
        while hit >= 0 or rare < _NEVER:
            first = rare if hit < 0 or rare < hit else hit
            line_start = rfind(chunk, b"\n", start, first) + 1 or start
            line_end = find(chunk, b"\n", first, end)
            hits.append((position + line_start, view[line_start:line_end].tobytes()))
            start = line_end + 1
            if 0 <= hit < start:
                hit = find(chunk, needle, start, end)
            if rare < start:
                passed = [one for one, place in nexts.items() if place < start]
                nexts |= {one: _next_of(one, chunk, start, end) for one in passed}
                rare = min(nexts.values())
        return hits


def _next_of(needle: bytes, chunk: Chunk, start: int, end: int) -> int:
    place: int = find(chunk, needle, start, end)
    return place if place >= 0 else _NEVER


class _OpenLine:
    """A line that goes on in the next chunk."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def is_begun(self) -> bool:
        return bool(self._length)

    def hold(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= KEPT_BYTES:
            self._parts.append(part)
        else:
            self._parts.clear()

    def close(self) -> bytes | None:
        """The whole line, and an end of it; None if it is too long, or nothing."""
        raw = b"".join(self._parts) if 0 < self._length <= KEPT_BYTES else None
        self._parts, self._length = [], 0
        return raw
