"""Bring the index up to date with the logs: find changes, record them, read the logs.

Rules
  1. If nothing changed, no folder is listed and no log is opened (index/freshness.py).
  2. What a log is and to which session it belongs is recorded before the log is read: an interrupted sync goes on
     from there.
  3. A session whose logs only grew is not rebuilt now, but when a caller asks for it (index/session_rows.py): the
     cost of a line does not depend on the lines before it.
  4. The payloads of our own hook (index/refresh.py) are checked each time; their files are tidied when anything
     was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from tracklog.agents.base import Head
from tracklog.agents.discovery import find_all
from tracklog.agents.headers import head_of, read_head
from tracklog.index.changes import changes_in
from tracklog.index.freshness import is_still
from tracklog.index.ingest import OnRead, Plan, Unit, ingest
from tracklog.index.orphaned_archives import take_over
from tracklog.index.record_changes import Register
from tracklog.index.session_rows import take_note, tidy
from tracklog.index.stale_states import lives_of
from tracklog.reading.family import kin_keys
from tracklog.reading.session_files import SessionFiles, group
from tracklog.reading.session_reader import SpoolReader
from tracklog.sessions.tables_write import Name, drop_session, mark_only_here, mark_unsettled, session_names
from tracklog.sources.folders import noted_folders
from tracklog.sources.log_file import FileKind, LogFile, Root, Skipped, now_ns, settled_times
from tracklog.sources.tail.identity import is_gone
from tracklog.store import catalogue
from tracklog.store.database import Database
from tracklog.store.file_stamps import root_key
from tracklog.store.values import KnownFile

OnPlan = Callable[[int], None]  # how many bytes are to be read
_NOT_KEPT = frozenset({FileKind.REGISTRY})  # belongs to a running process: useless once that has ended
_HEAD_LINES = 100  # after so many lines the facts of a head no longer change
_FILES_IN_A_UNIT = 50


@dataclass
class Synced:
    """What a sync found and did."""

    n_files: int = 0  # that were read, wholly or in part
    n_bytes: int = 0
    n_sessions: int = 0  # that were put together
    n_gone: int = 0  # logs that only the archive has now
    skipped: list[Skipped] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_nothing(self) -> bool:
        """Whether everything was as it had been."""
        return not (self.n_files or self.n_gone)


def sync(
    database: Database,
    roots: Sequence[Root],
    *,
    with_archive: bool = True,
    is_full: bool = False,
    on_plan: OnPlan | None = None,
    on_read: OnRead | None = None,
) -> Synced:
    """Read new data in some roots into the index."""
    take_note(database)
    if not is_full and is_still(database.db, roots):
        return Synced()
    return _Sync(database, roots, with_archive=with_archive, is_full=is_full).run(on_plan, on_read)


class _Sync:
    def __init__(
        self, database: Database, roots: Sequence[Root], *, with_archive: bool, is_full: bool
    ) -> None:
        self._database = database
        self._roots = roots
        self._is_full = is_full
        self._archive: Path | None = database.home.archive if with_archive else None
        self._register = Register(database, archives=with_archive, is_full=is_full)
        self._synced = Synced()

    def run(self, on_plan: OnPlan | None, on_read: OnRead | None) -> Synced:
        began = now_ns()
        found, folders = self._find()
        register = self._register
        searched = _below([root.path for root in self._roots], list(register.known.values()))
        self._take_over_leftovers(found, searched)
        kin_of = partial(catalogue.kin_of, self._database.db)
        files = register.write_down(changes_in(found, searched, is_full=self._is_full, kin_of=kin_of))
        plan = self._plan(files)
        if on_plan is not None:
            on_plan(plan.size)
        self._synced.n_files, self._synced.n_gone = len(register.to_read), register.n_gone
        self._synced.n_bytes = sum(self._n_new(file) for file in files)
        self._synced.problems = ingest(plan, self._database, on_read=on_read)
        lost = "was kept in the archive alone, and is there no more"
        self._synced.problems += [f"{path}: {lost}" for path in register.lost]
        with self._database.transaction() as db:
            mark_only_here(db)
            for key, times in folders.items():
                catalogue.put_folders(db, key, settled_times(times, began))
        tidy(self._database, now=datetime.now(UTC))
        return self._synced

    def _take_over_leftovers(self, found: list[LogFile], known: list[KnownFile]) -> None:
        here, archived = {str(file.path) for file in found}, self._register.archived
        gone = [row for row in known if row.state == "here" and row.path not in here and is_gone(row.path)]
        if gone:
            with self._database.transaction():
                for row in gone:
                    if (at := take_over(self._database, row, archived.get(row.id))) is not None:
                        archived[row.id] = at

    def _n_new(self, file: LogFile) -> int:
        row = self._register.to_read.get(str(file.path))
        return 0 if row is None else max(file.size - row.contents_bytes, 0)

    def _find(self) -> tuple[list[LogFile], dict[str, dict[str, int]]]:
        folders: dict[str, dict[str, int]] = {}
        found: list[LogFile] = []
        with noted_folders() as noted:
            for one in find_all(self._roots):
                if isinstance(one, Skipped):
                    self._synced.skipped.append(one)
                elif one.kind not in _NOT_KEPT:
                    found.append(one)
        for root in self._roots:
            folders[root_key(root)] = {
                path: at for path, at in noted.items() if _is_below(path, str(root.path))
            }
        return found, folders

    def _plan(self, files: list[LogFile]) -> Plan:
        sessions = group(files, head_of=self._head_of)
        to_settle = self._write_down_sessions(files, sessions)
        units = self._units(files, sessions, to_settle)
        return Plan(
            units=units,
            known=self._register.to_read,
            archived=self._register.archived,
            numbers={path: row.id for path, row in self._register.known.items()},
            archive=self._archive,
            archive_to_read=self._database.home.archive,
            spool=SpoolReader(self._database.home.path),
            lives=lives_of(self._database),
        )

    def _head_of(self, file: LogFile) -> Head:
        row = self._register.known.get(str(file.path))
        if row is None:
            return head_of(file)
        is_fixed = str(file.path) not in self._register.to_read or row.lines >= _HEAD_LINES
        if row.told is not None and is_fixed:
            return msgspec.msgpack.decode(row.told, type=Head)
        head = read_head(file)
        if head is None or (file.stored is not None and row.told is not None):  # a copy may be damaged
            return msgspec.msgpack.decode(row.told, type=Head) if row.told is not None else Head()
        row.told = msgspec.msgpack.encode(head)
        catalogue.change_file(self._database.db, row.id, told=row.told)
        return head

    def _write_down_sessions(self, files: list[LogFile], sessions: list[SessionFiles]) -> set[Name]:
        """Record the session of each log and which sessions are related; return the sessions to rebuild."""
        touched: set[Name] = set(self._register.orphaned)
        grown: set[Name] = set()
        with self._database.transaction() as db:
            owner = {str(file.path): one for one in sessions for file in one.files}
            for file in files:
                path = str(file.path)
                row, session = self._register.known[path], owner.get(path)
                if session is not None and path in self._register.touched:
                    touched.add((session.agent, session.id))
                elif session is not None and path in self._register.grown:
                    grown.add((session.agent, session.id))
                touched |= self._assign(row, file, session)
            there: dict[Name, SessionFiles] = {(one.agent, one.id): one for one in sessions}
            for agent, session_id in (*touched, *grown):
                one = there.get((agent, session_id))
                if one is not None:
                    before = catalogue.kin_of(db, agent, session_id)
                    catalogue.put_kin(db, agent, session_id, kin_keys(one))
                    related = before | catalogue.kin_of(db, agent, session_id)
                    (touched if (agent, session_id) in touched else grown).update(
                        (agent, id) for id in related
                    )
                else:
                    related = catalogue.kin_of(db, agent, session_id)
                    catalogue.put_kin(db, agent, session_id, [])
                    touched.update((agent, id) for id in related)
            for name in session_names(db) - there.keys():
                drop_session(db, *name)
            mark_unsettled(db, (name for name in touched | grown if name in there))
        return {name for name in touched if name in there}

    def _assign(self, row: KnownFile, file: LogFile, session: SessionFiles | None) -> set[Name]:
        id = session.id if session is not None else None
        agent = session.agent if session is not None else file.agent
        changed: set[Name] = set()
        if (row.session, row.agent, row.kind, row.own_session) != (id, agent, str(file.kind), file.session):
            if row.session != id:
                changed = {(a, s) for a, s in ((row.agent, row.session), (agent, id)) if a and s}
            row.session, row.agent, row.kind, row.own_session = id, agent, str(file.kind), file.session
            catalogue.change_file(
                self._database.db, row.id, session=id, agent=agent, kind=row.kind, own_session=row.own_session
            )
        return changed

    def _units(self, files: list[LogFile], sessions: list[SessionFiles], to_settle: set[Name]) -> list[Unit]:
        units: list[Unit] = []
        done: set[Name] = set()
        there = {(one.agent, one.id): one for one in sessions}
        covered: set[str] = set()
        for one in sessions:  # the newest first
            name = (one.agent, one.id)
            if name not in to_settle or name in done:
                continue
            related = catalogue.kin_of(self._database.db, *name)
            kin = [there[one.agent, id] for id in sorted(related) if (one.agent, id) in there]
            ours = [other for other in kin if (other.agent, other.id) in to_settle]
            done |= {(other.agent, other.id) for other in ours}
            covered |= {str(file.path) for other in ours for file in other.files}
            size = sum(file.size for other in ours for file in other.files)
            units.append(Unit(sessions=ours, kin=kin, size=size))
        self._synced.n_sessions = len(done)
        rest = [
            file
            for file in files
            if str(file.path) in self._register.to_read and str(file.path) not in covered
        ]
        rest.sort(key=lambda file: -file.mtime_ns)
        for n in range(0, len(rest), _FILES_IN_A_UNIT):
            some = rest[n : n + _FILES_IN_A_UNIT]
            size = sum(max(file.size - self._register.to_read[str(file.path)].position, 0) for file in some)
            units.append(Unit(files=some, size=size))
        return units


def _below(roots: Sequence[Path], known: Sequence[KnownFile]) -> list[KnownFile]:
    return [row for row in known if any(_is_below(row.path, str(root)) for root in roots)]


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
