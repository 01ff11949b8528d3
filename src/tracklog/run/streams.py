"""What a client says on its stdout: lines of JSON, of which each agent makes its own sense.

Rules of this room
  1. Any bytes are taken: a line that is no JSON object is noise, which is kept as the client's last words.
  2. Lines are cut at newlines, however the bytes arrive; a line without an end counts when the client has ended.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

LONGEST_LINE = 64 << 20
_LAST_WORDS = 40
_LONGEST_WORD = 4_000
_MOST_LEVELS = 200
_decode = msgspec.json.Decoder().decode

HeardFrom = Literal["stream", "hook", "keeper", "limit"]


def decoded(data: bytes) -> dict[str, Any] | None:
    """The JSON object that stands there; None if there is none.

    Clients cut texts in the middle of a letter, and write half of a pair: that is read as a letter that is unknown.
    """
    try:
        document = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = _decoded_with_halves(data)
    return document if isinstance(document, dict) and _is_shallow(document) else None


def _decoded_with_halves(data: bytes) -> Any:
    try:
        return _without_halves(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_halves(name): _without_halves(part) for name, part in value.items()}
    return [_without_halves(part) for part in value] if isinstance(value, list) else value


def _is_shallow(value: Any, levels: int = _MOST_LEVELS) -> bool:
    """Whether it can be printed again: what is nested too deep can be read, but not always be written."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


class Heard(NamedTuple):
    """One thing that was heard of a child."""

    at_ms: int
    source: HeardFrom
    what: str  # `assistant`, `system/init`, `Stop`, `exit`, `timeout`, …
    document: Mapping[str, Any]


class Sense(Protocol):
    """What an agent's stream has told so far."""

    session: str | None
    model: str | None
    text: str | None  # the last words of the main thread
    error: str | None

    @property
    def is_finished(self) -> bool:
        """Whether the client has said how it ended."""

    def take(self, document: Mapping[str, Any]) -> str:
        """Takes in a line; returns what it is."""


class Lines:
    """Cuts a client's stdout into documents."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_too_long = False
        self.noise: deque[str] = deque(maxlen=_LAST_WORDS)

    def cut(self, data: bytes) -> list[Mapping[str, Any]]:
        """The documents whose lines end in these bytes."""
        self._rest += data
        if b"\n" not in data:
            if len(self._rest) > LONGEST_LINE:  # its head is dropped, and its end will be noise
                self._rest.clear()
                self._is_too_long = True
            return []
        *whole, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        if self._is_too_long:
            self._is_too_long = False
            whole = whole[1:]
            self.noise.append(f"a line of more than {LONGEST_LINE >> 20} MB was left out")
        return [document for line in whole if (document := self._document(bytes(line))) is not None]

    def end(self) -> list[Mapping[str, Any]]:
        """What stood behind the last newline."""
        rest, self._rest = bytes(self._rest), bytearray()
        document = self._document(rest)
        return [] if document is None else [document]

    def _document(self, line: bytes) -> Mapping[str, Any] | None:
        if not line.strip():
            return None
        document = decoded(line)
        if document is not None:
            return document
        self.noise.append(line[:_LONGEST_WORD].decode("utf-8", "replace").rstrip())
        return None


class LastWords:
    """The end of a client's stderr."""

    def __init__(self) -> None:
        self._tail = b""

    def add(self, data: bytes) -> None:
        """Takes in some bytes, and forgets the oldest."""
        self._tail = (self._tail + data)[-_LONGEST_WORD:]

    @property
    def text(self) -> str:
        """As text."""
        return self._tail.decode("utf-8", "replace").strip()
