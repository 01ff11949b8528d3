"""State that every page needs: paths, live sessions, the index, prices.

Rules
  1. One `Site` for the life of the server. Its parts may be used from many threads.
  2. A connection to the index belongs to one request.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, cast

from starlette.requests import HTTPConnection

from tracklog.app.old_lists.tables import Tables
from tracklog.conversation.session import OpenThreads
from tracklog.home import Home
from tracklog.ledger.prices.rates import NAME, Prices, prices_with
from tracklog.live.board.board import BoardRow
from tracklog.sources.log_file import Root
from tracklog.store.database import Database, reading
from tracklog.store.scope import Scope

if TYPE_CHECKING:
    from tracklog.app.index.background import Indexing
    from tracklog.app.live.board import Live
    from tracklog.app.live.event_hub import Hub


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Site:
    """The state of the server."""

    home: Home
    roots: list[Root]
    scope: Scope
    events: Hub
    live: Live
    indexing: Indexing
    now: Callable[[], datetime] = _utc_now
    threads: OpenThreads = field(default_factory=OpenThreads)
    _tables: Tables | None = None
    _prices: Prices | None = None
    _lock: Lock = field(default_factory=Lock)

    def reading(self) -> AbstractContextManager[Database | None]:
        """The index, for one request; None while there is none."""
        return reading(self.home)

    def prices(self) -> Prices:
        """Prices of models, with the user's own; read once."""
        with self._lock:
            if self._prices is None:
                path = self.home.path / NAME
                self._prices = prices_with(path, must_exist=False, called=NAME)
            return self._prices

    @property
    def tables(self) -> Tables:
        """All sessions and calls; building them takes seconds if there are very many (`warm`)."""
        with self._lock:
            if self._tables is None:
                self._tables = Tables(self.home, self.scope, self.prices)
            return self._tables

    @property
    def places(self) -> list[str]:
        """The roots that are searched, each once."""
        return list(dict.fromkeys(str(root.path) for root in self.roots))

    def live_row(self, agent: str, session: str) -> BoardRow | None:
        """The board's row of a session, if it has one."""
        rows = self.live.snapshot().rows
        return next((row for row in rows if (row.agent, row.id) == (agent, session)), None)


def site_of(connection: HTTPConnection) -> Site:
    """The site of a request."""
    return cast(Site, connection.app.state.site)
