"""`tracklog watch`: what happens in running sessions, as it happens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from itertools import chain
from pathlib import Path

import click

from tracklog.errors import UserError
from tracklog.live.journal import LiveEvent, last_number
from tracklog.live.states import LiveState
from tracklog.pipeline.watch import Watch
from tracklog.pipeline.watching import journal_of, live_events
from tracklog.sources.found import Root
from tracklog.store.home import Home
from tracklog.views.cli.ending import NOT_FINE, NotThere
from tracklog.views.cli.indexed import asked_roots
from tracklog.views.cli.live_lines import event_document, event_line
from tracklog.views.cli.options import agent_option, home_option, json_lines_option, root_option
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import answer, talk
from tracklog.views.cli.watch_acts import Acts, acts_options

STATES = ("idle", "waiting", "working", "ended")
_OVER = ("ended", "crashed")


@click.command
@click.argument("session", required=False)
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="NAME",
    help="Only these: state_changed, waiting_began, tool_called, … May be repeated.",
)
@click.option("--project", metavar="NAME", help="Only sessions whose folder has this name, or is this one.")
@click.option(
    "--after", type=click.IntRange(min=0), metavar="N", help="Go on behind the event of this number."
)
@click.option(
    "--until",
    type=click.Choice(STATES),
    help="End with 0 when SESSION is so, also if it is already; with 1 if it can no longer become so.",
)
@acts_options
@agent_option
@root_option
@home_option
@json_lines_option
def watch(
    session: str | None,
    events: tuple[str, ...],
    project: str | None,
    after: int | None,
    until: str | None,
    acts: Acts,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """What happens in running sessions, as it happens.

    SESSION is an id, the start of one, a file, or @last; without it all sessions are watched. Each event has a number
    that only grows: --after goes on behind it, also after a pause. --exec runs a program for each event that is shown,
    with the event as JSON on its stdin; in its words {event}, {session}, {state} and {path} are replaced.

    \b
    tracklog watch
    tracklog watch --event waiting_began --bell --notify
    tracklog watch --until idle 3f2a
    tracklog watch --event turn_ended --exec "notify-me {session}" --json
    """
    if until is not None and session is None:
        raise UserError("--until needs a SESSION: tracklog watch --until idle SESSION")
    asked = asked_roots(roots, agent=agent, home=home)
    ours = Home(tracklog_home(home))
    with closing(live_events(asked, ours, after=after)) as told:
        first = next(told)  # from here on nothing is missed
        known_n = last_number(journal_of(ours, asked))  # what was told before says nothing of now
        name, state = _named(session, asked, ours) if session is not None else (None, None)
        if until is not None and state is not None:
            if state.state == "unknown":
                talk("tracklog: nobody can say what the session does: its process is not known")
                raise click.exceptions.Exit(NOT_FINE)
            if (end := _verdict(state.state, until)) is not None:
                raise click.exceptions.Exit(end)
        is_meant = _filter(name, events, project)
        for event in chain(first, chain.from_iterable(told)):
            if is_meant(event):
                answer(event_document(event) if as_json else event_line(event))
                sys.stdout.flush()
                acts.do(event)
            if until is not None and event.n > known_n and name == (event.agent, event.session):
                end = _verdict_by(event, until)
                if end is not None:
                    raise click.exceptions.Exit(end)


def _named(text: str, roots: list[Root], home: Home) -> tuple[tuple[str, str], LiveState]:
    with closing(Watch(roots, spool=home.spool)) as seen:
        seen.begin()
        name = seen.session_named(text)
        if name is None:
            raise NotThere(f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere")
        return name, seen.sessions[name].state


def _filter(
    name: tuple[str, str] | None, events: tuple[str, ...], project: str | None
) -> Callable[[LiveEvent], bool]:
    from tracklog.views.cli.filters import is_in_project

    def is_meant(event: LiveEvent) -> bool:
        if name is not None and name != (event.agent, event.session):
            return event.event == "gap"
        if project is not None and not is_in_project(event.cwd or "", project):
            return event.event == "gap"
        return not events or event.event in events

    return is_meant


def _verdict_by(event: LiveEvent, until: str) -> int | None:
    return _verdict(str(event.data.get("state")), until) if event.event == "state_changed" else None


def _verdict(state: str, until: str) -> int | None:
    """How it ends, if it does: what has ended does not come back."""
    if state == until:
        return 0
    if state in _OVER:
        if until != "ended":
            talk(f"tracklog: the session has {state}")
        return 0 if until == "ended" else NOT_FINE
    return None
