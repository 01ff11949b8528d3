"""A site over a home that lives: what runs is really watched; the index is only there if somebody makes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.live.live_home import LiveHome
from tracklog.app.index.background import Indexing
from tracklog.app.live.board import BoardShot, Live
from tracklog.app.live.event_hub import Hub
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.store.scope import scope_of
from tracklog.views.web.site import Site

PATIENCE_S = 60.0


class Heard(Hub):
    """A hub that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, dict[str, Any]]] = []

    def publish(self, name: str, data: Any) -> None:
        super().publish(name, data)
        self.told.append((name, dict(data)))

    def named(self, name: str) -> list[dict[str, Any]]:
        return [data for what, data in self.told if what == name]


@contextmanager
def live_site(home: LiveHome, hub: Hub | None = None) -> Iterator[Site]:
    """A site whose first look is over."""
    hub, ours = hub or Hub(), Home(home.ours)
    live = Live(home.roots, ours, Prices.load(None), hub)
    site = Site(ours, home.roots, scope_of([home.path]), hub, live, Indexing(ours, home.roots, hub))
    live.start()
    try:
        soon(lambda: live.snapshot().is_ready)
        yield site
    finally:
        live.close()


def soon(is_so: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Waits until something is so."""
    until = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.005)


def counted(site: Site) -> BoardShot:
    """The board when all its rows are counted."""
    soon(lambda: all(row.is_counted for row in site.live.snapshot().rows))
    return site.live.snapshot()


def subagent(home: LiveHome, session: str, agent: str, *lines: dict[str, Any], meta: str = "") -> Path:
    """Writes the log of a subagent, and the file beside it."""
    import json

    beside = home.log(session).with_suffix("") / "subagents"
    beside.mkdir(parents=True, exist_ok=True)
    if meta:
        (beside / f"agent-{agent}.meta.json").write_text(meta)
    log = beside / f"agent-{agent}.jsonl"
    log.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return log
