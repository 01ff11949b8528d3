"""Where a session tells some things: the lines of its prompts, of what went wrong, and of what else was said beside.

Rules of this room
  1. Only places are asked for, none of what stands there: a page asks with every press of a key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from tracklog.store.texts import ROLES

_ERRORS = """
select file, line from call_rows where session_row = :row
  and (verdict in ('error', 'timed_out', 'lost') or verdict = 'backgrounded' and outcome in ('error', 'killed'))
union select file, first_line from request_rows where session_row = :row and error is not null
union select file, line from problem_rows where session_row = :row
"""  # as the keys of a session's page see it (static/session_steps.js)


class LogLine(NamedTuple):
    """A line of a log, by the number that the index has for it."""

    file: int
    line: int


def places_of_prompts(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """The lines with the prompts of a session, of all its threads, in no order."""
    return _places(
        db.execute("select file, line from prompt_rows where session_row = :row", {"row": session_row})
    )


def places_of_errors(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """The lines of a session with calls that failed, answers that are errors, and what was not understood, in no order."""
    return _places(db.execute(_ERRORS, {"row": session_row}))


def places_of_asides(db: sqlite3.Connection, files: Collection[int]) -> list[LogLine]:
    """The lines of some logs with what neither person nor model said: requests that failed, hooks, what was injected."""
    marks = ", ".join("?" * len(files))
    return _places(
        db.execute(
            f"select distinct file, line from text_rows where file in ({marks}) and role = ?",
            (*files, ROLES["context"]),
        )
    )


def _places(found: sqlite3.Cursor) -> list[LogLine]:
    return [LogLine(file, line) for file, line in found if file is not None and line is not None]
