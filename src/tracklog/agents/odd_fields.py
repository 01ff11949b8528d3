"""Report the fields of a record that were left out because their values do not fit."""

from __future__ import annotations

import json

from tracklog.model.events import Event, Place, StrangeSeen
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
