"""Groups of hits, facets and links of the search page.

Rules
  1. Every count is a link to what it counts, or says that it is a lower bound.
  2. A filter is offered only if the query language can express it, and an active one can be removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from tracklog.app.pages.search import (
    COUNTED,
    FacetValue,
    Hit,
    Query,
    QueryPart,
    Results,
    SearchPage,
    SessionHits,
    Shown,
    Snippet,
    Span,
    parts_of,
    with_filters,
    without,
)
from tracklog.clock import local_zone
from tracklog.views.documents.search import SOURCE_WORDS
from tracklog.views.html.legible import shown as legible
from tracklog.views.html.numbers import when
from tracklog.views.web.frame import session_address
from tracklog.views.web.pages.search.query import SearchPageQuery
from tracklog.views.web.pages.sessions.table import title_of

FACETS = (
    ("agent", "Agent"),
    ("project", "Project"),
    ("role", "Kind"),
    ("tool", "Tool"),
    ("verdict", "Verdict"),
)
_TIMES = ("since", "until")
_LONGEST_FIND = 200
_FEW = 8  # values of a facet that are shown at first


class SearchFacetChoice(NamedTuple):
    """A value of a facet."""

    words: str
    n: str
    title: str
    address: str | None


class ActiveSearchFilter(NamedTuple):
    """An active filter, and the address without it."""

    words: str
    is_not: bool
    address: str


class FacetColumn(NamedTuple):
    """A facet in the side column."""

    title: str
    taken: list[ActiveSearchFilter]
    few: list[SearchFacetChoice]
    more: list[SearchFacetChoice]


class HitView(NamedTuple):
    """A hit as a line."""

    address: str | None
    role: str
    when: Markup
    line: int
    file: str | None  # None for the main log
    pieces: list[tuple[str, bool]]  # of the snippet, and whether each is marked
    source: str = ""  # of a tool's result, where its text was read


class GroupView(NamedTuple):
    """A session with its hits, as the page shows it."""

    title: str
    address: str | None
    agent: str
    project: str
    id: str
    n: str
    all_address: str | None  # where all of its hits are, if not here
    hits: list[HitView]


def group_views(asked: SearchPageQuery, query: Query, found: SearchPage, *, now: datetime) -> list[GroupView]:
    """The sessions of a page."""
    first = next((term.words for term in query.terms), "")
    groups = zip(found.results.groups, found.titles, strict=True)
    return [_group(asked, group, found.results, title=title, words=first, now=now) for group, title in groups]


def _group(
    asked: SearchPageQuery, group: SessionHits, found: Results, *, title: str, words: str, now: datetime
) -> GroupView:
    agent, session = group.name or ("", "")
    narrowed = with_filters(asked.text, ("session", session)) if session else None
    is_short = found.n_groups > 1 and (group.n_hits > len(group.shown) or not found.is_whole)
    return GroupView(
        title=title_of(title) or legible(session or group.path),
        address=_address(group.name, None, None, words=words),
        agent=agent,
        project=legible((group.seen.project if group.seen else None) or ""),
        id=legible(session[:8]),
        n=_counted(group.n_hits, "hit", is_whole=found.is_whole),
        all_address=asked.address(text=narrowed) if narrowed and is_short else None,
        hits=[_hit(one, group, words=words, now=now) for one in group.shown],
    )


def _hit(shown: Shown, group: SessionHits, *, words: str, now: datetime) -> HitView:
    hit, snippet, source = shown
    is_main = group.seen is not None and group.seen.path == hit.path
    file = None if is_main else PurePath(hit.path).name
    return HitView(
        _address(group.name, hit, file, words=_first_mark(snippet) or words),
        hit.role,
        when(hit.at, now),
        hit.line,
        None if file is None else legible(file),
        list(_pieces(snippet)),
        SOURCE_WORDS.get(source, ""),
    )


def _address(name: tuple[str, str] | None, hit: Hit | None, file: str | None, *, words: str) -> str | None:
    """The address of a hit or a session with the find bar open; scripts use the part after `#`."""
    if name is None:
        return None
    given = {"file": file, "find": words[:_LONGEST_FIND], "line": hit.line if hit else None}
    asked = urlencode({key: value for key, value in given.items() if value}, errors="surrogateescape")
    place = f"#L{hit.line}" if hit else ""
    return f"{session_address(*name)}{'?' if asked else ''}{asked}{place}"


def _first_mark(snippet: Snippet) -> str:
    marked = (snippet.text[first:last].strip() for first, last in snippet.marks)
    return next((words for words in marked if words and not words.startswith("«")), "")


def _pieces(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    at = 0
    for first, last in snippet.marks:
        yield legible(snippet.text[at:first]), False
        yield legible(snippet.text[first:last]), True
        at = last
    yield legible(snippet.text[at:]), False


def facet_views(asked: SearchPageQuery, query: Query, found: Results) -> list[FacetColumn]:
    """The facets of the side column."""
    parts = [part for part in parts_of(asked.text) if part.key is not None and part.key != "re"]
    made = [_facet(asked, found, parts, key, title) for key, title in FACETS]
    spans = [_span(asked, query, one, parts, found) for one in found.facets.spans]
    dates = _taken(asked, parts, _TIMES)
    made.append(FacetColumn("Time", dates, *_split(spans if len(spans) > 1 or not dates else [])))
    named = {key for key, _ in FACETS} | set(_TIMES)
    others = _taken(asked, parts, {str(part.key) for part in parts} - named)
    made += [FacetColumn("Other filters", others, [], [])]
    return [one for one in made if one.taken or one.few]


def _facet(
    asked: SearchPageQuery, found: Results, parts: Sequence[QueryPart], key: str, title: str
) -> FacetColumn:
    taken = _taken(asked, parts, {key})
    values: list[FacetValue] = getattr(found.facets, key)
    is_chosen = any(part.key == key and not part.is_not for part in parts)
    choices = [] if is_chosen else [_choice(asked, key, one, found) for one in values]
    return FacetColumn(title, taken, *_split(choices))


def _split(choices: list[SearchFacetChoice]) -> tuple[list[SearchFacetChoice], list[SearchFacetChoice]]:
    few = len(choices) if len(choices) <= _FEW + 1 else _FEW
    return choices[:few], choices[few:]


def _taken(asked: SearchPageQuery, parts: Sequence[QueryPart], keys: Any) -> list[ActiveSearchFilter]:
    return [
        ActiveSearchFilter(_worded(part), part.is_not, asked.address(text=without(asked.text, [part])))
        for part in parts
        if part.key in keys
    ]


def _worded(part: QueryPart) -> str:
    is_plain = part.key in dict(FACETS)
    return legible(part.value if is_plain else f"{part.key}:{part.value}")


def _choice(asked: SearchPageQuery, key: str, one: FacetValue, found: Results) -> SearchFacetChoice:
    narrowed = with_filters(asked.text, (key, one.value)) if _can_be_said(key, one.value) else None
    address = asked.address(text=narrowed) if narrowed is not None else None
    return SearchFacetChoice(legible(one.value, most=60), *_number(one.n, found), address)


def _can_be_said(key: str, value: str) -> bool:
    """Whether a filter with this value means it: not a tool's name with a star, or a project with a slash or dots."""
    if key == "project":
        return "/" not in value and value not in (".", "..")
    return not (key == "tool" and value.endswith("*"))


