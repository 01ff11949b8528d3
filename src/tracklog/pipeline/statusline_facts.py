"""What the index tells the status line: what today cost, and when the running five-hour block ends.

Rules of this room
  1. Sums alone are asked: no log, no block, no request.
  2. Days are those of this machine's clock, as the status line has them. Blocks are those of Claude Code's logs.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from sqlite3 import Connection

from tracklog.model.blocks import BLOCK_MS, block_starts
from tracklog.model.books import Wanted
from tracklog.model.prices import Prices
from tracklog.pipeline.ledger_answers import Question, report_of
from tracklog.store import ledger_rows, sum_rows
from tracklog.store.database import Database
from tracklog.store.home import write_private
from tracklog.store.sum_rows import QUARTER_MS, Part

_PICO_IN_MICRO = 1_000_000


def write_statusline(database: Database, prices: Prices, *, now: datetime) -> None:
    """Leaves the file that `tracklog statusline` reads; `now` is in the zone of this machine. For who writes the index."""
    facts = statusline_facts(database.db, prices, now=now)
    write_private(database.home.statusline, json.dumps(facts).encode())


def statusline_facts(db: Connection, prices: Prices, *, now: datetime) -> dict[str, str | int | None]:
    """The local day, what it cost so far, and the second in which the running block ends, if one runs."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    question = Question("agent", now.tzinfo or UTC, Wanted(since=midnight))
    made, _ = report_of(db, prices, question)
    return {
        "day": f"{now:%Y-%m-%d}",
        "cost_micro_usd": (made.total.cost_pico_usd + _PICO_IN_MICRO // 2) // _PICO_IN_MICRO,
        "block_ends_at": _end_of_block(db, now_ms=int(now.timestamp() * 1000)),
    }


def _end_of_block(db: Connection, *, now_ms: int) -> int | None:
    files = ledger_rows.files_in(db, None, "claude")
    quarters = sum_rows.quarters_in(
        db, Part(None if files is None else files.ids, until_ms=_next_quarter(now_ms))
    )
    starts = block_starts([quarter * QUARTER_MS for quarter in quarters])
    end = starts[-1] + BLOCK_MS if starts else 0
    return end // 1000 if end > now_ms else None


def _next_quarter(at_ms: int) -> int:
    return (at_ms // QUARTER_MS + 1) * QUARTER_MS
