"""What the index holds, in a few numbers."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from tracklog.store.scope import Scope


class Totals(NamedTuple):
    """Of the logs that count."""

    files: int
    bytes: int
    lines: int
    read: int
    unknown: int
    broken: int
    recovered: int
    sessions: int
    only_here: int


def totals(db: sqlite3.Connection, scope: Scope) -> Totals:
    """How much there is in a scope. A last line that was not ended yet is one."""
    inside, values = scope.condition("+f.path")  # all in one pass over a narrow index, not each by its path
    logs = db.execute(
        "select count(*), total(contents_bytes), total(lines + (position < contents_bytes)), total(pieces_read), "
        "total(pieces_unknown), total(pieces_broken), total(recovered) from log_files f "
        f"where state <> 'past' and {inside}",
        values,
    ).fetchone()
    listed = "select count(*), total(only_here) from session_rows s where (is_listed or not is_settled)"
    if scope.is_everything(db):
        sessions = db.execute(listed).fetchone()
    else:
        logs_of_it = "select 1 from log_files f where f.session = s.session and f.agent = s.agent"
        sessions = db.execute(
            f"{listed} and exists ({logs_of_it} and f.state <> 'past' and {inside})", values
        ).fetchone()
    return Totals(*map(int, (*logs, *sessions)))


def n_files_read(db: sqlite3.Connection, scope: Scope) -> int:
    """How many logs were read at least once; the others are known by name alone."""
    inside, values = scope.condition("+path")
    found = db.execute(
        f"select count(*) from log_files where state <> 'past' and size >= 0 and {inside}", values
    ).fetchone()
    return int(found[0])
