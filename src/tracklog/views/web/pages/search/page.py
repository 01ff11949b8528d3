"""The search page, its results alone while the user types, and the palette.

The palette offers pages, sessions, actions of the page, and the search itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.pages.search import (
    BoardRow,
    MaskingError,
    NamedSession,
    Query,
    Results,
    SearchBusyError,
    SearchPage,
    is_searchable,
    parts_of,
    search_page,
    sessions_to_open,
    without,
)
from tracklog.views.html.legible import gist, shown
from tracklog.views.html.numbers import when
from tracklog.views.web.frame import NAV, fragment, page, session_address
from tracklog.views.web.pages.search.hits import facet_views, group_views, older_address, total_words
from tracklog.views.web.pages.search.query import (
    Meant,
    SearchPageQuery,
    asked_by,
    meant_by,
    meant_while_typing,
)
from tracklog.views.web.pages.sessions.table import title_of
from tracklog.views.web.site import Site, site_of

LONGEST = 200  # letters of the words that count
_SESSIONS = 10
_AT_REST = 6  # sessions that are offered before anything is typed
_ACTIONS = (("theme", "Change the colours", "theme dark light auto"), ("help", "Keys on this page", "help ?"))


class Option(NamedTuple):
    """An option of the palette."""

    words: str
    note: str = ""
    address: str | None = None
    action: str | None = None  # what the script does, if there is no address
    state: str | None = None  # of a running session
    waiting_for: str | None = None
    when: Markup | None = None


class OptionGroup(NamedTuple):
    """Options of one kind."""

    title: str
    options: list[Option]


def palette_groups(site: Site, text: str) -> list[OptionGroup]:
    """The options that match some words; without any, the most likely ones."""
    text = text[:LONGEST].strip()
    groups = [
        OptionGroup("Pages", list(_page_options(text))),
        OptionGroup("Sessions", _sessions(site, text)),
        OptionGroup("Here", list(_actions(text))),
        OptionGroup("Search", list(_searches(text))),
    ]
    if not text:
        groups[0], groups[1] = groups[1], groups[0]
    return [group for group in groups if group.options]


def _page_options(text: str) -> Iterator[Option]:
    for _, address, name in NAV:
        if name.lower().startswith(text.lower()):
            yield Option(name, address=address)


def _actions(text: str) -> Iterator[Option]:
    for action, words, also in _ACTIONS:
        if text.lower() in f"{words} {also}".lower():
            yield Option(words, action=action)


def _searches(text: str) -> Iterator[Option]:
    if text:
        yield Option(f"Search for {gist(text, 60)}", "in all sessions", f"/search?{urlencode({'q': text})}")


def _sessions(site: Site, text: str) -> list[Option]:
    """Matching sessions: running ones first, then the last used."""
    limit, now = _SESSIONS if text else _AT_REST, site.now()
    running, known = sessions_to_open(site.home, site.scope, site.live.snapshot().rows, text, limit=limit)
    found = {(row.agent, row.id): _of_row(row, now) for row in running}
    for one in known:
        found.setdefault((one.agent, one.id), _of_named(one, now))
    return list(found.values())[:limit]


def _of_row(row: BoardRow, now: datetime) -> Option:
    at = datetime.fromtimestamp(max(row.last_ms, 0) / 1000, UTC).isoformat()
    return Option(
        title_of(row.title) or shown(row.id),
        _note(row.project, row.agent, row.id),
        session_address(row.agent, row.id),
        state=row.state.state,
        waiting_for=row.state.waiting_for,
        when=when(at, now),
    )


def _of_named(one: NamedSession, now: datetime) -> Option:
    note = _note(one.project, one.agent, one.id)
    address = session_address(one.agent, one.id)
    return Option(title_of(one.title) or shown(one.id), note, address, when=when(one.last_at, now))


def _note(*parts: str | None) -> str:
    *words, id = parts
    return " · ".join([*_legible(words), gist((id or "")[:8], 8)])


def _legible(words: Iterable[str | None]) -> Iterator[str]:
    return (gist(word, 40) for word in words if word)


EXAMPLES = (
    ("rate limit", "texts with both words"),
    ('"rate limit"', "the words side by side"),
    ("time*", "every word that begins so"),
    ("panic OR crash", "one of both"),
    ("retry -test", "without a word"),
    ("tool:Bash verdict:error since:7d", "what failed in the last days"),
    ("role:prompt project:app", "what you asked for in a project"),
    (r"re:/E\d{4}: .+ not found/", "a regular expression"),
)


def search(request: Request) -> Response:
    """The whole page."""
    asked = asked_by(request)
    values = _values(site_of(request), asked)
    return page(request, "search.html", nav="search", asked=asked, title=shown(asked.text, most=80), **values)


def results(request: Request) -> Response:
    """The results alone; while the user types, the last word may be incomplete."""
    asked, site = asked_by(request), site_of(request)
    is_typed = request.query_params.get("typing") == "1"
    begun = meant_while_typing(asked.text, site.now()) if is_typed else None
    return fragment("_hits.html", asked=asked, **_values(site, asked, begun=begun))


def palette(request: Request) -> Response:
    """The options of the palette."""
    groups = palette_groups(site_of(request), request.query_params.get("q", ""))
    return fragment("_palette.html", groups=groups)


def _values(site: Site, asked: SearchPageQuery, *, begun: Meant | None = None) -> dict[str, Any]:
    """Values for the results' template; `begun` is searched instead of the query."""
    values: dict[str, Any] = {
        "examples": EXAMPLES,
        "found": None,
        "wrong": None,
        "is_busy": False,
        "no_mask": None,
    }
    values |= {
        "indexing": site.indexing.status(),
        "is_indexed": True,
        "begun": begun and shown(begun.text, most=80),
    }
    if not asked.text:
        return values
    meant = begun or meant_by(asked.text, site.now())
    values["wrong"] = meant.wrong
    query = meant.query
    if query is None:
        return values | {"is_indexed": is_searchable(site.home)}
    try:
        found = search_page(
            site.home,
            site.scope,
            query,
            by=asked.by,
            page=asked.page,
            shows_secrets=asked.shows_secrets,
        )
    except SearchBusyError:
        return values | {"is_busy": True}
    except MaskingError as error:
        return values | {"no_mask": shown(str(error))}
    if found is None:
        return values | {"is_indexed": False}
    return values | _answered(asked._replace(text=meant.text), query, found, now=site.now())


