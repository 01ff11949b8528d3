"""The board: what every running session does, who needs you, and what it has cost by now.

Rules of this room
  1. Who needs you stands on top, then who works, who rests, who is gone; the longest wait and the
     last work first.
  2. Money and context are those of the ledger, from the log's own bytes. They are counted again when a log has grown, and
     not more often than it takes.
  3. Of a session that has said nothing for a day nothing is shown, unless its process lives.
  4. A session that was started by a run and has no log yet is pending; if its process is gone by then, it is lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import NamedTuple

from tracklog.live.runs import Origin, Run, Runs, runs
from tracklog.live.states import LiveState, pending
from tracklog.model.ids import MAIN
from tracklog.model.ledger import Ledger, Sight
from tracklog.model.prices import Prices
from tracklog.model.projects import last_part
from tracklog.model.report import report
from tracklog.pipeline.sessions import SessionFiles
from tracklog.pipeline.spending import spent_in
from tracklog.pipeline.watch import Watch
from tracklog.pipeline.watch_names import Name
from tracklog.pipeline.watch_session import Told, WatchedSession
from tracklog.sources.found import Agent
from tracklog.sources.homes import codex_homes
from tracklog.store.home import Home

USUAL_WINDOW, LONG_WINDOW = (
    200_000,
    1_000_000,
)  # tokens; beyond the first only clients that were asked for it go
_SHOWN_MS = 24 * 3600 * 1000
_LEAST_S = 1.0  # between two countings of one session
_SHARE = 20  # a counting takes at most one part in so many of the time
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


class Spending(NamedTuple):
    """What a session has used by now."""

    cost_micro_usd: int | None = None
    is_lower_bound: bool = False
    tokens: int = 0
    context_tokens: int = 0  # of its last prompt, and the answer to it
    window: int | None = None

    @property
    def context_used(self) -> float | None:
        """How full the model's memory is, from 0 to 1; None before the first answer."""
        if not self.context_tokens or not self.window:
            return None
        return min(self.context_tokens / self.window, 1.0)


class PendingRow(NamedTuple):
    """A subagent that was asked for."""

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
    spending: Spending
    subagents: int  # that work now
    pending: list[PendingRow]  # that were asked for and have no log yet
    last_words: str | None
    last_prompt: str | None
    last_ms: int
    path: str | None
    started_by: Origin | None = None  # by a run, if so
    depth: int = 0  # so far beneath the one that started it


