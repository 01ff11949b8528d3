"""Finds the good records in a torn line.

Seen in the wild: a record cut off with the next one spliced on, two records without the newline between
them, runs of NUL bytes before a record, a cut-off tail.

Rules of this room
  1. The pieces stand in the order of their bytes and do not overlap; all bytes but white space and byte order
     marks between two pieces belong to one of them.
  2. At the start of the line, and right behind a good piece, a whole object is a piece of its own, whatever it is.
  3. Elsewhere it may be a part of the wreck it stands in (a content block, a message): only what is a record by
     its own keys is taken out; less is asked of an object that reaches the end of the line and does not stand
     where JSON expects a value.
  4. The work is bounded: in a line made to be searched for ever, or to be cut into a million pieces, the search is
     given up, and the rest is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tracklog.records.json_text import BOM, WHITE, is_too_much, outline

Span = tuple[int, int]
Judge = Callable[[dict[str, Any]], bool]

_START = re.compile(r'\{\s*"')
_NULS = re.compile(rb"\x00+")
_SOLID = re.compile(rb"[^ \t\r\n\x00\xef\xbb\xbf]")
_FILLING = WHITE + b"\0" + BOM
_MOST_WORK = 16  # times the length of the line, in characters parsed
_FREE_WORK = 100_000
_ERRORS_PER_LENGTH = 50  # the parser counts the newlines before each error: that is work too
_MOST_PIECES = 1_000
_LAST_STARTS = 200
_TOO_DEEP = -1
_LAST_BYTES = 1 << 20
_decoder = json.JSONDecoder(strict=False)


def split(raw: bytes, is_record: Judge, *, may_be_record: Judge) -> Iterator[tuple[Span, bool]]:
    """Yields the spans of the pieces, and whether each is a whole object of its own."""
    at = 0
    for n, (span, good) in enumerate(_pieces(raw, is_record, may_be_record=may_be_record)):
        if n >= _MOST_PIECES:
            yield from _wreck(raw, at, len(raw))
            return
        yield span, good
        at = span[1]


def _pieces(raw: bytes, is_record: Judge, *, may_be_record: Judge) -> Iterator[tuple[Span, bool]]:
    search = _last_span if is_too_much(raw) else _good_spans
    at = 0
    for start, end in search(raw, is_record, may_be_record):
        yield from _wrecks(raw, at, start)
        yield (start, end), True
        at = end
    yield from _wrecks(raw, at, len(raw))


def _good_spans(raw: bytes, is_record: Judge, may_be_record: Judge) -> Iterator[Span]:
    text = raw.decode("latin-1")  # one character per byte: positions in the text are positions in the bytes
    last = len(raw.rstrip(_FILLING))
    at, work = 0, 0
    edge = _next_solid(raw, 0)  # where an object would follow the last good piece at once
    while (found := _START.search(text, at)) is not None:
        start = found.start()
        value, end = _object_at(text, start)
        if end == _TOO_DEEP:
            yield from _last_span(raw, is_record, may_be_record)
            return
        work += end - start + (len(text) // _ERRORS_PER_LENGTH if value is None else 0)
        if work > _MOST_WORK * len(text) + _FREE_WORK:
            return
        is_free = end == last and raw[:start].rstrip(WHITE)[-1:] not in (b":", b",", b"[")
        if value is not None and (start == edge or (may_be_record if is_free else is_record)(value)):
            yield start, end
            at, edge = end, _next_solid(raw, end)
        else:
            at = start + 1


def _last_span(raw: bytes, is_record: Judge, may_be_record: Judge) -> Iterator[Span]:  # noqa: ARG001 (as above)
    """Of a line too large to be searched: the record at its end, if there is one."""
    last = len(raw.rstrip(_FILLING))
    start, best = last, None
    for _ in range(_LAST_STARTS):
        start = raw.rfind(b'{"', 0, start)
        if start < 0 or last - start > _LAST_BYTES:
            break
        value, end = _object_at(raw[start:last].decode("latin-1"), 0)
        if value is not None and start + end == last and is_record(value):
            best = (start, last)
    if best is not None:
        yield best


def _next_solid(raw: bytes, at: int) -> int:
    found = _SOLID.search(raw, at)
    return found.start() if found else len(raw)


def _object_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object at `start`, if there is a whole one, and where the attempt to read it ended (or _TOO_DEEP)."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        found = outline(text.encode("latin-1"), start)
        return (None, _TOO_DEEP) if found.end is None else (dict(found.known), found.end)
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
