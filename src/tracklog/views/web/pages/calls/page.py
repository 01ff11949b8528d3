"""The page of all tool calls: figures of each tool, and the calls themselves, filtered.

Rules
  1. Every count is a link to exactly the calls that it counts.
  2. A duration is shown with how it is known; an unknown one is shown as missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.pages.lists import CallCursor, CallPage, OpenLists, SessionFilter, Sort, WantedCalls
from tracklog.views.html import numbers
from tracklog.views.web.addresses import (
    NotMeant,
    PageUrl,
    as_typed,
    given_in,
    moment_in,
    order_in,
    packed,
    said_what_is_not_meant,
    unpacked,
    wrong_place,
)
from tracklog.views.web.frame import page
from tracklog.views.web.pages.calls.table import (
    call_columns,
    call_rows,
    taken_calls,
    tool_rows,
    verdict_chips,
)
from tracklog.views.web.site import site_of

PAGE = 200
FILTERS = (
    "tool",
    "verdict",
    "project",
    "agent",
    "session",
    "thread",
    "since",
    "until",
    "min_ms",
    "took",
    "copies",
)
_DEFAULT = "-time"
_TOOK = {"known": True, "unknown": False}


class CallsPageQuery(NamedTuple):
    """The query in an address."""

    address: PageUrl
    wanted: WantedCalls
    sort: Sort
    is_descending: bool
    after: CallCursor | None

    @property
    def given(self) -> Mapping[str, str]:
        """The filters as they are in the address."""
        return self.address.given


def asked_in(address: PageUrl, now: datetime) -> CallsPageQuery:
    """Parses the query in an address. Raises NotMeant."""
    given = address.given
    if given.get("took", "known") not in _TOOK:
        raise NotMeant("took", "How long a call took is “known” or “unknown”.")
    if given.get("copies", "no") != "no":
        raise NotMeant("copies", "Copies can only be left out: copies=no.")
    if "thread" in given and "session" not in given:
        raise NotMeant("thread", "A thread belongs to a session: say which one, session=….")
    wanted = WantedCalls(
        tool=given.get("tool"),
        verdict=given.get("verdict"),
        session=given.get("session"),
        since_ms=moment_in(given, "since", now=now),
        until_ms=moment_in(given, "until", now=now),
        min_ms=_least(given),
        is_timed=_TOOK[given["took"]] if "took" in given else None,
        is_own="copies" in given,
    )
    sort, is_descending = order_in(given, ("time", "duration"), default=_DEFAULT)
    order: Sort = "duration" if sort == "duration" else "time"
    return CallsPageQuery(address, wanted, order, is_descending, _cursor(given))


def _least(given: Mapping[str, str]) -> float | None:
    if "min_ms" not in given:
        return None
    try:
        least = float(given["min_ms"])
    except ValueError:
        least = math.nan
    if math.isnan(least):
        raise NotMeant("min_ms", f"“{given['min_ms']}” is no number of milliseconds.")
    return least


def _cursor(given: Mapping[str, str]) -> CallCursor | None:
    values = unpacked(given)
    if values is None:
        return None
    match values:
        case [float() | int() | None as took, int() as at, int() as row, int() as n]:
            return CallCursor(took, at, row, n)
    raise wrong_place()


def calls(request: Request) -> Response:
    """The page of all matching calls."""
    site = site_of(request)
    address = PageUrl("/calls", given_in(request, (*FILTERS, "sort", "after")))
    try:
        asked = asked_in(address, site.now())
    except NotMeant as wrong:
        return said_what_is_not_meant(request, wrong, address)
    with site.lists.opened() as lists:
        if lists is None:
            return page(request, "sessions_none.html", nav="calls", what="Calls", roots=site.places)
        return _listed(request, asked, lists)


def _listed(request: Request, asked: CallsPageQuery, lists: OpenLists) -> Response:
    chosen, found, details, sessions = lists.calls_page(
        asked.wanted,
        sessions_meant(asked.given, lists),
        thread=asked.given.get("thread"),
        sort=asked.sort,
        is_descending=asked.is_descending,
        after=asked.after,
        most=PAGE,
    )
    return page(
        request,
        "calls.html",
        nav="calls",
        asked=asked,
        page=found,
        rows=call_rows(found.calls, details, sessions),
        columns=call_columns(asked.address, asked.sort, is_descending=asked.is_descending),
        tools=tool_rows(chosen, asked.address),
        n_tools=chosen.n_tools,
        verdicts=verdict_chips(chosen, asked.address),
        taken=taken_calls(asked.address, FILTERS, lists),
        projects=sorted(set(map(as_typed, lists.project_labels.values())))[:200],
        typed=as_typed,
        next=_next(asked.address, found),
        filters=FILTERS,
        numbers=numbers,
    )


def sessions_meant(given: Mapping[str, str], lists: OpenLists) -> SessionFilter | None:
    """The sessions whose calls are selected; None: all."""
    if not given.keys() & {"project", "agent"}:
        return None
    return SessionFilter(project=_project_meant(given, lists), agent=given.get("agent"))


def _project_meant(given: Mapping[str, str], lists: OpenLists) -> str | None:
    """The project as logs name it; the page's field shows and sends it with hidden characters spelled out."""
    name = given.get("project")
    if name is None or name.lower() in lists.projects:
        return name
    return next((label for label in lists.project_labels.values() if as_typed(label) == name), name)


def _next(address: PageUrl, found: CallPage) -> str | None:
    return address.go_on(packed(found.next)) if found.next is not None else None
