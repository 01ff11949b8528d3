"""What is done for an event that is shown: a bell, a notification, a program. Only what was asked for.

Rules of this room
  1. What a session says is data. A program is run by its words, never by a shell; the event is on its stdin, as JSON.
  2. A program that fails or takes too long is said, and stops nothing.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import click

from tracklog.errors import UserError
from tracklog.live.announcing import notify, plain, ring
from tracklog.live.journal import LiveEvent
from tracklog.views.cli.live_lines import event_document
from tracklog.views.cli.printing import talk

Command = TypeVar("Command", bound=Callable[..., Any])
_PATIENCE_S = 30.0
_WAITS = "waiting_began"
_PLACEHOLDER = re.compile(r"\{(event|session|state|path)\}")


class Acts(NamedTuple):
    """What is to be done."""

    words: tuple[str, ...] = ()
    rings: bool = False
    notifies: bool = False

    def do(self, event: LiveEvent) -> None:
        """Does it for one event; bell and notification are for those that wait."""
        if event.event == _WAITS:
            if self.rings:
                ring(sys.stderr)
            if self.notifies and (why := _notified(event)) is not None:
                talk(f"tracklog: no notification: {why}")
        if self.words:
            _run([_filled(word, event) for word in self.words], event)


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


def _notified(event: LiveEvent) -> str | None:
    what = str(event.data.get("waiting_for") or "you")
    return notify(plain(f"A session waits for {what}"), plain(str(event.data.get("doing") or "")))


def _run(words: list[str], event: LiveEvent) -> None:
    told = event_document(event).encode() + b"\n"
    try:
        done = subprocess.run(words, input=told, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        talk(f"tracklog: --exec {words[0]}: {error}")
        return
    if done.returncode:
        talk(f"tracklog: --exec {words[0]} ended with {done.returncode}")
