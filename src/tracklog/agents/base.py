"""Report the fields of a record that were left out because their values do not fit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tracklog.model.events import (
    Event,
    Place,
    StrangeSeen,
)
from tracklog.model.ids import NodeId
from tracklog.model.records import Piece

_LONGEST = 80


def with_odd_fields(events: list[Event], piece: Piece, path: str) -> list[Event]:
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
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Attached:
    """Context that the client added by itself, as far as the model got to see it."""

    place: Place
    what: str
    name: str
    n_bytes: int


@dataclass(slots=True)
class LogContents:
    """What of a session's logs is not in the session: which record stands where, and what was attached."""

    nodes: dict[Place, NodeId] = field(default_factory=dict)
    attached: list[Attached] = field(default_factory=list)


class Translator(Protocol):
    """What each agent's translator can do."""

    def translate(self, piece: Piece) -> list[Event]: ...


class ClaudeProcess(NamedTuple):
    """A running Claude Code."""

    pid: int
    started_ms: int
    cwd: str | None  # None: we may not look
