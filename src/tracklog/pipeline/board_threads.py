"""The subagents that work now, and which calls run for longer than calls of their kind do.

Rules of this room
  1. A call is stuck when it runs for more than five minutes, and more than ten times as long as nineteen in twenty calls of
     its tool took here. Whoever waits for a person, or for subagents that work, is not stuck.
  2. Nothing is said of a call whose beginning nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tracklog.live.states import LiveState
from tracklog.pipeline.watch_session import WatchedSession

LEAST_MS = 5 * 60_000
TIMES = 10


class Stuck(NamedTuple):
    """A call that runs for too long."""

    tool: str
    limit_ms: float
    usual_ms: float | None  # what nineteen in twenty took at most; None: none is known


class ThreadRow(NamedTuple):
    """A subagent."""

    id: str
    name: str | None
    state: LiveState
    stuck: Stuck | None = None


def stuck_in(state: LiveState, now_ms: int, usual_ms: Mapping[str, float]) -> Stuck | None:
    """The call that a session or a subagent is stuck in, if so."""
    if state.state != "working" or state.call is None or state.since_ms is None or not state.doing:
        return None
    tool = state.doing.partition(":")[0]  # as `told_call` puts it
    usual = usual_ms.get(tool)
    limit = max(LEAST_MS, TIMES * (usual or 0))
    return Stuck(tool, limit, usual) if now_ms - state.since_ms > limit else None


def thread_rows(session: WatchedSession, now_ms: int, usual_ms: Mapping[str, float]) -> tuple[ThreadRow, ...]:
    """The subagents of a session that work now, in the order of their ids: none changes its place."""
    rows = [_row(session, thread, now_ms, usual_ms) for thread in session.working_threads(now_ms)]
    return tuple(sorted(rows, key=lambda row: row.id))


def _row(session: WatchedSession, thread: str, now_ms: int, usual_ms: Mapping[str, float]) -> ThreadRow:
    sign = session.threads[thread].sign(now_ms)
    assert sign is not None  # it works: its log says so
    state = LiveState(
        state=sign.state,
        waiting_for=sign.waiting_for,
        doing=sign.doing,
        call=sign.call,
        since_ms=sign.at_ms,
        evidence=[sign.where],
        pid=session.state.pid,
    )
    return ThreadRow(thread, session.name_of(thread), state, stuck_in(state, now_ms, usual_ms))
