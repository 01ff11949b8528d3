"""Split a query into its parts with their offsets, and add or remove a part.

Rules
  1. Parts are split as query.py parses them; nothing here decides what they mean.
  2. An edited query keeps its meaning but for the edit: an open quote never swallows what is added.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tracklog.errors import UserError
from tracklog.search.query import KEYS, MomentMeant, parse

_NO_WORD = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_MINUS = re.compile(r"-(?=[^->= ])")
_KEY = re.compile(rf"({'|'.join(KEYS)}):(?=\S)", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]*)("?)')
_PLAIN = re.compile(r'[^\s"]+')
_PATTERN = re.compile(r"/(?:[^/\\]|\\.)*(?:/(?=\s|$)|$)|\S+", re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[\s"]')
_WAITS = {"OR", "NOT"}  # for what comes next


class QueryPart(NamedTuple):
    """A word, a phrase or a filter, with its offsets."""

    start: int
    end: int
    key: str | None  # of a filter
    value: str
    is_not: bool = False
    is_open: bool = False  # text added after it would become a part of it


def plain_query(text: str) -> str:
    """The query on one line, as the parser reads it."""
    return _NO_WORD.sub(" ", text).strip()


def parts_of(text: str) -> list[QueryPart]:
    """The parts of a query, in order; offsets are those in `plain_query(text)`."""
    return list(_parts(plain_query(text)))


def _parts(text: str) -> Iterator[QueryPart]:
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        part = _part_at(text, at)
        yield part
        at = part.end


def _part_at(text: str, start: int) -> QueryPart:
    minus = _MINUS.match(text, start)
    at = minus.end() if minus else start
    key = _KEY.match(text, at)
    name = key[1].lower() if key else None
    at = key.end() if key else at
    if name == "re":
        found = _PATTERN.match(text, at)
        assert found is not None  # a letter follows the key
        is_open = found[0].startswith("/") and not _is_closed_pattern(found[0])
        return QueryPart(start, found.end(), name, found[0], bool(minus), is_open)
    quoted = _QUOTED.match(text, at)
    if quoted:
        end = quoted.end()
        end += name is None and text.startswith("*", end)
        return QueryPart(start, end, name, quoted[1], bool(minus), not quoted[2])
    found = _PLAIN.match(text, at)
    assert found is not None  # here is neither a space nor a quote
    return QueryPart(start, found.end(), name, found[0], bool(minus), name is None and found[0] in _WAITS)


def _is_closed_pattern(pattern: str) -> bool:
    return len(pattern) > 1 and pattern.endswith("/") and not pattern.endswith("\\/")


def with_filters(text: str, *filters: tuple[str, str]) -> str | None:
    """The query with more filters; None if the query language cannot express one of them."""
    said = [_said(key, value) for key, value in filters]
    if any(one is None for one in said):
        return None
    plain, parts = plain_query(text), parts_of(text)
    more = " ".join(one for one in said if one is not None)
    if parts and parts[-1].is_open:
        return f"{more} {plain}"
    return f"{plain} {more}".strip()


def _said(key: str, value: str) -> str | None:
    if '"' in value or plain_query(value) != value or not value:
        return None
    return f'{key}:"{value}"' if _NEEDS_QUOTES.search(value) else f"{key}:{value}"


def without(text: str, parts: Iterable[QueryPart]) -> str:
    """The query without some of its parts."""
    plain = plain_query(text)
    for part in sorted(parts, reverse=True):
        plain = f"{plain[: part.start].rstrip()} {plain[part.end :].lstrip()}"
    return plain.strip()


def wrong_letter(part: QueryPart) -> int | None:
    """Offset of the letter at which a pattern fails to compile, from the start of the part."""
    pattern = part.value.removeprefix("/")
    pattern = pattern[:-1] if _is_closed_pattern(part.value) else pattern
    try:
        with warnings.catch_warnings(action="ignore"):  # of signs that may mean something else one day
            re.compile(pattern)
    except re.error as error:
        begins = part.end - part.start - len(part.value) + part.value.startswith("/")
        return None if error.pos is None else begins + min(error.pos, len(pattern) - 1)
    except (OverflowError, RecursionError):
        return None
    return None


def wrong_part(text: str, moment_meant: MomentMeant) -> QueryPart | None:
    """The filter that makes a query invalid; None if no filter does."""
    patterns = 0
    for part in parts_of(text):
        if part.key is None:
            continue
        patterns += part.key == "re"
        try:
            parse(plain_query(text)[part.start : part.end], moment_meant)
        except UserError:
            return part
        if patterns > 1:
            return part
    return None
