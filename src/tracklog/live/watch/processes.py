"""Find which watched sessions have a living process, and which wait for a permission that tracklog itself asks for.

Rules
  1. Each agent has its own interval: a registry is a few small files, open files mean looking at every process.
  2. The next look is sooner when a living process has ended, or an unknown client has written a log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracklog.agents.base import AgentProcesses, OpenSessions, ProcessView
from tracklog.agents.supported import SUPPORTED
from tracklog.home import Home
from tracklog.live.watch.states import WatchedSessions
from tracklog.liveness.permission_requests import open_permission_requests
from tracklog.reading.session_files import Name
from tracklog.sources.log_file import Root
from tracklog.sources.processes import is_running

_REGISTRY_S = 1.0
_PROCESSES_S = 2.0
_MOST_SHARE = 200  # looking for open logs takes at most one part in so many of the time
_SOON_S = 0.2


@dataclass
class _Clients:
    """The clients of one agent, and when to look at them again."""

    processes: AgentProcesses
    view: ProcessView
    pause_s: float
    looked_at: float = 0.0  # 0: look now


class WatchedProcesses:
    """Tells each session of a watch whether its process lives."""

    def __init__(
        self,
        sessions: WatchedSessions,
        roots: Sequence[Root],
        *,
        home: Home | None,
        now_ms: Callable[[], int],
    ) -> None:
        """`home` holds the permission requests that tracklog itself puts."""
        self._sessions = sessions
        self._home = home
        self._now_ms = now_ms
        self._asked: set[Name] = set()  # sessions with an open request at the last look
        self._clients = {agent: _clients_in(agent, roots) for agent in SUPPORTED}

    def add_logs(self, agent: str | None, logs: Iterable[Path]) -> None:
        """Look for clients in the homes of these logs, too."""
        if (clients := self._clients.get(agent or "")) is not None:
            clients.view.add_logs(logs)

    def open_sessions(self, agent: str) -> OpenSessions:
        """What all living clients of an agent have open."""
        view = self._clients[agent].view
        view.refresh(self._now_ms())
        return view.open_sessions()

    def refresh_soon(self, agent: str | None) -> None:
        """Look with the next step: a client started, changed or ended."""
        if (clients := self._clients.get(agent or "")) is not None:
            clients.looked_at = 0.0

    def expect_client(self, agent: str) -> None:
        """Look soon: a client wrote a log that no known process has. (A registry would name its process by itself.)"""
        clients = self._clients.get(agent)
        if clients is not None and clients.processes.registry_folder is None:
            clients.pause_s = _SOON_S

    def step(self) -> None:
        """Look at what is due."""
        now = time.monotonic()
        self._look_at_requests()
        self._find_ended()
        for agent, clients in self._clients.items():
            if now - clients.looked_at >= clients.pause_s:
                clients.looked_at = began = time.monotonic()
                self._refresh(agent, clients)
                clients.pause_s = _pause_s(clients.processes, time.monotonic() - began)

    def _look_at_requests(self) -> None:
        """Read the permission requests that our own hook has put and waits for."""
        if self._home is None:
            return
        asked = {(ask.agent, ask.session): ask.sign for ask in reversed(open_permission_requests(self._home))}
        for name in self._asked | asked.keys():
            session = self._sessions.by_name.get(name)
            if session is not None and session.asked != asked.get(name):
                session.asked = asked.get(name)
                self._sessions.wake(name)
        self._asked = set(asked)

    def _find_ended(self) -> None:
        """Look at the clients of each agent that lost a process since the last look."""
        for (agent, _), session in self._sessions.by_name.items():
            alive = session.alive
            if alive.life == "alive" and alive.pid is not None and not is_running(alive.pid):
                self.refresh_soon(agent)

    def _refresh(self, agent: str, clients: _Clients) -> None:
        now_ms, sessions = self._now_ms(), self._sessions
        clients.view.refresh(now_ms)
        registered = clients.view.registered()
        for id, one in registered.items():
            if one.alive.life == "gone" and sessions.is_forgotten((agent, id)):
                continue
            session = sessions.open((agent, id))
            session.register(one.sign, one.alive, now_ms=now_ms)
            session.latest.cwd = session.latest.cwd or one.cwd
        for name, session in sessions.by_name.items():
            if name[0] != agent or name[1] in registered:
                continue
            if session.alive.has_left and session.alive.at_ms == session.latest.last_ms:
                continue  # it ended, and nothing was written since
            facts = session.process_facts(now_ms, only_main_log=clients.processes.holds_logs_open)
            alive = clients.view.alive(facts) if facts.paths else session.alive
            if alive != session.alive:
                session.alive = alive
                sessions.wake(name)


def _clients_in(agent: str, roots: Sequence[Root]) -> _Clients:
    processes = SUPPORTED[agent].processes
    homes = [
        root.path for root in roots if root.agent == agent and root.part in (None, processes.registry_folder)
    ]
    return _Clients(processes, processes.view(homes), _pause_s(processes, 0.0))


def _pause_s(processes: AgentProcesses, took_s: float) -> float:
    """How long to wait after a look that took so long."""
    return _REGISTRY_S if processes.registry_folder is not None else max(_PROCESSES_S, took_s * _MOST_SHARE)
