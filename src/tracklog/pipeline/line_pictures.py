"""The pictures that stand in a line: base64 under `data`, wherever it is nested."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from tracklog.records.json_text import loads

_MOST = 16
_MOST_BYTES = 20_000_000
_MOST_DEEP = 40
_IN_AN_ADDRESS = re.compile(r"data:image/[a-z+.-]+;base64,(.*)", re.DOTALL)


def pictures_in(raw: bytes) -> list[bytes]:
    """The bytes of each picture, in the order of the line; what is no base64 is left out."""
    try:
        value, _ = loads(raw)
    except (ValueError, RecursionError):
        return []
    found: list[bytes] = []
    _look(value, found, depth=0)
    return found


def _look(value: Any, found: list[bytes], *, depth: int) -> None:
    if depth > _MOST_DEEP or len(found) >= _MOST:
        return
    if isinstance(value, dict):
        data = value.get("data") if value.get("type") == "base64" else None
        if isinstance(data, str) and (picture := _decoded(data)):
            found.append(picture)
            return
        for one in value.values():
            _look(one, found, depth=depth + 1)
    elif isinstance(value, list):
        for one in value:
            _look(one, found, depth=depth + 1)
    elif isinstance(value, str) and value.startswith("data:image/"):
        said = _IN_AN_ADDRESS.fullmatch(value)
        if said and (picture := _decoded(said[1])):
            found.append(picture)


def _decoded(text: str) -> bytes | None:
    if len(text) > _MOST_BYTES:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
