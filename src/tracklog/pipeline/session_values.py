"""A session as rows: what lists of sessions and calls show, and where each thing stands in the logs.

Rules of this room
  1. A session counts what is its own: what a fork copied belongs to the session that it came from.
  2. What the client wrote in the model's place is no request: it is not counted as one.
  3. Of texts only beginnings are kept, and of inputs what they tell in a few words: the log has the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tracklog.model.events import Place
from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.model.projects import project_of
from tracklog.model.session import Branch, Problem, Request, Session, Thread, Turn
from tracklog.pipeline.call_values import CallValues
from tracklog.pipeline.listed import is_about_a_file, is_listed
from tracklog.pipeline.session_life import rests_on_life
from tracklog.store.odd_texts import storable
from tracklog.store.values import SessionRows

Values = tuple[Any, ...]
_LONGEST_PROMPT = 300
_LONGEST_PROBLEM = 300
_MOST_PROBLEMS = 1000  # that are kept of one session; the files that could not be read are always told
_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode


def rows_of(session: Session, file_numbers: Mapping[str, int]) -> SessionRows:
    """The session with its parts, as rows of the tables with these names."""
    made = _made(session, file_numbers)
    try:
        _pack(made)
    except UnicodeEncodeError:
        return _storable(made)
    return made


def _made(session: Session, file_numbers: Mapping[str, int]) -> SessionRows:
    places = Places(file_numbers)
    requests = session.requests
    return SessionRows(
        agent=session.agent,
        session=session.id,
        session_row=_session_row(session),
        threads=[_thread(n, thread) for n, thread in enumerate(session.threads)],
        turns=list(_turns(session.threads, requests, places)),
        prompts=list(_prompts(session.threads, places)),
        requests=[_request(n, request, places) for n, request in enumerate(requests)],
        calls=CallValues(session, file_numbers).rows(),
        branches=[_branch(n, branch) for n, branch in enumerate(session.branches)],
        problems=[_problem(n, one, places) for n, one in enumerate(_told_problems(session.problems))],
    )


def _storable(made: SessionRows) -> SessionRows:
    """The same rows, with texts that cannot be stored in another form."""

    def each(rows: list[Values]) -> list[Values]:
        return [tuple(map(storable, row)) for row in rows]

    return msgspec.structs.replace(
        made,
        session_row={name: storable(value) for name, value in made.session_row.items()},
        threads=each(made.threads),
        turns=each(made.turns),
        prompts=each(made.prompts),
        requests=each(made.requests),
        calls=each(made.calls),
        branches=each(made.branches),
        problems=each(made.problems),
    )


def facts_of(session: Session) -> dict[str, Any]:
    """What a list of sessions tells of one, but for what it cost."""
    calls = [call for call in session.calls_by_thread if not call.is_inherited]
    return {
        "path": session.paths[0] if session.paths else None,
        "title": session.title,
        "project": project_of(session),
        "cwd": session.cwd,
        "branch": session.branch,
        "models": session.models,
        "versions": session.versions,
        "entrypoint": session.entrypoint,
        "started_at": session.started_at,
        "last_at": session.last_at,
        "state": session.state,
        "evidence": list(session.life.evidence),
        "turns": sum(not turn.is_inherited for turn in session.turns),
        "requests": n_requests(request for request in session.requests if not request.is_inherited),
        "calls": len(calls),
        "errors": sum(call.verdict == "error" for call in calls),
        "threads": len(session.threads),
    }


def n_requests(requests: Iterable[Request]) -> int:
    """How many answers an API gave."""
    return sum(not request.is_synthetic for request in requests)


class Places:
    """Paths as numbers of logs."""

    def __init__(self, file_numbers: Mapping[str, int]) -> None:
        self._number_of = file_numbers.get

    def of(self, place: Place | None) -> tuple[int | None, int | None]:
        """The number of the log, if it has one, and the line."""
        return (None, None) if place is None else (self._number_of(place.path), place.line)

    def span(self, places: Sequence[Place]) -> tuple[int | None, int | None, int | None]:
        """The log of the first place, and the first and last of the lines that stand there."""
        if not places:
            return None, None, None
        path = places[0].path
        lines = [place.line for place in places if place.path == path]
        return self._number_of(path), min(lines), max(lines)


def _session_row(session: Session) -> dict[str, Any]:
    last_ms = moment_ms(session.last_at)
    return {
        **facts_of(session),
        "is_listed": is_listed(session),
        "cwds": json_text(session.cwds) if len(session.cwds) > 1 else None,
        "models": json_text(session.models),
        "versions": json_text(session.versions),
        "last_ms": None if last_ms == NO_TIME else last_ms,
        "forked_from": session.forked_from,
        "signs": session.signs,
        "life": session.life.word if rests_on_life(session) else None,
        "evidence": json_text(list(session.life.evidence)),
        "not_understood": sum(not is_about_a_file(problem) for problem in session.problems),
    }


def json_text(texts: list[str]) -> str:
    """A list of texts as JSON; half characters are spelled out."""
    try:
        return _encode(texts).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(texts)


def _thread(n: int, thread: Thread) -> Values:
    return (
        n,
        thread.id,
        thread.parent_thread,
        thread.parent_call,
        thread.type,
        thread.description,
        thread.state,
        thread.sureness,
        thread.joined_by,
        thread.is_warmup,
        n_requests(thread.requests),
        len(thread.calls),
    )


def _turns(threads: Iterable[Thread], requests: Iterable[Request], places: Places) -> Iterator[Values]:
    first_lines = {request.id: request.places[0] for request in requests if request.places}
    for thread in threads:
        for turn in thread.turns:
            yield (
                turn.thread,
                turn.n,
                turn.at,
                turn.ended_at,
                turn.took_ms,
                *places.of(_first_place(turn, first_lines)),
                len(turn.requests),
                len(turn.calls),
                int(turn.is_interrupted),
                int(turn.on_active_branch),
                int(turn.is_inherited),
            )


def _first_place(turn: Turn, first_lines: Mapping[Any, Place]) -> Place | None:
    if turn.prompts:
        return turn.prompts[0].place
    return next((first_lines[id] for id in turn.requests if id in first_lines), None)


def _prompts(threads: Iterable[Thread], places: Places) -> Iterator[Values]:
    for thread in threads:
        for turn in thread.turns:
            for n, prompt in enumerate(turn.prompts):
                text = prompt.text[:_LONGEST_PROMPT]
                yield (turn.thread, turn.n, n, prompt.origin, prompt.at, *places.of(prompt.place), text)


def _request(n: int, request: Request, places: Places) -> Values:
    return (
        n,
        request.id,
        request.thread,
        request.turn,
        request.model,
        request.at,
        request.ended_at,
        request.stop_reason,
        request.error,
        len(request.calls),
        *places.span(request.places),
        int(request.is_synthetic),
        int(request.on_active_branch),
        int(request.is_inherited),
    )


def _branch(n: int, branch: Branch) -> Values:
    return (n, branch.id, branch.parent, branch.start, branch.end, branch.is_active, branch.why)


def _told_problems(problems: Iterable[Problem]) -> Iterator[Problem]:
    n_lines = 0
    for problem in problems:
        is_of_line = not is_about_a_file(problem)
        n_lines += is_of_line
        if n_lines <= _MOST_PROBLEMS or not is_of_line:
            yield problem


def _problem(n: int, problem: Problem, places: Places) -> Values:
    return (n, *places.of(problem.place), problem.what[:_LONGEST_PROBLEM])
