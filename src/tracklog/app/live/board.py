"""Snapshots of what runs now: one thread watches all logs, and callers get its last snapshot.

Rules
  1. The server answers before the first look is over; until then the snapshot is empty and not ready.
  2. New lines are published at once, at most ten times a second for one thread of a session. The board is published when a
     fact in a row has changed; a clock that ticks is no change.
  3. Facts that need whole logs or the index come from other threads: states and lines never wait for them.
  4. A watch that fails is reported, and started again after a pause.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from threading import Event, Thread
from typing import NamedTuple

from msgspec.structs import replace

from tracklog.app.live.event_hub import Hub
from tracklog.errors import UserError, why_failed
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.live.board.board import Board, BoardRow
from tracklog.live.board.counts import CountsBeside, SessionUsage
from tracklog.live.journal import LiveEvent
from tracklog.live.watch.session import Minutes
from tracklog.live.watch.watcher import Watch
from tracklog.reading.session_files import ThreadName
from tracklog.sessions import tables_lists
from tracklog.sessions.tables_calls import usual_times
from tracklog.sessions.tables_lists import LatestSession as LatestSession
from tracklog.sessions.tables_lists import titles_of
from tracklog.sources.log_file import Root
from tracklog.store.database import Database, StoreError, reading
from tracklog.store.scope import Scope

_TICK_S = 0.2
_CHANGES = ("state_changed", "log_replaced")  # after which the index has something to read
_ROWS_S = 0.25  # between two looks at all rows while something happens,
_ANYWAY_S = 1.0  # and while nothing happens
_APPENDS_S = 0.1
_MINOR_S = 2.0  # between two updates of figures that only add up: lines, times, costs
_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
_USUAL_S = 600.0
_USUAL_AGAIN_S = 15.0  # while there is no index yet


class BoardShot(NamedTuple):
    """An immutable snapshot of the board."""

    rows: tuple[BoardRow, ...] = ()
    at_ms: int = 0
    version: int = 0
    problems: tuple[str, ...] = ()
    is_ready: bool = False  # whether the first look is over

    @property
    def waiting(self) -> int:
        """The number of sessions that wait for a person."""
        return sum(row.needs_you for row in self.rows)


def named_shot(shot: BoardShot, home: Home) -> BoardShot:
    """A snapshot whose rows have names as titles; with the watcher's names if the index cannot be used."""
    try:
        with reading(home) as database:
            return shot._replace(rows=named(shot.rows, database))
    except StoreError:
        return shot._replace(rows=named(shot.rows, None))


def named(rows: Sequence[BoardRow], database: Database | None) -> tuple[BoardRow, ...]:
    """Rows with their names as titles: the index's as in every list, else what the watcher has seen."""
    known = titles_of(database.db, ((row.agent, row.id) for row in rows)) if database is not None else {}
    return tuple(
        row._replace(title=known.get((row.agent, row.id)) or row.title or row.last_prompt) for row in rows
    )


def latest_sessions(home: Home, scope: Scope, limit: int) -> list[LatestSession]:
    """The sessions in the index that were used last; none if it cannot be used: the status bar says why."""
    try:
        with reading(home) as database:
            return tables_lists.latest_sessions(database.db, scope, limit) if database is not None else []
    except StoreError:
        return []


