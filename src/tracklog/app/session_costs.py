"""Price the requests of a session that was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.app.prices import load_prices

if TYPE_CHECKING:
    from tracklog.app.scope.read_sessions import Stories
    from tracklog.ledger.request_costs import Costs
    from tracklog.model.session import Session


def costs_of(stories: Stories, session: Session, home: Path | None) -> Costs:
    """Costs of the requests of a session that was read."""
    from tracklog.ledger.request_costs import Costs  # all readers come with it

    return Costs(session, stories.files_of(session), load_prices(home))
