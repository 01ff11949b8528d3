"""What sessions that run are called: as in every list, by the title or the first prompt that the index knows.

Until the index knows a session, what the watch has seen of it is its name: a title, else its last prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracklog.pipeline.board import BoardRow
from tracklog.store.database import Database
from tracklog.store.session_names import titles_of


def named(rows: Sequence[BoardRow], database: Database | None) -> tuple[BoardRow, ...]:
    """The rows, each with its name as its title."""
    known = titles_of(database.db, ((row.agent, row.id) for row in rows)) if database is not None else {}
    return tuple(
        row._replace(title=known.get((row.agent, row.id)) or row.title or row.last_prompt) for row in rows
    )
