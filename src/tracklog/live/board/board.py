"""The board: the state of every running session, which ones need you, and their cost so far.

Rules
  1. Sessions that need you are on top, then those that work, those that are idle, those that are over; the longest
     wait and the latest work first.
  2. Facts that need whole logs (money, context) are counted elsewhere (board/counts.py), and missing until then.
  3. A session without news for a day is not shown, unless its process lives.
  4. A session that was started by a run and has no log yet is pending; if its process is gone by then, it is lost.
  5. A call is stuck when it runs for more than five minutes, and more than ten times as long as 95 % of the calls
     of its tool took here. A session that waits for a person, or for working subagents, is not stuck.
  6. A call whose start is unknown is never reported as stuck.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tracklog.agents.roots import default_roots
from tracklog.agents.supported import support_for
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.live.board.counts import BoardCounts, SessionUsage
from tracklog.live.run_entries import RunEntry, RunOrigin
from tracklog.live.run_register import Runs, runs
from tracklog.live.watch.session import Minutes, WatchedSession
from tracklog.live.watch.watcher import Watch
from tracklog.liveness.permission_requests import OpenPermissionRequest, open_permission_requests
from tracklog.model.ids import MAIN
from tracklog.model.session_rules import last_part
from tracklog.model.states import LiveState, pending
from tracklog.reading.session_files import Name

__all__ = ["Board", "BoardRow", "PendingRow", "SessionUsage", "beneath_parents"]


LEAST_MS = 5 * 60_000
TIMES = 10


class Stuck(NamedTuple):
    """A call that runs for too long."""

    tool: str
    limit_ms: float
    usual_ms: float | None  # the 95th percentile; None: unknown


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
    """The subagents of a session that work now, ordered by id so that none changes its place."""
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


_SHOWN_MS = 24 * 3600 * 1000
_RANKS = {
    "waiting": 0,
    "working": 1,
    "pending": 1,
    "idle": 2,
    "crashed": 3,
    "lost": 3,
    "unknown": 4,
    "ended": 5,
}


class PendingRow(NamedTuple):
    """A subagent that was requested."""

    call: str
    name: str | None
    state: LiveState


class BoardRow(NamedTuple):
    """One session."""

    id: str
    agent: str
    state: LiveState
    project: str | None
    cwd: str | None
    title: str | None
    model: str | None
    spending: SessionUsage
    subagents: int  # that work now
    pending: list[PendingRow]  # that were requested and have no log yet
    last_words: str | None
    last_prompt: str | None
    last_ms: int
    path: str | None
    started_by: RunOrigin | None = None  # by a run, if so
    depth: int = 0  # the number of rows above it in its family
    branch: str | None = None
    threads: tuple[ThreadRow, ...] = ()  # subagents that work now
    n_threads: int = 0  # all subagents that were seen
    began_ms: int | None = None
    minutes: Minutes = Minutes()
    stuck: Stuck | None = None
    is_counted: bool = True  # whether its spending is known
    problem: str | None = None  # why its log cannot be read
    permission_requests: tuple[OpenPermissionRequest, ...] = ()  # that can be answered here

    @property
    def needs_you(self) -> bool:
        """Whether it waits for a person: it says so, or has a permission request that can be answered here."""
        return bool(self.permission_requests) or self.state.state == "waiting"


class Board:
    """The rows of a watch, with what they have cost."""

    def __init__(
        self,
        watch: Watch,
        prices: Prices,
        *,
        home: Home | None = None,
        counts: BoardCounts | None = None,
    ) -> None:
        """`home` has the register of runs and the permission requests; without `counts`, `rows` waits until all is counted."""
        self._watch = watch
        self._counts = counts or BoardCounts(watch, prices)
        self._home = home
        self.usual_ms: Mapping[str, float] = {}  # the 95th percentile of the run times of each tool
        self._past_runs: set[str] = (
            set()
        )  # lost for more than a day: their processes are not looked for again

    def rows(self, now_ms: int, *, states: Collection[str] | None = None) -> list[BoardRow]:
        """All sessions that a person may want to see, those that need you first.

        With `states`, only sessions in these states, and those with a permission request; no others are counted.
        """
        known = runs(self._home) if self._home is not None else Runs()
        asks = _by_session(open_permission_requests(self._home) if self._home is not None else ())
        shown = [
            self._row(name, session, now_ms)._replace(started_by=known.origin_of(*name))
            for name, session in self._watch.sessions.items()
            if _is_shown(session, now_ms)
            and (states is None or session.state.state in states or name in asks)
        ]
        without_log = {row.id: row for run in known.open() if (row := self._run_row(run, known, now_ms))}
        rows = [
            row._replace(permission_requests=tuple(asks.get((row.agent, row.id), ())))
            for row in sorted([*shown, *without_log.values()], key=_rank)
        ]
        return [row for row in rows if states is None or row.needs_you or row.state.state in states]

    def _run_row(self, run: RunEntry, known: Runs, now_ms: int) -> BoardRow | None:
        """The row of a run without a log; None if it has one, or its log will not be below our roots."""
        if run.id in self._past_runs or self._has_log(run, now_ms) or not self._is_ours(run):
            return None
        began_ms, begun, state = max(run.began_ms, 0), run.started, _state_of_run(run, now_ms)
        if state.state == "lost" and now_ms - began_ms >= _SHOWN_MS:
            self._past_runs.add(run.id)
            return None
        return BoardRow(
            id=run.session or run.id,
            agent=run.agent,
            state=state,
            project=last_part(begun.cwd) if begun.cwd else None,
            cwd=begun.cwd,
            title=begun.name,
            model=None,
            spending=SessionUsage(),
            subagents=0,
            pending=[],
            last_words=None,
            last_prompt=None,
            last_ms=began_ms,
            path=run.transcript_path,
            started_by=known.origin(run),
        )

    def _has_log(self, run: RunEntry, now_ms: int) -> bool:
        """Whether its session has a row of its own, or a log that is too old for one."""
        session = self._watch.sessions.get((run.agent, run.session or ""))
        is_known = session is not None and (bool(session.paths) or _is_shown(session, now_ms))
        return is_known or (run.transcript_path is not None and self._watch.has_seen(run.transcript_path))

    def _is_ours(self, run: RunEntry) -> bool:
        """Whether its log will be below our roots. If the client names it late, its home must be one of them until then."""
        if run.transcript_path is not None:
            return self._watch.would_hold(run.agent, run.transcript_path)
        homes = [root.path for root in default_roots(os.environ) if root.agent == run.agent]
        is_named_late = support_for(run.agent).processes.names_log_late
        return is_named_late and self._watch.watches_home(run.agent, homes)

    def _row(self, name: Name, session: WatchedSession, now_ms: int) -> BoardRow:
        latest, counted = session.latest, self._counts.of(name, session)
        threads = thread_rows(session, now_ms, self.usual_ms)
        return BoardRow(
            id=session.id,
            agent=session.agent,
            state=session.state,
            project=last_part(latest.cwd) if latest.cwd else None,
            cwd=latest.cwd,
            title=latest.title,
            model=latest.model,
            spending=counted.spending,
            subagents=len(threads),
            pending=[
                PendingRow(one.call, one.name, pending(one.asked_ms, session.state, f"call {one.call}"))
                for one in session.pending.values()
            ],
            last_words=latest.last_words,
            last_prompt=latest.last_prompt,
            last_ms=latest.last_ms,
            path=session.paths.get(MAIN),
            branch=latest.branch,
            threads=threads,
            n_threads=len(session.paths.keys() - {MAIN}),
            began_ms=counted.began_ms,
            minutes=session.activity.with_before(counted.before, now_ms),
            stuck=None if threads else stuck_in(session.state, now_ms, self.usual_ms),
            is_counted=counted.is_counted,
            problem=counted.problem,
        )


def beneath_parents(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The rows, with children right below the row that started them. A family takes the place of its first row."""
    by_name = {(row.agent, row.id): row for row in rows}
    children: dict[Name, list[Name]] = {}
    for name, row in by_name.items():
        if (above := _parent_in(row, by_name)) is not None:
            children.setdefault(above, []).append(name)
    placed: dict[Name, BoardRow] = {}
    for name in by_name:
        stack = [(_eldest(name, by_name), 0)] if name not in placed else []
        while stack:
            one, depth = stack.pop()
            if one not in placed:
                placed[one] = by_name[one]._replace(depth=depth)
                stack += [(child, depth + 1) for child in reversed(children.get(one, []))]
    return list(placed.values())


