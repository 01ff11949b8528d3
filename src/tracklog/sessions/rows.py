"""Rows of a session and its parts, as the tables of sessions and calls store them.

Rules
  1. A session counts only its own turns, requests and calls, not those that a fork copied from another session.
  2. Messages that the client wrote in the model's place are not counted as requests.
  3. Only the beginnings of texts are stored. The input of a call stays in the log: its row has the line, and a
     summary in a few words.
  4. Values of a call that have no column go into `rest`, in as few bytes as restore them (sessions/tables_calls.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tracklog.clock import NO_TIME, moment_ms
from tracklog.liveness.sessions import rests_on_life
from tracklog.model.call_summary import told
from tracklog.model.events import Place
from tracklog.model.session import Branch, Call, HookRun, Phase, Problem, Request, Session, Thread, Turn
from tracklog.model.session_rules import facts_of, is_about_a_file, is_listed, n_requests
from tracklog.sessions.tables_calls import (
    AS_CALLED,
    AS_RETURNED,
    LONGEST_DID,
    PHASES,
    CallRest,
    Moment,
    Spot,
    packed,
)
from tracklog.store.surrogates import storable
from tracklog.store.text import call_key
from tracklog.store.values import SessionRows

_PHASE_NUMBERS: dict[str, int] = {name: n for n, name in enumerate(PHASES)}
_LARGEST = 1 << 63
_LONGEST_SOUND = 500_000  # bytes of an input that need no look at how much they hold
_decode = msgspec.json.Decoder().decode
_DAY = len("2026-01-01T")


class CallValues:
    """Builds the rows of a session's calls."""

    def __init__(self, session: Session, file_numbers: Mapping[str, int]) -> None:
        self._calls = session.calls_by_thread
        self._cwd = session.cwd
        self._number_of = file_numbers.get
        self._at = {call.id: n for n, call in enumerate(self._calls)}
        self._groups: dict[int, tuple[int, int] | None] = {}  # by the identity of their list

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, in the order of the session's calls."""
        return [self._row(n, call) for n, call in enumerate(self._calls)]

    def _row(self, n: int, call: Call) -> tuple[Any, ...]:
        place = _asked_at(call)
        called_ms = moment_ms(call.called_at)
        odd = _odd(call)
        return (
            n,
            call.id,
            call_key(call.id),
            call.session if call.is_inherited else None,
            call.thread,
            call.turn,
            call.request,
            call.name,
            call.verdict,
            call.outcome,
            call.sureness,
            call.why,
            int(call.timed_out),
            call.called_at,
            None if called_ms == NO_TIME else called_ms,
            call.returned_at,
            None if "took_ms" in odd else call.took_ms,
            call.took_by,
            None if "exit_code" in odd else call.exit_code,
            int(call.on_active_branch),
            int(call.is_inherited),
            self._number_of(place.path) if place else None,
            place.line if place else None,
            _did(call, self._cwd),
            call.error,
            packed(self._rest(call, place, odd)),
        )

    def _rest(self, call: Call, place: Place | None, odd: dict[str, Any]) -> CallRest:
        path = place.path if place and self._number_of(place.path) is not None else None
        beside = self._beside(call) if len(call.group) > 1 else None
        return CallRest(
            evidence=[self._spot(one, path) for one in call.evidence],
            phases=[self._phase(phase, call, path) for phase in call.phases],
            beside=beside,
            parallel_with=[] if beside or len(call.group) < 2 else call.parallel_with,
            inherited_by=call.inherited_by,
            decision=call.decision,
            feedback=call.feedback,
            spawned=call.spawned,
            server=call.server,
            stated=(call.stated.took_ms, call.stated.tokens, call.stated.tool_uses) if call.stated else None,
            hooks=[self._hook(hook, path) for hook in call.hooks],
            n_answers=sum(not result.is_note for result in call.results) if len(call.results) > 1 else 1,
            odd=odd,
        )

    def _beside(self, call: Call) -> tuple[int, int] | None:
        """First and last number of its request's calls, if these are consecutive."""
        key = id(call.group)
        if key not in self._groups:
            numbers = [self._at.get(one, -1) for one in call.group]
            is_run = numbers[0] >= 0 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            self._groups[key] = (numbers[0], numbers[-1]) if is_run else None
        return self._groups[key]

    def _spot(self, place: Place, path: str | None) -> Spot:
        if place.path == path:
            return place.line
        number = self._number_of(place.path)
        return (place.path if number is None else number, place.line)

    def _phase(self, phase: Phase, call: Call, path: str | None) -> tuple[int | str, Spot, Moment]:
        what = _PHASE_NUMBERS.get(phase.what, phase.what)
        return (what, self._spot(phase.place, path), _moment(phase.at, call))

    def _hook(self, hook: HookRun, path: str | None) -> tuple[str | None, str | None, str, Spot]:
        return (hook.event, hook.name, hook.outcome, self._spot(hook.place, path))


def _asked_at(call: Call) -> Place | None:
    """The line that requests a call, which holds its input."""
    for phase in call.phases:
        if phase.what == "asked":
            return phase.place
    return None


def _did(call: Call, cwd: str | None) -> str:
    words = told(_arguments(call), cwd)
    return words if len(words) < LONGEST_DID else f"{words[: LONGEST_DID - 1]}…"


def _arguments(call: Call) -> Any:
    """`call.arguments`, in a tenth of the time if the input is valid JSON."""
    if len(call.input) > _LONGEST_SOUND:
        return call.arguments
    try:
        return _decode(call.input) if call.input else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return call.arguments


def _moment(at: str | None, call: Call) -> Moment:
    if at is None:
        return None
    if at == call.called_at:
        return AS_CALLED
    if at == call.returned_at:
        return AS_RETURNED
    is_same_day = call.called_at is not None and at[:_DAY] == call.called_at[:_DAY] and len(at) > _DAY
    return at[_DAY:] if is_same_day else at


def _odd(call: Call) -> dict[str, Any]:
    """Numbers of the log that a column would change or reject."""
    odd: dict[str, Any] = {}
    if call.took_ms is not None and type(call.took_ms) is not float:
        odd["took_ms"] = call.took_ms
    if call.exit_code is not None and not -_LARGEST <= call.exit_code < _LARGEST:
        odd["exit_code"] = call.exit_code
    return odd


Values = tuple[Any, ...]
_LONGEST_PROMPT = 300
_LONGEST_PROBLEM = 300
_MOST_PROBLEMS = 1000  # stored per session; unreadable files are always stored
_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode


def rows_of(session: Session, file_numbers: Mapping[str, int]) -> SessionRows:
    """The session and its parts as rows, by table."""
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
    """The same rows, with texts encoded that SQLite would reject."""

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


class Places:
    """Turns places into numbers of logs and lines."""

    def __init__(self, file_numbers: Mapping[str, int]) -> None:
        self._number_of = file_numbers.get

    def of(self, place: Place | None) -> tuple[int | None, int | None]:
        """The log's number, if it has one, and the line."""
        return (None, None) if place is None else (self._number_of(place.path), place.line)

    def span(self, places: Sequence[Place]) -> tuple[int | None, int | None, int | None]:
        """The log of the first place, and the first and last line of the places in it."""
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
    """A list of texts as JSON; lone surrogates are escaped."""
    try:
        return _encode(texts).decode()
    except UnicodeEncodeError:
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
