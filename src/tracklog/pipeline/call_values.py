"""The calls of a session as rows.

Rules of this room
  1. The input stays in the log: a row says where, and tells in a few words what the call did.
  2. What has no column of its own goes into `rest`, in as few bytes as give the whole back (store/call_rest.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tracklog.model.events import Place
from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.model.session import Call, HookRun, Phase, Session
from tracklog.model.telling import told
from tracklog.store.call_rest import (
    AS_CALLED,
    AS_RETURNED,
    LONGEST_DID,
    PHASES,
    CallRest,
    Moment,
    Spot,
    packed,
)
from tracklog.store.keys import call_key

_PHASE_NUMBERS: dict[str, int] = {name: n for n, name in enumerate(PHASES)}
_LARGEST = 1 << 63
_LONGEST_SOUND = 500_000  # bytes of an input that need no look at how much they hold
_decode = msgspec.json.Decoder().decode
_DAY = len("2026-01-01T")


class CallValues:
    """Makes the rows of a session's calls."""

    def __init__(self, session: Session, file_numbers: Mapping[str, int]) -> None:
        self._calls = session.calls_by_thread
        self._cwd = session.cwd
        self._number_of = file_numbers.get
        self._at = {call.id: n for n, call in enumerate(self._calls)}
        self._groups: dict[int, tuple[int, int] | None] = {}  # by the identity of their list

    def rows(self) -> list[tuple[Any, ...]]:
        """In the order of the session's calls."""
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
        """The numbers of the calls of its request, where they follow one another; itself must be among them."""
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
    """The line that asks for a call holds its input."""
    for phase in call.phases:
        if phase.what == "asked":
            return phase.place
    return None


def _did(call: Call, cwd: str | None) -> str:
    words = told(_arguments(call), cwd)
    return words if len(words) < LONGEST_DID else f"{words[: LONGEST_DID - 1]}…"


def _arguments(call: Call) -> Any:
    """The same as the call says, in a tenth of the time where the input is sound."""
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
    """Numbers of a log that a column would change or refuse."""
    odd: dict[str, Any] = {}
    if call.took_ms is not None and type(call.took_ms) is not float:
        odd["took_ms"] = call.took_ms
    if call.exit_code is not None and not -_LARGEST <= call.exit_code < _LARGEST:
        odd["exit_code"] = call.exit_code
    return odd
