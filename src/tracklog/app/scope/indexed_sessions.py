"""The sessions that an answer from the index is about.

Rules
  1. What the index knows of a session holds if all its logs are in the scope, and all those of the sessions that share
     history with it. Of the others the logs in the scope are read, as if there were no more.
  2. The readers are loaded only when a session must be read.
  3. The answer is the one that reading the logs gives, plus the sessions that only the archive has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.index.open import Index
from tracklog.app.scope.filters import Filters
from tracklog.app.talk import Talk
from tracklog.errors import UserError
from tracklog.model.session_rules import is_about_a_file, is_listed
from tracklog.sessions.tables_lists import KnownSession, known_sessions, unreadable_logs
from tracklog.sessions.tables_write import Name, session_names
from tracklog.sources.log_file import FileKind
from tracklog.store.catalogue import all_files, kin_of
from tracklog.store.database import Database
from tracklog.store.scope import Scope

if TYPE_CHECKING:
    from tracklog.index.freshness import ProcessLook
    from tracklog.liveness.sessions import SessionLives
    from tracklog.model.session import Session
    from tracklog.model.states import LiveState
    from tracklog.reading.family import Kinship
    from tracklog.reading.session_files import SessionFiles
    from tracklog.reading.session_reader import SpoolReader
    from tracklog.sources.log_file import LogFile

# Lazy imports: readers take long to load, and most sessions are rows in the index.


class ScopedSessions:
    """The sessions of a scope: those that the index can answer for, and those that must be read."""

    def __init__(
        self, database: Database, scope: Scope, *, agent: str | None = None, look: ProcessLook | None = None
    ) -> None:
        """With a look at the processes, sessions whose process came or went since they were put together are read again."""
        self.database = database
        whole, parted = _told_apart(database, scope)
        self.known = [one for one in known_sessions(database.db, whole) if agent in (None, one.agent)]
        self.apart: list[SessionFiles] = []
        self._kin: dict[Name, Kinship] = {}
        self._spool: SpoolReader | None = None
        self._lives: SessionLives | None = None
        self.states: Mapping[Name, LiveState] = {}  # that are other than the index says
        parted = {name for name in parted if agent in (None, name[0])}
        if look is not None:
            parted |= self._compare(look)
        if parted:
            self._take(scope, parted)

    def _compare(self, look: ProcessLook) -> set[Name]:
        """Asks what sessions do now; those whose verdicts no longer hold."""
        self._lives = look.lives(self.database)
        changed = look.changed(self.database)
        self.states = changed.states
        stale = {(one.agent, one.id) for one in self.known} & changed.to_settle
        self.known = [one for one in self.known if (one.agent, one.id) not in stale]
        return stale

    def _take(self, scope: Scope, names: set[Name]) -> None:
        from tracklog.index.session_rows import known_heads, logs_of
        from tracklog.reading.family import families
        from tracklog.reading.session_files import group

        logs = [log for log in logs_of(self.database, names) if scope.holds(str(log.path))]
        self.apart = group(logs, head_of=known_heads(self.database))
        self._kin = {(agent, id): kin for (agent, id), kin in families(self.apart).items()}

    def __iter__(self) -> Iterator[KnownSession | SessionFiles]:
        """All of them, the last changed first."""
        both: list[KnownSession | SessionFiles] = [*self.known, *self.apart]
        return iter(sorted(both, key=lambda one: (-one.changed_ns, one.id, one.agent)))

    def read(self, files: SessionFiles) -> Session:
        """Read a session that the index cannot answer for."""
        from tracklog.reading.session_reader import SpoolReader, read_session

        self._spool = self._spool or SpoolReader(self.database.home.path)
        kin = self._kin.get((files.agent, files.id))
        return read_session(files, kin, lives=self._lives, now=datetime.now(UTC), spool=self._spool)

    @property
    def ids(self) -> set[str]:
        """The ids of all of them."""
        return {one.id for one in self.known} | {one.id for one in self.apart}


def _told_apart(database: Database, scope: Scope) -> tuple[set[Name] | None, set[Name]]:
    """The sessions that the index can answer for (None: all), and those that it cannot."""
    db = database.db
    if scope.is_everything(db):
        return None, set()
    whole, parted = scope.names(db)
    meant = whole | parted
    others = session_names(db) - whole
    seen: set[Name] = set()
    for agent, session in sorted(whole if len(whole) < len(others) else others):
        if (agent, session) not in seen:
            related = {(agent, id) for id in kin_of(db, agent, session)}
            seen |= related
            if not related <= whole:
                parted |= related & meant
    return whole - parted, parted


class ReadSession(NamedTuple):
    """A session read from its logs, as the index could not answer for it."""

    session: Session
    is_only_here: bool

    @property
    def last_at(self) -> str | None:
        """When it was last alive."""
        return self.session.last_at


class IndexedSessions:
    """The sessions of an index that fit the filters."""

    def __init__(self, index: Index, *, agent: str | None, filters: Filters) -> None:
        self.database = index.database
        self._filters = filters
        self._agent = agent
        self._scope = index.scope
        self._scoped = ScopedSessions(index.database, index.scope, agent=agent, look=index.look)
        self.ids = self._scoped.ids  # of all sessions in the scope
        self.n_not_understood = sum(one.not_understood for one in self._scoped.known)

    @property
    def is_empty(self) -> bool:
        """Whether the index knows nothing of the scope, not even sessions that do not fit."""
        return not self._scoped.known and not self._scoped.apart

    @property
    def apart(self) -> list[SessionFiles]:
        """The logs of the sessions that must be read."""
        return self._scoped.apart

    def narrow_to(self, text: str) -> bool:
        """Leave out all but the one session that a person means by its id or the start of that.

        False: the index cannot tell which one that is, or not all that it holds; the logs must be asked.
        """
        from tracklog.agents.discovery import resolve_session

        if text == "@last" and self._filters.asks:  # the last one that fits
            return False
        names = dict(self._names())
        try:
            meant = {names[file] for file in resolve_session(text, names) if file in names}
        except UserError:  # it is the start of several ids
            return False
        found = [one for one in self._scoped.known if (one.agent, one.id) in meant]
        if not len(meant) == len(found) == 1 or not found[0].is_listed or not self._filters.fits(found[0]):
            return False
        self._scoped.known, self._scoped.apart = found, []
        self.n_not_understood = found[0].not_understood
        return True

    def _names(self) -> Iterator[tuple[LogFile, Name]]:
        from tracklog.archive.locate import known_log

        for row in all_files(self.database.db):
            if row.agent and row.session and self._agent in (None, row.agent) and self._scope.holds(row.path):
                log = known_log(row, None, self.database.home.archive)
                if (
                    log.kind is FileKind.SUBAGENT
                ):  # one that is beside the transcripts says only inside whose it is
                    log = log._replace(session=log.session or row.session)
                yield log, (row.agent, row.session)

    def state_now(self, one: KnownSession) -> LiveState | None:
        """What a session does now, if that is not what the index says."""
        return self._scoped.states.get((one.agent, one.id))

    def say_what_is_not_readable(self, talk: Talk) -> None:
        """Report logs that could not be read to their end, as reading them would."""
        for path, what in dict(unreadable_logs(self.database.db, self._scoped.known)).items():
            talk.say(f"tracklog: {path}: {what}")

    def __iter__(self) -> Iterator[KnownSession | ReadSession]:
        """Those that fit, the last changed first; what the index does not know is read."""
        for one in self._scoped:
            if isinstance(one, KnownSession):
                if one.is_listed and self._filters.fits(one):
                    yield one
            elif session := self._read(one):
                yield ReadSession(session, one.is_only_here)

    def _read(self, files: SessionFiles) -> Session | None:

        session = self._scoped.read(files)
        self.n_not_understood += sum(not is_about_a_file(problem) for problem in session.problems)
        return session if is_listed(session) and self._filters.fits(session) else None
