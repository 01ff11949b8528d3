"""Logs as the index knows them: where they stood, and where their bytes are now."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from tracklog.sources.found import Agent, FileKind, LogFile
from tracklog.store import archive_rows, catalogue
from tracklog.store.database import Database
from tracklog.store.scope import Scope
from tracklog.store.values import Archived, KnownFile


def known_log(row: KnownFile, at: Archived | None, archive: Path, *, is_gone: bool | None = None) -> LogFile:
    """A log as the index knows it; one whose source is gone is read from the archive."""
    is_kept = at is not None and (row.state == "kept" if is_gone is None else is_gone)
    has_copy = at is not None and at.stored_bytes and at.contents_bytes >= max(row.contents_bytes, 1)
    return LogFile(
        agent=known_agent(row.agent),
        kind=FileKind(row.kind),
        path=Path(row.path),
        root=Path(row.root),
        session=row.own_session,
        size=at.contents_bytes if is_kept and at is not None else max(row.size, 0),
        mtime_ns=row.mtime_ns,
        device=row.device,
        inode=row.inode,
        ctime_ns=row.ctime_ns,
        stored=archive / at.name if is_kept and at is not None else None,
        fallback=archive / at.name if has_copy and at is not None and not is_kept else None,
        copy_bytes=at.contents_bytes if at is not None and at.stored_bytes else None,
    )


def with_fallback(file: LogFile, row: KnownFile, at: Archived | None, archive: Path) -> LogFile:
    """A log as a search found it, with the archive's copy as the index knows it."""
    known = known_log(row, at, archive)
    return file._replace(fallback=known.fallback, copy_bytes=known.copy_bytes)


def known_agent(name: str | None) -> Agent | None:
    """The agent of this name, if we know one."""
    return "claude" if name == "claude" else "codex" if name == "codex" else None


def logs_beyond(database: Database, scope: Scope, found: Collection[Path]) -> list[LogFile]:
    """The logs that were not found because their source is gone, as the archive has them."""
    here = {str(path) for path in found}
    at = archive_rows.archived(database.db)
    return [
        known_log(row, at[row.id], database.home.archive, is_gone=True)
        for row in catalogue.all_files(database.db)
        if row.path not in here
        and row.id in at
        and at[row.id].stored_bytes
        and scope.holds(row.path)
        and (row.state == "kept" or not os.path.lexists(row.path))
    ]
