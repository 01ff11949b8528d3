"""Scheduler of a watch: the sessions with news, and those whose timer has expired.

A state can change because nothing happens: a registry file that does not follow, an answer without a line after it. Each
session gives the time when that may be, so that a thousand idle sessions cost nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from tracklog.live.watch.session import WatchedSession
from tracklog.reading.session_files import Name

_PAST_MS = 24 * 3600 * 1000
_MOST_PAST = 2_000
Key = TypeVar("Key", bound=Hashable)


class Timers(Generic[Key]):
    """When each key is due: at once after a wake-up, or when its timer expires."""

    def __init__(self) -> None:
        self._news: set[Key] = set()
        self._due: dict[Key, int] = {}
        self._next_ms = 0

    def wake(self, key: Key) -> None:
        """Make it due at once: there is news of it."""
        self._news.add(key)

    def due(self, now_ms: int) -> set[Key]:
        """Remove and return the keys that are due."""
        ready, self._news = self._news, set()
        if now_ms >= self._next_ms:
            ready |= {key for key, at_ms in self._due.items() if at_ms <= now_ms}
            for key in ready:
                self._due.pop(key, None)
            self._next_ms = min(self._due.values(), default=now_ms + 1)
        return ready

    def set(self, key: Key, at_ms: int | None) -> None:
        """Set its timer; None: it has none."""
        self._due.pop(key, None)
        if at_ms is not None:
            self._due[key] = at_ms
            self._next_ms = min(self._next_ms, at_ms)


class WatchedSessions:
    """The sessions that are watched, by name; those that are long over are forgotten."""

    def __init__(self) -> None:
        self.by_name: dict[Name, WatchedSession] = {}
        self._timers: Timers[Name] = Timers()
        self._forgotten: dict[Name, None] = {}  # a registry may still name them

    def open(self, name: Name) -> WatchedSession:
        """The session of this name, known or new, which becomes due."""
        session = self.by_name.get(name)
        if session is None:
            session = self.by_name[name] = WatchedSession(*name)
            self._forgotten.pop(name, None)
        self._timers.wake(name)
        return session

    def wake(self, name: Name) -> None:
        """Make this session due."""
        self._timers.wake(name)

    def set_timer(self, name: Name, at_ms: int | None) -> None:
        """Set the timer of this session; None: it has none."""
        self._timers.set(name, at_ms)

    def due(self, now_ms: int) -> dict[Name, WatchedSession]:
        """Remove and return the sessions that are due."""
        ready = self._timers.due(now_ms)
        return {name: session for name in ready if (session := self.by_name.get(name)) is not None}

    def is_forgotten(self, name: Name) -> bool:
        """Whether the session ended so long ago that it was forgotten."""
        return name in self._forgotten

    def forget_past(self, now_ms: int) -> list[WatchedSession]:
        """Forget the sessions that are over and had no news for a day; their logs would bring them back."""
        past = [name for name, one in self.by_name.items() if one.is_past(now_ms - _PAST_MS)]
        forgotten = [self.by_name.pop(name) for name in past]
        for name in past:
            self._timers.set(name, None)
        self._forgotten = dict.fromkeys([*self._forgotten, *past][-_MOST_PAST:])
        return forgotten
