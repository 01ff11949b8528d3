"""Sessions by what a person remembers of them: a word of the title, the project, the beginning of the id."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from tracklog.store.odd_texts import as_text, storable
from tracklog.store.scope import Scope

_MOST_WORDS = 8


class NamedSession(NamedTuple):
    """A session, as far as one must see it to choose it."""

    agent: str
    id: str
    title: str | None
    project: str | None
    last_at: str | None


def sessions_named(
    db: sqlite3.Connection, text: str, *, scope: Scope | None = None, limit: int = 10
) -> list[NamedSession]:
    """The sessions that fit every word, the last used first."""
    where, values = ["is_listed = 1"], []
    for word in text.split()[:_MOST_WORDS]:
        like = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where.append("(title like ? escape '\\' or project like ? escape '\\' or session like ? escape '\\')")
        values += [f"%{like}%", f"%{like}%", f"{like}%"]
    if scope is not None and not scope.is_everything(db):
        inside, more = scope.condition("f.path")
        where.append(
            "exists (select 1 from log_files f where f.session = session_rows.session "
            f"and f.agent = session_rows.agent and f.state <> 'past' and {inside})"
        )
        values += more
    found = db.execute(
        f"select agent, session, title, project, last_at from session_rows where {' and '.join(where)} "
        "order by last_ms desc limit ?",
        [*values, limit],
    )
    return [_named(row) for row in found]


def titles_of(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The titles of some sessions, by agent and id, as far as they are known."""
    found = {}
    for agent, id in names:
        row = db.execute(
            "select title from session_rows where agent = ? and session = ? and is_listed and title is not null",
            (agent, storable(id)),
        ).fetchone()
        if row is not None and (title := as_text(row[0])):
            found[agent, id] = title
    return found


def _named(row: Any) -> NamedSession:
    return NamedSession(*map(as_text, row))
