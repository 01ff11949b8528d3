"""Find the pictures in a line of a log, and tell their kind by their first bytes.

Pictures are base64 under `data`, at any depth.

Rules
  1. What a log says about the kind of a picture is ignored. Four kinds are recognised by their bytes; anything else is
     not shown, above all SVG: it could hold scripts.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Literal, NamedTuple

from tracklog.model.json_text import loads

_MOST = 16
_MOST_BYTES = 20_000_000
_MOST_DEEP = 40
_IN_AN_ADDRESS = re.compile(r"data:image/[a-z+.-]+;base64,(.*)", re.DOTALL)


def pictures_in(raw: bytes) -> list[bytes]:
    """The bytes of each picture, in the order of the line; invalid base64 is left out."""
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


Kind = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


class Pictures(NamedTuple):
    """The pictures of a line."""

    shown: tuple[int, ...] = ()  # positions among the pictures in the line
    n_others: int = 0  # of another kind, or not in the line itself


def pictures_of(raw: bytes, n: int) -> Pictures:
    """Which of a line's `n` pictures can be shown."""
    if not n:
        return Pictures()
    known = [at for at, data in enumerate(pictures_in(raw)) if picture_kind(data) is not None]
    return Pictures(tuple(known[:n]), max(n - len(known), 0))


def picture_kind(data: bytes) -> Kind | None:
    """The media type of a picture; None if it is none that we show."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else None
