"""What the index knows of the archive: which file of it holds which log, and where its frames begin.

Rules of this room
  1. A log that was pruned keeps its row, with 0 stored bytes: it is not archived again until it grows, or until
     everything is looked at anew (`index --full`).
  2. Where frames are written anew, those that stood behind their beginning are no more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tracklog.store.surrogates import as_text, storable
from tracklog.store.values import Archived, Frame, State

_SHOWN = (
    "select a.file, a.generation, f.path, f.root, f.agent, f.kind, f.session, f.state, f.mtime_ns, "
    "a.is_cold, f.generation = a.generation, a.name, a.contents_bytes, a.stored_bytes, f.contents_bytes "
    "from archives a join log_files f on f.id = a.file"
)


class ArchivedLog(NamedTuple):
    """A log of which the archive has something, or had before it was pruned."""

    file: int
    generation: int
    path: str
    root: str
    agent: str | None
    kind: str
    session: str | None
    state: State
    mtime_ns: int
    is_cold: bool
    is_current: bool  # False: what it held before it was rewritten
    archived: Archived  # without frames
    read_bytes: int  # how much of the log the index has read

    @property
    def is_pruned(self) -> bool:
        """Whether the archive has nothing of it any more; even an empty log has a line about itself."""
        return not self.archived.stored_bytes

    @property
    def is_only_here(self) -> bool:
        """Whether no log that stands at its source is known to hold these bytes."""
        return self.state != "here" or not self.is_current


def archived(db: sqlite3.Connection) -> dict[int, Archived]:
    """How far each log is in the archive, as it stands now: without its past generations, and without frames."""
    rows = db.execute(
        "select a.file, a.name, a.contents_bytes, a.stored_bytes from archives a "
        "join log_files f on f.id = a.file and f.generation = a.generation"
    )
    return {file: Archived(name, contents, stored) for file, name, contents, stored in rows}


def archived_rows(
    db: sqlite3.Connection, *, files: Iterable[int] | None = None, with_pruned: bool = False
) -> list[ArchivedLog]:
    """Every log of the archive, or some by their numbers, with its past generations; the oldest first."""
    wanted = None if files is None else set(files)
    found = (_row(row) for row in db.execute(f"{_SHOWN} order by f.mtime_ns, a.file, a.generation"))
    return [
        log for log in found if (wanted is None or log.file in wanted) and (with_pruned or not log.is_pruned)
    ]


def put_archived(db: sqlite3.Connection, file: int, at: Archived) -> None:
    """How far a log is in the archive now; its frames are those that are new."""
    (generation,) = db.execute("select generation from log_files where id = ?", (file,)).fetchone()
    put_generation(db, file, generation, at)


def put_generation(db: sqlite3.Connection, file: int, generation: int, at: Archived) -> None:
    """The same for any generation of a log."""
    db.execute(
        "insert into archives (file, generation, name, contents_bytes, stored_bytes) values (?, ?, ?, ?, ?) "
        "on conflict do update set name = excluded.name, contents_bytes = excluded.contents_bytes, "
        "stored_bytes = excluded.stored_bytes, is_cold = 0",
        (file, generation, at.name, at.contents_bytes, at.stored_bytes),
    )
    _put_frames(db, file, generation, at.frames)


def generation_before(db: sqlite3.Connection, file: int, generation: int) -> tuple[int, Archived] | None:
    """The newest of the earlier generations of a log of which the archive has something."""
    row = db.execute(
        "select generation, name, contents_bytes, stored_bytes from archives "
        "where file = ? and generation < ? and stored_bytes > 0 order by generation desc limit 1",
        (file, generation),
    ).fetchone()
    return None if row is None else (row[0], Archived(*row[1:]))


def put_recompressed(db: sqlite3.Connection, file: int, generation: int, at: Archived) -> None:
    """A log that was compressed anew, with all its frames."""
    db.execute(
        "update archives set contents_bytes = ?, stored_bytes = ?, is_cold = 1 where file = ? and generation = ?",
        (at.contents_bytes, at.stored_bytes, file, generation),
    )
    db.execute("delete from frames where file = ? and generation = ?", (file, generation))
    _put_frames(db, file, generation, at.frames)


def mark_cold(db: sqlite3.Connection, file: int, generation: int) -> None:
    """A log that cannot be stored in less."""
    db.execute("update archives set is_cold = 1 where file = ? and generation = ?", (file, generation))


def mark_pruned(db: sqlite3.Connection, file: int, generation: int) -> None:
    """The archive has nothing of a log any more."""
    db.execute(
        "update archives set stored_bytes = 0, is_cold = 0 where file = ? and generation = ?",
        (file, generation),
    )
    db.execute("delete from frames where file = ? and generation = ?", (file, generation))


def names_in_use(db: sqlite3.Connection) -> set[str]:
    """The files of the archive that the index knows."""
    return {name for (name,) in db.execute("select name from archives where stored_bytes > 0")}


def has_logs(db: sqlite3.Connection, agent: str, session: str) -> bool:
    """Whether a session has a log that counts."""
    asked = "select 1 from log_files where agent = ? and session = ? and state <> 'past' limit 1"
    return db.execute(asked, (agent, storable(session))).fetchone() is not None


def folders_of(db: sqlite3.Connection, agent: str) -> list[str]:
    """The folders that an agent's sessions ran in."""
    rows = db.execute("select distinct cwd from session_rows where agent = ? and cwd is not null", (agent,))
    return [as_text(cwd) for (cwd,) in rows]


def frames_of(db: sqlite3.Connection, file: int, generation: int) -> list[Frame]:
    """Where the parts of a log begin in its file of the archive, in order."""
    rows = db.execute(
        "select contents_offset, stored_offset from frames where file = ? and generation = ? order by 1",
        (file, generation),
    )
    return [Frame(contents, stored) for contents, stored in rows]


def _put_frames(db: sqlite3.Connection, file: int, generation: int, frames: Sequence[Frame]) -> None:
    if not frames:
        return
    db.execute(
        "delete from frames where file = ? and generation = ? and contents_offset >= ?",
        (file, generation, frames[0].contents_offset),
    )
    db.executemany(
        "insert into frames (file, generation, contents_offset, stored_offset) values (?, ?, ?, ?)",
        [(file, generation, frame.contents_offset, frame.stored_offset) for frame in frames],
    )


def _row(row: Sequence[Any]) -> ArchivedLog:
    *described, is_cold, is_current, name, contents_bytes, stored_bytes, read_bytes = map(as_text, row)
    at = Archived(name, contents_bytes, stored_bytes)
    return ArchivedLog._make([*described, bool(is_cold), bool(is_current), at, read_bytes])
