"""Store texts with lone surrogates as bytes, as neither SQLite nor a pipe accepts them."""

from __future__ import annotations

from typing import Any


def storable(value: Any) -> Any:
    """A value in a form that can be stored and sent."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def as_text(value: Any) -> Any:
    """The text that was stored in a text column."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
