"""Which Codex processes run, and which session each has: by the logs that it holds open.

Rules
  1. A client holds the log of each of its sessions open for as long as it lives (0.98.0, 0.166.0). There is no registry.
  2. A client whose files we may not see could be the writer of a log if it works in its folder: then nobody knows.
  3. Processes are listed only when the answer needs them, and once for each look: that is slow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.agents.base import OpenSessions, ProcessView, Programs, SessionFacts
from tracklog.agents.codex.places import session_of
from tracklog.sources.process_start import NEAR_MS, Alive, pids_named, programs

if TYPE_CHECKING:
    from tracklog.sources.processes import RunningClient

_PROGRAM = "codex"
_LOG_NAME = re.compile(r"rollout-.*\.jsonl")
_BEST_FIRST = ("alive", "unknown", "gone")


class OpenLogsView(ProcessView):
    """The logs that running clients hold open."""

    def __init__(self, homes: Iterable[Path], *, find_programs: Programs | None = None) -> None:
        self._homes = dict.fromkeys(homes)
        self._programs = find_programs or programs
        self._running: list[RunningClient] | None = None

    def add_homes(self, homes: Iterable[Path]) -> None:
        self._homes |= dict.fromkeys(homes)

    def refresh(self, now_ms: int) -> None:  # noqa: ARG002 (what is open now has no other time)
        self._running = None

    def alive(self, session: SessionFacts) -> Alive:
        running = self._clients()
        if not running:
            return Alive("gone", "no process has the log open", is_sure=False)
        found = [holder_of(Path(path), running, cwd=session.cwd) for path in session.paths]
        return min(found, key=lambda one: _BEST_FIRST.index(one.life), default=Alive("unknown"))

    def open_sessions(self) -> OpenSessions:
        return OpenSessions(logs={path for one in self._clients() for path in one.logs or ()})

    def opened_by_each(self) -> Mapping[int, OpenSessions]:
        """What each client has open, by its process."""
        return {one.pid: OpenSessions(logs=one.logs or frozenset()) for one in self._clients()}

    def writer_of(self, session: str) -> int | None:
        homes = [Path(os.path.realpath(home)) for home in self._homes]
        for one in self._clients():
            for path in map(Path, one.logs or ()):
                if session_of(path.name) == session and any(path.is_relative_to(home) for home in homes):
                    return one.pid
        return None

    def _clients(self) -> list[RunningClient]:
        if self._running is None:
            self._running = running_codex(self._programs())
        return self._running


def running_codex(found: Mapping[int, bytes] | None = None) -> list[RunningClient]:
    """All Codex processes of this machine that can be seen; `found` are the names of all processes, where they are known."""
    found = programs() if found is None else found
    if pids_named(_PROGRAM, found) == []:
        return []
    from tracklog.sources.processes import running_clients  # slow to load

    return running_clients(_PROGRAM, found, log_name=_LOG_NAME)


def holder_of(
    log: Path, running: Sequence[RunningClient], *, cwd: str | None = None, started_at_ms: int | None = None
) -> Alive:
    """Whether the client that writes this log lives: it has the log open, or else works in its folder."""
    wanted = os.path.realpath(log)
    for one in running:
        if one.logs is not None and wanted in one.logs:
            why = f"process {one.pid} has the log open"
            return Alive("alive", why, one.pid, began_ms=one.started_ms)
    for one in (hidden for hidden in running if hidden.logs is None):
        if _could_be(one, cwd, started_at_ms):
            return Alive("unknown", f"process {one.pid} works in the same folder", one.pid)
    return Alive("gone", "no process has the log open", is_sure=False)


def _could_be(process: RunningClient, cwd: str | None, started_at_ms: int | None) -> bool:
    is_there = process.cwd is None or cwd is None or process.cwd == cwd
    return is_there and (started_at_ms is None or process.started_ms <= started_at_ms + NEAR_MS)
