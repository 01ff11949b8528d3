"""Answer the search page and its palette: hits by session with masked snippets, and sessions to open by name.

Rules
  1. Unless secrets are asked for, nothing is given out that was not masked.
  2. One regular expression runs at a time: each takes a processor for seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

from tracklog.app.live.board import named
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.board.board import BoardRow as BoardRow

# what the page needs to word a query and to draw the hits
from tracklog.search.find import Shown as Shown
from tracklog.search.query import LONGEST_QUERY as LONGEST_QUERY
from tracklog.search.query import MomentMeant as MomentMeant
from tracklog.search.query import Query as Query
from tracklog.search.query import is_letter as is_letter
from tracklog.search.query import parse as parse
from tracklog.search.query_edit import QueryPart as QueryPart
from tracklog.search.query_edit import parts_of as parts_of
from tracklog.search.query_edit import plain_query as plain_query
from tracklog.search.query_edit import with_filters as with_filters
from tracklog.search.query_edit import without as without
from tracklog.search.query_edit import wrong_letter as wrong_letter
from tracklog.search.query_edit import wrong_part as wrong_part
from tracklog.search.results import Alone, Clean, all_clean, results, words_alone
from tracklog.search.results import Results as Results
from tracklog.search.results import SessionHits as SessionHits
from tracklog.search.snippets import Snippet as Snippet
from tracklog.search.tables import COUNTED as COUNTED
from tracklog.search.tables import By as By
from tracklog.search.tables import Hit as Hit
from tracklog.search.tables_facets import FacetValue as FacetValue
from tracklog.search.tables_facets import Span as Span
from tracklog.secrets.redact import NotClean, redactor_of
from tracklog.sessions.tables_lists import NamedSession as NamedSession
from tracklog.sessions.tables_lists import sessions_named
from tracklog.store.database import Database, reading
from tracklog.store.scope import Scope

_RUNS = ("waiting", "working")
_WAIT_S = 3.0
_patterns = Lock()


class SearchBusyError(Exception):
    """Another regular expression still runs."""


class MaskingError(UserError):
    """Secrets cannot be masked, so nothing is shown."""


class SearchPage(NamedTuple):
    """One page of hits."""

    results: Results
    titles: list[str]  # of its sessions, masked
    alone: list[Alone]  # of a query without hits: what each word finds by itself


def is_searchable(home: Home) -> bool:
    """Whether there is an index."""
    with reading(home) as database:
        return database is not None


def search_page(
    home: Home, scope: Scope, query: Query, *, by: By, page: int, shows_secrets: bool
) -> SearchPage | None:
    """One page of the hits of a query; None without an index. Raises SearchBusyError, MaskingError."""
    with reading(home) as database:
        if database is None:
            return None
        if query.pattern is not None and not _patterns.acquire(timeout=_WAIT_S):
            raise SearchBusyError
        try:
            clean = _as_it_is if shows_secrets else _cleaner(home)
            return _page(database, scope, query, by=by, page=page, clean=clean)
        finally:
            if query.pattern is not None:
                _patterns.release()


def _page(database: Database, scope: Scope, query: Query, *, by: By, page: int, clean: Clean) -> SearchPage:
    found = results(database, query, scope=scope, by=by, page=page, clean=clean)
    titles = all_clean([(group.seen.title if group.seen else None) or "" for group in found.groups], clean)
    return SearchPage(found, titles, [] if found.total else words_alone(database, query, scope=scope))


def _cleaner(home: Home) -> Clean:
    try:
        redactor = redactor_of(home)
    except UserError as error:
        raise MaskingError(str(error)) from error

    def clean(text: str) -> str:
        try:
            return redactor.text(text)
        except NotClean:
            return "(more secrets than can be masked stand here)"

    return clean


def _as_it_is(text: str) -> str:
    return text


def sessions_to_open(
    home: Home, scope: Scope, rows: Sequence[BoardRow], text: str, *, limit: int
) -> tuple[list[BoardRow], list[NamedSession]]:
    """The sessions that match some words: those of the board that run, and those in the index, the last used first."""
    with reading(home) as database:
        running = [row for row in rows if row.state.state in _RUNS]
        matching = [row for row in named(running, database) if _fits(row, text)]
        known = sessions_named(database.db, text, scope=scope, limit=limit) if database is not None else []
    return matching[:limit], known


def _fits(row: BoardRow, text: str) -> bool:
    words = f"{row.title or ''} {row.project or ''}".lower()
    return all(word in words or row.id.lower().startswith(word) for word in text.lower().split())
