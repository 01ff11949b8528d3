"""The board on a real terminal: what is pressed, what is drawn, and how the terminal is left."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import fork_server
from tests.live.live_home import LiveHome
from tests.views.cli.command import environment
from tracklog.views.cli.output.screen import _keys_in

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
LIMIT_S = 60.0


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, home: LiveHome, tmp_path: Path, *, columns: int = 80, term: str = "xterm") -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.modes = termios.tcgetattr(theirs)[:4]
        self._theirs = theirs
        self.seen = b""
        self.process = fork_server.start(
            ["top", "--root", str(home.path), "--home", str(home.ours)],
            env=environment(tmp_path, {"TERM": term}),
            cwd=tmp_path,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def until(self, is_it: Callable[[bytes], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and not is_it(self.seen):
            if select.select([self._ours], [], [], 0.05)[0]:
                self.seen += os.read(self._ours, 65536)
        assert is_it(self.seen), self.seen[-500:]

    def end(self) -> int:
        code = self.process.wait(LIMIT_S)
        while select.select([self._ours], [], [], 0.1)[0]:
            self.seen += os.read(self._ours, 65536)
        return code

    def modes_now(self) -> list[object]:
        return termios.tcgetattr(self._theirs)[:4]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    home.call("t1", "Bash", command="npm test")
    return home


@pytest.fixture
def terminal(home: LiveHome, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(home, tmp_path)
    yield terminal
    terminal.close()


def is_drawn(seen: bytes) -> bool:
    return b"npm test" in seen


def test_q_ends_it_and_the_terminal_is_as_it_was(terminal: Terminal) -> None:
    terminal.until(is_drawn)
    assert ENTER in terminal.seen
    terminal.press(b"q")
    assert terminal.end() == 0
    assert terminal.seen.rstrip().endswith(LEAVE)
    assert terminal.modes_now() == terminal.modes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(terminal: Terminal, number: signal.Signals) -> None:
    terminal.until(is_drawn)
    terminal.process.send_signal(number)
    assert terminal.end() == 128 + number
    assert LEAVE in terminal.seen
    assert terminal.modes_now() == terminal.modes


def test_only_what_changes_is_drawn_again(terminal: Terminal) -> None:
    terminal.until(lambda seen: is_drawn(seen) and b"q quit" in seen)
    before, began = len(terminal.seen), time.monotonic()
    terminal.until(lambda seen: seen.count(b"npm test", before) >= 2)
    drawn = terminal.seen[before:]
    assert drawn.count(b"npm test") <= time.monotonic() - began + 2  # its line has a clock of seconds in it
    assert b"\x1b[2J" not in drawn
    assert b"q quit" not in drawn


def test_a_key_opens_the_chosen_session(terminal: Terminal) -> None:
    terminal.until(is_drawn)
    terminal.press(b"\x1b[B\r")
    terminal.until(lambda seen: b"because" in seen)


def test_a_terminal_that_cannot_move_its_cursor_gets_the_board_once(home: LiveHome, tmp_path: Path) -> None:
    dumb = Terminal(home, tmp_path, term="dumb")
    assert dumb.end() == 0
    assert ENTER not in dumb.seen
    assert b"npm test" in dumb.seen
    dumb.close()


def test_keys_have_names_and_unknown_sequences_are_passed_over() -> None:
    assert list(_keys_in("q\x1b[A\x1bOBjk\r\x7f\x1b[5~\x1b[1;5Cä")) == [
        "q",
        "up",
        "down",
        "j",
        "k",
        "enter",
        "backspace",
        "ä",
    ]
    assert list(_keys_in("\x1b")) == ["escape"]
