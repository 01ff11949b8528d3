"""Which watched sessions are due, what state each is in then, and what of that is reported: states, waits, lost subagents.

Rules
  1. A session is due when there is news of it or its timer has expired: a state can change because nothing happens, as when
     no answer follows. Each session gives the time when that may be, so that a thousand idle sessions cost nothing.
  2. A state is reported when it changes. A wait for the person is reported when it has lasted a second.
  3. After an earlier watch, only states that differ from those it reported are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from tracklog.live.journal import WatchSnapshot, key_of, reported_state
from tracklog.live.notify import Announcements
from tracklog.live.watch.events import EventQueue, is_other, state_facts
from tracklog.live.watch.session import WatchedSession
from tracklog.model.states import LiveState
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


class StateChanges:
    """The states of all sessions of a watch, each change reported once."""

    def __init__(
        self,
        sessions: WatchedSessions,
        events: EventQueue,
        *,
        before: WatchSnapshot | None,
        now_ms: Callable[[], int],
    ) -> None:
        """`before` has the states that an earlier watch reported."""
        self._sessions = sessions
        self._events = events
        self._before = before
        self._now_ms = now_ms
        self._announcements = Announcements()
        self._announced: dict[str, Name] = {}

    def settle(self, sessions: Mapping[Name, WatchedSession]) -> None:
        """Decide the states of these sessions, and report what changed."""
        now_ms = self._now_ms()
        for name, session in sessions.items():
            before = session.state
            after = session.settle(now_ms)
            if is_other(before, after):
                self._report(session, before.state, after)
            if after.state in ("ended", "crashed"):
                self._lose_pending(session)
            self._sessions.set_timer(name, session.changes_by_itself(now_ms))
        if not self._events.is_quiet:
            self._announce(now_ms)

    def settle_first(self) -> None:
        """Decide all states when a watch begins; waits that an earlier watch reported are not reported again."""
        self.settle(self._sessions.by_name)
        self._announce(self._now_ms(), only=self._is_as_reported)

    def report_changes_since(self) -> None:
        """Report the states that differ from those that an earlier watch reported."""
        for session in self._sessions.by_name.values():
            if not self._is_as_reported(session):
                known = self._before.states.get(key_of(session.agent, session.id)) if self._before else None
                self._report(session, known.state if known else "unknown", session.state)

    def _is_as_reported(self, session: WatchedSession) -> bool:
        """Whether an earlier watch reported the present state; without an earlier watch, first states are not reported."""
        if self._before is None:
            return True
        known = self._before.states.get(key_of(session.agent, session.id))
        return (
            known == reported_state(session.state) if known is not None else session.state.state != "waiting"
        )

    def _report(self, session: WatchedSession, before: str, after: LiveState) -> None:
        self._events.add("state_changed", session, data={"before": before, **state_facts(after)})

    def _announce(self, now_ms: int, *, only: Callable[[WatchedSession], bool] | None = None) -> None:
        for key, name in list(self._announced.items()):
            session = self._sessions.by_name.get(name)
            if session is None or session.state.state != "waiting":
                del self._announced[key]
                if session is not None:
                    self._events.add("waiting_ended", session)
        waiting = {
            key_of(*name): name
            for name, one in self._sessions.by_name.items()
            if one.state.state == "waiting" and (only is None or only(one))
        }
        states = {key: self._sessions.by_name[name].state for key, name in waiting.items()}
        for key in self._announcements.due(states, now_ms):
            self._announced[key] = waiting[key]
            session = self._sessions.by_name[waiting[key]]
            self._events.add("waiting_began", session, data=state_facts(session.state))

    def _lose_pending(self, session: WatchedSession) -> None:
        for call in list(session.pending):
            lost = session.pending.pop(call)
            self._events.add(
                "thread_lost", session, thread=lost.thread, data={"call": call, "name": lost.name}
            )
