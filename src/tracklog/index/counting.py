"""Bring the ledger up to date with the logs in the index, and write the file for the status line.

Rules
  1. The status line is written after the ledger, and the index records that last, so that the next run repeats
     what a killed process left undone.
  2. The status line needs only sums: no log, no block and no request is read for it.
  3. Its days are those of this machine's clock. Its blocks are those of Claude Code's logs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from sqlite3 import Connection

from tracklog.clock import local_zone
from tracklog.home import write_private
from tracklog.index.freshness import counting_inputs, is_counted, note_counted
from tracklog.index.session_rows import session_files
from tracklog.ledger.blocks import BLOCK_MS, agents_in_blocks, block_starts
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.scan import OnBytes
from tracklog.ledger.stored import tables, tables_sums
from tracklog.ledger.stored.freshness import is_settled
from tracklog.ledger.stored.query import LedgerQuery, report_of
from tracklog.ledger.stored.refresh import name_all, settle_ledger
from tracklog.ledger.stored.tables_sums import QUARTER_MS, SumFilter
from tracklog.store.database import Database

_PICO_IN_MICRO = 1_000_000


def count(
    database: Database,
    load_prices: Callable[[], Prices],
    *,
    with_tools: bool = False,
    on_plan: OnBytes | None = None,
    on_read: OnBytes | None = None,
) -> bool:
    """Update ledger and status line; return whether either was out of date."""
    inputs = counting_inputs(database)  # before the prices are read: others may change them meanwhile
    prices = load_prices()
    has_changed = not is_settled(database.db, prices, with_tools=with_tools)
    if has_changed:
        sessions = session_files(database)
        settle_ledger(database, sessions, prices, with_tools=with_tools, on_plan=on_plan, on_bytes=on_read)
    name_all(database)
    if not has_changed and is_counted(database):
        return False
    try:
        write_statusline(database, prices, now=datetime.now(local_zone()))
    except OSError:  # the status line shows what it knew, until the disk takes more
        return True
    note_counted(database, inputs)
    return True


def write_statusline(database: Database, prices: Prices, *, now: datetime) -> None:
    """Write the file that `tracklog statusline` reads; `now` is in local time. The caller must be the index writer."""
    facts = statusline_facts(database.db, prices, now=now)
    write_private(database.home.statusline, json.dumps(facts).encode())


def statusline_facts(db: Connection, prices: Prices, *, now: datetime) -> dict[str, str | int | None]:
    """The local day, its cost so far, and the second in which the running block ends, if one runs."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    question = LedgerQuery("agent", now.tzinfo or UTC, RequestFilter(since=midnight))
    made, _ = report_of(db, prices, question)
    return {
        "day": f"{now:%Y-%m-%d}",
        "cost_micro_usd": (made.total.cost_pico_usd + _PICO_IN_MICRO // 2) // _PICO_IN_MICRO,
        "block_ends_at": _end_of_block(db, now_ms=int(now.timestamp() * 1000)),
    }


def _end_of_block(db: Connection, *, now_ms: int) -> int | None:
    files = tables.files_in(db, None, agents_in_blocks())
    quarters = tables_sums.quarters_in(
        db, SumFilter(None if files is None else files.ids, until_ms=_next_quarter(now_ms))
    )
    starts = block_starts([quarter * QUARTER_MS for quarter in quarters])
    end = starts[-1] + BLOCK_MS if starts else 0
    return end // 1000 if end > now_ms else None


def _next_quarter(at_ms: int) -> int:
    return (at_ms // QUARTER_MS + 1) * QUARTER_MS