def _span(
    asked: SearchPageQuery, query: Query, one: Span, parts: Sequence[QueryPart], found: Results
) -> SearchFacetChoice:
    """A span as `since:` and `until:`; a narrower one in the query is kept."""
    zone = local_zone()
    begins = datetime(one.first.year, one.first.month, one.first.day, tzinfo=zone)
    ends = datetime(one.last.year, one.last.month, one.last.day, tzinfo=zone) + timedelta(days=1)
    added = []
    if query.since_ms is None or query.since_ms <= begins.timestamp() * 1000:
        added.append(("since", one.first.isoformat()))
    if query.until_ms is None or query.until_ms >= ends.timestamp() * 1000:
        added.append(("until", one.last.isoformat()))
    dropped = [part for part in parts if part.key in dict(added)]
    narrowed = with_filters(without(asked.text, dropped), *added)
    address = asked.address(text=narrowed) if narrowed is not None else None
    return SearchFacetChoice(one.words, *_number(one.n, found), address)


def _number(n: int, found: Results) -> tuple[str, str]:
    if found.is_whole:
        return f"{n:,}", ""
    return f"{n:,}+", f"at least: {found.n_counted:,} hits were counted"


def _counted(n: int, word: str, *, is_whole: bool) -> str:
    words = f"{n:,} {word}{'' if n == 1 else 's'}"
    return words if is_whole else f"{words} or more"


def total_words(found: Results) -> str:
    """The total number of hits in words."""
    if not found.total:
        return "Nothing found" if found.is_exact else "Nothing found in the time there was"
    sessions = f"{found.n_groups:,} session{'' if found.n_groups == 1 else 's'}"
    hits = f"{found.total:,} hit{'' if found.total == 1 else 's'}"
    if found.is_whole:
        return f"{hits} in {sessions}"
    if found.is_exact:
        return f"{hits}; the best {found.n_counted:,} are here, in {sessions}"
    if found.total == found.n_counted < COUNTED:
        return f"At least {hits} in {sessions}"
    more = "More than" if found.total >= COUNTED else "At least"
    return f"{more} {hits}; the first {found.n_counted:,} are here, in {sessions}"


def older_address(asked: SearchPageQuery, query: Query, found: Results) -> str | None:
    """The address of the hits older than those that were counted."""
    if found.is_whole or asked.by != "time" or query.pattern is not None or found.oldest_ms is None:
        return None
    before = datetime.fromtimestamp((found.oldest_ms + 1) / 1000, UTC)
    parts = [part for part in parts_of(asked.text) if part.key == "until"]
    moment = before.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    narrowed = with_filters(without(asked.text, parts), ("until", moment))
    return None if narrowed is None or narrowed == asked.text else asked.address(text=narrowed)
