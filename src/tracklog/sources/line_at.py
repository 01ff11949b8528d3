"""Read a line by its address: the offset where it begins, and the number that it has.

Rules
  1. Lines are numbered from 1 by the newlines before them, whatever is in them; offsets count decompressed bytes.
  2. A line at a known offset is read by itself, in small pieces: what is before it is not looked at.
  3. A log that is gone, or shorter by now, has no such line; what was found of it counts.

The page of a session holds the offsets of all lines of the logs that it shows: conversation/lines.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.lines import Cutter, Line
from tracklog.sources.log_file import LogFile

FIRST_LOOK = 1 << 14  # bytes of a line that are read at first


def line_at(log: LogFile | Path, offset: int, number: int) -> Line | None:
    """The line with this number, which begins at this offset; None behind the end. Raises NotReadable."""
    return first_line(chunks(log, offset, size=FIRST_LOOK), offset, number)


def first_line(source: Iterable[bytes], offset: int, number: int) -> Line | None:
    """The first line of some bytes, which begin at this offset with the line of this number."""
    return next(_lines(source, offset, number), None)


def _lines(source: Iterable[bytes], offset: int, number: int) -> Iterator[Line]:
    cutter = Cutter(offset=offset, number=number)
    for chunk in source:
        yield from cutter.feed(chunk)
    yield from cutter.end()


def line_numbers(log: LogFile | Path, offsets: Iterable[int]) -> dict[int, int]:
    """The number of the line at each offset, as far as the log can be read."""
    found: dict[int, int] = {}
    with suppress(NotReadable):
        _find(log, sorted(set(offsets)), found)
    return found


def _find(log: LogFile | Path, offsets: list[int], found: dict[int, int]) -> None:
    start, number = 0, 1
    for chunk in chunks(log):
        at = 0
        for offset in offsets[len(found) :]:
            if offset >= start + len(chunk):
                break
            number += chunk.count(b"\n", at, offset - start)
            at = offset - start
            found[offset] = number
        if len(found) == len(offsets):
            return
        number += chunk.count(b"\n", at)
        start += len(chunk)
