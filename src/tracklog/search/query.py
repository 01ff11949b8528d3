r"""Parse a search query: words, phrases, filters, a pattern.

    retry "rate limit" -test time*        all of them, in any order; without `test`; time, timeout, times …
    panic OR crash                        one of both; OR joins its two neighbours
    tool:Bash verdict:error since:7d      only what fits; the same filter twice: either; -tool:Read: not this one
    re:/E\d{4}: .+ not found/             a regular expression

Rules
  1. Any text is either a query, or an error of one sentence that says what is wrong. None of it reaches SQLite as its
     own query language: every word is quoted.
  2. Words are mapped as in the index (store/text.py): parts of camelCase, pairs of letters without spaces, emoji.
  3. There are no brackets and so no depth; length and number of words are limited.
"""

from __future__ import annotations

import re
import warnings
from datetime import datetime
from difflib import get_close_matches
from typing import NamedTuple, Protocol

from tracklog.errors import UserError
from tracklog.sources.log_file import AGENTS
from tracklog.store.text import ROLES, emoji_words

LONGEST_QUERY = 4_000
MOST_TERMS = 60
KEYS = ("tool", "verdict", "agent", "project", "path", "model", "session", "role", "since", "until", "re")
VERDICTS = (
    "ok",
    "error",
    "denied",
    "blocked",
    "interrupted",
    "timed_out",
    "sibling_error",
    "backgrounded",
    "running",
    "lost",
    "abandoned",
)
_ONE_OF = {"role": tuple(ROLES), "agent": AGENTS, "verdict": VERDICTS}
_OF_SESSIONS = {"tool", "verdict", "project", "model", "path"}

_KEY = re.compile(rf"({'|'.join(KEYS)}):", re.IGNORECASE)
_NO_WORD = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_PLAIN = re.compile(r'[^\s"]+')
_PATTERN = re.compile(r"/((?:[^/\\]|\\.)*)(?:/(?=\s|$)|$)", re.DOTALL)


class MomentMeant(Protocol):
    """Turns `7d` or a day into a moment in the user's time zone; raises ValueError for any other text."""

    def __call__(self, text: str, *, is_end: bool) -> datetime: ...


class Term(NamedTuple):
    """A word or a phrase."""

    words: str
    is_phrase: bool = False
    is_prefix: bool = False


class Filter(NamedTuple):
    """A condition on a text, its call, its log or its session."""

    key: str
    value: str
    is_not: bool = False


class Query(NamedTuple):
    """A parsed query."""

    groups: tuple[tuple[Term, ...], ...] = ()  # one of each
    nots: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    pattern: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    @property
    def needs_sessions(self) -> bool:
        """Whether a filter needs values that only settled sessions have: verdicts, projects, models."""
        return any(one.key in _OF_SESSIONS for one in self.filters)

    @property
    def terms(self) -> list[Term]:
        """All words and phrases that a hit may contain."""
        return [term for group in self.groups for term in group]


def parse(text: str, moment_meant: MomentMeant, *, as_pattern: bool = False) -> Query:
    """Parses a query, or the whole text as a pattern; raises UserError for a text that is no query."""
    if len(text) > LONGEST_QUERY:
        raise UserError(f"the query is too long: at most {LONGEST_QUERY:,} characters")
    if as_pattern:
        return Query(pattern=_checked_pattern(text))
    reading = _Reading(_NO_WORD.sub(" ", text).strip(), moment_meant)
    return reading.query()


