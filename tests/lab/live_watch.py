"""What a watch tells while a real client works, and when: a process of its own, so that nobody else slows it.

    python -m tests.lab.live_watch ROOT

ROOT is a home of the lab; its `.claude`, `.codex` and `ours/spool` are watched. Every state and every wait that is told
becomes a line on stdout, with the moment at which it was told.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.lab.clients import PROJECT
from tests.lab.words import Json
from tracklog.live.watch.watcher import Watch
from tracklog.sources.log_file import Root

READY = "ready"
KEPT = ("state_changed", "waiting_began", "waiting_ended")
LIMIT_S = 60.0


@dataclass(frozen=True)
class Told:
    """One event of the watch, and when it was told."""

    at_ms: int
    event: str
    session: str
    data: Json

    @property
    def state(self) -> str:
        """The state that was told; of an announced wait `waiting`."""
        return str(self.data.get("state"))


class Watcher:
    """A watch in a process of its own, from now until the end of the `with` block."""

    def __init__(self, root: Path) -> None:
        self.told: list[Told] = []
        environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'src'}{os.pathsep}{PROJECT}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.lab.live_watch", str(root)],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._lines = self._process.stdout
        assert self._lines.readline().strip() == READY
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        self._lines.close()

    @property
    def states(self) -> list[Told]:
        """The states that were told, in order."""
        return [one for one in self.told if one.event == "state_changed"]

    def wait_for(self, *states: str, timeout_s: float = LIMIT_S) -> None:
        """Until the last state that was told is one of these."""
        self.wait_until(lambda one: one.event == "state_changed" and one.state in states, timeout_s=timeout_s)

    def wait_until(self, is_it: Callable[[Told], bool], *, timeout_s: float = LIMIT_S) -> None:
        """Until the last event of its kind that was told is one like this."""
        until = time.monotonic() + timeout_s
        while not any(map(is_it, {one.event: one for one in self.told}.values())):
            assert time.monotonic() < until, f"never told: {[(one.event, one.data) for one in self.told]}"
            time.sleep(0.02)

    def _read(self) -> None:
        for line in self._lines:
            self.told.append(Told(**json.loads(line)))


def now_ms() -> int:
    """The clock of all facts."""
    return time.time_ns() // 1_000_000


def watch_of(root: Path) -> Watch:
    """A watch over the home of a lab run."""
    roots = [Root(root / ".claude", "claude"), Root(root / ".codex", "codex")]
    return Watch(roots, spool=root / "ours" / "spool")


def main(root: Path) -> None:
    """Tells until it is ended."""
    with closing(watch_of(root)) as watch:
        watch.begin()
        print(READY, flush=True)
        while True:
            for event in watch.wait():
                if event.event in KEPT:
                    told = {
                        "at_ms": now_ms(),
                        "event": event.event,
                        "session": event.session,
                        "data": event.data,
                    }
                    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
