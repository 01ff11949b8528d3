"""The page of all sessions: filters, facets with exact counts, and pages of 200.

Rules
  1. Every count is a link to exactly the sessions that it counts.
  2. A missing value is shown as missing, with its reason.
  3. With a period, money and tokens are what the ledger has for that period; the other figures are of whole sessions,
     and say so.
  4. While the index is built the page says so, and shows what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.pages.lists import SORTS, Cursor, Name, OpenLists, Page, SessionFilter, fits
from tracklog.views.html import numbers
from tracklog.views.web.addresses import (
    NotMeant,
    PageUrl,
    given_in,
    moment_in,
    order_in,
    packed,
    said_what_is_not_meant,
    unpacked,
    wrong_place,
)
from tracklog.views.web.frame import page
from tracklog.views.web.pages.sessions.facets import empty_view, facet_views, taken_views
from tracklog.views.web.pages.sessions.table import columns, rows_of, sums_view
from tracklog.views.web.site import Site, site_of

PAGE = 200
FILTERS = ("q", "project", "agent", "model", "tool", "verdict", "state", "since", "until")
_DEFAULT = "-last"


class SessionsPageQuery(NamedTuple):
    """The query in an address."""

    address: PageUrl
    wanted: SessionFilter
    sort: str
    is_descending: bool
    after: Cursor | None

    @property
    def given(self) -> Mapping[str, str]:
        """The filters as they are in the address."""
        return self.address.given


def asked_in(address: PageUrl, now: datetime) -> SessionsPageQuery:
    """Parses the query in an address. Raises NotMeant."""
    given = address.given
    wanted = SessionFilter(
        project=given.get("project"),
        agent=given.get("agent"),
        model=given.get("model"),
        tool=given.get("tool"),
        verdict=given.get("verdict"),
        state=given.get("state"),
        since_ms=moment_in(given, "since", now=now),
        until_ms=moment_in(given, "until", now=now),
        words=tuple(given.get("q", "").split()),
    )
    sort, is_descending = order_in(given, SORTS, default=_DEFAULT)
    return SessionsPageQuery(address, wanted, sort, is_descending, _cursor(given, sort))


def _cursor(given: Mapping[str, str], sort: str) -> Cursor | None:
    values = unpacked(given)
    if values is None:
        return None
    match values:
        case [value, str() as agent, str() as id] if fits(sort, Cursor(value, agent, id)):
            return Cursor(value, agent, id)
    raise wrong_place()


def sessions(request: Request) -> Response:
    """The page of all matching sessions."""
    site = site_of(request)
    address = PageUrl("/sessions", given_in(request, (*FILTERS, "sort", "after")))
    try:
        asked = asked_in(address, site.now())
    except NotMeant as wrong:
        return said_what_is_not_meant(request, wrong, address)
    with site.lists.opened() as lists:
        if lists is None or (lists.is_empty and site.indexing.status().is_first):
            return page(request, "sessions_none.html", nav="sessions", what="Sessions", roots=site.places)
        return _listed(request, asked, lists)


def _listed(request: Request, asked: SessionsPageQuery, lists: OpenLists) -> Response:
    site = site_of(request)
    chosen, found, subagents = lists.sessions_page(
        asked.wanted,
        states=live_states(site),
        sort=asked.sort,
        is_descending=asked.is_descending,
        after=asked.after,
        most=PAGE,
    )
    now = site.now()
    return page(
        request,
        "sessions.html",
        nav="sessions",
        asked=asked,
        chosen=chosen,
        page=found,
        rows=rows_of(found, chosen, subagents),
        sums=sums_view(chosen, asked.given),
        columns=columns(
            asked.address,
            asked.sort,
            is_descending=asked.is_descending,
            has_period=asked.wanted.has_period,
        ),
        taken=taken_views(asked.address, FILTERS),
        facets=facet_views(chosen, asked.address, now),
        empty=empty_view(chosen, asked.address, FILTERS) if not found.total else None,
        next=_next(asked.address, found),
        filters=FILTERS,
        numbers=numbers,
        roots=site.places,
    )


def _next(address: PageUrl, found: Page) -> str | None:
    return address.go_on(packed(found.next)) if found.next is not None else None


def live_states(site: Site) -> dict[Name, str]:
    """The live states of the sessions on the board."""
    return {(row.agent, row.id): row.state.state for row in site.live.snapshot().rows}
