"""Where each indexed log is: its path at the source, and its file in the archive.

A file of the archive is named after the log's path below its root, so that a person finds it without the index.

Rules
  1. A name always lies below the folder `logs` of the archive, whatever the path of the log contains.
  2. No part of it is too long for a file system, and no two paths share one: each ends in a hash of the whole path.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from tracklog.agents.supported import support_for
from tracklog.archive import tables
from tracklog.sources.log_file import FileKind, LogFile
from tracklog.sources.tail.identity import is_gone
from tracklog.store import catalogue
from tracklog.store.database import Database
from tracklog.store.scope import Scope
from tracklog.store.values import Archived, KnownFile


def known_log(row: KnownFile, at: Archived | None, archive: Path, *, is_gone: bool | None = None) -> LogFile:
    """A log as the index knows it; one whose source is gone is read from the archive."""
    is_kept = at is not None and (row.state == "kept" if is_gone is None else is_gone)
    has_copy = at is not None and at.stored_bytes and at.contents_bytes >= max(row.contents_bytes, 1)
    return LogFile(
        agent=support_for(row.agent).name,
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
    """A log that was found on disk, with the archive's copy of it as its fallback."""
    known = known_log(row, at, archive)
    return file._replace(fallback=known.fallback, copy_bytes=known.copy_bytes)


def logs_beyond(database: Database, scope: Scope, found: Collection[Path]) -> list[LogFile]:
    """The archive's copies of the logs of a scope that were not found because their source is gone."""
    here = {str(path) for path in found}
    at = tables.archived(database.db)
    return [
        known_log(row, at[row.id], database.home.archive, is_gone=True)
        for row in catalogue.all_files(database.db)
        if row.path not in here
        and row.id in at
        and at[row.id].stored_bytes
        and scope.holds(row.path)
        and (row.state == "kept" or is_gone(row.path))
    ]


SUFFIX = ".zst"
_LONGEST_PART = 120
_MOST_FOLDERS = 8
_KEPT_AS_THEY_ARE = frozenset("-_.@+=, ")
_HARMLESS = re.compile(r"[A-Za-z0-9_@+=, -][A-Za-z0-9_.@+=, -]*")


def archive_name(path: str, root: str, *, agent: str | None, generation: int = 1) -> str:
    """Name of a log's file below the archive's folder: its path below its root, and a hash of the whole path."""
    try:
        inside = PurePosixPath(path).relative_to(root).parts
    except ValueError:
        inside = PurePosixPath(path).parts[-1:]
    *folders, name = inside or ("log",)
    mark = mark_of(path) if generation == 1 else f"{mark_of(path)}~{generation}"
    return "/".join(
        [
            "logs",
            _safe(agent or "other"),
            *map(_safe, folders[:_MOST_FOLDERS]),
            f"{_safe(name)}~{mark}{SUFFIX}",
        ]
    )


def mark_of(path: str) -> str:
    """A hash of a path, in eight hex digits."""
    return hashlib.blake2b(os.fsencode(path), digest_size=4).hexdigest()


def _safe(part: str) -> str:
    """A part of a path as a harmless file name; the hash distinguishes paths that become the same."""
    if len(part) <= _LONGEST_PART and _HARMLESS.fullmatch(part):
        return part
    made = ""
    for n, character in enumerate(part):
        keeps = character.isalnum() or (character in _KEPT_AS_THEY_ARE and (n or character != "."))
        piece = character if keeps else "".join(f"%{byte:02X}" for byte in os.fsencode(character))
        if len(made.encode()) + len(piece.encode()) > _LONGEST_PART:
            break
        made += piece
    return made or "%"