def _eldest(name: Name, rows: Mapping[Name, BoardRow]) -> Name:
    """The row on the board that started all of its family; any of them if each started the other."""
    seen = {name}
    while (above := _parent_in(rows[name], rows)) is not None and above not in seen:
        seen.add(above)
        name = above
    return name


def _parent_in(row: BoardRow, rows: Mapping[Name, BoardRow]) -> Name | None:
    origin = row.started_by
    above = (origin.agent or "", origin.session or "") if origin is not None else None
    return above if above in rows and above != (row.agent, row.id) else None


def _by_session(asks: Iterable[OpenPermissionRequest]) -> dict[Name, list[OpenPermissionRequest]]:
    """The permission requests of each session; our runs have ASCII names."""
    found: dict[Name, list[OpenPermissionRequest]] = {}
    for ask in asks:
        if ask.run.isascii():
            found.setdefault((ask.agent, ask.session), []).append(ask)
    return found


def _state_of_run(run: RunEntry, now_ms: int) -> LiveState:
    is_lost = run.state(now_ms) == "lost"
    alive, begun = run.alive(), run.started
    return LiveState(
        state="lost" if is_lost else "pending",
        doing=f"{begun.how}: {begun.name or 'no log yet'}",
        since_ms=max(run.began_ms, 0),
        evidence=[f"run {run.id}", alive.why],
        pid=alive.pid,
    )


def _is_shown(session: WatchedSession, now_ms: int) -> bool:
    if session.state.state in ("working", "waiting", "idle") and session.alive.life == "alive":
        return True
    return bool(session.paths) and now_ms - session.latest.last_ms < _SHOWN_MS


def _rank(row: BoardRow) -> tuple[int, int, str, str]:
    """The key of the order; the activity of working sessions is no part of it, so that they keep their places."""
    state, since = row.state.state, row.state.since_ms or 0
    age = {"waiting": since, "working": 0, "pending": 0}.get(state, -row.last_ms)
    return _RANKS.get(state, 9), age, row.project or "", row.id
