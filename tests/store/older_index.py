"""Turns an index into one that an older tracklog made."""

from __future__ import annotations

import sqlite3

_SINCE_8 = ("list_rows", "list_values", "facets", "list_calls", "cost_rows")


def without_lists(db: sqlite3.Connection) -> None:
    """Drops what migration 8 made."""
    for table in _SINCE_8:
        db.execute(f"drop table {table}")
    db.execute("drop index call_rows_copied")
    db.execute("delete from settings where name = 'lists'")
