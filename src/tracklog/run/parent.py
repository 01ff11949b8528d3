"""Find which session started us, and which process has a session open.

The session that started us is that of the run whose child we work for, or the one among whose processes we are.

Rules
  1. `TRACKLOG_RUN` is in the environment of every child and of all that it starts. It names the run; the register has the
     run's session, or will have it.
  2. A client that was started further down inherits the variable, too. If it is one of our ancestors, and the run's own
     process is above it, it is nearer to us and counts.
  3. A pid counts only together with its start time: pids are reused. A process that we may not look at is ignored.
  4. A process that leaves its ancestors (a detached run) calls `remember_our_parent` before.
  5. An unknown parent is no error.
  6. A client has a session open if its registry names it, or if it holds the log open; a run of ours is in the register
     before its client writes anything. Before a second process writes a session, only a process that certainly lives
     counts: not a reused pid, and not a process that cannot be seen from here.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.base import OpenSessions
from tracklog.agents.roots import default_roots
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.home import Home
from tracklog.live.run_entries import Ended, How, Parent, RunEntry, RunState, SessionNamed, Started
from tracklog.live.run_register import Runs, note_ended, note_named, note_started, now_text, runs, start_mark
from tracklog.run.process.supervise import MARK
from tracklog.supervisor import processes, row_of

__all__ = [
    "Ended",
    "How",
    "Parent",
    "RunEntry",
    "RunState",
    "Runs",
    "SessionNamed",
    "SessionWriter",
    "Started",
    "note_ended",
    "note_named",
    "note_started",
    "now_text",
    "parent_of_us",
    "parent_run_of_us",
    "remember_our_parent",
    "runs",
    "start_mark",
    "writer_of",
]

_RUN = re.compile(r"[0-9a-f]{16}")
_MOST_ABOVE = 64  # processes; the parent of a deeper one is among them, too


def parent_run_of_us(env: Mapping[str, str]) -> str | None:
    """The run whose child we work for, by the environment."""
    named = env.get(MARK, "")
    return named if _RUN.fullmatch(named) else None


_remembered: list[Parent | None] = []  # inherited by a process that is forked from us


def remember_our_parent(env: Mapping[str, str], *, home: Home) -> None:
    """Find our parent now, for a process that will be forked and have other ancestors."""
    _remembered[:] = [parent_of_us(env, home=home)]


def parent_of_us(env: Mapping[str, str], *, home: Home, pid: int | None = None) -> Parent | None:
    """The session that started us, or the process `pid`; None if a person did, or it is unknown."""
    if _remembered and pid is None:
        return _remembered[0]
    above = list(_processes_above(os.getpid() if pid is None else pid))
    run = runs(home).get(parent_run_of_us(env))
    if run is None:
        return _session_among(above, env)
    parent = Parent(run.agent, run.session) if run.session is not None else None
    return _session_among(_below(run, above, with_its_own=parent is None), env) or parent


def _below(run: RunEntry, above: Sequence[int], *, with_its_own: bool) -> list[int]:
    """The processes between us and that of a run; none if it is not an ancestor."""
    if run.started.pid not in above or run.alive().life != "alive":
        return []
    return list(above[: above.index(run.started.pid) + with_its_own])


def _processes_above(pid: int) -> Iterator[int]:
    """Our visible ancestors, the nearest first."""
    table = None if os.path.exists("/proc/self/stat") else processes()
    for _ in range(_MOST_ABOVE):
        row = row_of(pid) if table is None else table.get(pid)
        if row is None or row.parent <= 1:
            return  # it ended while we looked, or has no parent
        pid = row.parent
        yield pid


def _session_among(pids: Sequence[int], env: Mapping[str, str]) -> Parent | None:
    """The session of the nearest of these processes that has one."""
    roots = default_roots(env)
    opened = {
        agent: one.processes.opened_by(pids, homes=[root.path for root in roots if root.agent == agent])
        for agent, one in SUPPORTED.items()
    }
    for pid in pids:
        for agent in SUPPORTED:
            has = opened[agent].get(pid, OpenSessions())
            session = next(iter(has.ids), None) or _session_of(has.logs)
            if session is not None:
                return Parent(agent, session)
    return None


def _session_of(logs: Collection[str]) -> str | None:
    """The session of the logs that a client has open; of several the one written last."""
    if not logs:
        return None
    from tracklog.agents.discovery import find_at  # most runs have no parent
    from tracklog.reading.session_files import group  # slow to load

    files = [file for path in sorted(logs) for file in find_at(Path(path))]
    sessions = sorted(group(files), key=lambda one: one.changed_ns)
    return sessions[-1].id if sessions else None


class SessionWriter(NamedTuple):
    """A process that has a session open."""

    pid: int
    since_ms: int  # when the process was started


def writer_of(agent: str, session: str, *, env: Mapping[str, str], home: Home) -> SessionWriter | None:
    """The living process that has this session open; None if there is none, or it is unknown."""
    view = support_for(agent).processes.view(root.path for root in default_roots(env) if root.agent == agent)
    view.refresh(time.time_ns() // 1_000_000)
    pid = view.writer_of(session)
    found = _writer(pid) if pid is not None else None
    return found or _run_writing(agent, session, home)


def _run_writing(agent: str, session: str, home: Home) -> SessionWriter | None:
    for run in runs(home).by_session(agent, session):
        if run.ended is None and run.started.pid is not None and run.alive().life == "alive":
            return _writer(run.started.pid)
    return None


def _writer(pid: int) -> SessionWriter | None:
    import psutil  # slow to load, and seldom needed

    try:
        return SessionWriter(pid, int(psutil.Process(pid).create_time() * 1000))
    except psutil.Error:
        return None  # it has just ended
