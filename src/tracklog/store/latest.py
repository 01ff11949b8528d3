"""The sessions in which something happened last."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from tracklog.store.odd_texts import as_text
from tracklog.store.scope import Scope


class LatestSession(NamedTuple):
    """A session, as one line tells of it."""

    agent: str
    id: str
    title: str | None
    project: str | None
    last_at: str


def latest_sessions(db: sqlite3.Connection, scope: Scope, n: int) -> list[LatestSession]:
    """The last `n` sessions that have a log in a scope."""
    inside, values = scope.condition("+f.path")  # each session's logs are few: not by their paths
    rows = db.execute(
        "select agent, session, title, project, last_at from session_rows s where is_listed and last_ms is not null "
        "and exists (select 1 from log_files f where f.session = s.session and f.agent = s.agent "
        f"and f.state <> 'past' and {inside}) order by last_ms desc, session limit ?",
        (*values, n),
    )
    return [
        LatestSession(agent, as_text(id), as_text(title), as_text(project), last_at)
        for agent, id, title, project, last_at in rows
    ]
