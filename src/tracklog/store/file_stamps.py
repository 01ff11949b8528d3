"""Stamps of folders and logs as the index knows them, loaded without anything else.

They are compared before every answer, so this module imports little.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tracklog.sources.log_file import Root
from tracklog.store.surrogates import as_text, storable

OUT_OF_REACH = (
    -1
)  # the ctime_ns of a log that could not be read for a reason that may pass: it is tried again


def folders_of(db: sqlite3.Connection, roots: Sequence[str]) -> dict[str, dict[str, int]]:
    """Listed folders and their times, by root; without roots that were never searched."""
    found: dict[str, dict[str, int]] = {}
    for root in roots:
        listed = db.execute("select path, mtime_ns from folders where root = ?", (storable(root),)).fetchall()
        if listed:
            found[root] = {as_text(path): mtime_ns for path, mtime_ns in listed}
    return found


def stamps(db: sqlite3.Connection) -> list[tuple[str, int, int, int, int]]:
    """Path, size, times and inode of each log that exists at its source: enough to see whether it changed."""
    rows = db.execute("select path, size, mtime_ns, ctime_ns, inode from log_files where state = 'here'")
    found: list[tuple[str, int, int, int, int]] = rows.fetchall()
    return [row if type(row[0]) is str else (as_text(row[0]), *row[1:]) for row in found]


def root_key(root: Root) -> str:
    """The key of a root in the index."""
    return f"{root.agent or ''}:{root.part or ''}:{root.path}"
