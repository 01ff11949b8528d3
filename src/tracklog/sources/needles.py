"""The lines of a log that hold some bytes: found by a search over whole chunks, without cutting the others.

Rules
  1. The lines are those that `lines.cut` gives, with the same offsets; longer ones than it keeps are left out, and so
     are those behind a run of NUL bytes that is as long.
  2. Memory is bounded by a chunk and the longest line that is kept.
  3. Lines come in batches, one for each chunk. They are views of it: a source may fill the same buffer again and again,
     so they are good until the next batch is asked for. Who goes over single lines gets copies.
  4. Needles that are rare are found by one search for what they have in common, however many they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from stringzilla import Str

from tracklog.sources.lines import KEPT_BYTES

Hit = tuple[int, bytes]  # offset, and the line
HitView = tuple[int, Any]  # the same with bytes, or with a view of them that is as good for decoders
Chunk = bytes | memoryview
_LEAST_STEM = 3  # what is shorter occurs everywhere


class LinesWith:
    """The lines that hold one of the needles, of which the first is the one that most of them hold.

    After each batch `chunk` and `chunk_from` are what its lines came from. At the end `behind` is what follows the last
    of them, or None if that is more than the last chunk, and `behind_from` is where it begins.
    """

    def __init__(self, source: Iterable[Chunk], needle: bytes, *rare: bytes) -> None:
        self._source = source
        self._needles = (needle, *rare)
        self._stems = _stems(rare)
        self.chunk: Chunk = b""
        self.chunk_from = 0
        self.behind_from = 0
        self.behind: bytes | None = b""

    def __iter__(self) -> Iterator[Hit]:
        for batch in self.batches():
            for offset, line in batch:
                yield offset, bytes(line)

    def batches(self) -> Iterator[list[HitView]]:
        """The lines of one chunk after the other; the first of a batch may have begun in the chunk before."""
        position = 0
        chunk: Chunk = b""
        open_line = _OpenLine()
        for chunk in self._source:
            self.chunk, self.chunk_from = chunk, position
            text = Str(chunk)
            batch: list[HitView] = []
            start = 0
            if open_line.is_begun:
                start = text.find(b"\n") + 1
                open_line.hold(bytes(chunk[: start - 1] if start else chunk))
                if start and (raw := open_line.close()) is not None and self._is_hit(raw):
                    batch.append((position + start - 1 - len(raw), raw))
            if start or not open_line.is_begun:
                end = text.rfind(b"\n") + 1
                batch += self._hits(text, start, end, position)
                if end < len(chunk):
                    open_line.hold(bytes(chunk[end:]))
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
        text = Str(raw)
        return any(text.find(needle) >= 0 for needle in self._needles)

    def _hits(self, text: Str, start: int, end: int, position: int) -> list[HitView]:
        """The lines with a needle that begin and end in the chunk."""
        find, rfind = text.find, text.rfind
        rare = [
            place
            for stem, forms in self._stems
            for place in _places(text, self.chunk, start, end, stem, forms)
        ]
        needle, first = self._needles[0], start
        hits: list[HitView] = []
        while (hit := find(needle, start, end)) >= 0:
            line_start = rfind(b"\n", start, hit) + 1 or start
            line_end = find(b"\n", hit, end)
            hits.append((position + line_start, text[line_start:line_end]))
            start = line_end + 1
        if not rare:
            return hits
        by_offset = dict(hits)
        for place in rare:
            line_start = rfind(b"\n", first, place) + 1 or first
            if position + line_start not in by_offset:
                by_offset[position + line_start] = text[line_start : find(b"\n", place, end)]
        return sorted(by_offset.items())


_Forms = dict[int, tuple[int, bytes]]  # by the byte before the stem: its place in which needle


@cache
def _stems(needles: tuple[bytes, ...]) -> list[tuple[bytes, _Forms]]:
    """What to search for, and the needles that may be there: all of them, if they have enough in common."""
    one, *others = needles or (b"",)
    parts = [one[start:end] for start in range(1, len(one)) for end in range(start + _LEAST_STEM, len(one))]
    for stem in sorted(parts, key=len, reverse=True):
        if all(other.find(stem) > 0 for other in others):
            forms = {needle[needle.find(stem) - 1]: (needle.find(stem), needle) for needle in needles}
            if len(forms) == len(needles):
                return [(stem, forms)]
    return [(needle[1:], {needle[0]: (1, needle)}) for needle in needles]


def _places(text: Str, chunk: Chunk, start: int, end: int, stem: bytes, forms: _Forms) -> Iterator[int]:
    """Where one of the needles is: one place of each line is enough."""
    find = text.find
    while (place := find(stem, start, end)) >= 0:
        start = place + 1
        form = forms.get(chunk[place - 1]) if place else None
        if form is not None:
            first = place - form[0]
            if first >= 0 and find(form[1], first, first + len(form[1])) >= 0:
                yield place
                start = find(b"\n", place, end)


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