def _answered(asked: SearchPageQuery, query: Query, page: SearchPage, *, now: datetime) -> dict[str, Any]:
    found = page.results
    return {
        "found": found,
        "total": total_words(found),
        "groups": group_views(asked, query, page, now=now),
        "facets": facet_views(asked, query, found),
        "by_time": asked.address(by="time"),
        "by_relevance": asked.address(by="relevance"),
        "pages": _pages(asked, found),
        "older": older_address(asked, query, found) if asked.page == found.n_pages else None,
        "unmasked": asked.address(shows_secrets=True, page=asked.page) if found.n_masked else None,
        "alone": list(_alone(asked, page)),
        "unfiltered": None if found.total else _unfiltered(asked, query),
    }


def _pages(asked: SearchPageQuery, found: Results) -> dict[str, Any]:
    n = asked.page
    return {
        "n": n,
        "of": found.n_pages,
        "is_beyond": n > found.n_pages > 0,
        "last": asked.address(page=found.n_pages),
        "before": asked.address(page=n - 1) if n > 1 else None,
        "after": asked.address(page=n + 1) if n < found.n_pages else None,
    }


def _alone(asked: SearchPageQuery, page: SearchPage) -> Iterator[tuple[str, str, str]]:
    """For each word of a query without hits: how many texts it finds by itself, and their address."""
    for one in page.alone:
        n = f"{one.n:,}" if one.is_exact else f"more than {one.n:,}"
        yield shown(one.words, most=200), n if one.n else "no", asked.address(text=one.words)


def _unfiltered(asked: SearchPageQuery, query: Query) -> str | None:
    """The address of the same query without filters."""
    has_filters = query.filters or query.since_ms is not None or query.until_ms is not None
    if not has_filters or not (query.groups or query.pattern):
        return None
    filters = [part for part in parts_of(asked.text) if part.key is not None and part.key != "re"]
    return asked.address(text=without(asked.text, filters))
