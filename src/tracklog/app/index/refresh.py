"""Brings the index up to date, and says on stdout how far it is: a process of its own beside the server.

    python -P -m tracklog.app.index.refresh --home DIR --root DIR AGENT PART …

Rules of this room
  1. Each line of stdout is a JSON object: `total` and `done` are bytes, `stage` is what goes on, `end` the last word.
  2. It may be killed at any time: what it had committed stays.

What the index tells the status line: what today cost, and when the running five-hour block ends.

Rules of this room
  1. Sums alone are asked: no log, no block, no request.
  2. Days are those of this machine's clock, as the status line has them. Blocks are those of Claude Code's logs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any, cast

from tracklog.archive.recompress import tend
from tracklog.errors import UserError
from tracklog.home import Busy, Home, write_private
from tracklog.index.rebuild import with_index
from tracklog.index.refresh import session_files, settle_sessions
from tracklog.index.sync import Synced, sync
from tracklog.ledger.blocks import BLOCK_MS, agents_in_blocks, block_starts
from tracklog.ledger.prices.rates import NAME, Prices, prices_with
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.stored import tables, tables_sums
from tracklog.ledger.stored.query import LedgerQuery, report_of
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.ledger.stored.tables_sums import QUARTER_MS, SumFilter
from tracklog.sources.log_file import Agent, Root
from tracklog.store.database import DamagedIndex, Database, setting

_PICO_IN_MICRO = 1_000_000


def write_statusline(database: Database, prices: Prices, *, now: datetime) -> None:
    """Leaves the file that `tracklog statusline` reads; `now` is in the zone of this machine. For who writes the index."""
    facts = statusline_facts(database.db, prices, now=now)
    write_private(database.home.statusline, json.dumps(facts).encode())


def statusline_facts(db: Connection, prices: Prices, *, now: datetime) -> dict[str, str | int | None]:
    """The local day, what it cost so far, and the second in which the running block ends, if one runs."""
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


_TOLD_S = 0.1  # between two words about how far it is
_LOWEST = 10
_MUCH = 16_000_000  # bytes: who reads so many does not tidy as well


class _Telling:
    """Says how far it is, not too often."""

    def __init__(self) -> None:
        self._done = 0
        self._next = 0.0

    def say(self, **words: Any) -> None:
        try:
            sys.stdout.write(json.dumps(words) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the server is gone: nobody waits for the rest
            os._exit(0)

    def plan(self, n_bytes: int) -> None:
        self._done = 0
        self.say(total=n_bytes)

    def read(self, n_bytes: int) -> None:
        self._done += n_bytes
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TOLD_S
            self.say(done=self._done)


def _root_of(path: str, agent: str, part: str) -> Root:
    return Root(Path(path), cast(Agent, agent) if agent else None, part or None)


def bring_up_to_date(home: Home, roots: Sequence[Root], telling: _Telling) -> Synced:
    """Reads what is new, puts sessions together, counts what they spent."""
    prices = prices_with(home.path / NAME, must_exist=False, called=NAME)

    def work(database: Database) -> Synced:
        archives = setting(database.db, "archive") != "off"
        done = sync(database, roots, with_archive=archives, on_plan=telling.plan, on_read=telling.read)
        telling.say(stage="settling")
        settle_sessions(database)
        telling.say(stage="counting")
        settle_ledger(database, session_files(database), prices)
        if archives and not done.is_nothing and done.n_bytes < _MUCH:
            tend(database, now_ns=time.time_ns())
        return done

    def said(damage: DamagedIndex, aside: Path) -> None:
        telling.say(damaged=f"{damage}; it is now {aside.name}, and a new one is made")

    return with_index(home, work, on_damage=said)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs once; the exit code says whether it could."""
    options = argparse.ArgumentParser()
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--root", nargs=3, action="append", default=[])
    given = options.parse_args(arguments)
    os.nice(_LOWEST)
    telling, roots = _Telling(), [_root_of(*one) for one in given.root]
    try:
        done = bring_up_to_date(Home(given.home), roots, telling)
    except Busy:
        telling.say(end="busy")
        return 1
    except UserError as error:
        telling.say(end="failed", why=str(error))
        return 1
    unused = {root.path for root in roots if root.agent is not None and not root.path.exists()}
    skipped = [f"{one.path}: {one.why}" for one in done.skipped if one.path not in unused]
    telling.say(end="fresh", problems=[*done.problems, *skipped][:200])
    return 0


if __name__ == "__main__":
    sys.exit(main())
