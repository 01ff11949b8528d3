"""What stands in a line beyond what our records name: how a new client release is noticed.

Rules of this room
  1. Nothing here changes a reading; it only looks at the same bytes again.
  2. A stray is a path and a value: `message.usage.mood`; a part of unknown kind, or of a known kind in an
     unexpected shape, shows as `content[](hologram)`.
  3. A field whose value does not fit, and that was left out for that, shows as `message.usage.input_tokens (odd)`.
  4. Of a key that stands twice in one object the last one is read, as in the clients; it shows as `key (twice)`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tracklog.records.base import Blank, Broken, Piece, Record, Unknown
from tracklog.records.json_text import is_too_much, keys_that_stand_twice, loads
from tracklog.records.shapes import Stray, parts_set_aside, shape_of

_TOO_DEEP = "(too deep or too much to look for unnamed keys)"
_NO_NAMES = (Blank, Broken, Unknown)


class Drift:
    """Finds the strays of one file, line by line; agents extend it with what they know of their parts."""

    def strays(self, piece: Piece) -> list[Stray]:
        """The strays of one piece; empty for what was not read."""
        if isinstance(piece.record, _NO_NAMES):
            return []
        try:
            return self._look_into(piece)
        except RecursionError:
            return [(_TOO_DEEP, None)]

    def _look_into(self, piece: Piece) -> list[Stray]:
        value = _parsed(piece.raw)
        found = self.strays_of(piece.record, value)
        if piece.tolerantly:
            found += parts_set_aside(piece.record)
            found += [(f"{path} (odd)", odd) for path, odd in piece.odd]
        if _has_more_keys_than(piece.raw, _count_keys(value)):
            found += [(f"{key} (twice)", None) for key in keys_that_stand_twice(piece.raw)]
        return found

    def strays_of(self, record: Record, value: Any) -> list[Stray]:
        """The keys of the parsed line that the record's structs do not name."""
        return shape_of(type(record)).strays(value)


def extra_of(piece: Piece) -> dict[str, Any]:
    """The keys of a piece that its record does not name, by path; of several under one path, the last.

    What a tool reported (`toolUseResult`) is looked at by `tool_results.strays_of_tool_result`, which needs its name.
    """
    return dict(Drift().strays(piece))


def _parsed(raw: bytes) -> Any:
    if is_too_much(raw):
        raise RecursionError("too much to make objects of")
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return loads(raw)[0]


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        n_keys = len(value)
        for item in value.values():
            if type(item) is dict or type(item) is list:
                n_keys += _count_keys(item)
        return n_keys
    n_keys = 0
    if type(value) is list:
        for item in value:
            if type(item) is dict or type(item) is list:
                n_keys += _count_keys(item)
    return n_keys


def _has_more_keys_than(raw: bytes, n_keys: int) -> bool:
    """Whether more keys are written than were parsed. Inside a string a quote is always escaped."""
    return raw.count(b'":') - raw.count(b'\\":') > n_keys
