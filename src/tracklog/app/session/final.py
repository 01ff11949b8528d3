"""The last answer of a session, and whether it is written to its end.

Rules
  1. The client's rule: the answer is the last block of text of the last request. A `result` line in a log states it.
  2. The log comes first. The payload of a Stop hook is taken where the log has no answer to the last prompt.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.app.scope.read_sessions import SessionQuery
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import tracklog_home
from tracklog.live.turn_end import Stopped, answer_to_the_last_prompt, is_flushed, stopped
from tracklog.model.session import Request, Session

PATIENCE_S = 2.0
_PAUSE_S = 0.1


class StopPayload(NamedTuple):
    """What a Stop hook got on its stdin."""

    session: str | None = None
    text: str | None = None


class FinalAnswer(NamedTuple):
    """The last answer, and where it was found."""

    session: str | None
    text: str | None
    source: str | None
    request: str | None
    whole_session: Session | None = None


def final(
    asked: SessionQuery,
    payload: StopPayload | None = None,
    *,
    patience: float = 0.0,
    last_text: bool = False,
    all_text: bool = False,
    talk: Talk = QUIET,
) -> FinalAnswer:
    """The last answer of the session that a person means."""
    said: set[str] = set()

    def look() -> Session:
        return asked.reader(talk, said=said).named(asked.session)

    return final_answer(
        look,
        payload,
        home=tracklog_home(asked.home),
        patience=patience,
        last_text=last_text,
        all_text=all_text,
    )


def final_answer(
    look: Callable[[], Session],
    payload: StopPayload | None = None,
    *,
    home: Path,
    patience: float = PATIENCE_S,
    last_text: bool = False,
    all_text: bool = False,
) -> FinalAnswer:
    """The last answer as soon as it is written to its end, or as it is when patience ends.

    If the answer is not in the log in time, the text that the Stop hook got.
    """
    payload = payload or StopPayload()
    deadline = time.monotonic() + patience
    while True:
        session, stop = (
            _looked(look, may_be_absent=payload.text is not None or time.monotonic() < deadline),
            None,
        )
        if session is not None:
            stop = _stop_told(payload) or stopped(home, {session.id})
            if is_flushed(session, stop):
                break
        if time.monotonic() >= deadline:
            break
        time.sleep(_PAUSE_S)
    is_ahead = session is not None and stop is not None and not is_flushed(session, stop)
    if session is not None and stop is not None and is_ahead and stop.text and payload.text is None:
        return FinalAnswer(
            session.id, stop.text, "stop_payload", None, session
        )  # the log has what was said before
    return _chosen(session, payload, last_text=last_text, all_text=all_text)


def _looked(look: Callable[[], Session], *, may_be_absent: bool) -> Session | None:
    try:
        return look()
    except NotThere:
        if may_be_absent:
            return None
        raise


def _stop_told(payload: StopPayload) -> Stopped | None:
    return Stopped(time.time_ns() // 1_000_000, payload.text) if payload.text is not None else None


def _chosen(session: Session | None, payload: StopPayload, *, last_text: bool, all_text: bool) -> FinalAnswer:
    last = answer_to_the_last_prompt(session) if session else None
    if payload.text is not None and (last is None or not last.text.strip()):
        id = session.id if session else payload.session
        return FinalAnswer(id, payload.text, "stop_payload", last.id if last else None, session)
    if session is None:
        return FinalAnswer(payload.session, None, None, None)
    stated = None if all_text else _stated(session)
    if stated is not None:
        return FinalAnswer(session.id, stated, "result_line", last.id if last else None, session)
    request = _last_with_text(session) if last_text else session.final
    if request is None or not request.text.strip():
        return FinalAnswer(session.id, None, None, request.id if request else None, session)
    text = request.text if all_text else request.final_text
    return FinalAnswer(session.id, text, "log", request.id, session)


def _stated(session: Session) -> str | None:
    """The text of a `result` line that closes the last turn with an answer on the branch on which the session goes on."""
    turns = (turn for turn in reversed(session.turns) if turn.on_active_branch)
    is_result = any(note.what == "result" for note in session.notes)
    answered = (
        next((turn for turn in turns if turn.stated_text or turn.requests), None) if is_result else None
    )
    text = answered.stated_text if answered is not None else None
    return text if text and text.strip() else None


def _last_with_text(session: Session) -> Request | None:
    living = (request for request in reversed(session.main.requests) if request.on_active_branch)
    answers = (request for request in living if not request.is_synthetic or request.error is not None)
    return next((request for request in answers if request.text.strip()), None)


def why_no_answer(name: str, session: Session | None, *, last_text: bool) -> str:
    """Why a session has no last answer, and what to do."""
    if session is None or session.final is None:
        return f"nothing was answered in {name} yet"
    if last_text:
        return f"no request of {name} has any text"
    return f"the last request of {name} has no text: --last-text goes further back"


def stop_payload(raw: bytes, name: str) -> StopPayload:
    """What a Stop hook got on its stdin; `name` is where it was read."""
    try:
        given: Any = json.loads(raw)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise UserError(f"{name} is no JSON object: give what the Stop hook got on its stdin")
    text, session = given.get("last_assistant_message"), given.get("session_id")
    is_text = isinstance(text, str) and bool(text.strip())
    return StopPayload(session if isinstance(session, str) else None, text if is_text else None)
