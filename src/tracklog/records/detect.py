"""Which agent wrote a file, by its own words: asked where the place does not tell.

Rules of this room
  1. Damage does not hide the writer: torn, deep and overlong lines are asked for what can be told of them.
  2. Where some JSON object stands, but none of an agent we know, the writer is a stranger, and each line is unknown:
     what would break one format may be right in another. Without any object the file is wreckage, and broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from tracklog.records import claude_code, codex, torn
from tracklog.records.base import Blank, Piece, Record
from tracklog.records.json_text import WHITE, loads, outline
from tracklog.records.reading import Reader, Value, unknown
from tracklog.sources.lines import Line

_LINES_LOOKED_AT = 50
_STRANGE = "of an agent that we do not know"


class Told(NamedTuple):
    """What the first lines of a file tell."""

    agent: str | None
    has_objects: bool


def tell_agent(lines: Iterable[Line]) -> Told:
    """Looks at lines until one tells its writer, or enough of them told nothing. Blank ones do not count."""
    has_objects, n_looked_at = False, 0
    for line in lines:
        if not line.raw.strip(WHITE + b"\0"):
            continue
        for value in _objects_in(line):
            has_objects = True
            agent = _writer_of(value)
            if agent is not None:
                return Told(agent, has_objects)
        n_looked_at += 1
        if n_looked_at >= _LINES_LOOKED_AT:
            break
    return Told(None, has_objects)


def _writer_of(value: Value) -> str | None:
    if codex.is_codex(value):
        return "codex"
    return "claude" if claude_code.is_claude(value) else None


def _objects_in(line: Line) -> Iterator[Value]:
    """The objects in a line; of one that cannot be parsed, what its outermost strings tell."""
    try:
        value = loads(line.raw)[0] if line.whole else None
    except (ValueError, RecursionError):
        value = None
        for (start, end), good in torn.split(line.raw, _is_typed, may_be_record=_is_typed):
            if good and end - start < len(line.raw):
                yield from _objects_in(Line(line.number, start, end - start, line.raw[start:end]))
    if isinstance(value, dict):
        yield value
    elif value is None and (known := outline(line.raw).known):
        yield {**known, "payload": {}}


def _is_typed(value: Value) -> bool:
    return isinstance(value.get("type"), str)


def _name_of(value: Value) -> str:
    return str(value["type"]) if _is_typed(value) else "untyped"


def _refuse(raw: bytes) -> Record:  # noqa: ARG001 (a decoder takes bytes)
    raise msgspec.DecodeError("nothing of a stranger is decoded as a record")


def _strange(value: Value) -> Record:
    return unknown(value, _name_of(value), _STRANGE, body=value)


class StrangerReader(Reader):
    """Reads files of agents that we do not know: each line is one piece."""

    def read(self, lines: Iterable[Line]) -> Iterator[Piece]:
        for line in lines:
            yield Piece(line.number, line.offset, line.length, line.raw, _read_strange(line))


def _read_strange(line: Line) -> Record:
    if line.length == len(line.raw) and not line.raw.strip(WHITE):
        return Blank()
    value: Any = None
    try:
        value, _ = loads(line.raw) if line.whole else (None, "")
    except (ValueError, RecursionError):
        return unknown({}, "text", _STRANGE, body=None)
    return _strange(value) if isinstance(value, dict) else unknown({}, "text", _STRANGE, body=value)


STRANGER = StrangerReader(None, _refuse, read_value=_strange, name_of=_name_of, is_record=_is_typed)
WRECKAGE = Reader(None, _refuse, read_value=_strange, name_of=_name_of, is_record=_is_typed)
