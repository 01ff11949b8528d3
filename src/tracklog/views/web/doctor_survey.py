"""What `tracklog doctor` says, asked beside: it reads all logs, and no page waits for that.

Rules of this room
  1. It is the command itself, in a process of its own: what is shown is what it says, word for word.
  2. One at a time, when somebody looks, and not again within minutes: of much it takes a small part of the time.
  3. What was said last stands until it is said anew, with when that was.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, NamedTuple

from tracklog.sources.found import Root
from tracklog.sources.homes import default_roots
from tracklog.store.home import Home

_AGAIN_S = 180.0
_SHARE = 20  # of the time it takes at most one part in so many
_LOWEST = 10
_LONGEST_S = 3600.0


class Said(NamedTuple):
    """What the doctor said."""

    document: dict[str, Any]
    at_ms: int
    took_s: float


class SurveyState(NamedTuple):
    """How far it is."""

    said: Said | None = None
    began_ms: int | None = None  # None: it does not look just now
    failure: str | None = None


class DoctorSurvey:
    """Asks the doctor now and then."""

    def __init__(self, home: Home, roots: Sequence[Root]) -> None:
        self._command = [sys.executable, "-P", "-m", "tracklog", "doctor", "--json", "--home", str(home.path)]
        self._command += _root_options(roots)
        self._lock = Lock()
        self._state = SurveyState()
        self._again_at = 0.0
        self._child: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def state(self) -> SurveyState:
        """What is known; looks again if that is too old."""
        with self._lock:
            if self._state.began_ms is None and time.monotonic() >= self._again_at:
                self._state = self._state._replace(began_ms=_now_ms())
                Thread(target=self._run, name="doctor", daemon=True).start()
            return self._state

    def close(self) -> None:
        """Ends a look that goes on."""
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()

    def _run(self) -> None:
        began = time.monotonic()
        document, failure = self._asked()
        took_s = time.monotonic() - began
        said = None if document is None else Said(document, _now_ms(), took_s)
        with self._lock:
            self._again_at = time.monotonic() + max(_AGAIN_S, took_s * _SHARE)
            self._state = SurveyState(said or self._state.said, None, failure)

    def _asked(self) -> tuple[dict[str, Any] | None, str | None]:
        """The document, or why there is none."""
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
            document: dict[str, Any] = json.loads(out)
        except ValueError:
            words = err.decode("utf-8", "replace").strip().splitlines()
            return None, words[-1] if words else f"it ended with {child.returncode} and said nothing"
        return document, None


def _root_options(roots: Sequence[Root]) -> list[str]:
    """The same folders; none are named where it looks in the same by itself, so that its advice is as short."""
    if list(roots) == default_roots(os.environ):
        return []
    folders = dict.fromkeys(str(root.path / root.part if root.part else root.path) for root in roots)
    return [word for folder in folders for word in ("--root", folder)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
