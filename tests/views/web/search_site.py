"""A site over some logs that are indexed, at rest: nothing is watched and nothing is read beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from starlette.applications import Starlette
from starlette.routing import Route

from tests.views.web.asking import Answer, app_of, ask
from tracklog.agents.discovery import roots_at
from tracklog.app.index.background import IndexStatus
from tracklog.app.live.board import BoardShot
from tracklog.home import Home
from tracklog.index.session_rows import settle_sessions
from tracklog.index.sync import sync
from tracklog.live.board.board import BoardRow
from tracklog.store.database import writing
from tracklog.store.scope import scope_of
from tracklog.views.web.pages.search.page import palette, results, search
from tracklog.views.web.site import Site

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FRESH = IndexStatus(state="fresh", files=1, files_known=1, passes=1)


def site_over(
    logs: Path,
    home: Path,
    *,
    rows: Sequence[BoardRow] = (),
    status: IndexStatus = FRESH,
    is_indexed: bool = True,
) -> Site:
    """The site; `rows` are what runs."""
    ours = Home(home)
    if is_indexed:
        with writing(ours) as database:
            sync(database, roots_at(logs))
            settle_sessions(database)
    live = SimpleNamespace(snapshot=lambda: BoardShot(tuple(rows)), waiting=lambda: 0)
    indexing = SimpleNamespace(status=lambda: status)
    return Site(
        ours,
        roots_at(logs),
        scope_of([logs]),
        events=cast(Any, None),
        live=cast(Any, live),
        indexing=cast(Any, indexing),
        now=lambda: NOW,
    )


def search_app(site: Site) -> Starlette:
    """The addresses of the search."""
    return app_of([Route("/search", search), Route("/_/search", results), Route("/_/palette", palette)], site)


def asked(site: Site, address: str) -> Answer:
    """What the search says."""
    return ask(search_app(site), "GET", address)
