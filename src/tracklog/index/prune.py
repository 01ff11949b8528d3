"""Delete logs from the archive to free disk space.

Rules
  1. A log that is not at its source, byte for byte, is never deleted, unless the user forces it.
  2. The index forgets a log before its file is deleted: an interruption leaves a file too many, not one too few.
  3. The oldest logs go first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tracklog.archive.files import contents, disk_trouble
from tracklog.archive.tables import ArchivedLog, archived_rows, has_logs, mark_pruned, names_in_use
from tracklog.index.freshness import forget_counted
from tracklog.sessions.tables_write import drop_session, mark_unsettled
from tracklog.sources.files import NotReadable, chunks, is_the_same
from tracklog.store.catalogue import change_file
from tracklog.store.database import Database
from tracklog.store.text import drop_texts

_DAY_NS = 86_400_000_000_000


class Pruning(NamedTuple):
    """The logs to delete, and the matching ones that are spared, with the reason."""

    gone: list[ArchivedLog]
    spared: list[tuple[ArchivedLog, str]]
    left_bytes: int  # stored in the archive afterwards

    @property
    def freed_bytes(self) -> int:
        """How many bytes that frees."""
        return sum(log.archived.stored_bytes for log in self.gone)


def plan_pruning(
    database: Database,
    *,
    now_ns: int,
    older_than_days: float | None = None,
    to_bytes: int | None = None,
    may_lose: bool = False,
    is_meant: Callable[[ArchivedLog], bool] = lambda _: True,
) -> Pruning:
    """Choose the logs to delete so that none is too old, or so that the rest fits; changes nothing.

    With both limits, logs that are too old go first, then as many as needed. `may_lose` also selects logs that
    are only in the archive.
    """
    logs = [log for log in archived_rows(database.db) if is_meant(log)]
    stored = sum(log.archived.stored_bytes for log in logs)
    pruning = Pruning([], [], stored)
    for log in logs:
        is_old = older_than_days is not None and log.mtime_ns < now_ns - older_than_days * _DAY_NS
        is_too_much = to_bytes is not None and stored > to_bytes
        if not is_old and not is_too_much:
            continue
        why = None if may_lose else _why_spared(database.home.archive, log)
        if why is not None:
            pruning.spared.append((log, why))
        else:
            pruning.gone.append(log)
            stored -= log.archived.stored_bytes
    return pruning._replace(left_bytes=stored)


def prune(database: Database, gone: Iterable[ArchivedLog]) -> None:
    """Delete these logs from the archive. The caller must hold the lock of the home."""
    folder = database.home.archive
    for log in gone:
        with database.transaction() as db:
            mark_pruned(db, log.file, log.generation)
            if log.is_current and log.state == "kept":
                _forget(db, log)
        if log.archived.name not in names_in_use(database.db):
            with disk_trouble(folder):
                (folder / log.archived.name).unlink(missing_ok=True)


def _forget(db: sqlite3.Connection, log: ArchivedLog) -> None:
    """Drop a log of which no copy is left from search, sessions and ledger."""
    change_file(db, log.file, state="past")
    forget_counted(db)
    drop_texts(db, log.file)
    if log.agent is not None and log.session is not None:
        if has_logs(db, log.agent, log.session):
            mark_unsettled(db, [(log.agent, log.session)])
        else:
            drop_session(db, log.agent, log.session)


def _why_spared(folder: Path, log: ArchivedLog) -> str | None:
    if not log.is_current:
        return "was rewritten at its source since"
    if log.state != "here":
        return "only here"
    try:
        source = chunks(Path(log.path))
        return None if is_the_same(contents(folder, log.archived), source) else "differs from its source"
    except NotReadable as error:
        return f"cannot be compared with its source ({error.why})"
