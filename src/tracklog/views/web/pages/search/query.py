"""Parse the query of the search page, and repair an invalid one.

Rules
  1. Of an invalid query, the valid parts are searched; never the words that it leaves out.
  2. Messages are worded for the browser: there are no options here.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from tracklog.app.pages.search import (
    LONGEST_QUERY,
    By,
    MomentMeant,
    Query,
    QueryPart,
    is_letter,
    parse,
    parts_of,
    plain_query,
    without,
    wrong_letter,
    wrong_part,
)
from tracklog.app.scope.filters import moment_meant
from tracklog.errors import UserError
from tracklog.views.html.legible import shown

_AROUND = 80  # letters around the invalid place
_MOST_PAGES = 1_000
_MOST_REPAIRS = 8  # filters that are left out, one after the other
_MOST_WORDS = 40  # of an invalid query
_HALF_TYPED = re.compile(r"\S*\w\w")
_JOINTS = ("OR", "NOT")
_NO_NAMES = ("OR", "NOT", "AND")
_MOST_OFFERED = 200  # letters


class SearchPageQuery(NamedTuple):
    """The parameters of the page's address."""

    text: str
    by: By = "time"
    page: int = 1
    shows_secrets: bool = False

    def address(self, **changes: Any) -> str:
        """The address of this query or a changed one; of its first page unless another is given."""
        one = self._replace(**{"page": 1, **changes})
        words: dict[str, str | int] = {"q": one.text}
        words |= {"by": one.by} if one.by != "time" else {}
        words |= {"page": one.page} if one.page > 1 else {}
        words |= {"secrets": "shown"} if one.shows_secrets else {}
        return f"/search?{urlencode(words)}"


class Wrong(NamedTuple):
    """Why a query is invalid, where, and what is searched instead."""

    why: str
    before: str
    place: str
    after: str
    instead: str | None
    offered: str | None = None  # a query that may have been meant, where nothing is searched

    @property
    def instead_words(self) -> str:
        """What is searched instead, as it is shown."""
        return shown(self.instead or "", most=400)

    @property
    def offered_words(self) -> str:
        """What is offered instead, as it is shown."""
        return shown(self.offered or "", most=400)


class Meant(NamedTuple):
    """The query to search; None: there is nothing to search for."""

    query: Query | None
    text: str  # as a query
    wrong: Wrong | None = None


def asked_by(request: Request) -> SearchPageQuery:
    """The parameters of a request."""
    given = request.query_params
    page = given.get("page", "")
    return SearchPageQuery(
        plain_query(given.get("q", "")),
        "relevance" if given.get("by") == "relevance" else "time",
        min(max(int(page), 1), _MOST_PAGES) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
        given.get("secrets") == "shown",
    )


def meant_by(text: str, now: datetime) -> Meant:
    """Parses a query; an invalid one is repaired."""
    moment = partial(moment_meant, now=now)
    try:
        return Meant(parse(text, moment), text)
    except UserError as error:
        if (wrong := _nothing_to_find(text, moment)) is not None:
            return Meant(None, "", wrong)
        query, instead = _repaired(text, moment)
        start, end = _wrong_place(text[:LONGEST_QUERY], moment)
        around = (text[:start][-_AROUND:], text[start:end], text[end:][:_AROUND])
        before, place, after = (shown(one, most=_AROUND) for one in around)
        wrong = Wrong(shown(str(error)), before, place, after, instead)
        return Meant(query, instead or "", wrong)


def meant_while_typing(text: str, now: datetime) -> Meant | None:
    """Parses a query with its last word as a prefix, as it may be incomplete; None if that is no bare word."""
    *_, before, last = (None, None, *parts_of(text))
    if last is None or last.key or text[last.start :] != last.value or last.value in _JOINTS:
        return None
    if not _HALF_TYPED.fullmatch(last.value) or (before and before.value == "NOT"):
        return None
    meant = meant_by(f"{text}*", now)
    return None if meant.wrong else meant


class _Words(NamedTuple):
    """The parts of a query that are no filters: words to find, and words to leave out."""

    wanted: list[QueryPart]
    left_out: list[QueryPart]


def _words_in(text: str) -> _Words:
    words, is_not = _Words([], []), False
    for part in parts_of(text):
        if part.key is None and any(map(is_letter, part.value)) and part.value not in _NO_NAMES:
            (words.left_out if part.is_not or is_not else words.wanted).append(part)
        is_not = part.key is None and part.value == "NOT"
    return words


def _nothing_to_find(text: str, moment: MomentMeant) -> Wrong | None:
    """What is wrong with a query without a word to find, with a suggestion; None if it has one."""
    wanted, left_out = _words_in(text)
    if not text or wanted or len(text) > LONGEST_QUERY or wrong_part(text, moment) is not None:
        return None
    why = "a search needs something to find: a word with a minus only leaves out, as in retry -test"
    meant = _without_minus(text)
    if not left_out:
        why = f"there is no word in '{shown(text, most=40)}': signs are found by a regular expression"
        meant = f"re:/{_as_pattern(plain_query(text))}/"
    return Wrong(why, "", "", "", None, _sayable(meant, moment))


def _without_minus(text: str) -> str:
    """The query with its excluded words as words to find."""
    plain = plain_query(text)
    words = (
        plain[part.start + (part.is_not and part.key is None) : part.end]
        for part in parts_of(plain)
        if part.key is not None or part.value not in _NO_NAMES
    )
    return " ".join(words)


def _as_pattern(text: str) -> str:
    return re.escape(text).replace("\\ ", " ").replace("/", "\\/")


def _sayable(text: str, moment: MomentMeant) -> str | None:
    """The query if it is short and valid."""
    try:
        parse(text, moment)
    except UserError:
        return None
    return text if len(text) <= _MOST_OFFERED else None


def _wrong_place(text: str, moment: MomentMeant) -> tuple[int, int]:
    """The range of a query that is invalid: a filter, or a letter of a pattern."""
    part = wrong_part(text, moment)
    if part is None:
        return 0, 0
    letter = wrong_letter(part) if part.key == "re" else None
    return (part.start, part.end) if letter is None else (part.start + letter, part.start + letter + 1)


def _repaired(text: str, moment: MomentMeant) -> tuple[Query | None, str | None]:
    """The query without its invalid filters; if nothing is left, its plain words."""
    text = text[:LONGEST_QUERY]
    for attempt in (_without_wrong_filters(text, moment), _plain_words(text)):
        try:
            return parse(attempt, moment), attempt
        except UserError:
            continue
    return None, None


def _without_wrong_filters(text: str, moment: MomentMeant) -> str:
    for _ in range(_MOST_REPAIRS):
        part = wrong_part(text, moment)
        if part is None:
            break
        text = without(text, [part])
    return text


def _plain_words(text: str) -> str:
    left_out = set(_words_in(text).left_out)
    parts = [part for part in parts_of(text) if part.value and part not in left_out and not part.is_not]
    values = [part.value.replace('"', " ") for part in parts[:_MOST_WORDS]]
    return " ".join(f'"{value}"' for value in values if value not in _NO_NAMES)
