"""Wait until a session's turn has ended, and give its answer.

Rules
  1. A session that a run has started is waited for before it has a log, too; while its run goes on, it works.
  2. Between two tools a turn may seem to be over: it has ended when nothing was done for a moment.
  3. What the log answers to an earlier prompt is no answer to the last one.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import NamedTuple

from tracklog.app.index.open import asked_roots
from tracklog.app.scope.read_sessions import (
    SessionQuery,
    is_being_run,
    pending_run,
    session_of_run,
    why_not_there,
)
from tracklog.app.session.final import FinalAnswer, final_answer
from tracklog.app.talk import Talk
from tracklog.errors import NotThere
from tracklog.home import Home, tracklog_home
from tracklog.live.run_entries import RunEntry
from tracklog.live.turn_end import answer_to_the_last_prompt
from tracklog.live.watch.events import state_facts as state_facts
from tracklog.live.watch.session import WatchedSession
from tracklog.live.watch.watcher import Watch
from tracklog.model.session import Session
from tracklog.model.states import LiveState
from tracklog.reading.session_files import Name

_AT_WORK = ("working", "pending")
_PAUSE_S = 0.1
_SETTLES_S = 0.5


class WaitEnd(NamedTuple):
    """How a wait ended."""

    answer: FinalAnswer  # without a text if the turn is not over, or ended without one
    state: LiveState
    is_over: bool  # False: the time was over before


def wait_for_turn(
    query: SessionQuery, *, timeout_s: float | None = None, or_waiting: bool = False, talk: Talk
) -> WaitEnd:
    """Block until the turn of a session has ended, or the time is over; with `or_waiting` also until it waits for you."""
    ours = Home(tracklog_home(query.home))
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    roots = asked_roots(query.roots, agent=query.agent, home=query.home)
    with closing(Watch(roots, spool=ours.spool)) as watch:
        watch.begin()
        name = _until_it_has_a_log(watch, query, ours, deadline=deadline)
        if not isinstance(name, tuple):
            return WaitEnd(_no_answer(name.session), _state_of(name), is_over=False)
        watched = watch.sessions[name]
        is_over = _until_it_rests(watch, watched, ours, deadline=deadline, or_waiting=or_waiting)
    answer = _answer(query._replace(session=name[1], agent=name[0]), ours, talk) if is_over else None
    return WaitEnd(answer or _no_answer(name[1]), watched.state, is_over)


def _answer(query: SessionQuery, ours: Home, talk: Talk) -> FinalAnswer | None:
    """The answer to the last prompt of the session with this id."""

    def look() -> Session:
        return query.reader(talk).named(query.session)

    found = final_answer(look, home=ours.path)
    is_earlier = (
        found.source == "log"
        and found.whole_session
        and answer_to_the_last_prompt(found.whole_session) is None
    )
    return None if is_earlier else found


def _no_answer(session: str | None) -> FinalAnswer:
    return FinalAnswer(session, None, None, None)


def _until_it_has_a_log(
    watch: Watch, query: SessionQuery, ours: Home, *, deadline: float | None
) -> Name | RunEntry:
    """The session with this name. One that a run has started is waited for; the run, if the time was over before."""
    text, agent = query.session, query.agent
    while True:
        name = watch.session_named(session_of_run(ours, text) or text)
        if name is not None and watch.sessions[name].paths:
            return name
        run = pending_run(ours, text, agent=agent)
        if run is None and name is not None:
            return name
        if run is None:
            raise NotThere(why_not_there(ours, text, agent=agent))
        if deadline is not None and time.monotonic() >= deadline:
            return run
        watch.wait(_PAUSE_S)


def _state_of(run: RunEntry) -> LiveState:
    """The state of a run whose session has no log yet."""
    return LiveState(state="pending", since_ms=run.began_ms, evidence=[f"run {run.id}"], pid=run.started.pid)


def _until_it_rests(
    watch: Watch, session: WatchedSession, ours: Home, *, deadline: float | None, or_waiting: bool
) -> bool:
    """Wait until nothing is being done; False if the time was over before."""
    resting_since: float | None = None
    while True:
        state = session.state.state
        is_busy = state in (*_AT_WORK, *(() if or_waiting else ("waiting",)))
        is_busy = is_busy or (state != "waiting" and is_being_run(ours, session.agent, session.id))
        now = time.monotonic()
        resting_since = None if is_busy else resting_since or now
        if resting_since is not None and now - resting_since >= _SETTLES_S:
            return True
        if deadline is not None and now >= deadline:
            return not is_busy
        watch.wait(_PAUSE_S)
