"""What the user chose for this index, and what it remembers of itself."""

from __future__ import annotations

import sqlite3


def setting(db: sqlite3.Connection, name: str) -> str | None:
    """A setting; None if it was never made."""
    found = db.execute("select value from settings where name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def put_setting(db: sqlite3.Connection, name: str, value: str) -> None:
    """Makes a setting."""
    db.execute("insert or replace into settings (name, value) values (?, ?)", (name, value))
