"""What a person asked the search page for, and what is searched if that means nothing.

Rules of this room
  1. Of a query that means nothing, what can be understood is searched; never what was to be left out.
  2. The words are those of the browser: there are no options here.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from tracklog.app.scope.filters import moment_meant
from tracklog.errors import UserError
from tracklog.search.query import LONGEST_QUERY, MomentMeant, Query, is_letter, parse
from tracklog.search.query_edit import QueryPart, parts_of, plain_query, without, wrong_letter, wrong_part
from tracklog.search.tables import By
from tracklog.views.html.legible import shown

_AROUND = 80  # letters beside the place that is wrong
_MOST_PAGES = 1_000
_MOST_REPAIRS = 8  # filters that are left out, one after the other
_MOST_WORDS = 40  # of a query that means nothing
_HALF_TYPED = re.compile(r"\S*\w\w")
_JOINTS = ("OR", "NOT")
_NO_NAMES = ("OR", "NOT", "AND")
_MOST_OFFERED = 200  # letters


class SearchPageQuery(NamedTuple):
    """What stands in the address."""

    text: str
    by: By = "time"
    page: int = 1
    shows_secrets: bool = False

    def address(self, **changes: Any) -> str:
        """The page of the same, or of something like it; it begins with the first hits unless another page is meant."""
        one = self._replace(**{"page": 1, **changes})
        words: dict[str, str | int] = {"q": one.text}
        words |= {"by": one.by} if one.by != "time" else {}
        words |= {"page": one.page} if one.page > 1 else {}
        words |= {"secrets": "shown"} if one.shows_secrets else {}
        return f"/search?{urlencode(words)}"


class Wrong(NamedTuple):
    """Why a query means nothing, where, and what is searched instead."""

    why: str
    before: str
    place: str
    after: str
    instead: str | None
    offered: str | None = None  # a query that may have been meant, where nothing is searched

    @property
    def instead_words(self) -> str:
        """What is searched instead, to be shown."""
        return shown(self.instead or "", most=400)

    @property
    def offered_words(self) -> str:
        """What may be searched, to be shown."""
        return shown(self.offered or "", most=400)


class Meant(NamedTuple):
    """What is searched; None: there is nothing to search for."""

    query: Query | None
    text: str  # that says just this
    wrong: Wrong | None = None


def asked_by(request: Request) -> SearchPageQuery:
    """What a request asks for."""
    given = request.query_params
    page = given.get("page", "")
    return SearchPageQuery(
        plain_query(given.get("q", "")),
        "relevance" if given.get("by") == "relevance" else "time",
        min(max(int(page), 1), _MOST_PAGES) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
        given.get("secrets") == "shown",
    )


def meant_by(text: str, now: datetime) -> Meant:
    """The query that a text means; of one that means nothing, what can be understood of it."""
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
    """The same with the last word as a beginning, for it may not be whole yet; None if it is no bare word."""
    *_, before, last = (None, None, *parts_of(text))
    if last is None or last.key or text[last.start :] != last.value or last.value in _JOINTS:
        return None
    if not _HALF_TYPED.fullmatch(last.value) or (before and before.value == "NOT"):
        return None
    meant = meant_by(f"{text}*", now)
    return None if meant.wrong else meant


class _Words(NamedTuple):
    """The parts of a text that are no filters: what is to be found, and what is to be left out."""

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
    """What is wrong with a text that holds no word to be found, and what may have been meant; None if it holds one."""
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
    """The same with the words to be found that were to be left out."""
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
    """The text if it is short and means something."""
    try:
        parse(text, moment)
    except UserError:
        return None
    return text if len(text) <= _MOST_OFFERED else None


def _wrong_place(text: str, moment: MomentMeant) -> tuple[int, int]:
    """From where to where a text goes wrong: a filter, or a letter of a pattern."""
    part = wrong_part(text, moment)
    if part is None:
        return 0, 0
    letter = wrong_letter(part) if part.key == "re" else None
    return (part.start, part.end) if letter is None else (part.start + letter, part.start + letter + 1)


def _repaired(text: str, moment: MomentMeant) -> tuple[Query | None, str | None]:
    """The query without the filters that mean nothing; if nothing is left of it, its plain words."""
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
