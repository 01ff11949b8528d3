"""Sessions that somebody looks at: what is known of them is kept, so that the next window costs no more than itself.

Rules of this room
  1. The last few are kept. What the index says of a session is asked again after a moment, and whenever its page is opened.
  2. A thread whose logs are others now (moved, archived) is opened anew.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock

from tracklog.model.ids import MAIN
from tracklog.pipeline.session_page import SessionHead, outline, session_head
from tracklog.pipeline.thread_branches import PlacedTurn, Sides, Way, ways_of
from tracklog.pipeline.thread_lines import ThreadLines
from tracklog.pipeline.thread_rows import ThreadReading
from tracklog.sources.found import Root
from tracklog.store.database import Database
from tracklog.store.scope import Scope

_THREADS = 24
_SESSIONS = 16
_FRESH_S = 3.0
_Key = tuple[str, str, str]
_Places = tuple[tuple[str, str | None], ...]


@dataclass
class OpenSession:
    """A session as it was a moment ago."""

    head: SessionHead
    asked_at: float
    turns: dict[str, list[PlacedTurn]] = field(default_factory=dict)  # of each thread that was looked at
    ways: list[Way] | None = None  # through the main thread, when somebody has looked


class OpenThreads:
    """Gives sessions and the readings of their threads, from memory where it can."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, str], OpenSession] = OrderedDict()
        self._threads: OrderedDict[_Key, tuple[_Places, ThreadReading]] = OrderedDict()
        self._lock = Lock()

    def session(
        self,
        database: Database | None,
        agent: str,
        id: str,
        *,
        roots: Iterable[Root],
        scope: Scope,
        anew: bool,
    ) -> OpenSession | None:
        """A session by its name; None if there is none."""
        now, name = self._clock(), (agent, id)
        with self._lock:
            known = self._sessions.get(name)
        if known is not None and not anew and now - known.asked_at < _FRESH_S:
            return known
        head = session_head(database, agent, id, roots=roots, scope=scope)
        if head is None:
            return None
        made = OpenSession(head, now)
        with self._lock:
            self._sessions[name] = made
            self._sessions.move_to_end(name)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
        return made

    def reading(self, head: SessionHead, thread: str) -> ThreadReading | None:
        """The lines of a thread as they are now; None if the session has no such thread."""
        logs = head.logs_of(thread)
        if logs is None:
            return None
        key = (head.agent, head.id, thread)
        places = (
            *((str(file.path), str(file.stored) if file.stored else None) for file in logs.files),
            *logs.copies.items(),
        )
        with self._lock:
            known = self._threads.get(key)
        if known is None or known[0] != places:
            known = (places, ThreadReading(ThreadLines(logs.files, copies=logs.copies), archive=head.archive))
        else:
            known[1].lines.look()
        with self._lock:
            self._threads[key] = known
            self._threads.move_to_end(key)
            while len(self._threads) > _THREADS:
                self._threads.popitem(last=False)
        return known[1]


def placed_turns(
    database: Database | None, session: OpenSession, reading: ThreadReading, thread: str
) -> list[PlacedTurn]:
    """The outline of a thread, as far as the index knows it."""
    if thread not in session.turns:
        known = outline(database.db, session.head, thread) if database is not None else []
        paths = {number: path for path, number in session.head.numbers.items()}
        session.turns[thread] = [
            PlacedTurn(turn, _seq(reading, paths.get(turn.file or 0), turn.line)) for turn in known
        ]
    return session.turns[thread]


def sides_of(session: OpenSession, reading: ThreadReading, thread: str) -> Sides:
    """Which lines of a thread stand on branches that were left; only the main thread has any."""
    return reading.sides(session.head.branches if thread == MAIN else ())


def ways_through(
    database: Database | None, session: OpenSession, reading: ThreadReading, thread: str
) -> list[Way]:
    """The branches of a thread with their turns; only the main thread has any."""
    if thread != MAIN:
        return []
    if session.ways is None:
        turns = placed_turns(database, session, reading, thread)
        session.ways = ways_of(session.head.branches, turns, sides_of(session, reading, thread))
    return session.ways


def _seq(reading: ThreadReading, path: str | None, line: int | None) -> int | None:
    return None if line is None or path is None else reading.lines.seq_of(path, line)