class Live:
    """Watches some roots, and publishes changes to a hub."""

    def __init__(self, roots: Sequence[Root], home: Home, prices: Prices, hub: Hub) -> None:
        self._roots = list(roots)
        self._home = home
        self._prices = prices
        self._hub = hub
        self._shot = BoardShot()
        self._published_facts: object = None
        self._published_figures: object = None
        self._published_ms = 0
        self._is_over = Event()
        self._usual = _UsualTimes(home, self._is_over)
        self._thread = Thread(target=self._run, name="live", daemon=True)
        self.on_growth: Callable[[], None] | None = (
            None  # called when logs have grown or were replaced, or a process started or ended
        )

    def start(self) -> None:
        """Start watching; return at once."""
        self._usual.start()
        self._thread.start()

    def close(self) -> None:
        """End the watch."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def snapshot(self) -> BoardShot:
        """The last snapshot."""
        return self._shot

    def waiting(self) -> int:
        """The number of sessions that wait for a person."""
        return self._shot.waiting

    def _run(self) -> None:
        pause_s = _PAUSE_S
        while not self._is_over.is_set():
            began = time.monotonic()
            try:
                self._watch()
            except Exception as error:  # a door: any failure is shown, and the watch starts again
                if time.monotonic() - began > _LONGEST_PAUSE_S:
                    pause_s = _PAUSE_S
                self._fail(error)
                self._is_over.wait(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def _watch(self) -> None:
        """Watch until the server ends."""
        with closing(Watch(self._roots, spool=self._home.spool)) as watch:
            watch.begin()
            with closing(CountsBeside(watch, self._prices)) as counts:
                board = Board(watch, self._prices, home=self._home, counts=counts)
                appends, looked_at, has_news = Appends(self._hub), 0.0, True
                while not self._is_over.is_set():
                    if time.monotonic() - looked_at >= (_ROWS_S if has_news else _ANYWAY_S):
                        looked_at, has_news = time.monotonic(), False
                        self._look(watch, board, counts)
                    events = watch.wait(appends.due_in(_TICK_S))
                    grown = watch.grown()
                    self._publish(events, grown, appends)
                    has_news = has_news or bool(events or grown)

    def _publish(
        self, events: Sequence[LiveEvent], grown: Mapping[ThreadName, int], appends: Appends
    ) -> None:
        appends.add(grown)
        for event in events:
            if event.event == "log_replaced":
                thread = {"agent": event.agent, "session": event.session, "thread": event.thread}
                self._hub.publish("rewritten", thread)
        has_changed = bool(grown) or any(event.event in _CHANGES for event in events)
        if has_changed and self.on_growth is not None:
            self.on_growth()

    def _look(self, watch: Watch, board: Board, counts: CountsBeside) -> None:
        """Take a snapshot, and publish it if the board has changed."""
        now_ms = time.time_ns() // 1_000_000
        board.usual_ms = self._usual.times
        shot = BoardShot(
            rows=tuple(board.rows(now_ms)),
            at_ms=now_ms,
            problems=tuple(_problems(self._roots, watch, counts)),
            is_ready=True,
        )
        self._show(shot)

    def _show(self, shot: BoardShot) -> None:
        """Publish changed facts at once, figures that only add up now and then."""
        facts, figures = _facts(shot), _figures(shot)
        is_later = shot.at_ms - self._published_ms >= _MINOR_S * 1000
        is_news = facts != self._published_facts or (is_later and figures != self._published_figures)
        self._shot = shot._replace(version=self._shot.version + is_news)
        if is_news:
            self._published_facts, self._published_figures, self._published_ms = facts, figures, shot.at_ms
            self._hub.publish("board", {"version": self._shot.version, "waiting": shot.waiting})

    def _fail(self, error: Exception) -> None:
        why = str(error) if isinstance(error, UserError) else repr(error)
        self._show(
            self._shot._replace(problems=(f"the watch over the logs failed, and is begun again: {why}",))
        )


class Appends:
    """Publishes which logs grow: the first line of a thread at once, further ones ten times a second."""

    def __init__(self, hub: Hub, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._hub = hub
        self._clock = clock
        self._waiting: dict[ThreadName, int] = {}
        self._published_at: dict[ThreadName, float] = {}

    def add(self, grown: Mapping[ThreadName, int]) -> None:
        """Add the threads that have grown, and publish those that are due."""
        for thread, lines in grown.items():
            self._waiting[thread] = self._waiting.get(thread, 0) + lines
        now = self._clock()
        self._published_at = {one: at for one, at in self._published_at.items() if now - at < _APPENDS_S}
        for thread in [one for one in self._waiting if one not in self._published_at]:
            self._published_at[thread] = now
            agent, session, name = thread
            lines = self._waiting.pop(thread)
            self._hub.publish("append", {"agent": agent, "session": session, "thread": name, "lines": lines})

    def due_in(self, most_s: float) -> float:
        """How long to wait until the next is due."""
        if not self._waiting:
            return most_s
        next_at = min(self._published_at.get(thread, 0.0) for thread in self._waiting) + _APPENDS_S
        return min(max(next_at - self._clock(), 0.01), most_s)


class _UsualTimes:
    """How long calls take here, read from the index regularly in a thread of its own."""

    def __init__(self, home: Home, is_over: Event) -> None:
        self._home = home
        self._is_over = is_over
        self.times: Mapping[str, float] = {}

    def start(self) -> None:
        Thread(target=self._run, name="usual times", daemon=True).start()

    def _run(self) -> None:
        pause_s = 1.0
        while not self._is_over.wait(pause_s):
            pause_s = _USUAL_AGAIN_S
            try:
                with reading(self._home) as database:
                    if database is not None:
                        self.times = usual_times(database.db)
            except UserError:
                continue  # the index says so itself, on every page; until then five minutes are the rule
            pause_s = _USUAL_S if self.times else _USUAL_AGAIN_S


def _facts(shot: BoardShot) -> object:
    """The facts in the rows, without figures that only add up."""
    rows = [
        row._replace(
            state=replace(row.state, evidence=[]),
            threads=tuple(one._replace(state=replace(one.state, evidence=[])) for one in row.threads),
            spending=SessionUsage(),
            minutes=Minutes(),
            last_ms=0,
        )
        for row in shot.rows
    ]
    return rows, shot.problems, shot.is_ready


def _figures(shot: BoardShot) -> object:
    return [(row.last_ms, row.minutes.lines, row.spending) for row in shot.rows]


def _problems(roots: Sequence[Root], watch: Watch, counts: CountsBeside) -> list[str]:
    found = [why for root in roots if (why := _unreadable(root)) is not None]
    if watch.why_without_hints:
        found.append(f"the system does not say what changes, so it is looked for: {watch.why_without_hints}")
    return found + ([counts.problem] if counts.problem else [])


def _unreadable(root: Root) -> str | None:
    """Why an existing root cannot be read."""
    path = root.path / root.part if root.part else root.path
    try:
        if path.is_dir():
            os.scandir(path).close()
    except OSError as error:
        return f"cannot look into {path}: {why_failed(error)}"
    return None
