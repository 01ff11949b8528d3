"""The facts that a session's state is made of: who said when what it does, and where that can be read again.

Rules of this room
  1. A sign is what one source says of one session at its newest; a source has at most one.
  2. Hooks and log lines tell that something happened at a moment. The registry tells what holds until it says otherwise.
     A question that was put to tracklog itself holds as long as it is open.
  3. `where` is for people and scripts: it names the hook, the file or the line, never a path of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from tracklog.model.telling import told

Source = Literal["hook", "registry", "log", "process", "ask"]
Doing = Literal["working", "waiting", "idle", "ended"]
WaitingFor = Literal["permission", "answer", "plan"]

THINKING = "thinking"
_LONGEST_DOING = 200
_ASKING: Mapping[str, WaitingFor] = {
    "AskUserQuestion": "answer",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "request_user_input": "answer",
}


class Sign(NamedTuple):
    """What a source says that a session does since `at_ms`."""

    source: Source
    state: Doing
    at_ms: int
    doing: str | None = None  # `Bash: npm test`, `thinking`
    call: str | None = None
    waiting_for: WaitingFor | None = None
    where: str = ""  # `hook PermissionRequest`, `sessions/4410.json`, `log line 312`
    has_background: bool = False
    open_calls: tuple[str, ...] = ()  # calls without a result, oldest first
    over: frozenset[str] = frozenset()  # calls of this turn that have their result


def not_ahead(at_ms: int, now_ms: int, written_ms: int | None = None) -> int:
    """A moment, unless a clock was ahead: then when its file was last written, so that it does not move with each question."""
    return at_ms if at_ms <= now_ms else min(now_ms, now_ms if written_ms is None else written_ms)


def asked_by(tool: str | None) -> WaitingFor | None:
    """What a call of this tool waits for by itself: such a tool does nothing but ask the person."""
    return _ASKING.get(tool or "")


def told_call(tool: str | None, given: Any, cwd: str | None = None) -> str:
    """A call in a few words, on one line: `Bash: npm test`."""
    words = " ".join(told(given, cwd).split())
    name = tool or "a tool"
    said = f"{name}: {words}" if words else name
    return said if len(said) <= _LONGEST_DOING else f"{said[: _LONGEST_DOING - 1]}…"
