"""State of a running server: it watches the logs, keeps the index fresh, and holds what pages share.

Rules
  1. One `Site` for the life of the server. Its parts may be used from many threads.
  2. It holds no connection to the index: a use case opens one for each request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock, Thread

from tracklog.app.doctor.background import DoctorSurvey
from tracklog.app.doctor.health import IndexHealth
from tracklog.app.index.background import Indexing
from tracklog.app.live.board import Live
from tracklog.app.live.event_hub import Hub
from tracklog.app.pages.lists import Lists
from tracklog.conversation.session import OpenThreads
from tracklog.home import Home
from tracklog.ledger.prices.rates import NAME, Prices, prices_with
from tracklog.live.board.board import BoardRow
from tracklog.secrets.find import find
from tracklog.sources.log_file import Root as Root
from tracklog.store.database import StoreError as StoreError
from tracklog.store.scope import Scope, scope_of

_LAST_LOOK_S = 0.3


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
    survey: DoctorSurvey = field(init=False)
    index_health: IndexHealth = field(init=False)
    lists: Lists = field(init=False)
    _prices: Prices | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.survey = DoctorSurvey(self.home, self.roots)
        self.index_health = IndexHealth(self.home, self.roots, self.prices)
        self.lists = Lists(self.home, self.scope, self.prices)

    def prices(self) -> Prices:
        """Prices of models, with the user's own; read once."""
        with self._lock:
            if self._prices is None:
                self._prices = _prices_of(self.home)
            return self._prices

    @property
    def places(self) -> list[str]:
        """The roots that are searched, each once."""
        return list(dict.fromkeys(str(root.path) for root in self.roots))

    def live_row(self, agent: str, session: str) -> BoardRow | None:
        """The board's row of a session, if it has one."""
        rows = self.live.snapshot().rows
        return next((row for row in rows if (row.agent, row.id) == (agent, session)), None)

    def start(self) -> None:
        """Start to watch and index the logs, and prepare in the background what the first page needs."""
        self.live.start()
        self.indexing.start()
        Thread(target=self._warm_up, daemon=True).start()

    def _warm_up(self) -> None:
        find(b"")


def site_over(home: Home, roots: Sequence[Root]) -> Site:
    """The site of some roots, with nothing started yet."""
    hub, ours = Hub(), list(roots)
    indexing = Indexing(home, ours, hub)
    live = Live(ours, home, _prices_of(home), hub)
    live.on_growth = indexing.nudge
    return Site(home, ours, scope_of(root.path for root in ours), events=hub, live=live, indexing=indexing)


def _prices_of(home: Home) -> Prices:
    return prices_with(home.path / NAME, must_exist=False, called=NAME)


@contextmanager
def closing_site(site: Site) -> Iterator[Site]:
    """Close a site at the end of the block, with all of its background work."""
    try:
        yield site
    finally:
        site.events.close()
        closers = [Thread(target=part.close, daemon=True) for part in (site.indexing, site.live)]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join(_LAST_LOOK_S)  # one that is in the middle of a long log ends with the process
