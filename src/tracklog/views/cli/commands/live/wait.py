"""`tracklog wait`: blocks until a session's turn has ended, then prints its answer."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import click

from tracklog.app.index.open import asked_roots
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import Stories, is_being_run, pending_run, session_of_run, why_not_there
from tracklog.app.session.final import FinalAnswer, final_answer
from tracklog.errors import NOT_FINE, TIME_IS_OVER, NotThere
from tracklog.home import Home, tracklog_home
from tracklog.live.run_entries import RunEntry
from tracklog.live.turn_end import answer_to_the_last_prompt
from tracklog.live.watch.events import state_facts
from tracklog.live.watch.session import WatchedSession
from tracklog.live.watch.watcher import Watch
from tracklog.model.session import Session
from tracklog.model.states import LiveState
from tracklog.reading.session_files import Name
from tracklog.views.cli.commands.run.options import Seconds
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.final import final_document
from tracklog.views.text.printing import answer, answer_json, safe_lines, talk

_AT_WORK = ("working", "pending")
_PAUSE_S = 0.1
_SETTLES_S = 0.5  # between two tools a turn may seem to be over


@click.command
@click.argument("session")
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(may_be_none=True),
    metavar="TIME",
    help="Give up after 90s, 15m, 2h.",
)
@click.option(
    "--or-waiting", is_flag=True, help="Come back also when it waits for a permission, an answer or a plan."
)
@shared_options
def wait(
    session: str,
    timeout_s: float | None,
    or_waiting: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Block until a session's turn has ended; print its answer.

    SESSION is an id, the start of one, a file, or @last; or the id of a run. A session that a run has started is waited
    for before it has a log, too. It comes back at once if nothing is being done. Exits with 0 when the turn ended, with 1 if the process was killed meanwhile, or it waits for you and --or-waiting was given,
    with 124 when the time is over.

    \b
    tracklog wait @last
    tracklog wait 3f2a --timeout 600 --json
    """
    ours = Home(tracklog_home(home))
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    with closing(Watch(asked_roots(roots, agent=agent, home=home), spool=ours.spool)) as watch:
        watch.begin()
        name = _until_it_has_a_log(watch, session, ours, agent=agent, deadline=deadline)
        if not isinstance(name, tuple):
            _say_that_it_is_pending(name, timeout_s, as_json=as_json)
            return
        watched = watch.sessions[name]
        is_over = _until_it_rests(watch, watched, ours, deadline=deadline, or_waiting=or_waiting)
    state = watched.state.state

    def look() -> Session:
        return Stories(roots, agent=name[0], filters=Filters(), home=home, talk=STDERR).named(name[1])

    found = final_answer(look, home=ours.path) if is_over else FinalAnswer(name[1], None, None, None)
    if found.source == "log" and found.story and answer_to_the_last_prompt(found.story) is None:
        found = FinalAnswer(name[1], None, None, None)  # what the log has answers an earlier prompt
    if as_json:
        answer_json({**final_document(found), **state_facts(watched.state)})
    elif found.text is not None:
        answer("\n".join(safe_lines(found.text)))
    if not is_over:
        talk(f"tracklog: still {state} after {timeout_s:g} s")
        raise click.exceptions.Exit(TIME_IS_OVER)
    if found.text is None and state not in ("crashed", "waiting"):
        talk("tracklog: the turn ended without an answer")
        raise click.exceptions.Exit(NOT_FINE)
    if state in ("crashed", "waiting"):
        talk(f"tracklog: the session {'has crashed' if state == 'crashed' else 'waits for you'}")
        raise click.exceptions.Exit(NOT_FINE)


def _until_it_has_a_log(
    watch: Watch, text: str, ours: Home, *, agent: str | None, deadline: float | None
) -> Name | RunEntry:
    """The session with this name. One that a run has started is waited for; the run, if the time was over before."""
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


def _say_that_it_is_pending(run: RunEntry, timeout_s: float | None, *, as_json: bool) -> None:
    state = LiveState(state="pending", since_ms=run.began_ms, evidence=[f"run {run.id}"], pid=run.started.pid)
    if as_json:
        nothing = FinalAnswer(run.session, None, None, None)
        answer_json({**final_document(nothing), **state_facts(state)})
    talk(f"tracklog: still pending after {timeout_s:g} s")
    raise click.exceptions.Exit(TIME_IS_OVER)


def _until_it_rests(
    watch: Watch, session: WatchedSession, ours: Home, *, deadline: float | None, or_waiting: bool
) -> bool:
    """Waits until nothing is being done; False if the time was over before. Who is run rests when the run is over."""
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
