"""Cheap check whether any known file or folder changed (stat only), done before every answer.

A folder keeps its time as long as nothing in it is made, renamed or deleted, and so does a log to which nothing is
written. So one `stat` of each known folder and log is enough. A log that could not be read is tried again here,
until it can be read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.sources.log_file import FileStamp, Root, folder_time
from tracklog.store.database import put_setting, setting
from tracklog.store.file_stamps import OUT_OF_REACH, folders_of, root_key, stamps
from tracklog.version import __version__

if TYPE_CHECKING:
    import sqlite3

    from tracklog.index.stale_states import StaleLives
    from tracklog.liveness.sessions import SessionLives
    from tracklog.store.database import Database

# Lazy imports: loaded before every answer, so it loads little itself.


SPOOL_SEEN = "spool"  # the setting that says how far the spool was read (index/session_rows.py)
_COUNTED = "counted"  # the setting that says with what ledger and status line were made


def is_still(db: sqlite3.Connection, roots: Sequence[Root], *, spool: Path | None = None) -> bool:
    """Whether the index is up to date with the files in these roots, and with the spool of our hook."""
    if spool is not None and not _is_spool_still(db, spool):
        return False
    listed = folders_of(db, [root_key(root) for root in roots])
    if len(listed) < len({root_key(root) for root in roots}):
        return False
    folders = {path: at for paths in listed.values() for path, at in paths.items()}
    return all(folder_time(path) == at for path, at in folders.items()) and _are_still(db, folders)


def is_counted(database: Database) -> bool:
    """Cheap check whether ledger and status line are as the logs that the index knows."""
    is_same = setting(database.db, _COUNTED) == counting_inputs(database)
    return is_same and os.path.exists(database.home.statusline)


def note_counted(database: Database, counted_with: str) -> None:
    """Record that ledger and status line are up to date. The caller must be the index writer."""
    with database.transaction() as db:
        put_setting(db, _COUNTED, counted_with)


def forget_counted(db: sqlite3.Connection) -> None:
    """Record that ledger and status line are stale, in the transaction that changes the list of logs."""
    put_setting(db, _COUNTED, "")


def counting_inputs(database: Database) -> str:
    """Inputs of costs besides the logs: this version of tracklog, and the user's own prices."""
    try:
        own = os.stat(database.home.prices)
    except OSError:
        return __version__
    return f"{__version__} {own.st_mtime_ns} {own.st_size}"


def _is_spool_still(db: sqlite3.Connection, spool: Path) -> bool:
    seen = setting(db, SPOOL_SEEN) or ""
    if not seen and not os.path.isdir(spool):
        return True
    from tracklog.sources.spool import is_still as is_as_seen  # not loaded without hooks

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
        if FileStamp.of(status) != (size, mtime_ns, ctime_ns, inode):
            return False
    return True


def _can_be_opened(path: str) -> bool:
    from tracklog.sources.files import can_be_opened  # seldom needed

    return can_be_opened(Path(path))


class ProcessLook:
    """One look at registries and processes for all parts of an answer, taken when the first of them needs it."""

    def __init__(self) -> None:
        self._lives: SessionLives | None = None
        self._changed: StaleLives | None = None

    def lives(self, database: Database) -> SessionLives:
        """The look itself, for the homes that this index knows."""
        from tracklog.index.stale_states import lives_of

        self._lives = self._lives or lives_of(database)
        return self._lives

    def changed(self, database: Database) -> StaleLives:
        """The states and verdicts in the index that are out of date at the moment of the look."""
        from tracklog.index.stale_states import changed_lives

        if self._changed is None:
            self._changed = changed_lives(database, self.lives(database))
        return self._changed

    def compare_again(self) -> None:
        """Sessions were written to the index: `changed` compares the same look with the new rows."""
        self._changed = None

    def repeat(self) -> None:
        """Time has passed, or the index knows other homes: the next question takes a new look."""
        self._lives = self._changed = None
