"""Runs a handler: as the agent does (`run`), or without one (`call`).

Rules
  1. Only `block` ends with 2. A handler that fails, or exits by itself, ends with 1: the agent goes on, and shows the
     error. A guard that must not fail open says so (`fails_closed`), and ends with 2 then.
  2. stdout belongs to the decision: what a handler prints, or a program that it runs, goes to stderr.
  3. The exit code is decided before a byte is written: a pipe that is closed or full opens no gate.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from tracklog.hooking.decisions import Decision, document_of
from tracklog.hooking.events import KNOWN, Event, OtherEvent, read_event

Decided = Decision | Sequence[Decision] | None
Handler = Callable[[Any], Decided]
FINE, FAILED, BLOCKED = 0, 1, 2


class Outcome(NamedTuple):
    """What the agent gets to see of a hook."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The JSON on stdout; empty if there is none."""
        return dict(json.loads(self.stdout)) if self.stdout else {}


def call(handler: Handler, payload: dict[str, Any] | str | bytes, *, fails_closed: bool = False) -> Outcome:
    """What an agent would see if it told a handler this payload."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            event = read_event(_object(payload))
            if fails_closed:
                _check_known(event)
            outcome = outcome_of(handler(event), event)
    except (
        Exception,
        SystemExit,
        KeyboardInterrupt,
    ):  # a door: whatever the handler does, the exit code is one that was meant
        outcome = Outcome(BLOCKED if fails_closed else FAILED, stderr=traceback.format_exc())
    return outcome._replace(stderr=printed.getvalue() + outcome.stderr)


def run(handler: Handler, *, fails_closed: bool = False) -> NoReturn:
    """Takes an event from stdin, asks the handler, answers, and exits."""
    answers = _own_stdout()
    outcome = call(handler, _told(), fails_closed=fails_closed)
    _write(answers, outcome.stdout)
    _write(2, outcome.stderr)
    os._exit(outcome.exit_code)  # nothing that is flushed at an exit may change it


def _own_stdout() -> int:
    """Our stdout, out of the reach of programs that a handler runs: theirs is stderr, or nothing."""
    try:
        kept = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:  # it is closed: nobody will hear the answer, and the exit code must do
        return 1
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return kept


def _told() -> bytes:
    """All of stdin; empty if it is closed."""
    parts: list[bytes] = []
    with contextlib.suppress(OSError):
        while part := os.read(0, 1 << 20):
            parts.append(part)
    return b"".join(parts)


def _write(descriptor: int, text: str) -> None:
    left = text.encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError):  # nobody reads it: the decision is unchanged
        while left:
            left = left[os.write(descriptor, left) :]


def outcome_of(decided: Decided, event: Event) -> Outcome:
    """How a decision is said for an event; raises WrongDecision where the event does not know it."""
    decisions = [decided] if isinstance(decided, Decision) else list(decided or ())
    document = document_of(decisions, event.name)
    blocked = [one.reason or "" for one in decisions if one.what == "block"]
    stdout = json.dumps(document) + "\n" if document else ""
    if blocked:
        return Outcome(BLOCKED, stdout, "\n".join(blocked) + "\n")
    return Outcome(FINE, stdout)


def _check_known(event: Event) -> None:
    """Raise ValueError where a guard could not see what it guards: no event is named, or it has an unknown shape."""
    name = event.payload.get("hook_event_name")
    if not (isinstance(name, str) and name):
        raise ValueError("the payload names no event: hook_event_name is missing, so the guard blocks")
    if isinstance(event, OtherEvent) and name in KNOWN:
        raise ValueError(f"the payload is no {name} of a known shape, so the guard blocks")


def _object(payload: dict[str, Any] | str | bytes) -> dict[str, Any]:
    value = payload if isinstance(payload, dict) else json.loads(payload)
    if not isinstance(value, dict):
        raise ValueError(f"a hook is told a JSON object, not {type(value).__name__}")
    return value
