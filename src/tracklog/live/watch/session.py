"""A watched session: its signs from all sources, threads, latest facts, and activity per minute.

Rules
  1. Everything is added in the order in which it is seen; adding it twice changes nothing.
  2. A subagent that was requested and has no log yet is pending. It joins its log when one names its call, or when
     the call's result names it; it is lost when the session ends without either.
  3. Activity counts log lines per minute of the last hour, each in the minute that it names. A line that names
     none, or a time in the future, counts when it is seen.
  4. Lines from before the watch are read from the end of the log, for at most an hour and a bounded number of
     bytes.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from tracklog.agents.base import SessionFacts
from tracklog.clock import NO_TIME, moment_ms
from tracklog.errors import why_failed
from tracklog.live.notify import LEAST_MS
from tracklog.liveness.hook_signs import HookSigns
from tracklog.liveness.log_signs import UNSAID_MS, LogSigns
from tracklog.model.events import (
    LogEvent,
    ModelReplied,
    PromptGiven,
    SessionDescribed,
    SessionTitled,
    ThreadDescribed,
    ToolCalled,
    ToolReturned,
    TurnInterrupted,
)
from tracklog.model.ids import MAIN
from tracklog.model.records import opened
from tracklog.model.states import SETTLES_MS, SILENT_MS, Doing, LiveState, Sign, not_ahead, state_of
from tracklog.sources.files import NotReadable, open_log
from tracklog.sources.log_file import LogFile, is_compressed
from tracklog.sources.process_start import Alive

MINUTE_MS = 60_000
SHOWN = 60  # minutes
_HEAD = 256 << 10
_AT_ONCE = 256 << 10
_FURTHEST_BACK = 16 << 20
_TIME = re.compile(
    rb'"timestamp"\s*:\s*"([0-9TZ:.+-]{16,40})"'
)  # quotes within a text are escaped: no text is taken for it


class Minutes(NamedTuple):
    """Number of lines by minute since 1970; `since` is the first minute that is known completely."""

    lines: tuple[tuple[int, int], ...] = ()
    since: int | None = None

    def last(self, now_ms: int, *, n: int = SHOWN) -> list[int | None]:
        """Lines in each of the last minutes, the current one last; None for unknown minutes."""
        now, known = now_ms // MINUTE_MS, dict(self.lines)
        first = self.since if self.since is not None else now + 1
        return [known.get(at, 0 if at >= first else None) for at in range(now - n + 1, now + 1)]


class Activity:
    """Counts lines as they are seen."""

    def __init__(self) -> None:
        self._lines: dict[int, int] = {}
        self.first_ms: int | None = None  # the earliest time that a line named

    def add(self, at_ms: int) -> None:
        """Count a line of this time."""
        minute = at_ms // MINUTE_MS
        self._lines[minute] = self._lines.get(minute, 0) + 1
        self.first_ms = at_ms if self.first_ms is None else min(self.first_ms, at_ms)
        if len(self._lines) > 2 * SHOWN:
            self._lines = dict(sorted(self._lines.items())[-SHOWN:])

    def with_before(self, before: Minutes, now_ms: int) -> Minutes:
        """These minutes and the ones from before the watch."""
        oldest = now_ms // MINUTE_MS - SHOWN + 1
        lines = {at: n for at, n in before.lines if at >= oldest}
        for at, n in self._lines.items():
            if at >= oldest:
                lines[at] = lines.get(at, 0) + n
        first = before.since if before.since is not None else (self.first_ms or 0) // MINUTE_MS + 1
        return Minutes(tuple(sorted(lines.items())), max(first, oldest) if self.first_ms else None)


def began_ms(file: LogFile) -> int | None:
    """The first time that a log names."""
    with _opened(file) as log:
        found = _TIME.search(log.read(_HEAD))
    at = moment_ms(found[1].decode()) if found else NO_TIME
    return None if at == NO_TIME else at


def minutes_in(file: LogFile, until_ms: int | None) -> Minutes:
    """The lines that a log has of the hour before a moment."""
    if until_ms is None or is_compressed(file.path):
        return Minutes()
    oldest, is_whole = until_ms - SHOWN * MINUTE_MS, False
    counted: Counter[int] = Counter()
    with _opened(file) as log:
        for moments, is_first in _moments_backwards(log):
            counted.update(at // MINUTE_MS for at in moments if oldest <= at < until_ms)
            is_whole = is_first or any(0 <= at < oldest for at in moments)
            if is_whole:
                break
    first = min(counted, default=until_ms // MINUTE_MS)
    return Minutes(tuple(sorted(counted.items())), oldest // MINUTE_MS if is_whole else first + 1)


def _moments_backwards(log: io.FileIO) -> Iterator[tuple[list[int], bool]]:
    """The times in each chunk of a log, backwards, and whether the chunk is the first. A time on a cut is skipped."""
    end = log.seek(0, os.SEEK_END)
    least = max(end - _FURTHEST_BACK, 0)
    while end > least:
        start = max(end - _AT_ONCE, least)
        log.seek(start)
        yield [moment_ms(found.decode()) for found in _TIME.findall(log.read(end - start))], start == 0
        end = start


@contextmanager
def _opened(file: LogFile) -> Iterator[io.FileIO]:
    try:
        with open_log(file) as log:
            yield log
    except OSError as error:
        raise NotReadable(file.path, why_failed(error)) from error


_SPAWNERS = frozenset({"Task", "Agent", "spawn_agent"})
_LONGEST_WORDS = 500
_PASSING_MS = (
    0,
    LEAST_MS,
    SETTLES_MS,
    UNSAID_MS,
    SILENT_MS,
)  # after so long the weight of a sign changes
UNKNOWN = LiveState(state="unknown")
NOBODY_KNOWS = Alive("unknown")


@dataclass
class Pending:
    """A subagent without a log so far."""

    call: str
    asked_ms: int
    thread: str  # that requested it
    name: str | None = None


@dataclass
class LastActivity:
    """The latest facts about a session."""

    title: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    last_words: str | None = None
    last_prompt: str | None = None
    last_ms: int = 0
    entrypoint: str | None = None
    window: int | None = None  # tokens that the model's memory holds, where the log says so


@dataclass
class WatchedSession:
    """All that is known of a watched session."""

    agent: str
    id: str
    latest: LastActivity = field(default_factory=LastActivity)
    hooks: HookSigns = field(default_factory=HookSigns)
    registered: Sign | None = None
    asked: Sign | None = None  # a permission request of tracklog itself
    alive: Alive = NOBODY_KNOWS
    state: LiveState = UNKNOWN
    threads: dict[str, LogSigns] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)  # the log of each thread
    pending: dict[str, Pending] = field(default_factory=dict)  # by call
    joined: set[str] = field(default_factory=set)  # calls whose subagent has a log
    lost: list[Pending] = field(default_factory=list)  # that were requested and will not get a log
    names: dict[str, str] = field(default_factory=dict)  # what each subagent is for
    activity: Activity = field(default_factory=Activity)
    _asked: dict[str, str] = field(default_factory=dict)  # the first prompt of each subagent

    def add_events(
        self, thread: str, events: Iterable[LogEvent], *, now_ms: int, written_ms: int | None = None
    ) -> None:
        """Add events of the log of one of its threads, and when that was last written."""
        events = list(events)
        signs = self.threads.get(thread)
        if signs is None:
            signs = self.threads[thread] = LogSigns(is_subagent=thread != MAIN)
        signs.add(events, seen_ms=now_ms, written_ms=written_ms)
        self._count(events, now_ms)
        for event in events:
            if not event.is_copy:
                self._note(thread, event, now_ms, written_ms)

    def signs(self, now_ms: int) -> list[Sign]:
        """All signs of the present state."""
        log = self.threads.get(MAIN)
        found = (self.hooks.sign, self.registered, log.sign(now_ms) if log else None, self.asked)
        return [sign for sign in found if sign is not None]

    def settle(self, now_ms: int) -> LiveState:
        """Decide the present state from all signs."""
        self.state = state_of(self.signs(now_ms), self.alive, now_ms=now_ms, last_ms=self.latest.last_ms)
        return self.state

    def process_facts(self, now_ms: int, *, only_main_log: bool) -> SessionFacts:
        """The facts from its logs that identify its process; `only_main_log`: only the path of the main thread's log."""
        paths = [self.paths[MAIN]] if MAIN in self.paths else []
        return SessionFacts(
            self.id,
            paths if only_main_log else list(self.paths.values()),
            self.latest.last_ms,
            does=partial(self._log_state, now_ms),
            cwd=self.latest.cwd,
            entrypoint=self.latest.entrypoint,
        )

    def _log_state(self, now_ms: int) -> Doing | None:
        log = self.threads.get(MAIN)
        sign = log.sign(now_ms) if log else None
        return sign.state if sign else None

    def changes_by_itself(self, now_ms: int) -> int | None:
        """When the state may change without news; None if never."""
        begun = [sign.at_ms for sign in self.signs(now_ms)] + [self.state.since_ms or 0]
        moments = (at + after + 1 for at in begun for after in _PASSING_MS)
        return min((at for at in moments if at > now_ms), default=None)

    def is_past(self, before_ms: int) -> bool:
        """Whether it is over, and had no news since."""
        is_over = self.state.state in ("ended", "crashed", "unknown") and self.alive.life != "alive"
        times = (self.latest.last_ms, self.alive.at_ms or 0, *(sign.at_ms for sign in self.signs(before_ms)))
        return is_over and max(times) < before_ms

    def working_threads(self, now_ms: int) -> list[str]:
        """The subagents that work now by their logs; none outlives the process, and few the turn."""
        if self.state.state in ("ended", "crashed") or (
            self.state.state == "idle" and not self.state.has_background
        ):
            return []
        signs = ((thread, log.sign(now_ms)) for thread, log in self.threads.items() if thread != MAIN)
        return [thread for thread, sign in signs if sign is not None and sign.state in ("working", "waiting")]

    def name_of(self, thread: str) -> str | None:
        """The name of a subagent: the description in its call, or the start of its prompt."""
        return self.names.get(thread) or self._asked.get(thread)

    def take_lost(self) -> list[Pending]:
        """Remove and return the subagents that were lost."""
        lost, self.lost = self.lost, []
        return lost

    def _lose_pending(self, thread: str) -> None:
        """Mark pending subagents as lost: the turn that requested them is over."""
        self.lost += [one for one in self.pending.values() if one.thread == thread]
        self.pending = {call: one for call, one in self.pending.items() if one.thread != thread}

    def begin_thread(self, thread: str, path: str) -> bool:
        """Note the log of a thread; whether it is new."""
        is_new = thread not in self.paths
        self.paths[thread] = path
        return is_new

    def register(self, sign: Sign, alive: Alive, *, now_ms: int) -> None:
        """Set the entry of the registry. A time ahead of our clock counts as the time when it was first seen."""
        known = self.registered
        if sign.at_ms > now_ms:
            is_known = known is not None and sign._replace(at_ms=known.at_ms) == known
            sign = known if is_known and known is not None else sign._replace(at_ms=now_ms)
        self.registered, self.alive = sign, alive

    def _count(self, events: list[LogEvent], now_ms: int) -> None:
        """Count a line once, however many events it has."""
        moments = (moment_ms(event.at) for event in events if not event.is_copy)
        at = next((at for at in moments if at != NO_TIME), None)
        if at is not None:
            self.activity.add(min(at, now_ms))

    def _name(self, thread: str, name: str | None) -> None:
        if name and thread != MAIN:
            self.names.setdefault(thread, " ".join(name[:_LONGEST_WORDS].split()))

    def _note(self, thread: str, event: LogEvent, now_ms: int, written_ms: int | None) -> None:
        at = moment_ms(event.at)
        if at != NO_TIME:
            self.latest.last_ms = max(self.latest.last_ms, not_ahead(at, now_ms, written_ms))
        match event:
            case ToolCalled(name=name) if name in _SPAWNERS and event.call not in self.joined:
                self.pending[event.call] = Pending(event.call, max(at, 0), thread, _name_in(event))
            case ToolReturned(call=str(call)):
                if (asked := self.pending.pop(call, None)) is not None:
                    self.joined.add(call)
                    self._name(event.agent or MAIN, asked.name)
            case ThreadDescribed():
                self._describe(event.thread or thread, event)
            case SessionTitled(source=source, title=title) if source != "last_prompt" and title:
                self.latest.title = title
            case SessionDescribed() if thread == MAIN:
                self.latest.cwd = event.cwd or self.latest.cwd
                self.latest.branch = event.branch or self.latest.branch
                self.latest.entrypoint = event.entrypoint or self.latest.entrypoint
            case ModelReplied() if thread == MAIN and not event.is_synthetic:
                self.latest.model = event.model or self.latest.model
                self.latest.last_words = event.text.strip()[:_LONGEST_WORDS] or self.latest.last_words
            case PromptGiven() if thread == MAIN:
                self.latest.last_prompt = event.text.strip()[:_LONGEST_WORDS]
                if event.origin != "queued":
                    self._lose_pending(thread)
            case PromptGiven():
                self._asked.setdefault(thread, event.text.strip()[:_LONGEST_WORDS])
            case TurnInterrupted():
                self._lose_pending(thread)
            case _:
                pass  # the board does not show it

    def _describe(self, thread: str, described: ThreadDescribed) -> None:
        asked = self.pending.pop(described.parent_call, None) if described.parent_call else None
        if described.parent_call:
            self.joined.add(described.parent_call)
        self._name(
            thread, described.description or described.name or (asked and asked.name) or described.type
        )


def _name_in(event: ToolCalled) -> str | None:
    given = opened(event.input)
    if not isinstance(given, dict):
        return None
    name = given.get("description") or given.get("subagent_type") or given.get("nickname")
    return name[:_LONGEST_WORDS] if isinstance(name, str) else None
