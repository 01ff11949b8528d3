"""Check whether an index is as we wrote it: its structure, schema and types of values.

SQLite finds nothing wrong with a file in which a byte of a value was flipped; only later a computation fails, on a
number that became a text. These checks run after such an error, and in `doctor`.
"""

from __future__ import annotations

import sqlite3
from typing import get_args

from tracklog.sources.log_file import FileKind
from tracklog.store.migrate import migrate
from tracklog.store.values import State

_SCHEMA = "select type, name, sql from sqlite_schema where type <> 'view' order by 1, 2"
_TABLES = (
    "select name from sqlite_schema where type = 'table' and sql not like 'create virtual%' "
    "and name not like 'words%' and name not like 'sqlite%'"
)
_KINDS = {
    "integer": ("integer",),
    "real": ("real", "integer"),
    "text": ("text", "blob"),  # store/surrogates.py
    "blob": ("blob", "text", "integer"),  # packed, JSON, or a plain setting
}
_ONE_OF = {("log_files", "kind"): tuple(map(str, FileKind)), ("log_files", "state"): get_args(State)}
_LISTS = {("session_rows", "cwds"), ("session_rows", "models"), ("session_rows", "versions")}


def is_sound(db: sqlite3.Connection) -> bool:
    """Whether SQLite finds nothing wrong with the index."""
    try:
        return _finds_nothing(db, "pragma quick_check(1)")
    except sqlite3.DatabaseError:
        return False


def has_our_schema(db: sqlite3.Connection) -> bool:
    """Whether its tables are those of the migrations."""
    ours = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(ours)
        return ours.execute(_SCHEMA).fetchall() == db.execute(_SCHEMA).fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False
    finally:
        ours.close()


def has_our_values(db: sqlite3.Connection) -> bool:
    """Whether every value has a type that its column allows, and is in its indexes too.

    A value that cannot be read now, because of the disk or a lock, does not count as wrong.
    """
    try:
        wrong = (_wrong_in(db, table) for (table,) in db.execute(_TABLES).fetchall())
        return not any(wrong) and _finds_nothing(db, "pragma integrity_check(1)")
    except sqlite3.OperationalError:
        return True
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False


def _finds_nothing(db: sqlite3.Connection, question: str) -> bool:
    return [row[0] for row in db.execute(question)] == ["ok"]


def _wrong_in(db: sqlite3.Connection, table: str) -> bool:
    columns = db.execute(f"pragma table_info({table})").fetchall()
    wrong = [
        _is_wrong(table, name, type.lower(), is_filled=bool(not_null or key))
        for _, name, type, not_null, _, key in columns
    ]
    return db.execute(f"select 1 from {table} where {' or '.join(wrong)} limit 1").fetchone() is not None


def _is_wrong(table: str, name: str, type: str, *, is_filled: bool) -> str:
    """SQL condition: a value of this column is not one that we write."""
    allowed = [*_KINDS.get(type, ()), *(() if is_filled else ("null",))]
    wrong = f'typeof("{name}") not in ({_listed(allowed)})'
    if (table, name) in _ONE_OF:
        wrong += f' or "{name}" not in ({_listed(_ONE_OF[table, name])})'
    if (table, name) in _LISTS:
        wrong += f' or (typeof("{name}") = \'text\' and not json_valid("{name}"))'
    return wrong


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
