"""`tracklog watch`: print the events of running sessions as they happen, a line for people or a document for scripts.

For each event that is printed it rings, notifies or runs a program, as asked.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import click

from tracklog.app.live.watch import (
    LiveEvent,
    WatchQuery,
    notify_of_wait,
    ring,
    run_program,
    verdict_of,
    watched_events,
)
from tracklog.errors import NOT_FINE, UserError
from tracklog.model.call_summary import told
from tracklog.views.cli.options import agent_option, home_option, json_lines_option, root_option
from tracklog.views.text.printing import answer, excerpt, safe, short_id, talk

_WIDTH = 100


def event_document(event: LiveEvent) -> str:
    """One line of JSON: the fields of every event, then those of its kind."""
    known = {
        "n": event.n,
        "at": event.at,
        "event": event.event,
        "session": event.session,
        "agent": event.agent,
        "thread": event.thread,
        "line": event.line,
        "path": event.path,
        "cwd": event.cwd,
    }
    return json.dumps(
        {**event.data, **known} if event.data.keys() & known.keys() else {**known, **event.data}
    )


def event_line(event: LiveEvent) -> str:
    """One line for people: time, session, what happened."""
    who = short_id(event.session or "") if event.session else ""
    thread = "" if event.thread in (None, "main") else f" {short_id(event.thread or '')}"
    return f"{event.at[11:19]}  {who}{thread}  {_words(event)}".rstrip()


def _words(event: LiveEvent) -> str:
    facts = event.data
    match event.event:
        case "state_changed":
            doing = f": {excerpt(str(facts['doing']), _WIDTH)}" if facts.get("doing") else ""
            waits = f" for {safe(str(facts['waiting_for']))}" if facts.get("waiting_for") else ""
            return f"{safe(str(facts.get('state')))}{waits}{doing}"
        case "waiting_began":
            return f"needs you: {excerpt(str(facts.get('doing') or facts.get('waiting_for')), _WIDTH)}"
        case "prompt_given":
            return f"> {excerpt(str(facts.get('text')), _WIDTH)}"
        case "model_replied":
            text = facts.get("text") or facts.get("error")
            return excerpt(str(text), _WIDTH) if text else f"answered ({safe(str(facts.get('stop_reason')))})"
        case "tool_called":
            return f"{safe(str(facts.get('name')))} {excerpt(_told(facts.get('input')), _WIDTH)}"
        case "tool_returned":
            code = f", exit code {facts['exit_code']}" if facts.get("exit_code") is not None else ""
            return f"{safe(str(facts.get('said')))}{code}"
        case "hook_called":
            return f"hook {safe(str(facts.get('hook')))} {safe(str(facts.get('tool') or ''))}".rstrip()
        case "gap":
            return f"{facts.get('lost')} events came and went before they could be shown"
        case name:
            told = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
            return f"{name.replace('_', ' ')} {excerpt(told, _WIDTH)}".rstrip()


def _told(given: object) -> str:

    return told(given, None)


Command = TypeVar("Command", bound=Callable[..., Any])
_WAITS = "waiting_began"
_PLACEHOLDER = re.compile(r"\{(event|session|state|path)\}")


class Acts(NamedTuple):
    """What to do for each event."""

    words: tuple[str, ...] = ()
    rings: bool = False
    notifies: bool = False

    def do(self, event: LiveEvent) -> None:
        """Act on one event; bell and notification are for sessions that wait."""
        if event.event == _WAITS:
            if self.rings:
                ring(sys.stderr)
            if self.notifies and (why := notify_of_wait(event)) is not None:
                talk(f"tracklog: no notification: {why}")
        if self.words:
            document = event_document(event).encode() + b"\n"
            why = run_program([_filled(word, event) for word in self.words], document)
            if why is not None:
                talk(f"tracklog: {why}")


def acts_options(command: Command) -> Command:
    """--exec, --bell and --notify, given to the command as its `acts`."""

    @wraps(command)
    def acting(*args: Any, exec_: str | None, rings: bool, notifies: bool, **others: Any) -> Any:
        return command(*args, acts=Acts(_words_in(exec_), rings, notifies), **others)

    options: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
        click.option("--exec", "exec_", metavar="PROGRAM", help="Run this for each event, without a shell."),
        click.option(
            "--bell", "rings", is_flag=True, help="Ring the terminal's bell when somebody waits for you."
        ),
        click.option("--notify", "notifies", is_flag=True, help="Show a notification of the desktop then."),
    )
    given: Callable[..., Any] = acting
    for option in reversed(options):
        given = option(given)
    return cast(Command, given)


def _words_in(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UserError(f"--exec {text!r}: {error}") from error
    if not words:
        raise UserError("--exec needs a program")
    return words


def _filled(word: str, event: LiveEvent) -> str:
    facts = {
        "event": event.event,
        "session": event.session or "",
        "state": str(event.data.get("state") or ""),
        "path": event.path or "",
    }
    return _PLACEHOLDER.sub(
        lambda found: facts[found[1]].replace("\0", ""), word
    )  # in one pass: values are data


STATES = ("idle", "waiting", "working", "ended")


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
    query = WatchQuery(session, roots, agent, home, after, events, project)
    with watched_events(query) as seen:
        if until is not None and seen.state is not None:
            if seen.state.state == "unknown":
                talk("tracklog: nobody can say what the session does: its process is not known")
                raise click.exceptions.Exit(NOT_FINE)
            _end_by(seen.state.state, until)
        for event in seen.events:
            if query.wants(event, seen.name):
                answer(event_document(event) if as_json else event_line(event))
                sys.stdout.flush()
                acts.do(event)
            is_of_it = event.n > seen.known_n and seen.name == (event.agent, event.session)
            if until is not None and is_of_it and event.event == "state_changed":
                _end_by(str(event.data.get("state")), until)


def _end_by(state: str, until: str) -> None:
    """End the command if the session is as wanted, or can no longer become so."""
    verdict = verdict_of(state, until)
    if verdict == "missed":
        talk(f"tracklog: the session has {state}")
        raise click.exceptions.Exit(NOT_FINE)
    if verdict == "reached":
        raise click.exceptions.Exit(0)
