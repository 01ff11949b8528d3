"""Migrate the schema step by step: each migration is one transaction and records itself.

Rules
  1. A released migration is never changed. A new one gets the next number.
  2. An index of a later tracklog is left alone.
"""

from __future__ import annotations

import sqlite3
from functools import cache

from tracklog.errors import UserError

_RECORD = (
    "create table if not exists migrations (n integer primary key, name text not null, at text not null)"
)


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """Number, name and statements of each migration, in order."""
    from importlib.resources import files  # slow to load, and not needed to read an index

    folder = files("tracklog.store") / "migrations"
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".sql"))
    return tuple(
        (int(name[:4]), name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in names
    )


MADE_LATER = "the index was made by a later tracklog: install that one, or use another --home"
NEWEST = 8  # a test compares it with the folder: reading an index should not have to list one


def version_of(db: sqlite3.Connection) -> int:
    """The number of the last migration; 0 for an empty file."""
    return int(db.execute("pragma user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, *, up_to: int = NEWEST) -> None:
    """Applies the missing migrations, up to number `up_to`."""
    version = version_of(db)
    if version > NEWEST:
        raise UserError(MADE_LATER)
    if version >= up_to:
        return
    for n, name, statements in migrations():
        if version < n <= up_to:
            _apply(db, n, name, statements)


def _apply(db: sqlite3.Connection, n: int, name: str, statements: str) -> None:
    db.execute("begin immediate")
    try:
        db.execute(_RECORD)
        for statement in _statements(statements):
            db.execute(statement)
        db.execute("insert into migrations values (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))", (n, name))
        db.execute(f"pragma user_version = {n}")
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")


def _statements(text: str) -> list[str]:
    """Splits the text into statements: `executescript` would commit first."""
    found, held = [], ""
    for line in text.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            found.append(held)
            held = ""
    return [*found, held] if held.strip() and not held.lstrip().startswith("--") else found
