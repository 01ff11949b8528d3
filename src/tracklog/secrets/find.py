"""Finds secrets in bytes: by their shapes, also where they stand escaped or encoded.

Rules of this room
  1. Bytes as they stand in a log or a text; nothing is decoded but what may hide something.
  2. Where two shapes fit, the one that stands earlier in the rules gives its name, and all that both cover is found.
  3. What fits a shape and is none (a placeholder, a well-known example, too plain) is a near miss, and is told as such.
  4. Linear time: each keyword is one pass, a pattern is matched at a keyword alone, and what is covered is not matched again.

Cuts a stream into windows that can be searched one by one, so that nothing at a border is missed.

Rules of this room
  1. Each byte belongs to one window. What begins there is that window's to find; it sees enough behind its end to find it
     whole, and enough before its beginning to know what it is.
  2. A line of JSON stands for itself: where one begins, neither is needed.
  3. A run of base64 that is cut goes on in the next window with a whole group of its letters: else it could not be read.
  4. Memory is bounded by WINDOW, whatever the lines are.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from math import log2
from typing import NamedTuple

from stringzilla import Str

from tracklog.secrets.encodings import DecodedView, undisguised
from tracklog.secrets.key_blocks import (
    BOUNDARY,
    LONGEST_BLOCK,
    KeyBlock,
    block_behind,
    plain_block,
    start_of_block,
)
from tracklog.secrets.rules import Rule, RuleBook, shipped_rules

_MOST_BACK = 32  # bytes before a keyword that may belong to a value
_MOST_VIEWS = 2  # one encoded in the other
_PLACEHOLDER = re.compile(
    rb"(?:\xc2\xab|\\u00ab)(?:secret|private):([a-z0-9-]{1,40}):[0-9a-f]{8}(?:\xc2\xbb|\\u00bb)"
)
_BEGINNINGS = [quote + of for quote in (b"\xc2\xab", b"\\u00ab") for of in (b"secret:", b"private:")]
_ESCAPES = re.compile(rb"\\+([\"'/`\\])")


class SecretMatch(NamedTuple):
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

    found: list[SecretMatch]
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


def _seen_through(hidden: list[DecodedView], book: RuleBook, *, views: int) -> Iterator[SecretMatch]:
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
) -> Iterator[tuple[int, SecretMatch]]:
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
                    found := search.secret_of(match)
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

    def secret_of(self, match: re.Match[bytes]) -> SecretMatch | None:
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
        return SecretMatch(self._rule.kind, start, end, _plain(value), stands_alone=start <= at)

    def _block(self, start: int, end: int) -> SecretMatch | None:
        """The key whose first or last line lies from `start` to `end`."""
        if self._rule.block == "tail":
            begin = start_of_block(self._data, start)
            self._done = end
            block = None if begin is None else KeyBlock(end, True)
            start = start if begin is None else begin
        else:
            block = block_behind(self._data, start, end)
            self._done = end if block is None else block.end
        if block is None:
            self._missed.append(Missed(self._rule.kind, start, end, "no key follows"))
            return None
        value = plain_block(self._data[start : block.end])
        return SecretMatch(
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


def _apart(ranked: list[tuple[int, SecretMatch]]) -> list[SecretMatch]:
    """Those that overlap become one, which covers all and has the name of the first rule.

    What only tells of a secret gives way to the secret.
    """
    found: list[SecretMatch] = []
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


WINDOW = 1 << 20
BEFORE = 1 << 12  # bytes before its own that a window sees
_BEHIND = LONGEST_BLOCK + (1 << 13)  # and behind them
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_GROUP = 4  # letters of base64


class ScanWindow(NamedTuple):
    """Some bytes, and which of them are its own."""

    data: bytes
    begin: int
    end: int


def windows(chunks: Iterable[bytes], *, before: int = 0) -> Iterator[ScanWindow]:
    """The windows of a stream, in order; its first `before` bytes are only to be seen."""
    cutting = _Cutting(before)
    for chunk in chunks:
        cutting.held += chunk
        while len(cutting.held) >= WINDOW:
            yield cutting.next()
    yield ScanWindow(bytes(cutting.held), cutting.begin, len(cutting.held))


class _Cutting:
    def __init__(self, begin: int) -> None:
        self.held = bytearray()
        self.begin = begin
        self._run = 0  # where the run of base64 began that `held` begins with; it may have been before

    def next(self) -> ScanWindow:
        data = bytes(self.held[:WINDOW])
        line = data.rfind(b"\n{", WINDOW // 2) + 1
        if line > self.begin:
            window = ScanWindow(data[:line], self.begin, line)
            self._go_on(data, line, line)
        else:
            end = WINDOW - _BEHIND
            window = ScanWindow(data, self.begin, end)
            self._go_on(data, self._whole_group(data, end - BEFORE), end)
        return window

    def _go_on(self, data: bytes, at: int, begin: int) -> None:
        self._run = self._start_of_run(data, at) - at
        del self.held[:at]
        self.begin = begin - at

    def _whole_group(self, data: bytes, at: int) -> int:
        return at - (at - self._start_of_run(data, at)) % _GROUP

    def _start_of_run(self, data: bytes, at: int) -> int:
        """Where the run began in whose midst `at` stands; the letter of an escape is not part of it."""
        start = len(data[:at].rstrip(_LETTERS))
        if start == 0:
            return self._run
        return start + (start < at and data[start - 1 : start] == b"\\")
