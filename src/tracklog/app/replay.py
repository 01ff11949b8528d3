"""Play recorded sessions again, into a home of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionReader
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import UserError
from tracklog.home import tracklog_home
from tracklog.reading.session_files import SessionFiles
from tracklog.replay.plan import ReplayStep as ReplayStep
from tracklog.replay.play import replay


class ReplayQuery(NamedTuple):
    """Which sessions are played, and how."""

    sessions: Sequence[str]
    directory: Path
    speed: float | None  # None: at once
    as_id: str | None
    is_torn: bool
    registers: bool
    hooks: bool
    spool: Path | None  # the tracklog home that gets the hook calls; else one in the directory
    keeps_times: bool
    longest_pause_s: float | None


class Replay(NamedTuple):
    """A replay that goes on as its steps are asked for."""

    n_sessions: int
    target: Path
    spool: Path | None
    steps: Iterator[ReplayStep]


def replayed(
    asked: ReplayQuery,
    roots: Sequence[Path],
    *,
    agent: str | None,
    home: Path | None,
    talk: Talk = QUIET,
) -> Replay:
    """Prepare to play sessions; refusals come at once."""
    target = asked.directory.absolute()
    spool = _spool_of(target, asked.spool, hooks=asked.hooks)
    reader = SessionReader(roots, agent=agent, filters=Filters(), home=home, talk=talk)
    chosen = list(_chosen(asked.sessions, reader))
    steps = replay(
        chosen,
        target,
        speed=asked.speed,
        as_id=asked.as_id,
        is_torn=asked.is_torn,
        registers=asked.registers,
        spool=spool,
        keeps_times=asked.keeps_times,
        longest_pause_s=asked.longest_pause_s,
    )
    return Replay(len(chosen), target, spool, steps)


def _spool_of(target: Path, given: Path | None, *, hooks: bool) -> Path | None:
    if given is None:
        return target / "tracklog" if hooks else None
    if os.path.realpath(given) == os.path.realpath(tracklog_home(None)):
        raise UserError(
            f"{given} is your own tracklog home, where made-up hook calls would stand beside real ones: "
            "name another one with --spool"
        )
    return given.absolute()


def _chosen(names: Iterable[str], reader: SessionReader) -> Iterator[SessionFiles]:
    """The sessions that were named, each once."""
    seen = set()
    for name in names:
        files = reader.files_of(reader.named(name))[0]
        if (files.agent, files.id) not in seen:
            seen.add((files.agent, files.id))
            yield files
