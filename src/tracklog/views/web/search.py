"""The search page, its results alone (as somebody types), and the palette."""

from __future__ import annotations

from threading import Lock
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tracklog.errors import UserError
from tracklog.model.redact import NotClean, Redactor
from tracklog.pipeline.search_results import Clean, Results, words_alone
from tracklog.pipeline.search_results import results as found_by
from tracklog.store.database import Database
from tracklog.store.query import Query
from tracklog.store.query_parts import parts_of, without
from tracklog.store.redaction import redactor_of
from tracklog.views.html.plain import shown
from tracklog.views.web.frame import fragment, page
from tracklog.views.web.palette_view import palette_groups
from tracklog.views.web.search_asked import Asked, Meant, asked_by, meant_by, meant_while_typing
from tracklog.views.web.search_view import facet_views, group_views, older_address, total_words
from tracklog.views.web.site import Site, site_of

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
_patterns = Lock()  # each takes a processor for seconds
_WAIT_S = 3.0


def search(request: Request) -> Response:
    """The whole page."""
    asked = asked_by(request)
    values = _values(site_of(request), asked)
    return page(request, "search.html", nav="search", asked=asked, title=shown(asked.text, most=80), **values)


def results(request: Request) -> Response:
    """What stands below the field; while somebody types, the last word may not be whole yet."""
    asked, site = asked_by(request), site_of(request)
    is_typed = request.query_params.get("typing") == "1"
    begun = meant_while_typing(asked.text, site.now()) if is_typed else None
    return fragment("_hits.html", asked=asked, **_values(site, asked, begun=begun))


def palette(request: Request) -> Response:
    """What the palette offers."""
    site = site_of(request)
    with site.reading() as database:
        groups = palette_groups(site, database, request.query_params.get("q", ""))
    return fragment("_palette.html", groups=groups)


def _values(site: Site, asked: Asked, *, begun: Meant | None = None) -> dict[str, Any]:
    """Everything that the results show; `begun` is searched instead of what is asked."""
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
    with site.reading() as database:
        values["is_indexed"] = database is not None
        if database is None or meant.query is None:
            return values
        if meant.query.pattern is None:
            return values | _answered(site, database, asked, meant, meant.query)
        if not _patterns.acquire(timeout=_WAIT_S):
            return values | {"is_busy": True}
        try:
            return values | _answered(site, database, asked, meant, meant.query)
        finally:
            _patterns.release()


def _answered(site: Site, database: Database, asked: Asked, meant: Meant, query: Query) -> dict[str, Any]:
    try:
        clean = _as_it_is if asked.shows_secrets else _cleaner(redactor_of(site.home))
    except UserError as error:  # nothing is shown that is not masked
        return {"no_mask": shown(str(error))}
    found = found_by(database, query, scope=site.scope, by=asked.by, page=asked.page, clean=clean)
    asked = asked._replace(text=meant.text)
    return {
        "found": found,
        "total": total_words(found),
        "groups": group_views(asked, query, found, clean=clean, now=site.now()),
        "facets": facet_views(asked, query, found),
        "by_time": asked.address(by="time"),
        "by_relevance": asked.address(by="relevance"),
        "pages": _pages(asked, found),
        "older": older_address(asked, query, found) if asked.page == found.n_pages else None,
        "unmasked": asked.address(shows_secrets=True, page=asked.page) if found.n_masked else None,
        "alone": [] if found.total else _alone(site, database, asked, query),
        "unfiltered": None if found.total else _unfiltered(asked, query),
    }


def _cleaner(redactor: Redactor) -> Clean:
    def clean(text: str) -> str:
        try:
            return redactor.text(text)
        except NotClean:
            return "(more secrets than can be masked stand here)"

    return clean


def _as_it_is(text: str) -> str:
    return text


def _pages(asked: Asked, found: Results) -> dict[str, Any]:
    n = asked.page
    return {
        "n": n,
        "of": found.n_pages,
        "is_beyond": n > found.n_pages > 0,
        "last": asked.address(page=found.n_pages),
        "before": asked.address(page=n - 1) if n > 1 else None,
        "after": asked.address(page=n + 1) if n < found.n_pages else None,
    }


def _alone(site: Site, database: Database, asked: Asked, query: Query) -> list[tuple[str, str, str]]:
    """Of each word of a query that finds nothing: how often it is found by itself, and where."""
    told = []
    for one in words_alone(database, query, scope=site.scope):
        n = f"{one.n:,}" if one.is_exact else f"more than {one.n:,}"
        told.append((shown(one.words, most=200), n if one.n else "no", asked.address(text=one.words)))
    return told


def _unfiltered(asked: Asked, query: Query) -> str | None:
    """The same words without the filters."""
    has_filters = query.filters or query.since_ms is not None or query.until_ms is not None
    if not has_filters or not (query.groups or query.pattern):
        return None
    filters = [part for part in parts_of(asked.text) if part.key is not None and part.key != "re"]
    return asked.address(text=without(asked.text, filters))
