"""Split a client's stdout into JSON documents, and queue the events of a child for its readers.

Rules
  1. Any bytes are accepted: a line that is no JSON object is noise, which is kept as the client's last words.
  2. Lines are cut at newlines, however the bytes arrive; a line without a newline counts when the client has ended.
  3. The queue keeps the last few thousand events of a child in order; a slow reader misses some.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import msgspec

LONGEST_LINE = 64 << 20
_LAST_WORDS = 40
_LONGEST_WORD = 4_000
_MOST_LEVELS = 200
_decode = msgspec.json.Decoder().decode
EventSource = Literal["stream", "hook", "keeper", "limit"]


def decoded(data: bytes) -> dict[str, Any] | None:
    """Decode a JSON object; None if it is none.

    Clients cut texts within a character, and write half of a surrogate pair: such halves become U+FFFD.
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
    """Whether it can be written as JSON again: deep nesting can be read, but not always written."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


class RunEvent(NamedTuple):
    """One event of a child: a document of its stream, a hook, a report of its supervisor, a limit."""

    at_ms: int
    source: EventSource
    what: str  # `assistant`, `system/init`, `Stop`, `exit`, `timeout`, …
    document: Mapping[str, Any]


class DocumentSplitter:
    """Cuts a client's stdout into documents."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_too_long = False
        self.noise: deque[str] = deque(maxlen=_LAST_WORDS)

    def cut(self, data: bytes) -> list[Mapping[str, Any]]:
        """Add bytes; the documents whose lines are complete now."""
        self._rest += data
        if b"\n" not in data:
            if len(self._rest) > LONGEST_LINE:  # its start is dropped, and its end will be noise
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
        """The document behind the last newline."""
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
        """Add bytes, and drop the oldest."""
        self._tail = (self._tail + data)[-_LONGEST_WORD:]

    @property
    def text(self) -> str:
        """The kept bytes as text."""
        return self._tail.decode("utf-8", "replace").strip()


_KEPT = 4096


class Events:
    """A bounded queue of events: one thread writes, any thread reads, and a slow reader misses some."""

    def __init__(self) -> None:
        self._kept: deque[RunEvent] = deque(maxlen=_KEPT)
        self._n_added = 0
        self._is_over = False
        self._news = threading.Condition()
        self._callbacks: list[Callable[[], None]] = []
        self.last: RunEvent | None = None  # of the client itself

    def append(self, source: EventSource, what: str, document: Mapping[str, Any]) -> None:
        """Append an event."""
        with self._news:
            event = RunEvent(time.time_ns() // 1_000_000, source, what, document)
            self.last = self.last if source == "keeper" else event
            self._kept.append(event)
            self._n_added += 1
            self._notify()

    def end(self) -> None:
        """Close the queue."""
        with self._news:
            self._is_over = True
            self._notify()

    def all(self) -> Iterator[RunEvent]:
        """All events from the first one, until it is over."""
        n = 0
        while True:
            new, n = self._behind(n)
            if not new:
                return
            yield from new

    async def all_async(self) -> AsyncIterator[RunEvent]:
        """All events from the first one, for asyncio."""
        from asyncio import Event, get_running_loop  # only for callers that await

        loop, news = get_running_loop(), Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: it has no reader any more
                loop.call_soon_threadsafe(news.set)

        with self._news:
            self._callbacks.append(wake)
        try:
            n, is_over = 0, False
            while not is_over:
                with self._news:
                    is_over, (new, n) = self._is_over, self._newer(n)
                for event in new:
                    yield event
                if not new and not is_over:
                    await news.wait()
                news.clear()
        finally:
            with self._news:
                self._callbacks.remove(wake)

    def _notify(self) -> None:
        self._news.notify_all()
        for callback in self._callbacks:
            callback()

    def _newer(self, n: int) -> tuple[list[RunEvent], int]:
        first = self._n_added - len(self._kept)
        return list(self._kept)[max(n - first, 0) :], self._n_added

    def _behind(self, n: int) -> tuple[list[RunEvent], int]:
        """Wait for the events behind the first n; nothing when the queue is closed."""
        with self._news:
            self._news.wait_for(lambda: self._n_added > n or self._is_over)
            return self._newer(n)
