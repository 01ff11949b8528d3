"""Record in the index what happened to the logs (new, changed, moved, gone), before any of them is read.

Rules
  1. A log is never forgotten. One that is gone keeps what the archive has of it, also bytes that a killed process
     archived and did not commit; a log whose new bytes were not kept falls back to what it held before.
  2. The archive's files record the same, because without the index the archive must know which logs count.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tracklog.agents.registry import identified
from tracklog.agents.supported import support_for
from tracklog.archive import tables
from tracklog.archive.files import Missing, contents, describe_again, described
from tracklog.archive.locate import known_log, with_fallback
from tracklog.index.changes import Changes, OutputChanges, What
from tracklog.index.freshness import forget_counted
from tracklog.index.orphaned_archives import name_of
from tracklog.ledger.stored.tables import mark_unread
from tracklog.sessions.tables_write import Name, mark_unsettled
from tracklog.sources.files import NotReadable, chunks, is_the_same
from tracklog.sources.log_file import FileKind, LogFile
from tracklog.store import catalogue
from tracklog.store.database import Database
from tracklog.store.text import drop_texts
from tracklog.store.values import Archived, KnownFile


class Register:
    """The logs in the index, and what to do about each."""

    def __init__(self, database: Database, *, archives: bool, is_full: bool) -> None:
        self._database = database
        self._db = database.db
        self._archives = archives
        self._is_full = is_full
        self._folder: Path = database.home.archive
        rows = catalogue.all_files(self._db)
        self.known: dict[str, KnownFile] = {row.path: row for row in rows}  # by path, all that count
        self.archived: dict[int, Archived] = tables.archived(self._db)
        self.to_read: dict[str, KnownFile] = {}
        self.touched: set[str] = set()  # paths of logs whose session must be rebuilt
        self.grown: set[str] = set()  # paths of logs that only grew
        self.orphaned: set[Name] = set()  # sessions that lost a log
        self._outputs = OutputChanges()
        self.n_gone = 0
        self.lost: list[str] = []  # paths of logs that only the archive had, and has no more

    def write_down(self, changes: Changes) -> list[LogFile]:
        """Record in the index what happened to the logs; return all logs that count now."""
        with self._database.transaction() as db:
            n_before = db.total_changes
            if self._is_full or (self.archived and not self._folder.is_dir()):
                self._look_into_archive()
            self._outputs.moved = {str(file.path) for _, file in changes.moved}
            for row, file in changes.moved:
                self._move(row, file)
            for row in changes.back:
                row.state = "here"
                catalogue.change_file(self._db, row.id, state="here")
                self.touched.add(row.path)
            for row in changes.kept:
                self._lose(row)
            for row in changes.past:
                self._pass(row)
            for row, file, what in changes.changed:
                self._change(row, file, what)
            for file in changes.new:
                self._add(file)
            for row in self.known.values():
                if row.state == "kept" and self._is_full and row.problem is not None:
                    self._doubt(row)
                if row.state == "kept" and row.size < 0:  # not read yet, or not to its end
                    self._read(row, self.touched)
            for row in self._outputs.logs(self.known.values(), self.archived, self._folder):
                self._read_again(row)
            if self._archives:
                self._catch_up_with_archive()
            if self.to_read or db.total_changes != n_before:
                forget_counted(db)
            self._mark_sessions()
        listed = [file for _, file in changes.same]
        listed += [file for _, file, _ in changes.changed]
        listed += changes.new
        return self._all_files(listed)

    def _look_into_archive(self) -> None:
        """Find deleted archive files: logs still at their source are archived again, others are lost."""
        for row in list(self.known.values()):
            at = self.archived.get(row.id)
            if at is None or not at.stored_bytes or _is_there(self._folder / at.name):
                continue
            del self.archived[row.id]
            if row.state == "kept":
                self._pass(row)
                self.lost.append(row.path)

    def _mark_sessions(self) -> None:
        """Mark the sessions to rebuild, so that they are not lost if this process is stopped before."""
        rows = (row for path in self.touched if (row := self.known.get(path)) is not None)
        names = self.orphaned | {(row.agent, row.session) for row in rows if row.agent and row.session}
        related = {(agent, id) for agent, name in names for id in catalogue.kin_of(self._db, agent, name)}
        mark_unsettled(self._db, related)

    def _read(self, row: KnownFile, among: set[str]) -> None:
        self.to_read[row.path] = row
        among.add(row.path)

    def _doubt(self, row: KnownFile) -> None:
        """Read a log again that could not be read to its end: its archive file may be repaired by now."""
        row.size = catalogue.UNREAD
        catalogue.change_file(self._db, row.id, size=row.size)
        mark_unread(self._db, row.id)

    def _change(self, row: KnownFile, file: LogFile, what: What) -> None:
        if what == "touched":
            try:
                what = "rewritten" if self._is_other_than_archived(row, file) else what
            except NotReadable:  # it is looked at again the next time
                return
        if what == "touched":
            catalogue.stamp(self._db, row.id, (*file.stamp, file.device))
            return
        if what == "rewritten":
            self._start_anew(row)
        self._outputs.add(row)
        self._read(row, self.grown if what == "grown" and row.contents_bytes else self.touched)

    def _is_other_than_archived(self, row: KnownFile, file: LogFile) -> bool:
        """Whether a log of the same length was changed in its middle; compared only if its time changed."""
        at = self.archived.get(row.id)
        if at is None or not at.stored_bytes or (file.mtime_ns == row.mtime_ns and not self._is_full):
            return False
        try:
            return not is_the_same(chunks(file), contents(self._folder, at))
        except NotReadable as error:
            if error.path == file.path:
                raise
            return False

    def _move(self, row: KnownFile, file: LogFile) -> None:
        del self.known[row.path]
        self._outputs.move(row, file)
        row.path, row.root, row.state = str(file.path), str(file.root), "here"
        if file.agent is not None:  # else only its lines show the agent, and they are the same
            row.agent, row.kind, row.own_session = file.agent, str(file.kind), file.session
        where = {"path": row.path, "root": row.root, "kind": row.kind}
        own = {"agent": row.agent, "own_session": row.own_session}
        catalogue.change_file(self._db, row.id, **where, **own, state="here")
        self.known[row.path] = row
        self.touched.add(row.path)
        self._orphan(row)
        self._describe(row, {**where, "session": row.own_session})

    def _lose(self, row: KnownFile) -> None:
        """A log whose source is gone."""
        self._orphan(row)
        at = self._left_in_archive(row)
        if at is None:
            self._pass(row)
            return
        self.archived[row.id] = at
        row.state = "kept"
        if at.contents_bytes != row.contents_bytes:
            row.size = catalogue.UNREAD
            self._outputs.add(row)
        catalogue.change_file(self._db, row.id, state="kept", size=row.size)
        self._describe(row, {"state": "kept", "mtime_ns": row.mtime_ns})
        self.n_gone += 1
        self.touched.add(row.path)

    def _left_in_archive(self, row: KnownFile) -> Archived | None:
        """All that the archive has of a log, also bytes that a killed process did not commit to the index."""
        at = self.archived.get(row.id)
        name = at.name if at is not None else name_of(row)
        found = described(self._folder, name)
        if found is not None and found.archived.contents_bytes >= max(row.contents_bytes, 1):
            tables.put_archived(self._db, row.id, found.archived)
            return found.archived
        if at is not None and at.stored_bytes and at.contents_bytes >= max(row.contents_bytes, 1):
            return at
        before = tables.generation_before(self._db, row.id, row.generation)
        was_read = row.contents_bytes or row.size >= 0
        if was_read or before is None:
            return None
        row.generation, at = before
        catalogue.start_anew(self._db, row.id, generation=row.generation)
        row.size = catalogue.UNREAD
        return at

    def _pass(self, row: KnownFile) -> None:
        """Mark a log as past: another log holds its contents, or nothing of it is left."""
        self._orphan(row)
        self._outputs.add(row)
        row.state = "past"
        catalogue.change_file(self._db, row.id, state="past")
        drop_texts(self._db, row.id)
        self.known.pop(row.path, None)
        self._describe(row, {"state": "past"})

    def _describe(self, row: KnownFile, about: dict[str, Any]) -> None:
        at = self.archived.get(row.id)
        if at is None:
            return
        try:
            self.archived[row.id] = describe_again(self._folder, at, about=about)
        except Missing:
            del self.archived[row.id]
        else:
            tables.put_archived(self._db, row.id, self.archived[row.id])

    def _orphan(self, row: KnownFile) -> None:
        if row.session is not None and row.agent is not None:
            self.orphaned.add((row.agent, row.session))

    def _start_anew(self, row: KnownFile) -> None:
        self._describe(row, {"state": "past"})
        self.archived.pop(row.id, None)
        row.generation += 1
        row.contents_bytes = row.position = row.lines = 0
        row.pieces_read = row.pieces_unknown = row.pieces_broken = row.recovered = 0
        row.head = row.tail = row.memory = row.told = None
        drop_texts(self._db, row.id)
        catalogue.start_anew(self._db, row.id, generation=row.generation)

    def _read_again(self, row: KnownFile) -> None:
        """A log of the same bytes, of whose results other texts are found now; until then it keeps those it has."""
        row.size = catalogue.UNREAD
        row.contents_bytes = row.position = row.lines = 0
        row.pieces_read = row.pieces_unknown = row.pieces_broken = row.recovered = 0
        row.head = row.tail = row.memory = None
        catalogue.start_anew(self._db, row.id, generation=row.generation)
        self.to_read[row.path] = row

    def _add(self, file: LogFile) -> None:
        values: dict[str, Any] = {
            "path": str(file.path),
            "root": str(file.root),
            "agent": file.agent,
            "kind": str(file.kind),
            "own_session": file.session,
            "device": file.device,
            "inode": file.inode,
            "mtime_ns": file.mtime_ns,
            "ctime_ns": file.ctime_ns,
            "generation": catalogue.last_generation(self._db, str(file.path)) + 1,
        }
        number = catalogue.add_file(self._db, values)
        row = KnownFile(**values, id=number, session=None, state="here", size=catalogue.UNREAD)
        self.known[row.path] = row
        self._outputs.add(row)
        self._read(row, self.touched)

    def _catch_up_with_archive(self) -> None:
        """Logs that were read while nothing was archived."""
        for path, row in self.known.items():
            at = self.archived.get(row.id)
            is_behind = at is None or at.contents_bytes < row.contents_bytes
            is_behind |= self._is_full and at is not None and not at.stored_bytes  # pruned, and wanted again
            if row.state == "here" and path not in self.to_read and is_behind:
                self._read(row, self.grown)

    def _all_files(self, listed: Iterable[LogFile]) -> list[LogFile]:
        """Every log that counts: as it was found, as the index knows it, or as the archive keeps it."""
        files = {str(file.path): self._told_apart(file) for file in listed}
        for path, row in self.known.items():
            at = self.archived.get(row.id)
            if path not in files or row.state == "kept":
                files[path] = known_log(row, at, self._folder)
            else:
                files[path] = with_fallback(files[path], row, at, self._folder)
        return list(files.values())

    def _told_apart(self, file: LogFile) -> LogFile:
        """The log with its agent and session, from the index or from its own lines."""
        row = self.known[str(file.path)]
        if file.agent is not None:
            return file
        if row.agent is None and str(file.path) in self.to_read:
            told = identified(file)
            row.agent, row.kind, row.own_session = told.agent, str(told.kind), told.session
            return told
        return file._replace(
            agent=support_for(row.agent).name, kind=FileKind(row.kind), session=row.own_session
        )


def _is_there(path: Path) -> bool:
    """Whether the archive has a file; one that cannot be checked does not count as lost."""
    try:
        return path.stat().st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
