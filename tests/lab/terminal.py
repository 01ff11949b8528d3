"""A client in a real terminal: tmux, on a server of its own, with keys typed and the screen read.

Rules of this room
  1. The tmux server is ours alone (its own socket) and ends with the sitting, whatever happens.
  2. Every wait is for something on the screen or in a file, with a limit; what was not seen in time is raised.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.lab.clients import Unobtainable
from tests.lab.process import ClientExit
from tests.lab.registry import RegistryWatch
from tests.lab.words import Act, Answered, FileSeen, Pressed, Seen, Sitting, Typed

SIZE = ("160", "50")
GLANCE_S = 0.1
LIMIT_S = 60.0
DEAF_S = 0.8  # a prompt takes no keys in its first moments
AGAIN_S = 5.0  # a dialog that is still there has not taken the keys


class NotSeen(Exception):  # noqa: N818 (it says what is the case, as our errors do)
    """Something did not show up in time; the message holds the screen as it stood."""


def sit(
    sitting: Sitting, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], registry: Path
) -> ClientExit:
    """Starts the client in a terminal and does what the person does; the exit's stdout is the last screen."""
    if shutil.which("tmux") is None:
        raise Unobtainable("tmux is not installed")
    started, watch, missed = time.monotonic(), RegistryWatch(registry), ""
    watch.start()
    with Terminal(argv, cwd=cwd, environment=environment) as terminal:
        screen = ""
        try:
            for act in sitting.acts:
                terminal.do(act, cwd)
                screen = terminal.screen() or screen
            terminal.wait_for_end()
        except NotSeen as reason:
            missed = str(reason)
    watch.stop()
    took_s = time.monotonic() - started
    return ClientExit(list(argv), 0, screen, missed, took_s, timed_out=bool(missed), glimpses=watch.glimpses)


class Terminal:
    """One program in one terminal."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="lab-tmux-"))  # short: a socket's path has a limit
        bare = ["env", "-i", *(f"{k}={v}" for k, v in environment.items()), *argv]
        self._tmux(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            SIZE[0],
            "-y",
            SIZE[1],
            "-c",
            str(cwd),
            shlex.join(bare),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.alive():
            self._tmux("kill-server")
        shutil.rmtree(self._directory, ignore_errors=True)

    def alive(self) -> bool:
        """Whether the program still runs."""
        return self._tmux("has-session", check=False).returncode == 0

    def do(self, act: Act, cwd: Path) -> None:
        """Does what a person would do."""
        match act:
            case Typed(text):
                self.type(text)
            case Pressed(keys):
                self.press(*keys)
            case Seen(pattern):
                self.wait_for(pattern)
                time.sleep(DEAF_S)
            case Answered(pattern, keys):
                self.answer(pattern, *keys)
            case FileSeen(name):
                self.wait_for_file(cwd / name)

    def type(self, text: str) -> None:
        """Types a text, then Enter: apart, because a client takes both at once for a paste."""
        self.press("-l", text)
        self.wait_for(re.escape(text[-10:]))
        self._settle()
        self.press("Enter")

    def _settle(self) -> None:
        """Until the screen stands still, or for two seconds: beside a running tool it never does."""
        before = ""
        for _ in range(5):
            if (now := self.screen()) == before:
                return
            before = now
            time.sleep(0.4)

    def press(self, *keys: str) -> None:
        """Presses keys, by tmux's names."""
        if self._tmux("send-keys", *keys, check=False).returncode != 0:
            raise NotSeen(f"no terminal left to press {keys} in")
        time.sleep(0.2)

    def answer(self, pattern: str, *keys: str) -> None:
        """Wait for a dialog and press keys until it is gone: it ignores those of its first moments."""
        self.wait_for(pattern)
        time.sleep(DEAF_S)
        until = time.monotonic() + LIMIT_S
        while True:
            self.press(*keys)
            with suppress(NotSeen):
                self.wait_for_no(pattern, timeout_s=AGAIN_S)
                return
            if time.monotonic() > until:
                raise NotSeen(f"{pattern!r} does not go within {LIMIT_S:.0f} s:\n{self.screen()}")

    def screen(self) -> str:
        """What stands on the screen."""
        return self._tmux("capture-pane", "-p", check=False).stdout

    def wait_for(self, pattern: str, timeout_s: float = LIMIT_S) -> None:
        """Until the screen shows the pattern."""
        self._wait(lambda: re.search(pattern, self.screen()) is not None, f"no {pattern!r}", timeout_s)

    def wait_for_no(self, pattern: str, timeout_s: float = LIMIT_S) -> None:
        """Until the screen does not show the pattern."""
        self._wait(lambda: re.search(pattern, self.screen()) is None, f"still {pattern!r}", timeout_s)

    def wait_for_file(self, path: Path, timeout_s: float = LIMIT_S) -> None:
        """Until the file exists."""
        self._wait(path.exists, f"no {path.name}", timeout_s)

    def wait_for_end(self, timeout_s: float = LIMIT_S) -> None:
        """Until the program has ended."""
        self._wait(lambda: not self.alive(), "no end", timeout_s)

    def _wait(self, seen: Callable[[], bool], what: str, timeout_s: float) -> None:
        until = time.monotonic() + timeout_s
        while not seen():
            if time.monotonic() > until:
                raise NotSeen(f"{what} within {timeout_s:.0f} s on this screen:\n{self.screen()}")
            time.sleep(GLANCE_S)

    def _tmux(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["tmux", "-S", str(self._directory / "socket"), *arguments]
        return subprocess.run(command, check=check, capture_output=True, text=True, timeout=20)
