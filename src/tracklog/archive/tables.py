"""Tables of the archive: which of its files holds which log, and where its frames begin.

Rules
  1. A log that was pruned keeps its row, with 0 stored bytes: it is not archived again until it grows, or until
     everything is looked at again (`index --full`).
  2. New frames of a log replace all known ones from their first offset on.
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
    """A log that the archive holds in part or whole, or held before it was pruned."""

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
        """Whether the archive no longer holds any of it; even an empty log has a frame of facts."""
        return not self.archived.stored_bytes

    @property
    def is_only_here(self) -> bool:
        """Whether these bytes are known to exist only in the archive."""
        return self.state != "here" or not self.is_current


def archived(db: sqlite3.Connection) -> dict[int, Archived]:
    """How much of each log's current generation the archive has, without frames."""
    rows = db.execute(
        "select a.file, a.name, a.contents_bytes, a.stored_bytes from archives a "
        "join log_files f on f.id = a.file and f.generation = a.generation"
    )
    return {file: Archived(name, contents, stored) for file, name, contents, stored in rows}


def archived_rows(
    db: sqlite3.Connection, *, files: Iterable[int] | None = None, with_pruned: bool = False
) -> list[ArchivedLog]:
    """Every log of the archive, or those with these numbers, with past generations; the oldest first."""
    wanted = None if files is None else set(files)
    found = (_row(row) for row in db.execute(f"{_SHOWN} order by f.mtime_ns, a.file, a.generation"))
    return [
        log for log in found if (wanted is None or log.file in wanted) and (with_pruned or not log.is_pruned)
    ]


def put_archived(db: sqlite3.Connection, file: int, at: Archived) -> None:
    """Records how much of a log the archive has now; `at.frames` are the new ones."""
    (generation,) = db.execute("select generation from log_files where id = ?", (file,)).fetchone()
    put_generation(db, file, generation, at)


def put_generation(db: sqlite3.Connection, file: int, generation: int, at: Archived) -> None:
    """Records how much of a generation of a log the archive has."""
    db.execute(
        "insert into archives (file, generation, name, contents_bytes, stored_bytes) values (?, ?, ?, ?, ?) "
        "on conflict do update set name = excluded.name, contents_bytes = excluded.contents_bytes, "
        "stored_bytes = excluded.stored_bytes, is_cold = 0",
        (file, generation, at.name, at.contents_bytes, at.stored_bytes),
    )
    _put_frames(db, file, generation, at.frames)


def generation_before(db: sqlite3.Connection, file: int, generation: int) -> tuple[int, Archived] | None:
    """The newest earlier generation of a log that the archive holds."""
    row = db.execute(
        "select generation, name, contents_bytes, stored_bytes from archives "
        "where file = ? and generation < ? and stored_bytes > 0 order by generation desc limit 1",
        (file, generation),
    ).fetchone()
    return None if row is None else (row[0], Archived(*row[1:]))


def put_recompressed(db: sqlite3.Connection, file: int, generation: int, at: Archived) -> None:
    """Records that a log was recompressed, with all its frames."""
    db.execute(
        "update archives set contents_bytes = ?, stored_bytes = ?, is_cold = 1 where file = ? and generation = ?",
        (at.contents_bytes, at.stored_bytes, file, generation),
    )
    db.execute("delete from frames where file = ? and generation = ?", (file, generation))
    _put_frames(db, file, generation, at.frames)


def mark_cold(db: sqlite3.Connection, file: int, generation: int) -> None:
    """Records that recompressing does not make a log smaller."""
    db.execute("update archives set is_cold = 1 where file = ? and generation = ?", (file, generation))


def mark_pruned(db: sqlite3.Connection, file: int, generation: int) -> None:
    """Records that the archive no longer holds a log."""
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
    """The frames of a log in its file of the archive, in order."""
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
