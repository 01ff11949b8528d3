"""Send events to any number of streams: a ring of the last events, and a bell for each listener."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from threading import RLock
from typing import Any, NamedTuple

KEPT = 2_000
MOST_LISTENERS = 500
HEARTBEAT_S = 15.0
_MOST_AT_ONCE = 64 << 10  # bytes that are given out in one piece
_RETRY_MS = 1_000
_ID = re.compile(r"([0-9a-f]{16})-([0-9]{1,15})")


class _Kept(NamedTuple):
    n: int
    data: bytes


class Listener:
    """One stream: the number of the last event it got, and a bell that rings when there are more."""

    def __init__(self, last_n: int) -> None:
        self.last_n = last_n
        self.loop = asyncio.get_running_loop()
        self.bell = asyncio.Event()
        self.is_over = asyncio.Event()


class Hub:
    """Events from any thread, to any number of streams."""

    def __init__(self, *, kept: int = KEPT, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.epoch = secrets.token_hex(8)
        self.heartbeat_s = heartbeat_s
        self._lock = RLock()  # a signal may call `close` while its thread holds it
        self._n = 0
        self._ring: deque[_Kept] = deque(maxlen=kept)
        self._listeners: set[Listener] = set()
        self._rung: set[asyncio.AbstractEventLoop] = set()  # loops that will wake their listeners in a moment
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether all streams must end."""
        return self._is_closed

    @property
    def n_listeners(self) -> int:
        """The number of streams."""
        return len(self._listeners)

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        """Send an event to all streams."""
        with self._lock:
            self._n += 1
            self._ring.append(_Kept(self._n, self._written(name, data, self._n)))
        self._ring_bells()

    def close(self) -> None:
        """End all streams, now. May be called in a signal handler."""
        self._is_closed = True
        self._ring_bells()

    def join(self, last_id: str | None) -> tuple[Listener, bytes] | None:
        """A new stream and its first bytes; None if there are too many."""
        last_n = self._last_n(last_id)
        with self._lock:
            if len(self._listeners) >= MOST_LISTENERS:
                return None
            listener = Listener(self._n if last_n is None else last_n)
            self._listeners.add(listener)
            hello = self._written("hello", {"epoch": self.epoch, "n": self._n}, listener.last_n)
            is_new = last_n is None and last_id is not None
            reset = self._written("reset", {}, listener.last_n) if is_new else b""
        return listener, f"retry: {_RETRY_MS}\n".encode() + hello + reset

    def leave(self, listener: Listener) -> None:
        """Remove a stream that is over."""
        with self._lock:
            self._listeners.discard(listener)

    def news(self, listener: Listener) -> bytes:
        """The next events of the stream, as many as go out in one piece; `reset` if they are lost."""
        with self._lock:
            if self._n == listener.last_n:
                return b""
            if not self._ring or self._ring[0].n > listener.last_n + 1:
                listener.last_n = self._n
                return self._written("reset", {}, self._n)
            parts, size = [], 0
            for kept in self._after(listener.last_n):
                parts.append(kept.data)
                size += len(kept.data)
                listener.last_n = kept.n
                if size >= _MOST_AT_ONCE:
                    break
        return b"".join(parts)

    def _after(self, n: int) -> list[_Kept]:
        missing = self._n - n
        return [self._ring[at] for at in range(len(self._ring) - missing, len(self._ring))]

    def _last_n(self, last_id: str | None) -> int | None:
        """The last event that a returning client got; None if the stream cannot continue from there."""
        said = _ID.fullmatch(last_id or "")
        if said is None or said[1] != self.epoch:
            return None
        last_n = int(said[2])
        with self._lock:
            first = self._ring[0].n if self._ring else self._n + 1
            return last_n if first - 1 <= last_n <= self._n else None

    def _written(self, name: str, data: Mapping[str, Any], n: int) -> bytes:
        text = json.dumps(data, separators=(",", ":"))  # ASCII: no text of a log breaks a line
        return f"event: {name}\nid: {self.epoch}-{n}\ndata: {text}\n\n".encode("ascii")

    def _ring_bells(self) -> None:
        """Wake each loop once, however many events come until it runs."""
        with self._lock:
            loops = {listener.loop for listener in self._listeners} - self._rung
            self._rung |= loops
        for loop in loops:
            with suppress(RuntimeError):  # it was closed: its listeners are gone
                loop.call_soon_threadsafe(self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._rung.discard(loop)
            listeners = [one for one in self._listeners if one.loop is loop]
        for listener in listeners:
            listener.bell.set()
            if self._is_closed:
                listener.is_over.set()
