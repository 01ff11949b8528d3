"""A whole terminal as a screen: lines are drawn where they changed, keys come as they are pressed.

Rules
  1. Whatever happens, the terminal is left as it was: its lines, its cursor, its way of taking keys.
  2. Only lines that changed are written, all at once: nothing flickers.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text

from tracklog.views.text.printing import in_colour

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)")  # what one key sends that is no letter
_ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_KEYS = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "quit",
}


class Screen:
    """Draws lines, and tells which keys were pressed."""

    def __init__(self) -> None:
        self._shown: list[Text] = []
        self._size = (0, 0)
        self._paper = _paper()
        self._typed = b""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        size = shutil.get_terminal_size((80, 24))
        return size.columns, size.lines

    def draw(self, lines: Sequence[Text]) -> None:
        """Shows these lines from the top of the screen on."""
        size = self.size
        if size != self._size:
            self._size, self._shown = size, []
            sys.stdout.write("\x1b[2J")
        for n, line in enumerate(lines[: size[1]]):
            if n >= len(self._shown) or not _is_same(self._shown[n], line):
                sys.stdout.write(f"\x1b[{n + 1};1H{self._escaped(line)}\x1b[0m\x1b[K")
        self._shown = list(lines)
        sys.stdout.flush()

    def _escaped(self, line: Text) -> str:
        with self._paper.capture() as said:
            self._paper.print(line, end="", no_wrap=True, overflow="ignore", crop=False)
        return said.get()

    def forget(self) -> None:
        """Redraw everything the next time."""
        self._shown, self._size = [], (0, 0)

    def pressed(self) -> list[str]:
        """What was pressed since the last question."""
        while select.select([sys.stdin], [], [], 0)[0]:
            typed = os.read(sys.stdin.fileno(), 1024)
            if not typed:
                return ["quit"]  # the terminal is gone
            self._typed += typed
        text, self._typed = self._typed.decode("utf-8", "replace"), b""
        return list(_keys_in(text))


@contextmanager
def whole_screen() -> Iterator[Screen]:
    """The terminal as a screen; it is given back as it was, also while we are stopped by Ctrl-Z."""
    before = termios.tcgetattr(sys.stdin)
    screen = Screen()

    def pause(_number: int, _frame: object) -> None:
        _leave(before)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, pause)  # here we go on
        _enter()
        screen.forget()

    ended: list[int] = []

    def end(number: int, _frame: object) -> None:
        ended.append(number)
        raise KeyboardInterrupt  # which also ends a wait for hints

    handlers = {number: signal.signal(number, end) for number in _ENDS}
    handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, pause)
    try:
        _enter()
        yield screen
    except KeyboardInterrupt:
        if ended:
            raise SystemExit(128 + ended[0]) from None
        raise
    finally:
        _leave(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _enter() -> None:
    tty.setcbreak(sys.stdin)
    sys.stdout.write(_ENTER)
    sys.stdout.flush()


def _leave(before: list[Any]) -> None:
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    sys.stdout.write(_LEAVE)
    sys.stdout.flush()


def _keys_in(text: str) -> Iterator[str]:
    while text:
        sequence = _SEQUENCE.match(text)
        name = sequence[0] if sequence else text[0]
        text = text[len(name) :]
        if name in _KEYS or not sequence:
            yield _KEYS.get(name, name)


def _paper() -> Console:
    return Console(
        file=StringIO(),
        width=1000,  # lines are cut before
        force_terminal=True,
        color_system="standard" if in_colour(sys.stdout) else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def _is_same(one: Text, other: Text) -> bool:
    return one.plain == other.plain and one.spans == other.spans and one.style == other.style
