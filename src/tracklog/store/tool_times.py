"""How long calls of each tool take here."""

from __future__ import annotations

import sqlite3

from tracklog.store.odd_texts import as_text

_LEAST = 20  # calls of a tool, below which nothing is usual
_USUAL = """
with timed as (
  select name, took_ms, row_number() over (partition by name order by took_ms) as at, count(*) over (partition by name) as n
  from call_rows where took_ms is not null and not is_inherited and verdict = 'ok'
)
select name, min(took_ms) from timed where n >= ? and at * 20 >= n * 19 group by name
"""


def usual_times(db: sqlite3.Connection) -> dict[str, float]:
    """The milliseconds within which nineteen in twenty calls of each tool came back well; tools with few calls are left out."""
    return {as_text(name): took_ms for name, took_ms in db.execute(_USUAL, (_LEAST,))}
