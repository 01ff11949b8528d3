"""Finds the good records in a torn line.

Seen in the wild: a record cut off with the next one spliced on, two records without the newline between
them, runs of NUL bytes before a record, a cut-off tail.

Rules of this room
  1. The pieces stand in the order of their bytes and do not overlap; all bytes but white space and byte order
     marks between two pieces belong to one of them.
  2. Inside the wreck of a record its parts (a content block, a message) are whole JSON objects too: only
     what is a record by its own keys is taken out. At an edge (right behind a good record or the start of
     the line, or reaching its end) an object is no part of another one, and less is asked of it.
  3. The work is bounded: in a line made to be searched for ever the search is given up, and the rest is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tracklog.records.json_text import BOM, WHITE, is_too_dense

Span = tuple[int, int]
Judge = Callable[[dict[str, Any]], bool]

_START = re.compile(r'\{\s*"')
_NULS = re.compile(rb"\x00+")
_MOST_WORK = 16  # times the length of the line, in characters parsed
_FREE_WORK = 100_000
_ERRORS_PER_LENGTH = 50  # the parser counts the newlines before each error: that is work too
_SOLID = re.compile(rb"[^ \t\r\n\x00\xef\xbb\xbf]")
_FILLING = WHITE + b"\0" + BOM
_decoder = json.JSONDecoder(strict=False)


def split(raw: bytes, is_record: Judge, may_be_record: Judge) -> Iterator[tuple[Span, bool]]:
    """Yields the spans of the pieces, and whether each is a whole record."""
    at = 0
    for start, end in _good_spans(raw, is_record, may_be_record):
        yield from _wrecks(raw, at, start)
        yield (start, end), True
        at = end
    yield from _wrecks(raw, at, len(raw))


def _good_spans(raw: bytes, is_record: Judge, may_be_record: Judge) -> Iterator[Span]:
    if is_too_dense(raw):
        return
    text = raw.decode("latin-1")  # one character per byte: positions in the text are positions in the bytes
    last = len(raw.rstrip(_FILLING))
    at, work = 0, 0
    edge = _next_solid(raw, 0)  # where an object would follow the last good record at once
    while (found := _START.search(text, at)) is not None:
        start = found.start()
        value, end = _object_at(text, start)
        work += end - start + (len(text) // _ERRORS_PER_LENGTH if value is None else 0)
        if work > _MOST_WORK * len(text) + _FREE_WORK:
            return
        judge = may_be_record if end == last or start == edge else is_record
        if value is not None and judge(value):
            yield start, end
            at, edge = end, _next_solid(raw, end)
        else:
            at = start + 1


def _next_solid(raw: bytes, at: int) -> int:
    found = _SOLID.search(raw, at)
    return found.start() if found else len(raw)


def _object_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object at `start`, if there is a whole one, and where the attempt to read it ended."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        return None, len(text)
    return value, end


def _wrecks(raw: bytes, start: int, end: int) -> Iterator[tuple[Span, bool]]:
    """The broken pieces in `raw[start:end]`: runs of NUL bytes apart from what else is there."""
    at = start
    for nuls in _NULS.finditer(raw, start, end):
        yield from _wreck(raw, at, nuls.start())
        yield nuls.span(), False
        at = nuls.end()
    yield from _wreck(raw, at, end)


def _wreck(raw: bytes, start: int, end: int) -> Iterator[tuple[Span, bool]]:
    body = raw[start:end].strip(WHITE)
    if body and body != BOM:
        first = start + raw[start:end].index(body)
        yield (first, first + len(body)), False
