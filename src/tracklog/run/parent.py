"""Who started us: the run whose child we work for, or the session among whose processes we are.

Rules
  1. `TRACKLOG_RUN` stands in the environment of every child and of all that it starts. It names the run; the register
     knows the run's session, or will.
  2. A client that was started further down inherits the variable, too. If it is one of our ancestors, and the run's own
     process stands above it, it is nearer to us and counts.
  3. A process is whose it says it is only if its start fits: pids are used again. What may not be looked at is nobody.
  4. Who takes leave of the processes above it (a detached run) asks before: `remember_our_parent`.
  5. Not to know is fine: a run without a parent is a run.

The register itself stands upstream, where the board can read it; here it is offered to those who run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tracklog.agents.roots import claude_homes
from tracklog.home import Home
from tracklog.live.run_entries import Ended, How, Parent, RunEntry, RunState, SessionNamed, Started
from tracklog.live.run_register import Runs, note_ended, note_named, note_started, now_text, runs, start_mark
from tracklog.run.process.supervise import MARK
from tracklog.sources.files import NotReadable, open_log
from tracklog.supervisor import processes, row_of

__all__ = [
    "Ended",
    "How",
    "Parent",
    "RunEntry",
    "RunState",
    "Runs",
    "SessionNamed",
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
]

_RUN = re.compile(r"[0-9a-f]{16}")
_MOST_ABOVE = 64  # processes; who stands deeper knows their parents all the same
_MOST_BYTES = 1 << 20  # of a registry file


def parent_run_of_us(env: Mapping[str, str]) -> str | None:
    """The run whose child we work for, as the environment says."""
    named = env.get(MARK, "")
    return named if _RUN.fullmatch(named) else None


_remembered: list[Parent | None] = []  # goes on to a process that is forked from us


def remember_our_parent(env: Mapping[str, str], *, home: Home) -> None:
    """Looks who started us now, for a process that is about to be forked and has other ancestors then."""
    _remembered[:] = [parent_of_us(env, home=home)]


def parent_of_us(env: Mapping[str, str], *, home: Home, pid: int | None = None) -> Parent | None:
    """The session that started us, or the process `pid`; None if it was a person, or nobody can tell."""
    if _remembered and pid is None:
        return _remembered[0]
    above = list(_processes_above(os.getpid() if pid is None else pid))
    run = runs(home).get(parent_run_of_us(env))
    if run is None:
        return _session_among(above, env)
    parent = Parent(run.agent, run.session) if run.session is not None else None
    return _session_among(_below(run, above, with_its_own=parent is None), env) or parent


def _below(run: RunEntry, above: Sequence[int], *, with_its_own: bool) -> list[int]:
    """The processes between us and that of a run; none, if it is not among those above us."""
    if run.started.pid not in above or run.alive().life != "alive":
        return []
    return list(above[: above.index(run.started.pid) + with_its_own])


def _processes_above(pid: int) -> Iterator[int]:
    """Our ancestors, the nearest first, as far as they can be seen."""
    table = None if os.path.exists("/proc/self/stat") else processes()
    for _ in range(_MOST_ABOVE):
        row = row_of(pid) if table is None else table.get(pid)
        if row is None or row.parent <= 1:
            return  # it ended while we looked, or nobody is above it
        pid = row.parent
        yield pid


def _session_among(pids: Sequence[int], env: Mapping[str, str]) -> Parent | None:
    """The session of the nearest of these processes that has one."""
    homes = claude_homes(env)
    rollouts = _rollouts_of(pids)
    for pid in pids:
        session = next(filter(None, (_registered(home, pid) for home in homes)), None)
        if session is not None:
            return Parent("claude", session)
        if (thread := _thread_in(rollouts.get(pid, frozenset()))) is not None:
            return Parent("codex", thread)
    return None


def _registered(home: Path, pid: int) -> str | None:
    """The session that a living Claude Code of this number has registered."""
    name = f"{pid}.json"
    if not (home / "sessions" / name).exists():
        return None
    from tracklog.agents.claude_code.session_registry import Registration, read_registration  # slow to load

    try:
        with open_log(home / "sessions" / name) as stream:
            owner = os.fstat(stream.fileno()).st_uid
            read = read_registration(name, stream.read(_MOST_BYTES) or b"", owner=owner)
    except (NotReadable, OSError):
        return None
    is_it = isinstance(read, Registration) and read.process().life == "alive"
    return read.record.session_id if is_it and isinstance(read, Registration) else None


def _rollouts_of(pids: Sequence[int]) -> dict[int, frozenset[str]]:
    """The logs that each Codex among them has open. All processes are looked at only if there is one."""
    if not any(map(_may_be_codex, pids)):
        return {}
    from tracklog.agents.codex.processes import running_codex  # slow to load

    return {one.pid: one.rollouts or frozenset() for one in running_codex()}


def _may_be_codex(pid: int) -> bool:
    """By its name; where names cannot be read so easily, anybody may be."""
    try:
        return b"codex" in Path(f"/proc/{pid}/comm").read_bytes().lower()
    except OSError:
        return not os.path.exists("/proc/self/stat")


def _thread_in(rollouts: frozenset[str]) -> str | None:
    """The session to which the logs that a Codex has open belong; of several the one that was written last."""
    if not rollouts:
        return None
    from tracklog.agents.discovery import find_at
    from tracklog.reading.session_files import group  # slow to load

    files = [file for path in sorted(rollouts) for file in find_at(Path(path))]
    sessions = sorted(group(files), key=lambda one: one.changed_ns)
    return sessions[-1].id if sessions else None
