"""What happens in running sessions, as it happens; and what a person wants done for an event.

Rules
  1. What a session says is data. A program is run by its words, never by a shell; the event is on its stdin.
  2. A program that fails or takes too long is said, and stops nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

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
from tracklog.sources.log_file import Root

_PATIENCE_S = 30.0


class LiveEvents(NamedTuple):
    """What happens from now on, and the session that a person means, as it is now."""

    events: Iterator[LiveEvent]
    known_n: int  # the number of the last event that says nothing of now
    name: tuple[str, str] | None
    state: LiveState | None


@contextmanager
def watched_events(
    session: str | None,
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    after: int | None,
) -> Iterator[LiveEvents]:
    """The events of running sessions from now on, or behind a number."""
    asked = asked_roots(roots, agent=agent, home=home)
    ours = Home(tracklog_home(home))
    with closing(live_events(asked, ours, after=after)) as told:
        first = next(told)  # from here on nothing is missed
        known_n = last_number(journal_of(ours, asked))  # what came before says nothing of now
        name, state = _named(session, asked, ours) if session is not None else (None, None)
        yield LiveEvents(chain(first, chain.from_iterable(told)), known_n, name, state)


def _named(text: str, roots: list[Root], home: Home) -> tuple[tuple[str, str], LiveState]:
    with closing(Watch(roots, spool=home.spool)) as seen:
        seen.begin()
        name = seen.session_named(text)
        if name is None:
            raise NotThere(f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere")
        return name, seen.sessions[name].state


def notify_of_wait(event: LiveEvent) -> str | None:
    """Show on the desktop that a session waits; why that cannot be, if so."""
    what = str(event.data.get("waiting_for") or "you")
    return notify(plain(f"A session waits for {what}"), plain(str(event.data.get("doing") or "")))


def run_program(words: Sequence[str], told: bytes) -> str | None:
    """Run a program for an event that is on its stdin; what went wrong, if anything did."""
    try:
        done = subprocess.run(words, input=told, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"--exec {words[0]}: {error}"
    return f"--exec {words[0]} ended with {done.returncode}" if done.returncode else None
