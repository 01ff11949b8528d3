"""Keep the index fresh during a watch: a child process indexes what was appended.

The child is `tracklog index`, whose steps are those of `index.refresh`.

Rules
  1. Makes no index where there is none, and adds no roots that the index does not know.
  2. One child at a time, at the lowest priority; every five seconds at most, and for a tenth of the time at most.
  3. Without a change no child starts. Errors are not reported here: the next command updates the index itself, and reports
     what is wrong.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from tracklog.home import Home
from tracklog.sources.log_file import Root
from tracklog.store.database import DamagedIndex, StoreError, reading
from tracklog.store.file_stamps import folders_of, root_key

LEAST_S = 5.0
AFTER_FAILURE_S = 60.0
_SHARE = 10
_LOWEST = 19
Command = Callable[[Home, Sequence[Root]], list[str]]


def index_command(home: Home, roots: Iterable[Root]) -> list[str]:
    """The command `tracklog index` for some roots; `-P` keeps it from importing modules of the current folder."""
    folders = dict.fromkeys(str(root.path / root.part if root.part else root.path) for root in roots)
    asked = [word for folder in folders for word in ("--root", folder)]
    return [sys.executable, "-P", "-m", "tracklog", "index", "--home", str(home.path), *asked]


class IndexSync:
    """Starts a sync when logs have changed and it is time; call `step` regularly."""

    def __init__(
        self,
        home: Home,
        roots: Sequence[Root],
        *,
        command: Command = index_command,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._roots = roots
        self._command = command
        self._clock = clock
        self._running: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._not_before = clock() + LEAST_S
        self._n_synced = 0  # the number of changes when the last sync began

    def step(self, n_changes: int) -> None:
        """Start a sync if it is due; `n_changes` counts all changes so far."""
        self._see_end()
        if self._running is None and n_changes != self._n_synced and self._clock() >= self._not_before:
            self._n_synced = n_changes
            self._start()

    def close(self) -> None:
        """End a running sync: it may be interrupted at any time."""
        if self._running is not None:
            self._running.terminate()
            self._running.wait()
            self._running = None

    def _start(self) -> None:
        self._began = self._clock()
        self._not_before = self._began + LEAST_S
        known = self._known_roots()
        if not known:
            return
        nowhere = subprocess.DEVNULL
        try:
            self._running = subprocess.Popen(
                self._command(self._home, known), stdin=nowhere, stdout=nowhere, stderr=nowhere
            )
            os.setpriority(os.PRIO_PROCESS, self._running.pid, _LOWEST)
        except ProcessLookupError:
            pass  # it has ended already
        except OSError:
            self._not_before = self._began + AFTER_FAILURE_S

    def _see_end(self) -> None:
        if self._running is None or (code := self._running.poll()) is None:
            return
        self._running = None
        took_s = self._clock() - self._began
        least_s = LEAST_S if code == 0 else AFTER_FAILURE_S
        self._not_before = self._began + max(least_s, took_s * _SHARE)

    def _known_roots(self) -> list[Root]:
        """The roots that the index knows; none if there is no index."""
        try:
            with reading(self._home) as database:
                if database is None:
                    return []
                listed = folders_of(database.db, [root_key(root) for root in self._roots])
        except (DamagedIndex, StoreError):
            return []
        return [root for root in self._roots if listed.get(root_key(root))]
