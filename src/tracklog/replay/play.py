"""Plays recorded sessions again: writes them into a fake home as their clients did, in their own time or faster.

Rules
  1. All is planned first (replay_planning). Then it is done in order, one step at a time; between two steps nothing
     happens, so whoever drives the steps drives the time.
  2. At the end the logs are those of the recording, byte for byte, but for times and ids that were to be told rewritten.
  3. Whenever it is stopped: no half line stays, no file of the registry, no process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from tracklog.agents.supported import support_for
from tracklog.errors import UserError, why_failed
from tracklog.reading.session_files import SessionFiles
from tracklog.replay.fake_home import ReplayHome, hosts
from tracklog.replay.growing_files import SpoolWriter
from tracklog.replay.plan import (
    Playing,
    ReplayOptions,
    ReplayStep,
    ScheduledStep,
    leave_in_order,
    pace_of,
    plan,
)
from tracklog.replay.recording import Recording, recording_of

__all__ = ["Clock", "ReplayStep", "WallClock", "replay"]


class Clock(Protocol):
    """The time by which a replay goes."""

    def now_ms(self) -> int:
        """Milliseconds since 1970."""

    def wait_until(self, moment_ms: int) -> None:
        """Comes back when that moment is there; at once if it has passed."""


class WallClock:
    """The time of the day."""

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def wait_until(self, moment_ms: int) -> None:
        """Sleeps until then."""
        time.sleep(max(moment_ms - self.now_ms(), 0) / 1000)


def replay(
    sessions: Sequence[SessionFiles],
    directory: Path,
    *,
    speed: float | None = 1.0,
    as_id: str | None = None,
    is_torn: bool = False,
    registers: bool = False,
    spool: Path | None = None,
    keeps_times: bool = False,
    longest_pause_s: float | None = None,
    clock: Clock | None = None,
    env: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Iterator[ReplayStep]:
    """Plays sessions into `directory`, all from now on; each step is done when it comes out.

    Without `speed` nothing waits. `spool` is the tracklog home that gets the hook calls. `seed` decides where writes
    are torn. Refusals come at once, as UserError; close the iterator to stop early.
    """
    if speed is not None and not 0 < speed < float("inf"):
        raise UserError("the speed must be more than 0")
    if as_id is not None and len(sessions) != 1:
        raise UserError("only a single session can be replayed under another id")
    options = ReplayOptions(
        speed=speed,
        longest_pause_ms=None if longest_pause_s is None else round(longest_pause_s * 1000),
        keeps_times=keeps_times,
        registers=registers,
        spool=SpoolWriter(spool) if spool else None,
        tears=random.Random(seed) if is_torn else None,
    )
    recordings = [recording_of(session, as_id=as_id) for session in sessions]
    home = ReplayHome(directory, env)
    home.claim(file.place for one in recordings for file in one.files)
    if options.spool:
        options.spool.make()
    return _steps(recordings, home, options, clock or WallClock())


def _steps(
    recordings: list[Recording], home: ReplayHome, options: ReplayOptions, clock: Clock
) -> Iterator[ReplayStep]:
    registered = [one for one in recordings if options.registers and _has_registry(one)]
    with ExitStack() as open_things:
        living = open_things.enter_context(hosts(max(len(registered), 1)))
        host_of = {id(one): host for one, host in zip(registered, living, strict=False)}
        starts_ms = clock.now_ms()
        playing = []
        for one in recordings:
            pace = pace_of(one, starts_ms, options=options)
            session = Playing(one, pace, home.path, options, host_of.get(id(one), living[0]))
            open_things.callback(leave_in_order, session)
            plan(session, home)
            playing.append(session)
        for due in sorted((due for one in playing for due in one.due), key=lambda due: due[:3]):
            clock.wait_until(due.at_ms)
            yield _done(due, home.path)


def _has_registry(recording: Recording) -> bool:
    return support_for(recording.agent).processes.registry_folder is not None


def _done(due: ScheduledStep, home: Path) -> ReplayStep:
    try:
        return due.do()
    except OSError as error:
        raise UserError(f"cannot write to {error.filename or home}: {why_failed(error)}") from error
