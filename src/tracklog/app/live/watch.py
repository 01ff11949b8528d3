"""Give the events of running sessions as they happen; show a notification or run a program for one.

Rules
  1. What a session says is data. A program runs by its words, never by a shell; the event is on its stdin.
  2. A program that fails or takes too long is reported, and stops nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from tracklog.app.index.open import asked_roots
from tracklog.errors import NotThere
from tracklog.home import Home, tracklog_home
from tracklog.live.journal import LiveEvent as LiveEvent
from tracklog.live.journal import last_number
from tracklog.live.notify import notify, plain
from tracklog.live.notify import ring as ring
from tracklog.live.watch.shared import journal_of, live_events
from tracklog.live.watch.watcher import Watch
from tracklog.model.states import LiveState
from tracklog.reading.session_files import Name
from tracklog.sources.log_file import Root

_PATIENCE_S = 30.0
_OVER = ("ended", "crashed")

UntilVerdict = Literal["reached", "missed"]


class WatchQuery(NamedTuple):
    """Which events a person means: of one session or of all, of a project, of some names; from now on or behind a number."""

    session: str | None = None
    roots: Sequence[Path] = ()
    agent: str | None = None
    home: Path | None = None
    after: int | None = None  # the number of the last event that is known already
    names: Collection[str] = ()  # of events; empty: all
    project: str | None = None

    def wants(self, event: LiveEvent, name: Name | None) -> bool:
        """Whether to give an event, where `name` is the session that is meant. That events were lost is always given."""
        from tracklog.app.scope.filters import is_in_project  # slow to load, and most have no project

        if name is not None and name != (event.agent, event.session):
            return event.event == "gap"
        if self.project is not None and not is_in_project(event.cwd or "", self.project):
            return event.event == "gap"
        return not self.names or event.event in self.names


class LiveEvents(NamedTuple):
    """What happens from now on, and the session that a person means, as it is now."""

    events: Iterator[LiveEvent]  # all of them, wanted or not
    known_n: int  # the number of the last event that says nothing of now
    name: Name | None
    state: LiveState | None


@contextmanager
def watched_events(query: WatchQuery) -> Iterator[LiveEvents]:
    """All events of running sessions, from now on or behind a number, until the block ends."""
    asked = asked_roots(query.roots, agent=query.agent, home=query.home)
    ours = Home(tracklog_home(query.home))
    with closing(live_events(asked, ours, after=query.after)) as batches:
        first = next(batches)  # from here on nothing is missed
        known_n = last_number(journal_of(ours, asked))  # what came before says nothing of now
        session = query.session
        name, state = _named(session, asked, ours) if session is not None else (None, None)
        yield LiveEvents(chain(first, chain.from_iterable(batches)), known_n, name, state)


def _named(text: str, roots: list[Root], home: Home) -> tuple[Name, LiveState]:
    with closing(Watch(roots, spool=home.spool)) as watch:
        watch.begin()
        name = watch.session_named(text)
        if name is None:
            raise NotThere(f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere")
        return name, watch.sessions[name].state


def verdict_of(state: str, until: str) -> UntilVerdict | None:
    """Whether a session in a state is as wanted, or can no longer become so: what has ended does not come back."""
    if state == until or (state in _OVER and until == "ended"):
        return "reached"
    return "missed" if state in _OVER else None


def notify_of_wait(event: LiveEvent) -> str | None:
    """Show on the desktop that a session waits; why that cannot be, if so."""
    what = str(event.data.get("waiting_for") or "you")
    return notify(plain(f"A session waits for {what}"), plain(str(event.data.get("doing") or "")))


def run_program(words: Sequence[str], event: bytes) -> str | None:
    """Run a program for an event that is on its stdin; what went wrong, if anything did."""
    try:
        done = subprocess.run(words, input=event, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"--exec {words[0]}: {error}"
    return f"--exec {words[0]} ended with {done.returncode}" if done.returncode else None
