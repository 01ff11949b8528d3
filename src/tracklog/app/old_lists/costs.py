"""What every session cost, kept: after a change only the sessions are summed up that it concerns.

Rules of this room
  1. The figures are those of `usage session`, to the last digit.
  2. A session is summed up anew when a log of it, or one that shares requests with it, was counted anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from sqlite3 import Connection

import msgspec

from tracklog.ledger.cost_sums import CostSum, sums_in
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.stored import tables
from tracklog.ledger.stored.freshness import was_settled
from tracklog.ledger.stored.query import LedgerQuery, report_of
from tracklog.ledger.stored.tables import TotalRow
from tracklog.model.usage import UsageReport, UsageRow
from tracklog.sessions.tables_columns import LedgerMark, ledger_marks
from tracklog.sessions.tables_lists import logs_beside

_FEW = 300  # sessions that are summed up one by one


class SessionCost(msgspec.Struct, frozen=True, gc=False):
    """What a session's own requests came to."""

    cost_pico_usd: int | None = None  # None: not one of them has a price
    most_pico_usd: int | None = None  # at most
    is_lower_bound: bool = False
    tokens: int = 0  # all that went in and out
    output_tokens: int = 0
    unpriced_requests: int = 0
    partial_requests: int = 0
    missing_requests: int = 0
    requests: int = 0
    models: tuple[str, ...] = ()


class SessionCosts:
    """What the sessions of an index cost."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._marks: dict[int, LedgerMark] = {}
        self._totals: dict[str, TotalRow] = {}
        self._settled_with: Mapping[str, bytes] = {}
        self.spent: dict[str, SessionCost] = {}  # by the ids of sessions; replaced, never changed
        self.is_counted = False

    def bring_up_to_date(self, db: Connection) -> None:
        """Sums up what was counted since the last time."""
        self.is_counted = was_settled(db)
        state = tables.state_of(db) if self.is_counted else {}
        marks = ledger_marks(db) if self.is_counted else {}
        totals = {row.session: row for row in tables.totals_in(db)} if self.is_counted else {}
        changed = self._changed(marks, totals)
        if state != self._settled_with or len(changed) > _FEW:
            self.spent = (
                spent_in(report_of(db, self._prices, LedgerQuery("session", UTC))[0]) if marks else {}
            )
        elif changed:
            self._sum_up(db, changed)
        self._marks, self._totals, self._settled_with = marks, totals, state

    def _changed(self, marks: Mapping[int, LedgerMark], totals: Mapping[str, TotalRow]) -> set[str]:
        """The sessions of logs that were counted anew."""
        old = self._marks
        changed = {mark.session for file, mark in marks.items() if old.get(file) != mark}
        changed |= {mark.session for file, mark in old.items() if file not in marks}
        differing = totals.items() ^ self._totals.items()
        return changed | {session for session, _ in differing} | _written_last(marks)

    def _sum_up(self, db: Connection, sessions: set[str]) -> None:
        files = logs_beside(db, sessions)
        made, _ = report_of(db, self._prices, LedgerQuery("session", UTC), files)
        gone = sessions | files.sessions
        kept = {session: one for session, one in self.spent.items() if session not in gone}
        self.spent = kept | spent_in(made)


def _written_last(marks: Mapping[int, LedgerMark]) -> set[str]:
    """Numbers of rows grow, but for the last: who is written again there may have the same ones."""
    last = max((mark.last_sum or 0 for mark in marks.values()), default=0)
    return {mark.session for mark in marks.values() if last and mark.last_sum == last}


def spent_during(db: Connection, prices: Prices, wanted: RequestFilter) -> dict[str, SessionCost] | None:
    """What each session spent in a period; None: the ledger was never settled."""
    if not was_settled(db):
        return None
    return spent_in(report_of(db, prices, LedgerQuery("session", UTC, wanted))[0])


def spent_in(made: UsageReport) -> dict[str, SessionCost]:
    """What a report by session says of each."""
    sums = sums_in(made)
    return {row.key: _spent(row, sums[row.key]) for row in made.rows}


def _spent(row: UsageRow, cost: CostSum) -> SessionCost:
    least = cost.cost_pico_usd
    return SessionCost(
        cost_pico_usd=least,
        most_pico_usd=None if least is None else max(least, row.most_cost_pico_usd),
        is_lower_bound=cost.is_lower_bound,
        tokens=row.tokens.prompt + row.tokens.output,
        output_tokens=row.tokens.output,
        unpriced_requests=row.unpriced_requests,
        partial_requests=row.partial_requests,
        missing_requests=row.missing_requests,
        requests=row.requests,
        models=tuple(row.models),
    )
