"""Price sessions that were read: one with its requests, or all of a list."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.prices import load_prices
from tracklog.app.talk import QUIET, Talk
from tracklog.ledger.cost_sums import CostSum, sums_by_session

if TYPE_CHECKING:
    from tracklog.app.scope.filters import Filters
    from tracklog.app.scope.read_sessions import Stories
    from tracklog.ledger.request_costs import Costs
    from tracklog.model.session import Session
    from tracklog.reading.family import Name


def costs_of(stories: Stories, session: Session, home: Path | None) -> Costs:
    """Costs of the requests of a session that was read."""
    from tracklog.ledger.request_costs import Costs  # all readers come with it

    return Costs(session, stories.files_of(session), load_prices(home))


class ListedCosts(NamedTuple):
    """What sessions cost in whole, and in the period that is asked for; None if none is."""

    whole: dict[str, CostSum]
    in_period: dict[str, CostSum] | None

    def of(self, session: str) -> CostSum:
        """What a session cost in whole."""
        return self.whole.get(session, CostSum())


def costs_of_all(
    names: AbstractSet[Name], stories: Stories, home: Path | None, filters: Filters, *, talk: Talk = QUIET
) -> ListedCosts:
    """Costs of some sessions of those that were read."""
    from tracklog.ledger.scan import spent_in  # all readers come with it

    files = stories.files_of_all(names)
    with talk.progress("pricing") as (set_total, advance):
        set_total(sum(file.size for one in files for file in one.files))
        ledger, prices = spent_in(files, on_bytes=advance), load_prices(home)
    in_period = sums_by_session(ledger, prices, filters.requests_meant) if filters.has_period else None
    return ListedCosts(sums_by_session(ledger, prices), in_period)
