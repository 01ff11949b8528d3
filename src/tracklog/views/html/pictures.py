"""Pictures in logs: what they are, by their own first bytes.

Rules of this room
  1. What a log calls a picture is not believed. Four kinds are known by their bytes; all else, SVG before all, is none:
     it could hold scripts.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from tracklog.pipeline.line_pictures import pictures_in

Kind = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


class Pictures(NamedTuple):
    """The pictures that a line tells of."""

    shown: tuple[int, ...] = ()  # which of those that stand in it
    n_others: int = 0  # of another kind, or not in the line itself


def pictures_of(raw: bytes, n: int) -> Pictures:
    """Of the `n` pictures that a line tells of, those that can be shown."""
    if not n:
        return Pictures()
    known = [at for at, data in enumerate(pictures_in(raw)) if picture_kind(data) is not None]
    return Pictures(tuple(known[:n]), max(n - len(known), 0))


def picture_kind(data: bytes) -> Kind | None:
    """What kind of picture this is; None if it is none that we show."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else None