class _Reading:
    """Parses a text in one pass from left to right."""

    def __init__(self, text: str, moment_meant: MomentMeant) -> None:
        self._text = text
        self._at = 0
        self._moment_meant = moment_meant
        self._groups: list[list[Term]] = []
        self._nots: list[Term] = []
        self._filters: list[Filter] = []
        self._times: dict[str, int] = {}
        self._pattern: str | None = None
        self._is_or = self._is_not = False
        self._n_terms = 0

    def query(self) -> Query:
        while self._at < len(self._text):
            self._next()
        query = Query(
            tuple(map(tuple, self._groups)),
            tuple(self._nots),
            tuple(self._filters),
            self._pattern,
            self._times.get("since"),
            self._times.get("until"),
        )
        if not (query.groups or query.pattern or query.filters or self._times):
            raise UserError(self._nothing_to_look_for())
        if query.nots and not query.groups:
            raise UserError("say what is to be found, too: -word only leaves out")
        return query

    def _nothing_to_look_for(self) -> str:
        if not self._text:
            return "what is to be found? the query is empty"
        if self._nots:
            return "say what is to be found, too: -word only leaves out"
        return f"there is no word in {self._text[:40]!r}: signs are found with --regex, or re:/…/"

    def _next(self) -> None:
        text = self._text
        if text[self._at] == " ":
            self._at += 1
            return
        if text[self._at] == "-" and text[self._at + 1 : self._at + 2].strip("->= "):
            self._is_not = True
            self._at += 1
        key = _KEY.match(text, self._at)
        if key and text[key.end() : key.end() + 1].strip():
            self._at = key.end()
            self._take_filter(key[1].lower())
        elif text[self._at] == '"':
            self._take_phrase()
        else:
            self._take_word()

    def _take_word(self) -> None:
        found = _PLAIN.match(self._text, self._at)
        assert found is not None  # here is neither a space nor a quote
        self._at = found.end()
        word = found[0]
        if word == "OR":
            self._is_or = bool(self._groups)
        elif word == "NOT":
            self._is_not = True
        elif word != "AND":
            self._add(Term(word.rstrip("*"), is_prefix=word.endswith("*")))

    def _take_phrase(self) -> None:
        """Up to the next quote, or to the end where there is none."""
        phrase = self._quoted()
        is_prefix = self._text.startswith("*", self._at)
        self._at += is_prefix
        self._add(Term(phrase, is_phrase=True, is_prefix=is_prefix))

    def _quoted(self) -> str:
        end = self._text.find('"', self._at + 1)
        end = len(self._text) if end < 0 else end
        inside = self._text[self._at + 1 : end]
        self._at = end + 1
        return inside

    def _add(self, term: Term) -> None:
        is_not, is_or = self._is_not, self._is_or
        self._is_not = self._is_or = False
        if not any(map(is_letter, term.words)):
            return
        self._n_terms += 1
        if self._n_terms > MOST_TERMS:
            raise UserError(f"too many words: at most {MOST_TERMS}")
        if is_not:
            self._nots.append(term)
        elif is_or and self._groups:
            self._groups[-1].append(term)
        else:
            self._groups.append([term])

    def _take_filter(self, key: str) -> None:
        is_not, self._is_not, self._is_or = self._is_not, False, False
        if key == "re":
            self._take_pattern(is_not=is_not)
            return
        value = self._value()
        if key in ("since", "until"):
            self._times[key] = self._moment_ms(key, value)
        else:
            self._filters.append(Filter(key, _checked_value(key, value), is_not))
        if len(self._filters) > MOST_TERMS:
            raise UserError(f"too many filters: at most {MOST_TERMS}")

    def _value(self) -> str:
        if self._text[self._at] == '"':
            return self._quoted()
        found = _PLAIN.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return found[0]

    def _take_pattern(self, *, is_not: bool) -> None:
        found = _PATTERN.match(self._text, self._at) or re.compile(r"(\S+)").match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        if is_not or self._pattern is not None:
            raise UserError("one re:/…/ at a time, and not with a minus")
        self._pattern = _checked_pattern(found[1].replace("\\/", "/"))

    def _moment_ms(self, key: str, value: str) -> int:
        try:
            return int(self._moment_meant(value, is_end=key == "until").timestamp() * 1000)
        except (ValueError, OverflowError):
            raise UserError(
                f"{key}:{value[:40]} is no time: give a day such as 2026-03-01, or 7d, 12h, 30m"
            ) from None


def is_letter(character: str) -> bool:
    """Whether a character can be searched for: a letter, a digit, or an emoji."""
    return character.isalnum() or bool(emoji_words(character))


def _checked_value(key: str, value: str) -> str:
    allowed = _ONE_OF.get(key)
    if not value.strip():
        raise UserError(f"{key}: of what? give it a value, such as {key}:{(allowed or ('name',))[0]}")
    if allowed is None:
        return value
    if value.lower() not in allowed:
        near = get_close_matches(value.lower()[:40], allowed, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose of {', '.join(allowed)}"
        raise UserError(f"there is no {key}:{value[:40]}: {hint}")
    return value.lower()


def _checked_pattern(text: str) -> str:
    if not text:
        raise UserError("the regular expression is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of signs that may mean something else one day
            re.compile(text)
    except RecursionError:
        raise UserError(
            "the regular expression is nested too deeply: use fewer brackets inside others"
        ) from None
    except (re.error, OverflowError) as error:
        raise UserError(f"this is no regular expression: {error}") from None
    return text
