"""`tracklog final`: the last answer of a session.

Rules of this room
  1. The log's word comes first. The payload of a Stop hook is taken where the log has no answer to the last prompt.
  2. On stdout stands the answer and nothing else.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from tracklog.errors import UserError
from tracklog.model.session import Request, Session
from tracklog.sources.reasons import why_failed
from tracklog.views.cli.ending import NOT_FINE, NotThere
from tracklog.views.cli.filters import Filters
from tracklog.views.cli.options import reading_options
from tracklog.views.cli.printing import answer, answer_json, safe_lines, talk
from tracklog.views.cli.stories import Stories

PATIENCE_S = 2.0
_PAUSE_S = 0.1


class Payload(NamedTuple):
    """What a Stop hook was told."""

    session: str | None = None
    text: str | None = None


class Answer(NamedTuple):
    """The last answer, and where it was found."""

    session: str | None
    text: str | None
    source: str | None
    request: str | None


@click.command
@click.argument("session")
@click.option(
    "--last-text", is_flag=True, help="If the last request has no text, go back to the last one that has."
)
@click.option(
    "--wait", is_flag=True, help=f"Wait up to {PATIENCE_S:g} s for an answer that is still being written."
)
@click.option(
    "--stop-payload",
    metavar="FILE",
    help="What the Stop hook got on stdin (- for stdin): its answer is taken where the log has none yet.",
)
@reading_options
def final(
    session: str,
    last_text: bool,
    wait: bool,
    stop_payload: str | None,
    agent: str | None,
    filters: Filters,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The last answer of a session, and nothing else.

    SESSION is an id, the start of one, a file, or @last. Prints the text of the last request on the branch on which
    the session goes on. Exits with 1 if there is none. In JSON `source` says whether it stands in the log or comes
    from the payload.

    \b
    tracklog final @last
    tracklog final 3f2a --wait --json
    tracklog final 3f2a --stop-payload - < payload.json
    """
    payload = _read_payload(stop_payload) if stop_payload else Payload()

    said: set[str] = set()

    def look() -> Session:
        return Stories(roots, agent=agent, filters=filters, home=home, said=said).named(session)

    story = _once_it_is_whole(
        look, patience=PATIENCE_S if wait else 0.0, may_be_absent=payload.text is not None
    )
    found = _chosen(story, payload, last_text=last_text)
    if as_json:
        answer_json(found._asdict())
    elif found.text is not None:
        answer("\n".join(safe_lines(found.text)))
    if found.text is None:
        talk(f"tracklog: {_why_not(session, story, last_text=last_text)}")
        raise click.exceptions.Exit(NOT_FINE)


def _why_not(session: str, story: Session | None, *, last_text: bool) -> str:
    if story is None or story.final is None:
        return f"nothing was answered in {session} yet"
    if last_text:
        return f"no request of {session} has any text"
    return f"the last request of {session} has no text: --last-text goes further back"


def _once_it_is_whole(look: Callable[[], Session], *, patience: float, may_be_absent: bool) -> Session | None:
    """The session as soon as its last answer is written to the end, or as it is when patience ends."""
    deadline = time.monotonic() + patience
    while True:
        try:
            story = look()
        except NotThere:
            if time.monotonic() >= deadline:
                if may_be_absent:
                    return None
                raise
        else:
            if _is_whole(story) or time.monotonic() >= deadline:
                return story
        time.sleep(_PAUSE_S)


def _is_whole(story: Session) -> bool:
    last = _answer_to_the_last_prompt(story)
    is_closed = bool(story.turns) and story.turns[-1].is_closed
    return last is not None and bool(last.text.strip()) and (is_closed or last.stop_reason is not None)


def _answer_to_the_last_prompt(story: Session) -> Request | None:
    turns = [turn for turn in story.turns if turn.on_active_branch]
    last = story.final
    return last if last is not None and (not turns or last.id in turns[-1].requests) else None


def _chosen(story: Session | None, payload: Payload, *, last_text: bool) -> Answer:
    last = _answer_to_the_last_prompt(story) if story else None
    if payload.text is not None and (last is None or not last.text.strip()):
        return Answer(
            story.id if story else payload.session, payload.text, "stop_payload", last.id if last else None
        )
    if story is None:
        return Answer(payload.session, None, None, None)
    request = _last_with_text(story) if last_text else story.final
    if request is None or not request.text.strip():
        return Answer(story.id, None, None, request.id if request else None)
    return Answer(story.id, request.text, "log", request.id)


def _last_with_text(story: Session) -> Request | None:
    living = (request for request in reversed(story.main.requests) if request.on_active_branch)
    answers = (request for request in living if not request.is_synthetic or request.error is not None)
    return next((request for request in answers if request.text.strip()), None)


def _read_payload(name: str) -> Payload:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise NotThere(f"cannot read {name}: {why_failed(error)}") from error
    try:
        given: Any = json.loads(raw)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise UserError(f"{name} is no JSON object: give what the Stop hook got on its stdin")
    text, session = given.get("last_assistant_message"), given.get("session_id")
    is_text = isinstance(text, str) and bool(text.strip())
    return Payload(session if isinstance(session, str) else None, text if is_text else None)
