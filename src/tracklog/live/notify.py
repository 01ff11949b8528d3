"""Announce that a session waits for the person: ring the bell, or show a desktop notification.

Rules
  1. A wait is announced once, when it is a second old: a hook that decides makes a session wait while it runs.
  2. A dialog that the person opened does not count as a wait.
  3. What a session says is data: it goes to programs as an argument, never through a shell or into a script, without
     control characters, and a notification that cannot be shown stops nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from html import escape
from typing import Protocol

from tracklog.model.states import LiveState

LEAST_MS = 1_000
_LONGEST = 200
_PATIENCE_S = 5.0
_BELL = "\a"
_OSASCRIPT = (
    "on run argv",
    "display notification (item 1 of argv) with title (item 2 of argv)",
    "end run",
)
_WORDS = {
    "permission": "waits for a permission",
    "answer": "asks a question",
    "plan": "has a plan to approve",
}


class Terminal(Protocol):
    """Where a bell can ring."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...
    def isatty(self) -> bool: ...


def is_due(state: LiveState, now_ms: int) -> bool:
    """Whether a session has waited for a person long enough to announce it."""
    if state.state != "waiting" or state.waiting_for is None or state.since_ms is None:
        return False
    return now_ms - state.since_ms >= LEAST_MS


class Announcements:
    """Remembers which waits were announced, so that each is announced once."""

    def __init__(self) -> None:
        self._announced: dict[str, tuple[int, str | None]] = {}  # when, and for which call

    def due(self, states: Mapping[str, LiveState], now_ms: int) -> list[str]:
        """The sessions whose wait must be announced now."""
        self._announced = {
            session: announced
            for session, announced in self._announced.items()
            if session in states and states[session].state == "waiting"
        }
        new = [one for one, state in states.items() if is_due(state, now_ms) and self._is_new(one, state)]
        self._announced.update({one: (now_ms, states[one].call) for one in new})
        return new

    def _is_new(self, session: str, state: LiveState) -> bool:
        """Whether a wait was not announced; one may follow another without visible work in between."""
        announced_ms, call = self._announced.get(session, (None, None))
        if announced_ms is None or (state.since_ms or 0) > announced_ms:
            return True
        return None not in (call, state.call) and call != state.call


def words_for(state: LiveState, project: str) -> tuple[str, str]:
    """Title and text of a notification."""
    what = _WORDS.get(state.waiting_for or "", "waits")
    return plain(f"{project or 'A session'} {what}"), plain(state.doing or "")


def plain(text: str) -> str:
    """Text on one line, without control characters and marks of writing direction."""
    printed = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text[: _LONGEST * 4])
    line = " ".join(printed.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def ring(terminal: Terminal) -> bool:
    """Ring the terminal's bell; False if there is no terminal."""
    if not terminal.isatty():
        return False
    terminal.write(_BELL)
    terminal.flush()
    return True


def notification_command(
    title: str,
    text: str,
    *,
    system: str = sys.platform,
    which: Callable[[str], str | None] = shutil.which,
) -> list[str] | None:
    """The command that shows a notification, word by word; None where this system has none."""
    if system == "darwin" and (program := which("osascript")):
        script = [word for line in _OSASCRIPT for word in ("-e", line)]
        return [program, *script, "--", text, title]
    if system != "darwin" and (program := which("notify-send")):
        return [program, "--app-name=tracklog", "--", title, escape(text, quote=False)]  # the body is markup
    return None


def notify(title: str, text: str) -> str | None:
    """Show a notification; return why not, if it failed."""
    command = notification_command(title, text)
    if command is None:
        return "no notify-send here" if sys.platform != "darwin" else "no osascript here"
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} failed: {error}"
    return f"{command[0]} failed with exit code {ended.returncode}" if ended.returncode else None
