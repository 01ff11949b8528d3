"""A site over logs that were read into an index; nothing runs, nothing is watched."""

from __future__ import annotations

from pathlib import Path

from tests.index.indexed_logs import PRICES
from tracklog.agents.discovery import roots_at
from tracklog.app.index.background import Indexing
from tracklog.app.live.board import Live
from tracklog.app.live.event_hub import Hub
from tracklog.home import Home
from tracklog.index.session_rows import session_files, settle_sessions
from tracklog.index.sync import sync
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.store.database import writing
from tracklog.store.scope import scope_of
from tracklog.views.web.site import Site


def site_over(logs: Path, home: Path, *, reads: bool = True) -> Site:
    """The site of some logs; `reads`: with an index of them."""
    ours, roots = Home(home), roots_at(logs)
    if reads:
        with writing(ours) as database:
            sync(database, roots)
            settle_sessions(database)
            settle_ledger(database, session_files(database), PRICES)
    hub = Hub()
    live = Live(roots, ours, PRICES, hub)
    return Site(ours, roots, scope_of([logs]), hub, live, Indexing(ours, roots, hub))
