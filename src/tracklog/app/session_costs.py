"""Price sessions that were read: one with its requests, or the rows of a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.app.prices import load_prices
from tracklog.ledger.cost_sums import CostSum, sums_by_session
from tracklog.views.cli.output.progress import progress
from tracklog.views.documents.sessions import cost_row, period_row

if TYPE_CHECKING:
    from tracklog.app.scope.filters import Filters
    from tracklog.app.scope.read_sessions import Stories
    from tracklog.ledger.request_costs import Costs
    from tracklog.model.session import Session
    from tracklog.views.documents.sessions import Row


def costs_of(stories: Stories, session: Session, home: Path | None) -> Costs:
    """Costs of the requests of a session that was read."""
    from tracklog.ledger.request_costs import Costs  # all readers come with it

    return Costs(session, stories.files_of(session), load_prices(home))


def add_costs(rows: Sequence[Row], stories: Stories, home: Path | None, filters: Filters) -> None:
    """Write the cost of each session into its row, in whole and in the period that is asked for."""
    from tracklog.ledger.scan import spent_in  # all readers come with it

    files = stories.files_of_all({(row["agent"], row["id"]) for row in rows})
    done = 0

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    total = sum(file.size for one in files for file in one.files)
    with progress("pricing", total, done=lambda: done):
        ledger, prices = spent_in(files, on_bytes=tell), load_prices(home)
    sums = sums_by_session(ledger, prices)
    in_period = sums_by_session(ledger, prices, filters.requests_meant) if filters.has_period else None
    for row in rows:
        row |= cost_row(sums.get(row["id"], CostSum())) | period_row(row["id"], in_period)
