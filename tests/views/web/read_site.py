"""A site over logs that were read into an index; nothing runs, nothing is watched."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.indexed_logs import PRICES
from tracklog.pipeline.settling import session_files, settle_sessions
from tracklog.pipeline.settling_ledger import settle_ledger
from tracklog.pipeline.sync import sync
from tracklog.sources.folders import roots_at
from tracklog.store.database import writing
from tracklog.store.home import Home
from tracklog.store.scope import scope_of
from tracklog.views.web.events import Hub
from tracklog.views.web.indexing import Indexing
from tracklog.views.web.live import Live
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