class Board:
    """The rows of a watch, with what they have cost."""

    def __init__(
        self,
        watch: Watch,
        prices: Prices,
        *,
        home: Home | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`home` has the register of runs."""
        self._watch = watch
        self._prices = prices
        self._home = home
        self._clock = clock
        self._spent: dict[Name, Spending] = {}
        self._related: dict[Name, list[SessionFiles]] = {}
        self._past_runs: set[str] = set()  # that were lost a day ago: nobody looks for their processes again
        self._counted: dict[Name, tuple[int, float]] = {}  # of how many bytes, and when to count again

    def rows(self, now_ms: int) -> list[BoardRow]:
        """All sessions that somebody may want to see, who needs you first."""
        known = runs(self._home) if self._home is not None else Runs()
        shown = [
            self._row(name, session, now_ms)._replace(started_by=known.origin_of(*name))
            for name, session in self._watch.sessions.items()
            if _is_shown(session, now_ms)
        ]
        without_log = {row.id: row for run in known.open() if (row := self._run_row(run, known, now_ms))}
        return sorted([*shown, *without_log.values()], key=_rank)

    def _run_row(self, run: Run, known: Runs, now_ms: int) -> BoardRow | None:
        """A session that was asked for and has no log yet; None if it has one, or is not ours to show."""
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
            spending=Spending(),
            subagents=0,
            pending=[],
            last_words=None,
            last_prompt=None,
            last_ms=began_ms,
            path=run.transcript_path,
            started_by=known.origin(run),
        )

    def _has_log(self, run: Run, now_ms: int) -> bool:
        """Whether its session has a row of its own, or a log that is too old for one."""
        session = self._watch.sessions.get((run.agent, run.session or ""))
        is_known = session is not None and (bool(session.paths) or _is_shown(session, now_ms))
        return is_known or (run.transcript_path is not None and self._watch.has_seen(run.transcript_path))

    def _is_ours(self, run: Run) -> bool:
        """Whether its log will stand below our roots. Codex names it late: until then its home must be one of them."""
        if run.transcript_path is not None:
            return self._watch.would_hold(run.agent, run.transcript_path)
        return run.agent == "codex" and self._watch.watches_home("codex", codex_homes(os.environ))

    def _row(self, name: Name, session: WatchedSession, now_ms: int) -> BoardRow:
        told = session.told
        return BoardRow(
            id=session.id,
            agent=session.agent,
            state=session.state,
            project=last_part(told.cwd) if told.cwd else None,
            cwd=told.cwd,
            title=told.title,
            model=told.model,
            spending=self._spending(name, session),
            subagents=len(session.working_threads(now_ms)),
            pending=[
                PendingRow(one.call, one.name, pending(one.asked_ms, session.state, f"call {one.call}"))
                for one in session.pending.values()
            ],
            last_words=told.last_words,
            last_prompt=told.last_prompt,
            last_ms=told.last_ms,
            path=session.paths.get(MAIN),
        )

    def _spending(self, name: Name, session: WatchedSession) -> Spending:
        files = self._watch.logs_of(session)
        size, now = sum(file.size for file in files), self._clock()
        counted, again_at = self._counted.get(name, (-1, 0.0))
        if files and size != counted and now >= again_at:
            agent: Agent = "codex" if session.agent == "codex" else "claude"
            own = SessionFiles(session.id, agent, tuple(files))
            if name not in self._related:
                self._related[name] = self._watch.related_to(own)
            self._spent[name] = _counted_in(own, self._related[name], session.told, self._prices)
            took_s = self._clock() - now
            self._counted[name] = size, now + max(_LEAST_S, took_s * _SHARE)
        return self._spent.get(name, Spending())


def beneath_parents(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The rows with each one that another one started right beneath that. A family stands where its first member stood."""
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
    """The one on the board that started all of this; where each is said to have started the other, any of them."""
    seen = {name}
    while (above := _parent_in(rows[name], rows)) is not None and above not in seen:
        seen.add(above)
        name = above
    return name


def _parent_in(row: BoardRow, rows: Mapping[Name, BoardRow]) -> Name | None:
    origin = row.started_by
    above = (origin.agent or "", origin.session or "") if origin is not None else None
    return above if above in rows and above != (row.agent, row.id) else None


def _state_of_run(run: Run, now_ms: int) -> LiveState:
    is_lost = run.state(now_ms) == "lost"
    alive, begun = run.alive(), run.started
    return LiveState(
        state="lost" if is_lost else "pending",
        doing=f"{begun.how}: {begun.name or 'no log yet'}",
        since_ms=max(run.began_ms, 0),
        evidence=[f"run {run.id}", alive.why],
        pid=alive.pid,
    )


def _counted_in(own: SessionFiles, related: Sequence[SessionFiles], told: Told, prices: Prices) -> Spending:
    """As `usage session` counts it: what a fork or a resume copied belongs to the session that it came from."""
    ledger = spent_in([own, *related], with_owners=bool(related))
    rows = report(ledger, prices, "session", zone=UTC).rows
    spent = next((row for row in rows if row.key == own.id), None)
    if spent is None:
        return Spending()
    tokens = spent.tokens
    last = _last_of_main(ledger, own.id)
    used = 0 if last is None else last.input + last.cache_write + last.cache_read + max(last.output, 0)
    return Spending(
        cost_micro_usd=round(spent.cost_pico_usd / 1_000_000),
        is_lower_bound=bool(spent.unpriced_requests or spent.partial_requests),
        tokens=tokens.input + tokens.output + tokens.cache_write + tokens.cache_read,
        context_tokens=used,
        window=told.window or (_claude_window(ledger) if own.agent == "claude" else None),
    )


def _claude_window(ledger: Ledger) -> int:
    """Claude Code does not say it; who has sent more than the usual window holds has the long one."""
    prompts = (sight.input + sight.cache_write + sight.cache_read for sight in ledger.rows())
    return LONG_WINDOW if max(prompts, default=0) > USUAL_WINDOW else USUAL_WINDOW


def _last_of_main(ledger: Ledger, session: str) -> Sight | None:
    ours = (
        sight
        for sight in ledger.rows()
        if not sight.first_is_beside and sight.output >= 0 and ledger.session_of(sight) == session
    )
    return max(ours, key=lambda sight: (sight.at, sight.offset), default=None)


def _is_shown(session: WatchedSession, now_ms: int) -> bool:
    if session.state.state in ("working", "waiting", "idle") and session.alive.life == "alive":
        return True
    return bool(session.paths) and now_ms - session.told.last_ms < _SHOWN_MS


def _rank(row: BoardRow) -> tuple[int, int, str, str]:
    """Those who work change every second, and must not change places with it."""
    state, since = row.state.state, row.state.since_ms or 0
    age = {"waiting": since, "working": 0, "pending": 0}.get(state, -row.last_ms)
    return _RANKS.get(state, 9), age, row.project or "", row.id
