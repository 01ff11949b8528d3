"""Which agent wrote a file, by its own words: asked where the place does not tell."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import msgspec

from tracklog.records import claude_code, codex
from tracklog.records.base import Blank, Piece, Record
from tracklog.records.json_text import WHITE, loads
from tracklog.records.reading import Reader, Value, unknown
from tracklog.sources.lines import Line

_LINES_LOOKED_AT = 50


def agent_of(lines: Iterable[bytes]) -> str | None:
    """The agent whose records stand in the first lines; None if we know none that writes so."""
    for raw in itertools.islice(lines, _LINES_LOOKED_AT):
        value = _object_in(raw)
        if value is not None and codex.is_codex(value):
            return "codex"
        if value is not None and claude_code.is_claude(value):
            return "claude"
    return None


def _object_in(raw: bytes) -> Value | None:
    try:
        value, _ = loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class StrangerReader(Reader):
    """Reads files of agents that we do not know: each line is unknown, whatever stands in it.

    Nothing there is called broken: what would break one format may be right in another.
    """

    def read(self, lines: Iterable[Line]) -> Iterator[Piece]:
        for line in lines:
            record = _read_strange(line)
            yield Piece(line.number, line.offset, line.length, line.raw, record)


def _read_strange(line: Line) -> Record:
    if line.whole and not line.raw.strip(WHITE):
        return Blank()
    value = _object_in(line.raw) if line.whole else None
    kind = (value or {}).get("type")
    name = kind if isinstance(kind, str) else "untyped" if value is not None else "text"
    return unknown(value or {}, name, "of an agent that we do not know", body=value)


def _refuse(raw: bytes) -> Record:  # noqa: ARG001 (a decoder takes bytes)
    raise msgspec.DecodeError("no line of a stranger is decoded")


STRANGER = StrangerReader(
    None,
    _refuse,
    read_value=lambda value: unknown(value, "untyped", "of an agent that we do not know", body=value),
    name_of=lambda _: "untyped",
    is_record=lambda _: False,
)
