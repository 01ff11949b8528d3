"""Count tokens, money and context of live sessions from their whole logs, at a bounded share of the time.

Rules
  1. Money and context are those of the ledger, from the log's own bytes. They are counted again when a log was written to;
     the beginning of a session and the minutes before it was watched only when its main log is another one.
  2. Counting takes at most a small share of the time. A caller that must not wait counts in another thread (`CountsBeside`):
     figures that are not counted yet are missing, and never zero.
  3. If a log cannot be read, the row gives the reason and keeps its last figures; it is counted again when due.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path
from queue import PriorityQueue
from threading import Event, Lock, Thread
from typing import NamedTuple

from tracklog.agents.supported import support_for
from tracklog.ledger.cost_sums import sums_in
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.report import report
from tracklog.ledger.scan import spent_in
from tracklog.live.watch.session import Minutes, WatchedSession, began_ms, minutes_in
from tracklog.live.watch.watcher import Watch
from tracklog.model.usage import Sight
from tracklog.reading.session_files import Name, SessionFiles
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import Agent, FileStamp
from tracklog.sources.tail.identity import GOES_ON, FileIdentity, IdentityTracker

_LEAST_S = 1.0  # between two counts of one session
_SHARE = 20  # counting takes at most this fraction (1/20) of the time
_Stamps = dict[Path, FileStamp] | None  # None: count it in any case
_LIVING = ("waiting", "working", "idle")


class SessionUsage(NamedTuple):
    """Usage of a session so far."""

    cost_micro_usd: int | None = None
    is_lower_bound: bool = False
    tokens: int = 0
    context_tokens: int = 0  # of its last prompt, and the answer to it
    window: int | None = None

    @property
    def context_used(self) -> float | None:
        """How full the context window is, from 0 to 1; None before the first answer."""
        if not self.context_tokens or not self.window:
            return None
        return min(self.context_tokens / self.window, 1.0)


class Counted(NamedTuple):
    """Facts from the whole logs of a session."""

    spending: SessionUsage = SessionUsage()
    is_counted: bool = False
    began_ms: int | None = None
    before: Minutes = Minutes()  # what was written each minute, before it was watched
    problem: str | None = None  # why it cannot be read


class _Job(NamedTuple):
    """A session to count: all that is needed for it, and nothing that another thread changes."""

    name: Name
    own: SessionFiles
    related: Sequence[SessionFiles]
    window: int | None
    watched_since_ms: int | None


class BoardCounts:
    """Counts sessions that are due, when asked."""

    def __init__(self, watch: Watch, prices: Prices, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._watch = watch
        self._prices = prices
        self._clock = clock
        self._counted: dict[Name, Counted] = {}
        self._related: dict[Name, list[SessionFiles]] = {}
        self._next: dict[
            Name, tuple[_Stamps, float]
        ] = {}  # the logs that were counted, and when to count again
        self._mains: dict[Name, FileIdentity] = {}  # the log of which the beginning was read

    def of(self, name: Name, session: WatchedSession) -> Counted:
        """The last counts of a session; counts first if it is due."""
        if (job := self._due(name, session)) is not None:
            self._count(job)
        return self._counted.get(name, Counted())

    def _due(self, name: Name, session: WatchedSession) -> _Job | None:
        files = self._watch.logs_of(session)
        stamps, now = {file.path: file.stamp for file in files}, self._clock()
        counted, again_at = self._next.get(name, (None, 0.0))
        agent = support_for(session.agent).name
        if not files or agent is None or stamps == counted or now < again_at:
            return None
        self._next[name] = stamps, now + _LEAST_S
        own = SessionFiles(session.id, agent, tuple(files))
        if name not in self._related:
            self._related[name] = self._watch.related_to(own)
        return _Job(name, own, self._related[name], session.latest.window, session.activity.first_ms)

    def _count(self, job: _Job) -> None:
        began = self._clock()
        self._counted[job.name] = self._told(job)
        took_s = self._clock() - began
        stamps, _ = self._next[job.name]
        if self._counted[job.name].problem is not None:
            stamps = None  # so that it is counted again although the logs do not change
        self._next[job.name] = stamps, began + max(_LEAST_S, took_s * _SHARE)

    def _told(self, job: _Job) -> Counted:
        before = self._counted.get(job.name, Counted())
        try:
            began, minutes = self._beginning(job, before)
        except NotReadable as refused:
            return before._replace(problem=refused.why)
        spending, problem = _spent(job, self._prices)
        if problem is not None and before.is_counted:
            return before._replace(problem=problem)
        return Counted(spending, is_counted=True, began_ms=began, before=minutes, problem=problem)

    def _beginning(self, job: _Job, before: Counted) -> tuple[int | None, Minutes]:
        main = (job.own.mains or job.own.files)[0]
        known = self._mains.get(job.name)
        if known is not None and known.compare(main) in GOES_ON:
            return before.began_ms if before.began_ms is not None else began_ms(main), before.before
        tracker = IdentityTracker.at(main, main.size)
        found = began_ms(main), minutes_in(main, job.watched_since_ms)
        self._mains[job.name] = FileIdentity(main.device, main.inode).read_to(tracker)
        return found


class CountsBeside(BoardCounts):
    """Counts in a thread of its own, live sessions first; `of` gives the figures so far."""

    def __init__(self, watch: Watch, prices: Prices, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(watch, prices, clock=clock)
        self._wanted: PriorityQueue[tuple[int, int, int, _Job | None]] = PriorityQueue()
        self._asked: set[Name] = set()
        self._lock = Lock()
        self._n = 0
        self._is_over = Event()
        self.problem: str | None = None
        self._thread = Thread(target=self._run, name="counting", daemon=True)
        self._thread.start()

    def of(self, name: Name, session: WatchedSession) -> Counted:
        """The last counts of a session; queues it if it is due."""
        with self._lock:
            is_asked = name in self._asked
        if not is_asked and (job := self._due(name, session)) is not None:
            with self._lock:
                self._asked.add(name)
            self._n += 1
            is_quiet = session.state.state not in _LIVING
            self._wanted.put((is_quiet, -session.latest.last_ms, self._n, job))
        return self._counted.get(name, Counted())

    def close(self) -> None:
        """End the thread after the session that it counts now."""
        self._is_over.set()
        self._wanted.put((-1, 0, 0, None))
        self._thread.join(5.0)

    def _run(self) -> None:
        while not self._is_over.is_set():
            job = self._wanted.get()[-1]
            if job is None:
                return
            try:
                self._count(job)
                self.problem = None
            except Exception as error:  # a door: an error in one session must not end the counting of others
                self.problem = f"cannot count what {job.name[1]} has used: {error!r}"
            with self._lock:
                self._asked.discard(job.name)


def _spent(job: _Job, prices: Prices) -> tuple[SessionUsage, str | None]:
    """Count as `usage session` does: requests that a fork or a resume copied belong to the session that they came from.

    The second value is why a log could not be read.
    """
    own, related = job.own, job.related
    ledger = spent_in([own, *related], with_owners=bool(related))
    made = report(ledger, prices, "session", zone=UTC)
    problems = (why for n, why in ledger.problems.items() if ledger.sources[n].session == own.id)
    problem = next(problems, None)
    spent = next((row for row in made.rows if row.key == own.id), None)
    if spent is None:
        return SessionUsage(), problem
    cost = sums_in(made)[own.id]
    tokens = spent.tokens
    last = _last_of_main(ledger, own.id)
    used = 0 if last is None else last.input + last.cache_write + last.cache_read + max(last.output, 0)
    spending = SessionUsage(
        cost_micro_usd=None if cost.cost_pico_usd is None else round(cost.cost_pico_usd / 1_000_000),
        is_lower_bound=cost.is_lower_bound or problem is not None,
        tokens=tokens.input + tokens.output + tokens.cache_write + tokens.cache_read,
        context_tokens=used,
        window=job.window or (_usual_window(ledger, own.agent)),
    )
    return spending, problem


def _usual_window(ledger: Ledger, agent: Agent) -> int | None:
    """The context window of a session whose log does not state it, as its agent guesses it from the prompts."""
    prompts = (sight.input + sight.cache_write + sight.cache_read for sight in ledger.rows())
    return support_for(agent).usage.context_window(max(prompts, default=0))


def _last_of_main(ledger: Ledger, session: str) -> Sight | None:
    ours = (
        sight
        for sight in ledger.rows()
        if not sight.first_is_beside and sight.output >= 0 and ledger.session_of(sight) == session
    )
    return max(ours, key=lambda sight: (sight.at, sight.offset), default=None)
