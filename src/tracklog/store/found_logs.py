"""What is known of the logs and sessions in which something was found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from tracklog.store.archive_rows import frames_of
from tracklog.store.odd_texts import as_text, storable
from tracklog.store.values import Archived


class FoundLog(NamedTuple):
    """A log as the index knows it."""

    id: int
    path: str
    root: str
    agent: str | None
    kind: str
    session: str | None  # of the log itself
    is_here: bool  # at its source
    archived: Archived | None  # where else its bytes are; with its frames if it is not here


class Titled(NamedTuple):
    """What a session is called, and what its project is."""

    title: str | None
    project: str | None


def log_of(db: sqlite3.Connection, id: int) -> FoundLog | None:
    """A log by its number, if it counts."""
    row = db.execute(
        "select f.path, f.root, f.agent, f.kind, f.own_session, f.state, f.generation, "
        "a.name, a.contents_bytes, a.stored_bytes from log_files f "
        "left join archives a on a.file = f.id and a.generation = f.generation "
        "where f.id = ? and f.state <> 'past'",
        (id,),
    ).fetchone()
    if row is None:
        return None
    path, root, agent, kind, session, state, generation, name, contents, stored = row
    frames = frames_of(db, id, generation) if state == "kept" else []
    archived = Archived(as_text(name), contents, stored, frames) if stored else None
    return FoundLog(
        id, as_text(path), as_text(root), agent, kind, as_text(session), state == "here", archived
    )


def titles_of(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Titled]:
    """What some sessions are called, as far as they were put together yet; a name is an agent and a session."""
    asked = "select title, project from session_rows where agent = ? and session = ?"
    found = ((name, db.execute(asked, (name[0], storable(name[1]))).fetchone()) for name in names)
    return {name: Titled(as_text(row[0]), as_text(row[1])) for name, row in found if row is not None}
