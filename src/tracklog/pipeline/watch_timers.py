"""Which sessions are looked at now: those of which something was told, and those whose time has come.

A state can change because nothing happens: a registry file that does not follow, an answer after which nothing comes. Each session
says when that may be, so that a thousand sessions that stand still cost nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Timers(Generic[Key]):
    """Remembers whose time comes when."""

    def __init__(self) -> None:
        self._news: set[Key] = set()
        self._due: dict[Key, int] = {}
        self._next_ms = 0

    def tell(self, key: Key) -> None:
        """Something was told of it."""
        self._news.add(key)

    def ready(self, now_ms: int) -> set[Key]:
        """Whose turn it is; each once."""
        ready, self._news = self._news, set()
        if now_ms >= self._next_ms:
            ready |= {key for key, at_ms in self._due.items() if at_ms <= now_ms}
            for key in ready:
                self._due.pop(key, None)
            self._next_ms = min(self._due.values(), default=now_ms + 1)
        return ready

    def set(self, key: Key, at_ms: int | None) -> None:
        """When it is its turn though nothing is told of it; None: never."""
        self._due.pop(key, None)
        if at_ms is not None:
            self._due[key] = at_ms
            self._next_ms = min(self._next_ms, at_ms)
