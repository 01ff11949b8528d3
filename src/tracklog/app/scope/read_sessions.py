"""Find the sessions that a query names, or runs without a log yet, and read them from their files.

Rules
  1. One session at a time is in memory.
  2. A log that cannot be read to its end is reported once; what was read of it counts. A session of which nothing
     was read is left out of lists, and is not found by its name.
  3. A session of nothing but warm-ups counts as none, unless it is given by its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.discovery import find_at
from tracklog.agents.supported import support_for
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.resolve import ResolvedLogs, find_logs, refuse_if_of_several, session_named
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import Home, tracklog_home
from tracklog.live.run_entries import RunEntry as RunEntry
from tracklog.live.run_entries import RunOrigin as RunOrigin
from tracklog.live.run_register import runs
from tracklog.liveness.sessions import SessionLives
from tracklog.model.ids import id_start
from tracklog.model.session import Session
from tracklog.model.session_rules import is_about_a_file, is_listed, is_only_warmups, is_unread
from tracklog.reading.family import Kinship, Name, families, family
from tracklog.reading.session_files import SessionFiles, group
from tracklog.reading.session_reader import SpoolReader, read_session, session_at
from tracklog.sources.log_file import LogFile


def called_run(ours: Home, text: str, *, agent: str | None = None) -> RunEntry | None:
    """The run that a person means by its own id, its session's, or the start of that. Raises UserError for several."""
    alike = [run for run in runs(ours).called(text) if agent in (None, run.agent)]
    going_on = [run for run in alike if run.state() == "running"]
    found = going_on or alike[-1:]
    if len(found) > 1:
        names = ", ".join(id_start(run.session or run.id) for run in found[:3])
        raise UserError(f"{text!r} may be one of {len(found)} runs ({names}…): give more of the id")
    return found[0] if found else None


def session_of_run(ours: Home, text: str) -> str | None:
    """The session of the run that has exactly this id."""
    run = runs(ours).get(text.lower())
    return run.session if run is not None else None


def pending_run(ours: Home, text: str, *, agent: str | None = None) -> RunEntry | None:
    """The run that goes on and is called so."""
    run = called_run(ours, text, agent=agent)
    return run if run is not None and run.state() == "running" else None


def is_being_run(ours: Home, agent: str, session: str) -> bool:
    """Whether a run that goes on writes this session."""
    return any(run.state() == "running" for run in runs(ours).by_session(agent, session))


def why_not_there(ours: Home, text: str, *, agent: str | None = None) -> str:
    """Why no session of this name can be shown, and what to do."""
    run = called_run(ours, text, agent=agent)
    if run is None:
        return f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere"
    match run.state():
        case "running":
            return f"the session of run {run.id} has no log yet: `tracklog wait {run.id}` waits for it"
        case "lost":
            return f"the run {run.id} was lost: its process is gone, and it left no log in these folders"
        case _:
            return f"the run {run.id} has ended ({run.ended_by}) and left no log in these folders"


class SessionQuery(NamedTuple):
    """Which session a person means: an id, the start of one, a file, or `@last`; and where to look for it."""

    session: str
    roots: Sequence[Path] = ()
    agent: str | None = None
    filters: Filters = Filters()
    home: Path | None = None

    def reader(self, talk: Talk = QUIET, *, said: set[str] | None = None) -> SessionReader:
        """The sessions among which it is looked for; `said`: the logs that were said to be not readable."""
        return SessionReader(
            self.roots, agent=self.agent, filters=self.filters, home=self.home, said=said, talk=talk
        )


