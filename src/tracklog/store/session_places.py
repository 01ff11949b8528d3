"""Where a session tells some things: the lines of its prompts, and of its calls that failed.

Rules of this room
  1. Only places are asked for, none of what stands there: a page asks with every press of a key.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

_FAILED = ("error", "timed_out", "lost")  # as the keys of a session's page see it (static/session_steps.js)


class LogLine(NamedTuple):
    """A line of a log, by the number that the index has for it."""

    file: int
    line: int


def places_of_prompts(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """The lines with the prompts of a session, of all its threads, in no order."""
    found = db.execute(
        "select file, line from prompt_rows where session_row = ? and file is not null and line is not null",
        (session_row,),
    )
    return [LogLine(*row) for row in found]


def places_of_errors(db: sqlite3.Connection, session_row: int) -> list[LogLine]:
    """The lines with the calls of a session that failed, of all its threads, in no order."""
    marks = ", ".join("?" * len(_FAILED))
    found = db.execute(
        f"select file, line from call_rows where session_row = ? and verdict in ({marks}) "
        "and file is not null and line is not null",
        (session_row, *_FAILED),
    )
    return [LogLine(*row) for row in found]
