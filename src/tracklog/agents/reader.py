"""Read a line into its pieces: strictly first, then tolerantly, and a torn line record by record.

Torn lines seen so far: a record cut off with the next one spliced on, two records without a newline between them,
runs of NUL bytes before a record, a cut-off tail.

Rules
  1. Reading is total: any bytes give pieces, nothing raises, nothing is dropped.
  2. A whole line of known shape costs one strict decoding. Everything else may be slow.
  3. `Unknown` is JSON we cannot name, `Broken` is not JSON; both keep what can be said about them.
  4. Pieces are in the order of their bytes and do not overlap; all bytes between two pieces, except white space
     and byte order marks, belong to one of them.
  5. In a torn line, a whole object at the start, or right behind a good piece, is always a piece of its own.
     Elsewhere it may be a part of the broken record around it (a content block, a message), so only an object that
     is a record by its own keys is taken out. An object that ends with the line and is not where JSON expects a
     value needs less proof.
  6. The work is bounded: in a hostile line, made to be searched for ever or cut into a million pieces, the search
     stops and the rest is `Broken`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from tracklog.agents.drift import Drift, Stray, converted, shape_of
from tracklog.model.events import LogEvent, Place, StrangeSeen
from tracklog.model.json_text import BOM, WHITE, is_too_much, loads, outline
from tracklog.model.records import Blank, Broken, Piece, Record, Unknown, WithOddFields
from tracklog.sources.lines import KEPT_BYTES, Line

Span = tuple[int, int]
Judge = Callable[[dict[str, Any]], bool]
_LONGEST_ODD = 80  # characters of a value that does not fit
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


Value = dict[str, Any]
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_JSON_NAMES = {
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_TOO_LONG = f"longer than {KEPT_BYTES // 2**20} MiB: kept by reference, not decoded"


class Reader:
    """Reads the lines of one kind of file of one agent.

    `decode` is the strict way: it may raise what msgspec raises. `read_value` takes a parsed object and
    always answers. `name_of` names an object of unknown shape. Of the objects in a torn line, `is_record`
    tells a record from a part of one; `may_be_record` is asked for objects at the edges, which are no parts.
    `drift` makes what finds the unnamed keys of one file.
    """

    def __init__(
        self,
        agent: str | None,
        decode: Callable[[bytes], Record],
        *,
        read_value: Callable[[Value], Record],
        name_of: Callable[[Value], str],
        is_record: Callable[[Value], bool],
        may_be_record: Callable[[Value], bool] | None = None,
        drift: Callable[[], Drift] = Drift,
    ) -> None:
        self.agent = agent
        self._decode = decode
        self._read_value = read_value
        self._name_of = name_of
        self._is_record = is_record
        self._may_be_record = may_be_record or is_record
        self.drift = drift

    def read(self, lines: Iterable[Line]) -> Iterator[Piece]:
        """Yields the pieces of each line, in order."""
        decode = self._decode
        for line in lines:
            raw = line.raw
            if len(raw) == line.length:
                try:
                    record = decode(raw)
                except _REFUSALS:
                    yield from self._read_slowly(line)
                else:
                    yield Piece(line.number, line.offset, line.length, raw, record)
            else:
                yield from self._read_slowly(line)

    def read_bytes(self, raw: bytes) -> Record:
        """The record in `raw`; of a torn line, the first good one or else what it is instead."""
        pieces = list(self.read([Line(1, 0, len(raw), raw)]))
        return next((piece.record for piece in pieces if piece.reading == "read"), pieces[0].record)

    def _read_slowly(self, line: Line) -> Iterator[Piece]:
        if not line.whole:
            yield self._kept_by_reference(line)
            return
        if line.nuls:
            nuls = Broken(why=f"{line.nuls} NUL bytes")
            yield Piece(line.number, line.offset, line.nuls, b"", nuls)
        record, repaired = self._read_tolerantly(line.raw)
        if type(record) is Broken:
            yield from self._read_torn(line)
        elif not (line.nuls and type(record) is Blank):
            offset, recovered = line.offset + line.nuls, bool(line.nuls or repaired)
            where = (line.number, offset, len(line.raw), line.raw)
            yield _piece(where, record, recovered=recovered, repaired=repaired)

    def _read_tolerantly(self, raw: bytes) -> tuple[Record, str]:
        body = raw.removeprefix(BOM).strip(WHITE)
        if not body:
            return Blank(), ""
        try:
            value, repaired = loads(raw)
            return self._read_any(value), repaired
        except ValueError as error:
            return Broken(why=_why_broken(body, error)), ""
        except RecursionError:
            return self._too_deep(raw), ""

    def _read_any(self, value: Any) -> Record:
        if not isinstance(value, dict):
            name = _JSON_NAMES[type(value)]
            return Unknown(name=name, why=f"a JSON {name}, not an object", body=value)
        return self._read_value(value)

    def _read_torn(self, line: Line) -> Iterator[Piece]:
        spans = list(split(line.raw, self._is_record, may_be_record=self._may_be_record))
        start = line.offset + line.nuls
        for (first, last), good in spans:
            raw = line.raw[first:last]
            record, repaired = self._read_tolerantly(raw)
            if not good and type(record) is not Broken:
                record = Broken(why="JSON that is no record of its own")
            where = (line.number, start + first, last - first, raw)
            yield _piece(where, record, recovered=type(record) is not Broken, repaired=repaired)

    def _kept_by_reference(self, line: Line) -> Piece:
        known: Value = dict(outline(line.raw).known)
        name = self._name_of(known) if known else "oversized"
        return Piece(
            line.number, line.offset, line.length, line.raw, unknown(known, name, _TOO_LONG, body=None)
        )

    def _too_deep(self, raw: bytes) -> Record:
        found = outline(raw)
        if found.is_sure and not found.is_all_of(raw):
            return Broken(why="too deep or too much to decode, and the brackets do not match")
        known: Value = dict(found.known)
        name = self._name_of(known) if raw.lstrip(BOM + WHITE).startswith(b"{") else "array"
        return unknown(known, name, "too deep or too much to decode", body=None)


def _piece(where: tuple[int, int, int, bytes], record: Record, *, recovered: bool, repaired: str) -> Piece:
    odd = tuple(record.odd) if isinstance(record, WithOddFields) else ()
    read = record.record if isinstance(record, WithOddFields) else record
    return Piece(*where, read, recovered=recovered, repaired=repaired, tolerantly=True, odd=odd)


def unknown(value: Value, name: str, why: str, *, body: Any) -> Unknown:
    """The answer for an object that no struct fits, with what its outermost keys tell."""
    ident, written = value.get("uuid") or value.get("id"), value.get("timestamp")
    return Unknown(
        name=name or "untyped",
        why=why,
        id=ident if isinstance(ident, str) else None,
        written=written if isinstance(written, str) else None,
        body=body,
    )


def fit(value: Value, struct: Any, name: str) -> Record:
    """The record that `value` is as `struct`; parts that do not fit become unknown parts, or all of it.

    Where an optional field does not fit, it is the record without that field (WithOddFields).
    """
    odd: list[Stray] = []
    shape = shape_of(struct)
    try:
        record: Record = converted(shape.mend(value, odd), struct, shape=shape, odd=odd)
    except msgspec.ValidationError as error:
        return unknown(value, name, str(error), body=value)
    return WithOddFields(record=record, odd=odd) if odd else record


def single(agent: str, struct: Any, *, name: str, prepare: Callable[[Value], Value] = dict) -> Reader:
    """A reader of files that hold one kind of thing; `prepare` is asked before the tolerant way."""
    required = {field.encode_name for field in msgspec.structs.fields(struct) if field.required}
    return Reader(
        agent,
        msgspec.json.Decoder(struct).decode,
        read_value=lambda value: fit(prepare(value), struct, name),
        name_of=lambda _: name,
        is_record=lambda value: bool(required) and value.keys() >= required,
    )


def _why_broken(body: bytes, error: ValueError) -> str:
    if not body.strip(b"\0"):
        return f"{len(body)} NUL bytes"
    if body.lstrip(b"\0")[:1] not in b"{[":
        return "not JSON"
    return f"not whole JSON: {error}"


def with_odd_fields(events: list[LogEvent], piece: Piece, path: str) -> list[LogEvent]:
    """The events of a piece, and one for each field that was left out of its record."""
    place = Place(path, piece.line)
    seen = [
        StrangeSeen(
            place=place,
            at=piece.at,
            kind=piece.record.kind,
            problem=f"{field} was left out, its value does not fit: {_in_short(value)}",
            is_aside=True,
        )
        for field, value in piece.odd
    ]
    return [*events, *seen]


def _in_short(value: object) -> str:
    try:
        said = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        said = type(value).__name__
    return said if len(said) <= _LONGEST_ODD else f"{said[:_LONGEST_ODD]}…"
