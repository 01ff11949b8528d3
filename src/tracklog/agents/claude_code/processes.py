"""Which Claude Code processes run, and which session each has: by the registry of its home, else by its folder.

Rules
  1. Where a home keeps a registry, a session that it does not name has left. A new one is written before it is
     registered: so long its log must have been silent. A headless run whose turn is over was registered while it ran.
  2. Clients without a registry are looked for among the processes: one in the session's folder may be it. Where there is
     none, a turn that is over has ended; work may go on out of our sight, in a container, until it has been silent long.
  3. A client may write into another home than its own: the homes that were given are asked for every session, too.
  4. Registries are read, and processes listed, only when the answer needs them, and once for each look.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.agents.base import (
    OpenSessions,
    ProcessView,
    Programs,
    RegisteredSession,
    SessionFacts,
)
from tracklog.agents.claude_code.places import home_of, homes_of
from tracklog.agents.claude_code.session_registry import SessionRegistry, better
from tracklog.model.states import SILENT_MS
from tracklog.sources.process_start import NEAR_MS, UNKNOWN_PROCESS, Alive, pids_named, programs

if TYPE_CHECKING:
    from tracklog.sources.processes import RunningClient

_PROGRAM = "claude"
UNNAMED_MS = 10_000
_HEADLESS = "sdk"  # entrypoints of `claude -p` and of the SDKs begin so
_LIST_AGAIN_S = 2.0
_MOST_SHARE = 200  # listing processes takes at most one part in so many of the time


class RegistryView(ProcessView):
    """The registries of some homes, and the processes of clients that keep none."""

    def __init__(self, homes: Iterable[Path], *, find_programs: Programs | None = None) -> None:
        self._homes = dict.fromkeys(homes)
        self._programs = find_programs or programs
        self._now_ms = 0
        self._registries: dict[Path, SessionRegistry] = {}
        self._registered: dict[Path, Mapping[str, RegisteredSession]] = {}  # since the last look
        self._kept: dict[Path, bool] = {}  # whether a home has a registry, since the last look
        self._home_of: dict[str, Path | None] = {}  # by folder
        self._running: list[RunningClient] | None = None
        self._list_again = 0.0

    def add_homes(self, homes: Iterable[Path]) -> None:
        self._homes |= dict.fromkeys(homes)

    def add_logs(self, logs: Iterable[Path]) -> None:
        self.add_homes(homes_of(logs))

    def refresh(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._registered.clear()
        self._kept.clear()
        if time.monotonic() >= self._list_again:
            self._running = None

    def registered(self) -> Mapping[str, RegisteredSession]:
        known: dict[str, RegisteredSession] = {}
        for home in self._homes:
            for id, one in self._in(home).items():
                known[id] = better(one, known.get(id))  # several homes may name a session
        return known

    def registration_of(self, session: SessionFacts) -> RegisteredSession | None:
        found = None
        for home in self._homes_for(session):
            one = self._in(home).get(session.id)
            found = better(one, found) if one is not None else found
        return found

    def alive(self, session: SessionFacts) -> Alive:
        silent_ms = self._now_ms - session.last_ms
        if any(map(self._is_kept, self._homes_with(session) or self._homes)):
            is_headless = (session.entrypoint or "").startswith(_HEADLESS)
            if silent_ms > UNNAMED_MS or (is_headless and _is_over(session)):
                return Alive("gone", "no file in sessions/ names it", has_left=True, at_ms=session.last_ms)
            return UNKNOWN_PROCESS
        named = {one.pid for home in self._homes_for(session) for one in self._in(home).values()}
        alive = _unregistered_in(self._clients(), session, named)
        is_told = alive.life != "gone" or silent_ms > SILENT_MS or _is_over(session)
        return alive if is_told else UNKNOWN_PROCESS

    def open_sessions(self) -> OpenSessions:
        found = (one for home in self._homes for one in self._in(home).values())
        return OpenSessions(ids={one.id for one in found if one.alive.life == "alive"})

    def writer_of(self, session: str) -> int | None:
        found = (self._in(home).get(session) for home in self._homes)
        return next((one.pid for one in found if one is not None and one.alive.life == "alive"), None)

    def _homes_for(self, session: SessionFacts) -> list[Path]:
        """The homes whose registry may name a session."""
        return list(dict.fromkeys([*self._homes, *self._homes_with(session)]))

    def _homes_with(self, session: SessionFacts) -> list[Path]:
        """The homes that hold its logs."""
        folders = {os.path.dirname(path) for path in session.paths}
        for folder in folders - self._home_of.keys():
            self._home_of[folder] = home_of(Path(folder, "log"))
        return sorted({home for folder in folders if (home := self._home_of[folder]) is not None})

    def _registry(self, home: Path) -> SessionRegistry:
        if home not in self._registries:
            self._registries[home] = SessionRegistry(home)
        return self._registries[home]

    def _is_kept(self, home: Path) -> bool:
        if home not in self._kept:
            self._kept[home] = self._registry(home).is_kept
        return self._kept[home]

    def _in(self, home: Path) -> Mapping[str, RegisteredSession]:
        if home not in self._registered:
            self._registered[home] = self._registry(home).refresh(self._now_ms)
        return self._registered[home]

    def _clients(self) -> list[RunningClient]:
        if self._running is None:
            began = time.monotonic()
            self._running = running_claude(self._programs())
            took_s = time.monotonic() - began
            self._list_again = began + max(_LIST_AGAIN_S, took_s * _MOST_SHARE)
        return self._running


def running_claude(found: Mapping[int, bytes] | None = None) -> list[RunningClient]:
    """All processes of Claude Code that can be seen; `found` are the names of all processes, where they are known."""
    found = programs() if found is None else found
    if pids_named(_PROGRAM, found) == []:
        return []
    from tracklog.sources.processes import running_clients  # slow to load

    return running_clients(_PROGRAM, found)


def _is_over(session: SessionFacts) -> bool:
    return session.does() in ("idle", "ended")


def _unregistered_in(
    running: Sequence[RunningClient], session: SessionFacts, named: Collection[int]
) -> Alive:
    """Whether a client that keeps no registry may hold a session: a process in its folder, older than its last line.

    `named` are the processes whose session is known to be another one.
    """
    for one in running:
        is_there = one.cwd is None or session.cwd is None or one.cwd == session.cwd
        if is_there and one.pid not in named and one.started_ms <= session.last_ms + NEAR_MS:
            return Alive("unknown", f"process {one.pid} of Claude Code works in the same folder", one.pid)
    return Alive("gone", "no process of Claude Code works in its folder", is_sure=False)
