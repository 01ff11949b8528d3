"""Orphaned archive files: bytes that a killed process archived before it could commit them to the index.

If the log is still at its path, this does not matter: it is read again. If it is gone, the archive has more of it
than the index. The index needs that to recognise the log under another name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracklog.archive import tables
from tracklog.archive.files import contents, described
from tracklog.archive.locate import archive_name
from tracklog.sources.files import NotReadable
from tracklog.sources.tail.identity import IdentityTracker, ends_before
from tracklog.store import catalogue
from tracklog.store.database import Database
from tracklog.store.values import Archived, KnownFile


def take_over(database: Database, row: KnownFile, at: Archived | None) -> Archived | None:
    """Complete the index's row of a log that is gone; return how much of it the archive has."""
    folder = database.home.archive
    name = at.name if at is not None else name_of(row)
    found = described(folder, name)
    if found is None or found.archived.contents_bytes <= row.contents_bytes:
        return at
    is_its_own = (found.about.get("path"), found.about.get("generation")) == (row.path, row.generation)
    if at is None and not is_its_own:
        return at
    row.contents_bytes, row.size = found.archived.contents_bytes, catalogue.UNREAD
    row.head, row.tail = marks_in(folder, found.archived)
    row.mtime_ns = int(found.about.get("mtime_ns") or row.mtime_ns)
    changed = {"contents_bytes": row.contents_bytes, "size": row.size, "mtime_ns": row.mtime_ns}
    catalogue.change_file(database.db, row.id, **changed, head=row.head, tail=row.tail)
    tables.put_archived(database.db, row.id, found.archived)
    return found.archived


def marks_in(folder: Path, at: Archived) -> tuple[bytes | None, bytes | None]:
    """The marks of a log that the archive has; none if it cannot be read: those of nothing would fit any other log."""
    try:
        (_, n_head), (start, _) = ends_before(at.contents_bytes)
        head = b"".join(_first(contents(folder, at), n_head))
        tail = b"".join(contents(folder, at, start=start))
    except NotReadable:
        return None, None
    marks = IdentityTracker.behind(head, tail, at.contents_bytes)
    return marks.head, marks.tail


def name_of(row: KnownFile) -> str:
    """The default name of a log in the archive; if it is taken, the log gets another one."""
    return archive_name(row.path, row.root, agent=row.agent, generation=row.generation)


def _first(parts: Iterator[bytes], n_bytes: int) -> Iterator[bytes]:
    for part in parts:
        yield part[:n_bytes]
        n_bytes -= len(part)
        if n_bytes <= 0:
            return
