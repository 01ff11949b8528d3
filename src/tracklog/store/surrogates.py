"""Texts with half a character (a lone surrogate), which neither SQLite nor a pipe takes: they are kept as bytes."""

from __future__ import annotations

from typing import Any


def storable(value: Any) -> Any:
    """A value as it can be stored and sent."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def as_text(value: Any) -> Any:
    """The value of a text column as it was before."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
