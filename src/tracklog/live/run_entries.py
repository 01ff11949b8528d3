"""One run as the register has it: that it began, which session it writes, how it ended.

Rules
  1. Fields that a later release adds are ignored; fields that an earlier release lacked have defaults.
  2. A run without an end goes on for as long as its process lives. If that is gone, the run is lost.
"""

import time
from typing import Literal, NamedTuple

import msgspec

from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.states import SILENT_MS
from tracklog.sources.process_start import Alive

How = Literal["run", "resume", "fork"]
RunState = Literal["running", "ended", "lost"]


class Parent(msgspec.Struct, frozen=True):
    """The session in which a run was started."""

    agent: str
    session: str


class Started(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="started"):
    """A run begins."""

    v: int = 1
    run: str
    at: str = ""
    agent: str
    session: str | None = None  # None: the client will name it
    transcript_path: str | None = None
    cwd: str | None = None
    how: str = "run"  # one of `How`, as far as we know
    from_: str | None = msgspec.field(default=None, name="from")  # the session that goes on, or is forked
    parent_run: str | None = None
    parent: Parent | None = None
    batch: str | None = None
    pid: int | None = None
    pid_start: str | None = None  # as `start_mark` gives it
    name: str | None = None


class SessionNamed(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="named"):
    """The client has named the session that it writes."""

    v: int = 1
    run: str
    at: str = ""
    session: str
    transcript_path: str | None = None


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="what", tag="ended"):
    """A run is over."""

    v: int = 1
    run: str
    at: str = ""
    ended_by: str
    session: str | None = None
    transcript_path: str | None = None
    exit_code: int | None = None
    cost_micro_usd: int | None = None


Word = Started | SessionNamed | Ended


class RunEntry(msgspec.Struct, frozen=True):
    """One run: all that the register has of it."""

    started: Started
    named: SessionNamed | None = None
    ended: Ended | None = None

    @property
    def id(self) -> str:
        """The run's own id."""
        return self.started.run

    @property
    def agent(self) -> str:
        """The agent whose client runs."""
        return self.started.agent

    @property
    def session(self) -> str | None:
        """The session that it writes: the last one that the client named."""
        later = (one.session for one in (self.ended, self.named) if one is not None)
        return next((session for session in later if session), self.started.session or None)

    @property
    def transcript_path(self) -> str | None:
        """The path that its log has, or will have."""
        later = (one.transcript_path for one in (self.ended, self.named) if one is not None)
        return next((path for path in later if path), self.started.transcript_path or None)

    @property
    def began_ms(self) -> int:
        """When it began; NO_TIME if the register does not say."""
        return moment_ms(self.started.at)

    @property
    def ended_by(self) -> str | None:
        """How it ended; None if the register does not say."""
        return self.ended.ended_by if self.ended is not None else None

    @property
    def cost_micro_usd(self) -> int | None:
        """Its cost, as counted when it ended."""
        return self.ended.cost_micro_usd if self.ended is not None else None

    def alive(self) -> Alive:
        """Whether its process lives."""
        pid = self.started.pid
        if pid is None:
            return Alive("unknown", "the register names no process")
        from tracklog.sources.processes import process_of  # most runs are over, and ask for no process

        return process_of(pid, proc_start=self.started.pid_start, started_at_ms=max(self.began_ms, 0))

    def state(self, now_ms: int | None = None) -> RunState:
        """Whether it still goes on. A process that cannot be seen from here is believed to live for ten minutes."""
        if self.ended is not None:
            return "ended"
        life = self.alive().life
        now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        is_fresh = self.began_ms != NO_TIME and now_ms - self.began_ms <= SILENT_MS
        return "running" if life == "alive" or (life == "unknown" and is_fresh) else "lost"


class RunOrigin(NamedTuple):
    """What started a session, and from which one; `agent` and `session` are None if a person in a terminal did."""

    run: str
    how: str
    agent: str | None
    session: str | None
    source: str | None  # the session that it goes on with, or was forked from
