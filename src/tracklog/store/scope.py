"""The scope of a query: the logs below some folders, whether their bytes are there or in the archive."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from tracklog.store.surrogates import as_text, storable

Name = tuple[str, str]  # agent and session


class Scope(NamedTuple):
    """The logs at or below some paths."""

    paths: tuple[str, ...]

    def holds(self, path: str) -> bool:
        """Whether a log with this path is in the scope."""
        return any(path == top or path.startswith(top.rstrip(os.sep) + os.sep) for top in self.paths)

    def condition(self, column: str) -> tuple[str, list[Any]]:
        """The SQL condition that a path column is in the scope, with its parameters."""
        parts: list[str] = []
        values: list[Any] = []
        for top in self.paths:
            below = top.rstrip(os.sep) + os.sep
            behind = below[:-1] + chr(ord(os.sep) + 1)
            for one in (
                str,
                _as_bytes,
            ):  # paths with surrogates are stored as bytes (store/surrogates.py), which do not compare with text
                parts.append(f"{column} = ? or ({column} >= ? and {column} < ?)")
                values += [storable(one(name)) for name in (top, below, behind)]
        return f"({' or '.join(parts) or '0'})", values

    def names(self, db: sqlite3.Connection) -> tuple[set[Name], set[Name]]:
        """Sessions with all logs in the scope, and sessions with only some."""
        inside, values = self.condition("path")
        rows = db.execute(
            f"select agent, session, min({inside}), max({inside}) from log_files "
            "where state <> 'past' and session is not null and agent is not null group by agent, session",
            [*values, *values],
        )
        whole: set[Name] = set()
        parted: set[Name] = set()
        for agent, session, least, most in rows:
            if most:
                (whole if least else parted).add((agent, as_text(session)))
        return whole, parted

    def holds_any(self, db: sqlite3.Connection) -> bool:
        """Whether the index knows a log in the scope."""
        inside, values = self.condition("path")
        found = db.execute(f"select 1 from log_files where state <> 'past' and {inside} limit 1", values)
        return found.fetchone() is not None

    def is_everything(self, db: sqlite3.Connection) -> bool:
        """Whether the index knows no log outside the scope."""
        inside, values = self.condition("path")
        outside = f"select 1 from log_files where state <> 'past' and not {inside} limit 1"
        return db.execute(outside, values).fetchone() is None


def _as_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def scope_of(paths: Iterable[os.PathLike[str] | str]) -> Scope:
    """The scope of some roots."""
    return Scope(tuple(dict.fromkeys(os.path.abspath(path) for path in paths)))


class Files(NamedTuple):
    """A selection of logs, with their sessions."""

    ids: frozenset[int]
    sessions: frozenset[str]
    is_closed: bool  # none of them shares requests with another log
