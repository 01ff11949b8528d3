"""Finds secrets in bytes: by their shapes, also where they stand escaped or encoded.

Rules of this room
  1. Bytes as they stand in a log or a text; nothing is decoded but what may hide something.
  2. Where two shapes fit, the one that stands earlier in the rules gives its name, and all that both cover is found.
  3. What fits a shape and is none (a placeholder, a well-known example, too plain) is a near miss, and is told as such.
  4. Linear time: each keyword is one pass, a pattern is matched at a keyword alone, and what is covered is not matched again.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import log2
from typing import NamedTuple

from stringzilla import Str

from tracklog.model.disguises import View, undisguised
from tracklog.model.secret_blocks import BOUNDARY, Block, block_behind, plain_block, start_of_block
from tracklog.model.secret_rules import Rule, RuleBook, shipped_rules

_MOST_BACK = 32  # bytes before a keyword that may belong to a value
_MOST_VIEWS = 2  # one encoded in the other
_PLACEHOLDER = re.compile(
    rb"(?:\xc2\xab|\\u00ab)(?:secret|private):([a-z0-9-]{1,40}):[0-9a-f]{8}(?:\xc2\xbb|\\u00bb)"
)
_BEGINNINGS = [quote + of for quote in (b"\xc2\xab", b"\\u00ab") for of in (b"secret:", b"private:")]
_ESCAPES = re.compile(rb"\\+([\"'/`\\])")


class Found(NamedTuple):
    """A secret: the bytes that are to be replaced, and its value as it is used."""

    kind: str
    start: int
    end: int
    value: bytes
    stands_alone: bool = False  # its shape is enough: it is found wherever it stands
    is_sign: bool = False  # it tells of a secret and holds none: there is nothing to look for elsewhere


class Missed(NamedTuple):
    """What has the shape of a secret, and why it is none."""

    kind: str
    start: int
    end: int
    why: str


class Looked(NamedTuple):
    """What was found, in the order of the data; no two overlap."""

    found: list[Found]
    missed: list[Missed]


def find(data: bytes, book: RuleBook | None = None) -> Looked:
    """All secrets in some bytes."""
    return _looked(data, book if book is not None else shipped_rules(), views=_MOST_VIEWS)


def _looked(data: bytes, book: RuleBook, *, views: int) -> Looked:
    missed: list[Missed] = []
    ranked = list(_by_shape(data, _without_placeholders(data), book, missed))
    if views and (hidden := list(undisguised(data))):
        ranked += [(0, one) for one in _seen_through(hidden, book, views=views - 1)]
    return Looked(_apart(ranked), missed)


def _seen_through(hidden: list[View], book: RuleBook, *, views: int) -> Iterator[Found]:
    """What hides in runs, all of which are searched at once: there may be very many short ones."""
    begins = list(accumulate((len(view.plain) + len(BOUNDARY) for view in hidden), initial=0))
    for one in _looked(BOUNDARY.join(view.plain for view in hidden), book, views=views).found:
        first, last = (bisect_right(begins, at) - 1 for at in (one.start, one.end - 1))
        start, _ = hidden[first].raw(one.start - begins[first], one.start - begins[first] + 1)
        _, end = hidden[last].raw(one.end - begins[last] - 1, one.end - begins[last])
        yield one._replace(start=start, end=max(start + 1, end))


def _without_placeholders(data: bytes) -> bytes:
    """The same, with letters that have no shape where somebody replaced something before: `«secret:…»` is no assignment."""
    haystack = Str(data)
    if all(haystack.find(begin) < 0 for begin in _BEGINNINGS):
        return data
    return _PLACEHOLDER.sub(lambda match: b"A" * len(match[0]), data)


def _by_shape(
    data: bytes, searched: bytes, book: RuleBook, missed: list[Missed]
) -> Iterator[tuple[int, Found]]:
    """Each find with the number of its rule."""
    as_it_is, lowered = Str(searched), None
    for (keyword, nocase), numbers in _keywords_of(book).items():
        if nocase and lowered is None:
            lowered = Str(searched.lower())
        haystack = lowered if nocase and lowered is not None else as_it_is
        at = haystack.find(keyword)
        if at < 0:
            continue
        searches = [_Search(data, number, book, missed) for number in numbers]
        matches = [(search.match, search) for search in searches]
        while at >= 0:
            for match_at, search in matches:
                if (match := match_at(searched, at)) is not None and (
                    found := search.take(match)
                ) is not None:
                    yield search.number, found
            at = haystack.find(keyword, at + 1)


@cache
def _keywords_of(book: RuleBook) -> dict[tuple[bytes, bool], tuple[int, ...]]:
    return book.at_keywords()


class _Search:
    """One rule over one piece of data, from its beginning to its end."""

    def __init__(self, data: bytes, number: int, book: RuleBook, missed: list[Missed]) -> None:
        self._data = data
        self._rule = book.rules[number]
        self.match = self._rule.pattern.match  # without this one's own call: most keywords lead to nothing
        self._book = book
        self._missed = missed
        self._done = 0  # what lies before is covered
        self.number = number

    def take(self, match: re.Match[bytes]) -> Found | None:
        """The secret that this match shows."""
        at = match.start()
        if at < self._done:
            return None
        start, end = match.span("v") if "v" in match.re.groupindex else match.span()
        if start < 0:  # an alternative without a value
            return None
        if self._rule.block:
            return self._block(start, end)
        if self._rule.back is not None:
            before = self._rule.back.search(self._data[max(0, start - _MOST_BACK) : start])
            start -= len(before[0]) if before is not None else 0
        self._done = max(end, at + 1)
        value = self._data[start:end]
        why = _why_none(value, self._rule, self._book)
        if why is not None:
            self._missed.append(Missed(self._rule.kind, start, end, why))
            return None
        return Found(self._rule.kind, start, end, _plain(value), stands_alone=start <= at)

    def _block(self, start: int, end: int) -> Found | None:
        """The key whose first or last line lies from `start` to `end`."""
        if self._rule.block == "tail":
            begin = start_of_block(self._data, start)
            self._done = end
            block = None if begin is None else Block(end, True)
            start = start if begin is None else begin
        else:
            block = block_behind(self._data, start, end)
            self._done = end if block is None else block.end
        if block is None:
            self._missed.append(Missed(self._rule.kind, start, end, "no key follows"))
            return None
        value = plain_block(self._data[start : block.end])
        return Found(
            self._rule.kind, start, block.end, _plain(value), stands_alone=True, is_sign=not block.has_key
        )


def _why_none(value: bytes, rule: Rule, book: RuleBook) -> str | None:
    """Why a value that has the shape of a secret is none."""
    if _PLACEHOLDER.fullmatch(value):
        return "replaced already"
    if value in book.known_examples:
        return "a well-known example"
    if book.placeholders.search(value):
        return "a placeholder"
    if rule.min_entropy and _entropy(value) < rule.min_entropy:
        return "too plain"
    if rule.check == "jwt" and not _is_jwt(value):
        return "no token inside"
    return None


def _entropy(value: bytes) -> float:
    """Bits per byte."""
    n = len(value)
    return sum(-count / n * log2(count / n) for count in Counter(value).values()) if n else 0.0


def _is_jwt(value: bytes) -> bool:
    head = value.partition(b".")[0]
    try:
        return "alg" in json.loads(base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4)))
    except (binascii.Error, ValueError, TypeError):
        return False


def _plain(value: bytes) -> bytes:
    """As it is used: without the backslashes of JSON."""
    return _ESCAPES.sub(rb"\1", value) if b"\\" in value else value


def _apart(ranked: list[tuple[int, Found]]) -> list[Found]:
    """Those that overlap become one, which covers all and has the name of the first rule.

    What only tells of a secret gives way to the secret.
    """
    found: list[Found] = []
    rank = 0
    for number, one in sorted(ranked, key=lambda pair: (pair[1].start, pair[1].end)):
        if not found or one.start >= found[-1].end:
            found.append(one)
            rank = number
            continue
        last = found[-1]
        is_better = number < rank if one.is_sign == last.is_sign else last.is_sign
        named, rank = (one, number) if is_better else (last, rank)
        found[-1] = named._replace(start=last.start, end=max(last.end, one.end))
    return found
