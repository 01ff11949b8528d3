"""Cut a snippet out of a found text, around the words of the query, with marks.

Rules
  1. Words are marked by the rules by which they are found (store/text.py): whole ones, parts of identifiers,
     whatever their accents and case.
  2. The cost grows with the text alone; a word is looked for as a plain string before its borders are checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from tracklog.search.query import Query, Term
from tracklog.search.tables_match import is_hash
from tracklog.store.text import CJK, EMOJI, camel_parts

WINDOW = 160
_BEFORE = 50  # letters of the window before the first mark
_MOST_MARKS = 40
_PLACES_OF_EACH = 10
_MOST_LOOKS = 10_000  # at places that turn out to be within a word

Span = tuple[int, int]

_IN_WORD = r"[^\W_]"
_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_UNSPACED = f"(?<=[{CJK}])|(?=[{CJK}])"
_BEGIN = f"(?:(?<!{_IN_WORD})|{_CAMEL}|{_UNSPACED})"
_END = f"(?:(?!{_IN_WORD})|{_CAMEL}|{_UNSPACED})"
_GAP = rf"(?:[\W_]+|{_CAMEL})"
_LITERAL = re.compile(f"[{CJK}]+|[{EMOJI}]")
_WORD = re.compile(rf"[^\W_{CJK}]+")
_WHITE = re.compile(r"\s+")


class Snippet(NamedTuple):
    """A part of a text on one line, and the marked ranges in it."""

    text: str
    marks: list[Span]


class Highlighter:
    """Finds the words of a query in a text."""

    def __init__(self, query: Query) -> None:
        self._verified = [
            [_Finder(term) for term in group]
            for group in query.groups
            if all(term.is_phrase and _LITERAL.search(term.words) for term in group)
        ]
        self._finders = [_Finder(term) for term in query.terms]
        self._last = FoldedText("")

    def fits(self, text: str) -> bool:
        """Whether a text contains one of the words; without words, any text fits."""
        plain = self._plain(text)
        return not self._finders or any(finder.first(plain) for finder in self._finders)

    def is_verified(self, text: str) -> bool:
        """Whether a text contains the phrases that the index finds only by their parts, as they were typed."""
        if not self._verified:
            return True
        plain = self._plain(text)
        return all(any(finder.first(plain) for finder in group) for group in self._verified)

    def snippet(self, text: str) -> Snippet:
        """The best part of a text."""
        plain = self._plain(text)
        at = _best(self._finders, plain)
        return cut_out(text, at, lambda begin, end: _all_in(self._finders, plain, begin, end))

    def _plain(self, text: str) -> FoldedText:
        """The text, folded; accents are removed only if nothing is found with them."""
        if self._last.of is not text:
            plain = FoldedText(text)
            is_found = text.isascii() or any(finder.first(plain) for finder in self._finders)
            self._last = plain if is_found else FoldedText(text, _accents_in(text))
        return self._last


class FoldedText:
    """A text, optionally without accents, and its lower-case form; all of the same length."""

    def __init__(self, text: str, accents: dict[int, str] | None = None) -> None:
        self.of = text
        self.text = text.translate(accents) if accents else text
        small = self.text.lower()
        self.small = small if len(small) == len(text) else "".join(map(_small, self.text))


class _Finder:
    """Finds one word or phrase."""

    def __init__(self, term: Term) -> None:
        words = term.words.translate(_accents_in(term.words))
        if _LITERAL.search(words) and not term.is_phrase:
            self._needles = [
                one.lower() for one in (*_LITERAL.findall(words), *_WORD.findall(_LITERAL.sub(" ", words)))
            ]
            self._pattern = re.compile("|".join(map(re.escape, self._needles)), re.IGNORECASE)
            return
        tokens = re.findall(f"{_IN_WORD}+|[{EMOJI}]", words)
        # `getValue` is found where `get value` is
        parts = camel_parts(tokens[0]) if len(tokens) == 1 else []
        ways = [_GAP.join(f"(?i:{re.escape(one)})" for one in way) for way in (tokens, parts) if way]
        end = f"{_IN_WORD}*" if term.is_prefix or is_hash(words) else _END
        self._needles = [one.lower() for one in (parts or tokens)[:1]]
        self._pattern = re.compile(f"{_BEGIN}(?:{'|'.join(ways)}){end}")

    def first(self, plain: FoldedText) -> Span | None:
        """The first occurrence."""
        return next(self.within(plain, 0, len(plain.text)), None)

    def within(self, plain: FoldedText, begin: int, end: int) -> Iterator[Span]:
        """Occurrences in a part of the text, in order for each of its words."""
        for needle in self._needles:
            at, looks = plain.small.find(needle, begin, end), 0
            while at >= 0 and looks < _MOST_LOOKS:
                found = self._pattern.match(plain.text, at)
                looks += 1
                if found and found.end() > at:
                    yield found.span()
                at = plain.small.find(needle, max(at + 1, found.end() if found else 0), end)


def pattern_spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """The matches of a regular expression that are not empty."""
    return (found.span() for found in pattern.finditer(text) if found.end() > found.start())


def cut_out(text: str, at: int, spans: Callable[[int, int], Iterable[Span]]) -> Snippet:
    """A snippet around an offset of a text, on one line, with the marks in it."""
    begin = _word_begin(text, max(at - _BEFORE, 0))
    end = min(begin + WINDOW, len(text))
    marks = sorted(set(spans(begin, end)))[:_MOST_MARKS]
    pieces, marked, position, length = ["…"] if begin else [], [], begin, int(begin > 0)
    for first, last in [*marks, (end, end)]:
        first, last = max(first, position), min(last, end)
        if last < first:
            continue
        before, inside = _one_line(text[position:first]), _one_line(text[first:last])
        if inside:
            marked.append((length + len(before), length + len(before) + len(inside)))
        pieces += [before, inside]
        length += len(before) + len(inside)
        position = last
    shown = "".join(pieces)
    return Snippet(f"{shown.rstrip()}…" if end < len(text) else shown.rstrip(), marked)


def _one_line(text: str) -> str:
    return _WHITE.sub(" ", text)


def _word_begin(text: str, at: int) -> int:
    """The start of the next word, if one is near."""
    gap = text.find(" ", at, at + 20) if at else -1
    return gap + 1 if gap >= 0 else at


def _best(finders: Sequence[_Finder], plain: FoldedText) -> int:
    """Offset from which on most words are close together, judged by the first occurrences of each."""
    places: list[tuple[int, int]] = []
    for which, finder in enumerate(finders):
        found = islice(finder.within(plain, 0, len(plain.text)), _PLACES_OF_EACH)
        places += [(first, which) for first, _ in found]
    places.sort()
    best, most = 0, 0
    for n, (first, _) in enumerate(places):
        behind = islice(places, n, n + _PLACES_OF_EACH * 3)
        n_words = len({which for at, which in behind if at < first + WINDOW - _BEFORE})
        if n_words > most:
            best, most = first, n_words
    return best


def _all_in(finders: Iterable[_Finder], plain: FoldedText, begin: int, end: int) -> Iterator[Span]:
    for finder in finders:
        yield from finder.within(plain, begin, end)


def _accents_in(text: str) -> dict[int, str]:
    letters = (one for one in set(text) if not one.isascii())
    return {ord(one): base for one in letters if (base := _base(one)) != one}


@lru_cache(4096)
def _base(character: str) -> str:
    decomposed = unicodedata.normalize("NFD", character)
    is_accented = len(decomposed) > 1 and all(map(unicodedata.combining, decomposed[1:]))
    return decomposed[0] if is_accented else character


@lru_cache(4096)
def _small(character: str) -> str:
    small = character.lower()
    return small if len(small) == 1 else character
