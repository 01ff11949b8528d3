"""Whether anything changed at all: asked before every answer, so nothing is listed and nothing is read.

A folder in which nothing was made, renamed or deleted keeps its time, and a log in which nothing was written keeps its
own. So one look at each known folder and log tells. A log that could not be read is tried again here, as long as it takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.sources.found import LogFile, Root
from tracklog.store.settings import setting
from tracklog.store.stamps import OUT_OF_REACH, folders_of, stamps

if TYPE_CHECKING:
    import sqlite3

    from tracklog.pipeline.session_life import SessionLives
    from tracklog.pipeline.stored_lives import Changed
    from tracklog.store.database import Database

SPOOL_SEEN = "spool"  # the setting that says how far the spool was read (spooled.py)
_NOT_THERE = -1
_TOO_FRESH_NS = 100_000_000  # within the same tick of the clock, a folder may change and keep its time
_UNCERTAIN = -2


def root_key(root: Root) -> str:
    """How a root is called in the index."""
    return f"{root.agent or ''}:{root.part or ''}:{root.path}"


def is_still(db: sqlite3.Connection, roots: Sequence[Root], *, spool: Path | None = None) -> bool:
    """Whether the index knows everything that stands in these roots, and all that our hook was told."""
    if spool is not None and not _is_spool_still(db, spool):
        return False
    listed = folders_of(db, [root_key(root) for root in roots])
    if len(listed) < len({root_key(root) for root in roots}):
        return False
    folders = {path: at for paths in listed.values() for path, at in paths.items()}
    return all(_time_of(path) == at for path, at in folders.items()) and _are_still(db, folders)


def _is_spool_still(db: sqlite3.Connection, spool: Path) -> bool:
    seen = setting(db, SPOOL_SEEN) or ""
    if not seen and not os.path.isdir(spool):
        return True
    from tracklog.sources.spool import is_still as is_as_seen  # whoever has no hooks pays for no reader

    return is_as_seen(spool, seen)


def _are_still(db: sqlite3.Connection, folders: Mapping[str, int]) -> bool:
    for path, size, mtime_ns, ctime_ns, inode in stamps(db):
        if path.rpartition("/")[0] not in folders:
            continue  # of another root
        try:
            status = os.lstat(path)
        except OSError:
            return False
        if ctime_ns == OUT_OF_REACH:
            if _can_be_opened(path):
                return False
            continue
        if (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) != (
            size,
            mtime_ns,
            ctime_ns,
            inode,
        ):
            return False
    return True


def _can_be_opened(path: str) -> bool:
    from tracklog.sources.files import can_be_opened  # seldom needed

    return can_be_opened(Path(path))


def are_as_listed(folders: Mapping[str, int], files: Iterable[LogFile]) -> bool:
    """Whether folders have the times that were noted, and files are those that were listed."""
    return all(_time_of(path) == at for path, at in folders.items()) and all(map(_is_as_listed, files))


def _is_as_listed(file: LogFile) -> bool:
    try:
        status = os.lstat(file.path)
    except OSError:
        return False
    seen = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return seen == (file.size, file.mtime_ns, file.ctime_ns, file.inode)


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return _NOT_THERE


def settled_times(folders: Mapping[str, int], began_ns: int) -> dict[str, int]:
    """The times of folders as they can be relied upon: what changed just now is looked at again."""
    return {path: at if at < began_ns - _TOO_FRESH_NS else _UNCERTAIN for path, at in folders.items()}


def now_ns() -> int:
    """The clock of the file system, as near as we know it."""
    return time.time_ns()


class ProcessLook:
    """One look at registries and processes for all parts of an answer, taken when the first of them needs it."""

    def __init__(self) -> None:
        self._lives: SessionLives | None = None
        self._changed: Changed | None = None

    def lives(self, database: Database) -> SessionLives:
        """The look itself, for the homes that this index knows."""
        from tracklog.pipeline.stored_lives import lives_of

        self._lives = self._lives or lives_of(database)
        return self._lives

    def changed(self, database: Database) -> Changed:
        """What of the index does not hold at the moment of the look."""
        from tracklog.pipeline.stored_lives import changed_lives

        if self._changed is None:
            self._changed = changed_lives(database, self.lives(database))
        return self._changed

    def compare_again(self) -> None:
        """Sessions were written to the index: `changed` compares the same look with the new rows."""
        self._changed = None

    def repeat(self) -> None:
        """Time has passed, or the index knows other homes: the next question takes a new look."""
        self._lives = self._changed = None