class SessionReader:
    """The sessions in some places, to be read one by one; those that do not fit the filters are not there."""

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        agent: str | None,
        filters: Filters,
        home: Path | None = None,
        said: set[str] | None = None,
        talk: Talk = QUIET,
    ) -> None:
        self._home = tracklog_home(home)
        self._agent = agent
        self.found: ResolvedLogs = find_logs(_absolute(roots), agent=agent, home=self._home, talk=talk)
        self._spool = SpoolReader(self._home)
        self._lives = SessionLives(
            Home(self._home),
            homes=[
                root.path
                for root in self.found.roots
                if support_for(root.agent).processes.registry_folder is not None and root.part is None
            ],
        )
        self.groups: list[SessionFiles] = group(self.found.files)
        self.filters = filters
        self._talk = talk
        self._families: dict[Name, Kinship] | None = None  # all of them, where all are read
        self.n_not_understood = 0  # lines of the sessions that were read so far
        self._said = set() if said is None else said  # the logs that were said to be not readable

    def named(self, text: str) -> Session:
        """The one session that a person means."""
        session = self._last() if text == "@last" else self._called(text) or self._called_by_run(text)
        if session is None:
            raise NotThere(why_not_there(Home(self._home), text, agent=self._agent))
        self._say_what_is_not_readable(session)
        if is_unread(session):
            raise NotThere(f"nothing of {text} could be read")
        if not self.filters.fits(session):
            raise NotThere(f"the session {text} does not fit --since, --until, --project or --model")
        return session

    def each(
        self, *, shows_progress: bool = True, until: Callable[[SessionFiles], bool] | None = None
    ) -> Iterator[Session]:
        """All sessions that fit, the last changed first; `until` may end it before a session is read."""
        self._families = families(self.groups)
        talk = self._talk if shows_progress else QUIET
        with talk.progress("reading") as (set_total, advance):
            set_total(sum(map(n_bytes, self.groups)))
            for files in self.groups:
                if until is not None and until(files):
                    return
                session = self._read(files, advance)
                self._say_what_is_not_readable(session)
                if is_listed(session) and self.filters.fits(session):
                    yield session

    def is_only_here(self, session: Session) -> bool:
        """Whether only the archive has a session that was read."""
        ours = self._by_name.get((session.agent, session.id))
        return ours is not None and ours.is_only_here

    def files_of(self, session: Session) -> list[SessionFiles]:
        """The files of a session that was read, then those of the sessions that may share history with it."""
        ours = self._by_name.get((session.agent, session.id))
        if ours is None:  # of a file outside of all roots
            return group(file for path in session.paths for file in find_at(Path(path)))
        kin = self._kin(ours)
        return [ours, *(one for one in kin.sessions if one is not ours)] if kin else [ours]

    def files_of_all(self, names: AbstractSet[tuple[str, str]]) -> list[SessionFiles]:
        """The files of some sessions, and of all that may share history with one of them."""
        ours = [one for one in self.groups if (one.agent, one.id) in names]
        kin = (self._kin(one) for one in ours)
        related = (other for one in kin if one is not None for other in one.sessions)
        return list({(one.agent, one.id): one for one in (*ours, *related)}.values())

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], SessionFiles]:
        return {(one.agent, one.id): one for one in self.groups}

    @property
    def ids(self) -> set[str]:
        """The ids of all sessions that there are."""
        return {files.id for files in self.groups}

    def _last(self) -> Session | None:
        newest = None if self.filters.asks else self._called("@last")
        return next(self.each(), None) if newest is None or is_only_warmups(newest) else newest

    def _called(self, text: str) -> Session | None:
        matches = session_named(text, self.found)
        files = self._meant(text, matches)
        if files is not None:
            with self._talk.progress("reading") as (set_total, advance):
                set_total(n_bytes(files))
                return self._read(files, advance)
        if matches and not matches[0].size:
            raise NotThere(f"nothing was written to {matches[0].path} yet")
        return (
            session_at(matches[0].path).read(Home(self._home)) if matches else None
        )  # a file outside of all roots

    def _called_by_run(self, text: str) -> Session | None:
        session = session_of_run(Home(self._home), text)
        return self._called(session) if session is not None else None

    def _meant(self, text: str, matches: Sequence[LogFile]) -> SessionFiles | None:
        """The session that has one of these files, or that is called so: some logs tell their session only inside."""
        wanted = {file.path for file in matches}
        holding = [one for one in self.groups if any(file.path in wanted for file in one.files)]
        called = [one for one in self.groups if one.id.lower() == text.lower()]
        refuse_if_of_several(text, [one.agent for one in (*holding, *called)])
        return next(iter(holding or called), None)

    def _say_what_is_not_readable(self, session: Session) -> None:
        self.n_not_understood += sum(not is_about_a_file(problem) for problem in session.problems)
        for problem in session.problems:
            path = problem.place.path
            if is_about_a_file(problem) and path not in self._said:
                self._said.add(path)
                self._talk.say(f"tracklog: {path}: {problem.what}")

    def _read(self, files: SessionFiles, on_bytes: Callable[[int], None]) -> Session:
        kin, now = self._kin(files), datetime.now(UTC)
        return read_session(files, kin, lives=self._lives, now=now, on_bytes=on_bytes, spool=self._spool)

    def _kin(self, files: SessionFiles) -> Kinship | None:
        """A session with those that may share history with it."""
        if self._families is None:
            return Kinship([files, *family(files, self.groups)])
        return self._families.get((files.agent, files.id))


def _absolute(roots: Sequence[Path]) -> list[Path]:
    """Evidence must be found from any folder. What is not there is reported as it was called."""
    return [root.absolute() if os.path.lexists(root) else root for root in roots]


def n_bytes(files: SessionFiles) -> int:
    """How much there is to read of a session."""
    return sum(file.size for file in files.files)


class Lineage(NamedTuple):
    """The run that started a session, the runs that it started, and those that continue it."""

    origin: RunOrigin | None
    started: list[RunEntry]
    continued: list[RunEntry]
    names: dict[str, str]  # what runs are called, of those whose session is among those asked for


def lineage_of(session: Session, reader: SessionReader, home: Path | None) -> Lineage:
    """The lineage of a session, from the register of runs."""
    known = runs(Home(tracklog_home(home)))
    started = known.children_of(session.agent, session.id)
    continued = [
        run
        for run in known.going_on_from(session.agent, session.id)
        if run.id not in {one.id for one in started}
    ]
    return Lineage(
        origin=known.origin_of(session.agent, session.id),
        started=started,
        continued=continued,
        names=dict(_names(started, reader)),
    )


def _names(started: Iterable[RunEntry], reader: SessionReader) -> Iterator[tuple[str, str]]:
    asked = {(one.agent, one.id) for one in reader.groups}
    tops = [os.path.join(root.path, "") for root in reader.found.roots]
    for run in started:
        path = run.transcript_path or ""
        is_asked = (run.agent, run.session) in asked or any(path.startswith(top) for top in tops)
        if run.started.name and is_asked:
            yield run.id, run.started.name
