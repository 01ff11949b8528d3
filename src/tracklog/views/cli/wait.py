"""`tracklog wait`: blocks until a session's turn has ended, then prints its answer."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import click

from tracklog.model.session import Session
from tracklog.pipeline.stop_race import answer_to_the_last_prompt
from tracklog.pipeline.watch import Watch, state_facts
from tracklog.pipeline.watch_session import WatchedSession
from tracklog.store.home import Home
from tracklog.views.cli.ending import NOT_FINE, TIME_IS_OVER, NotThere
from tracklog.views.cli.filters import Filters
from tracklog.views.cli.final import Answer, final_answer
from tracklog.views.cli.indexed import asked_roots
from tracklog.views.cli.options import shared_options
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import answer, answer_json, safe_lines, talk
from tracklog.views.cli.stories import Stories

_AT_WORK = ("working", "pending")
_SETTLES_S = 0.5  # between two tools a turn may seem to be over


@click.command
@click.argument("session")
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=0), metavar="S", help="Give up after so many seconds."
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

    SESSION is an id, the start of one, a file, or @last. It comes back at once if nothing is being done. Exits with 0
    when the turn ended, with 1 if the process was killed meanwhile, or it waits for you and --or-waiting was given,
    with 124 when the time is over.

    \b
    tracklog wait @last
    tracklog wait 3f2a --timeout 600 --json
    """
    ours = Home(tracklog_home(home))
    with closing(Watch(asked_roots(roots, agent=agent, home=home), spool=ours.spool)) as watch:
        watch.begin()
        name = watch.session_named(session)
        if name is None:
            raise NotThere(f"no session {session}: `tracklog sessions` lists them, --root looks elsewhere")
        watched = watch.sessions[name]
        is_over = _until_it_rests(watch, watched, timeout_s=timeout_s, or_waiting=or_waiting)
    state = watched.state.state

    def look() -> Session:
        return Stories(roots, agent=name[0], filters=Filters(), home=home).named(name[1])

    found = final_answer(look, home=ours.path) if is_over else Answer(name[1], None, None, None)
    if found.source == "log" and found.story and answer_to_the_last_prompt(found.story) is None:
        found = Answer(name[1], None, None, None)  # what the log has answers an earlier prompt
    if as_json:
        answer_json({**found.document(), **state_facts(watched.state)})
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


def _until_it_rests(
    watch: Watch, session: WatchedSession, *, timeout_s: float | None, or_waiting: bool
) -> bool:
    """Waits until nothing is being done; False if the time was over before."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    resting_since: float | None = None
    while True:
        is_busy = session.state.state in (*_AT_WORK, *(() if or_waiting else ("waiting",)))
        now = time.monotonic()
        resting_since = None if is_busy else resting_since or now
        if resting_since is not None and now - resting_since >= _SETTLES_S:
            return True
        if deadline is not None and now >= deadline:
            return not is_busy
        watch.wait(0.1)
