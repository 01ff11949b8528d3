"""The living process that writes a session: asked before a second one is started on the same log.

Rules
  1. Claude Code names the session in its registry, Codex holds the log open; a run of ours stands in the register of runs
     before its client has said anything.
  2. Only a process that certainly lives counts. A pid that was used again, a file that a killed client left behind, and a
     process that cannot be seen from here do not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from tracklog.agents.claude_code.session_registry import Roll
from tracklog.agents.codex.places import session_of
from tracklog.agents.codex.processes import running_codex
from tracklog.agents.roots import claude_homes, codex_homes
from tracklog.home import Home
from tracklog.live.run_register import runs


class SessionWriter(NamedTuple):
    """A process that has a session open."""

    pid: int
    since_ms: int  # when the process was started


def writer_of(agent: str, session: str, *, env: Mapping[str, str], home: Home) -> SessionWriter | None:
    """The living process that has this session open; None if there is none, or nobody can tell."""
    found = _claude(session, env) if agent == "claude" else _codex(session, env)
    return found or _run(agent, session, home)


def _claude(session: str, env: Mapping[str, str]) -> SessionWriter | None:
    now_ms = time.time_ns() // 1_000_000
    for root in claude_homes(env):
        registered = Roll(root).look(now_ms).get(session)
        if registered is not None and registered.alive.life == "alive":
            return _writer(registered.registration.record.pid)
    return None


def _codex(session: str, env: Mapping[str, str]) -> SessionWriter | None:
    homes = [Path(os.path.realpath(home)) for home in codex_homes(env)]
    for process in running_codex():
        for path in map(Path, process.rollouts or ()):
            if session_of(path.name) == session and any(path.is_relative_to(home) for home in homes):
                return SessionWriter(process.pid, process.started_ms)
    return None


def _run(agent: str, session: str, home: Home) -> SessionWriter | None:
    for run in runs(home).by_session(agent, session):
        if run.ended is None and run.started.pid is not None and run.alive().life == "alive":
            return _writer(run.started.pid)
    return None


def _writer(pid: int) -> SessionWriter | None:
    try:
        return SessionWriter(pid, int(psutil.Process(pid).create_time() * 1000))
    except psutil.Error:
        return None  # it has just ended
