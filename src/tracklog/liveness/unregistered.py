"""Whether the process of a session lives that no registry file names: one rule for the board and for reading commands.

Rules of this room
  1. Where a home keeps a registry, a session that it does not name has left. A new one is written before it is
     registered: so long its log must have been silent. A headless run whose turn is over was registered while it ran.
  2. Clients without a registry are looked for among the processes: one in the session's folder may be it. Where there is
     none, a turn that is over has ended; work may go on out of our sight, in a container, until it has been silent long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from tracklog.agents.base import RunningClient
from tracklog.model.states import SILENT_MS, Doing
from tracklog.sources.process_start import NEAR_MS, UNKNOWN_PROCESS, Alive

UNNAMED_MS = 10_000
_HEADLESS = "sdk"  # entrypoints of `claude -p` and of the SDKs begin so


class LogFacts(NamedTuple):
    """What the log of a session says that bears on its process."""

    last_ms: int  # the newest moment that it names
    does: Doing | None  # by its newest line
    cwd: str | None = None
    entrypoint: str | None = None


def claude_of(
    running: Sequence[RunningClient], *, cwd: str | None, last_ms: int, named: Collection[int] = ()
) -> Alive:
    """Whether a client that keeps no registry may hold a session: a process in its folder, older than its last line.

    `named` are the processes whose session is known to be another one.
    """
    for one in running:
        is_there = one.cwd is None or cwd is None or one.cwd == cwd
        if is_there and one.pid not in named and one.started_ms <= last_ms + NEAR_MS:
            return Alive("unknown", f"process {one.pid} of Claude Code works in the same folder", one.pid)
    return Alive("gone", "no process of Claude Code works in its folder", is_sure=False)


def unregistered(
    log: LogFacts,
    *,
    is_kept: bool,
    running: Callable[[], Sequence[RunningClient]],
    named: Collection[int],
    now_ms: int,
) -> Alive:
    """Whether a session of Claude Code lives that no registry file names; `is_kept`: its home has a registry."""
    silent_ms = now_ms - log.last_ms
    is_over = log.does in ("idle", "ended")
    if is_kept:
        is_headless = (log.entrypoint or "").startswith(_HEADLESS)
        if silent_ms > UNNAMED_MS or (is_over and is_headless):
            return Alive("gone", "no file in sessions/ names it", has_left=True, at_ms=log.last_ms)
        return UNKNOWN_PROCESS
    alive = claude_of(running(), cwd=log.cwd, last_ms=log.last_ms, named=named)
    return alive if alive.life != "gone" or is_over or silent_ms > SILENT_MS else UNKNOWN_PROCESS
