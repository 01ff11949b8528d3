"""Decide the states of watched sessions, and report changes: states, waits, lost subagents.

Rules
  1. A state is reported when it changes. A wait for the person is reported when it has lasted a second.
  2. After an earlier watch, only states that differ from those it reported are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracklog.live.journal import WatchSnapshot, key_of, reported_state
from tracklog.live.notify import Announcements
from tracklog.live.watch.events import EventQueue, is_other, state_facts
from tracklog.live.watch.session import WatchedSession
from tracklog.live.watch.sessions import WatchedSessions
from tracklog.model.states import LiveState
from tracklog.reading.session_files import Name


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
