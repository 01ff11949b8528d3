"""From what a person asked for to the sessions that are meant, read from their files.

Rules of this room
  1. One session at a time is in memory.
  2. A session that cannot be read is said on stderr and left out of a list; asked for by name, it is not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from tracklog.model.session import Session
from tracklog.pipeline.families import families, family
from tracklog.pipeline.sessions import SessionFiles, group
from tracklog.pipeline.story import read, read_session
from tracklog.sources.files import NotReadable
from tracklog.sources.found import LogFile
from tracklog.views.cli.choosing import Found, find_logs, session_named
from tracklog.views.cli.ending import NotThere
from tracklog.views.cli.filters import Filters
from tracklog.views.cli.places import show_nothing_found
from tracklog.views.cli.printing import answer, count, talk
from tracklog.views.cli.progress import progress


class Stories:
    """The sessions in some places, to be read one by one; those that do not fit the filters are not there."""

    def __init__(self, roots: Sequence[Path], *, agent: str | None, filters: Filters) -> None:
        self.found: Found = find_logs(_absolute(roots), agent=agent)
        self.groups: list[SessionFiles] = group(self.found.files)
        self._filters = filters
        self._are_given = bool(roots)
        self._families: dict[str, list[SessionFiles]] | None = None  # all of them, where all are read
        self._done = 0

    def named(self, text: str) -> Session:
        """The one session that a person means."""
        try:
            session = self._newest() if text == "@last" and self._filters.asks else self._called(text)
        except NotReadable as refusal:
            raise NotThere(f"cannot read {refusal.path}: {refusal.why}") from refusal
        if session is None:
            raise NotThere(f"no session {text}: `tracklog sessions` lists them, --root looks elsewhere")
        if not self._filters.fits(session):
            raise NotThere(f"the session {text} does not fit --since, --until, --project or --model")
        return session

    def each(
        self, *, shows_progress: bool = True, until: Callable[[SessionFiles], bool] | None = None
    ) -> Iterator[Session]:
        """All sessions that fit, the last changed first; `until` may end it before a session is read."""
        total = sum(map(n_bytes, self.groups))
        self._families = families(self.groups)
        with progress("reading", total, done=lambda: self._done) if shows_progress else nullcontext():
            for files in self.groups:
                if until is not None and until(files):
                    return
                session = self._read_or_say_why_not(files)
                if session is not None and self._filters.fits(session):
                    yield session

    @property
    def ids(self) -> set[str]:
        """The ids of all sessions that there are."""
        return {files.id for files in self.groups}

    def show_that_there_is_none(self) -> None:
        """Where was looked in vain, and what to do about it."""
        n_files, n_sessions = len(self.found.files), len(self.groups)
        if n_sessions and self._filters.asks:
            answer(f"None of {count(n_sessions, 'session')} fits --since, --until, --project and --model.")
        elif n_files:
            answer(f"No session in {count(n_files, 'file')}: `tracklog places` shows what they are.")
        else:
            show_nothing_found(self.found, default=not self._are_given)

    def _newest(self) -> Session | None:
        return next(self.each(), None)

    def _called(self, text: str) -> Session | None:
        matches = session_named(text, self.found)
        files = self._group_with(matches) or self._group_called(text)
        if files is not None:
            with progress("reading", n_bytes(files), done=lambda: self._done):
                return self._read(files)
        if matches and not matches[0].size:
            raise NotThere(f"nothing was written to {matches[0].path} yet")
        return read(matches[0].path) if matches else None  # a file outside of all roots

    def _group_with(self, matches: Sequence[LogFile]) -> SessionFiles | None:
        wanted = {file.path for file in matches}
        return next((one for one in self.groups if any(file.path in wanted for file in one.files)), None)

    def _group_called(self, text: str) -> SessionFiles | None:
        """Some logs tell their session only inside."""
        return next((files for files in self.groups if files.id.lower() == text.lower()), None)

    def _read_or_say_why_not(self, files: SessionFiles) -> Session | None:
        try:
            return self._read(files)
        except NotReadable as refusal:
            talk(f"tracklog: left out, cannot read {refusal.path}: {refusal.why}")
            return None

    def _read(self, files: SessionFiles) -> Session:
        return read_session(files, self._kin(files), now=datetime.now(UTC), on_bytes=self._tell)

    def _kin(self, files: SessionFiles) -> Sequence[SessionFiles]:
        """The sessions that may share history with one."""
        if self._families is None:
            return family(files, self.groups)
        return self._families.get(files.id, ())

    def _tell(self, n_bytes: int) -> None:
        self._done += n_bytes


def _absolute(roots: Sequence[Path]) -> list[Path]:
    """Evidence must be found from any folder. What is not there is reported as it was called."""
    return [root.absolute() if os.path.lexists(root) else root for root in roots]


def n_bytes(files: SessionFiles) -> int:
    """How much there is to read of a session."""
    return sum(file.size for file in files.files)
