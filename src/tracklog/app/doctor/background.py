"""Examine all logs beside the server, in a process of its own: no page waits for it.

Rules
  1. It is the examination of `tracklog doctor`: what the page shows is what the command says, word for word.
  2. One at a time, when a page is asked for, and not again within minutes: it takes a small part of the time at most.
  3. The last examination is shown until the next one is done, with its time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import NamedTuple

from tracklog.agents.roots import default_roots
from tracklog.app.doctor.examine import Examination, examination_of
from tracklog.home import Home
from tracklog.sources.log_file import Root

_AGAIN_S = 180.0
_SHARE = 20  # of the time it takes at most one part in so many
_LOWEST = 10
_LONGEST_S = 3600.0


class LastExamination(NamedTuple):
    """An examination that is done."""

    found: Examination
    at_ms: int
    took_s: float


class SurveyState(NamedTuple):
    """How far it is."""

    last: LastExamination | None = None
    began_ms: int | None = None  # None: none is under way
    failure: str | None = None


class DoctorSurvey:
    """Examines the logs in some roots now and then."""

    def __init__(self, home: Home, roots: Sequence[Root]) -> None:
        self._command = [sys.executable, "-P", "-m", "tracklog.app.doctor.examine", "--home", str(home.path)]
        self._command += _root_options(roots)
        self._lock = Lock()
        self._state = SurveyState()
        self._again_at = 0.0
        self._child: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def state(self) -> SurveyState:
        """What is known; starts another examination if that is too old."""
        with self._lock:
            if self._state.began_ms is None and time.monotonic() >= self._again_at:
                self._state = self._state._replace(began_ms=_now_ms())
                Thread(target=self._run, name="doctor", daemon=True).start()
            return self._state

    def close(self) -> None:
        """End an examination that is under way."""
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()

    def _run(self) -> None:
        began = time.monotonic()
        found, failure = self._examined()
        took_s = time.monotonic() - began
        last = None if found is None else LastExamination(found, _now_ms(), took_s)
        with self._lock:
            self._again_at = time.monotonic() + max(_AGAIN_S, took_s * _SHARE)
            self._state = SurveyState(last or self._state.last, None, failure)

    def _examined(self) -> tuple[Examination | None, str | None]:
        """The examination, or why there is none."""
        try:
            self._child = child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            with suppress(OSError):  # it may be over already
                os.setpriority(os.PRIO_PROCESS, child.pid, _LOWEST)
            out, err = child.communicate(timeout=_LONGEST_S)
        except OSError as error:
            return None, f"cannot start a process: {error.strerror}"
        except subprocess.TimeoutExpired:
            self.close()
            return None, f"it took longer than {_LONGEST_S / 60:.0f} minutes"
        try:
            return examination_of(out), None
        except ValueError:
            words = err.decode("utf-8", "replace").strip().splitlines()
            return None, words[-1] if words else f"it ended with {child.returncode} and said nothing"


def _root_options(roots: Sequence[Root]) -> list[str]:
    """The same folders; none where the child looks in the same by itself, so that its advice is as short."""
    if list(roots) == default_roots(os.environ):
        return []
    folders = dict.fromkeys(str(root.path / root.part if root.part else root.path) for root in roots)
    return [word for folder in folders for word in ("--root", folder)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
