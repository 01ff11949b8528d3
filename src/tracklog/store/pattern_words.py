"""Which words every match of a regular expression must hold: the index is asked for those before a text is read.

Rules of this room
  1. Only what cannot be missing counts: literal runs outside of alternatives and of what may be absent.
  2. A word at the edge of a run may go on outside of it. One that surely begins there is asked for as a beginning, one
     that may begin earlier not at all.
  3. No word is better than a wrong one: then the newest texts are read, as far as the time allows.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

from tracklog.store.match import every, expression, quoted
from tracklog.store.query import Term
from tracklog.store.words import CJK, EMOJI, camel_parts

_MOST_WORDS = 12
_SHORTEST_LIKELY = 3
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_BEYOND_ASCII = re.compile(f"[{CJK}]+|[{EMOJI}]")
_BORDER = "\0"  # stands in a run where a word surely ends or begins


def words_of_pattern(pattern: str) -> str | None:
    """The expression that finds all texts which the pattern can match; None if it names no word."""
    found = dict.fromkeys(word for run in _runs(pattern) for word in _words_in(run))
    return every(list(found)[:_MOST_WORDS]) if found else None


def likely_words(pattern: str) -> str | None:
    """An expression for texts that the pattern probably matches, where it names no word for sure: `Error` begins one."""
    runs = [found[0] for run in _runs(pattern) for found in _ASCII_WORD.finditer(run)]
    longest = max(runs, key=len, default="")
    if len(longest) < _SHORTEST_LIKELY:
        return None
    parts = camel_parts(longest)
    return f"({quoted(longest)} * OR {quoted(' '.join(parts))} *)" if parts else f"{quoted(longest)} *"


def _runs(pattern: str) -> list[str]:
    """The literal parts that every match holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]  # the only way to know what is literal
    runs = [""]
    _collect(parsed, runs)
    return runs


def _collect(parsed: Iterable[Any], runs: list[str]) -> None:
    """Appends to the last run what goes on, and begins another where something unknown stands."""
    for what, value in parsed:
        name = str(what)
        if name == "LITERAL":
            runs[-1] += chr(value)
        elif name == "AT" and str(value) != "AT_NON_BOUNDARY":
            runs[-1] += _BORDER
        elif name == "SUBPATTERN":
            _collect(value[3], runs)
        else:
            runs.append("")
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] >= 1:
                _collect(value[2], runs)
                runs.append("")


def _words_in(run: str) -> Iterable[str]:
    for found in _ASCII_WORD.finditer(run):
        before, behind = run[: found.start()][-1:], run[found.end() :][:1]
        if before and before.isascii():
            is_whole = bool(behind) and behind.isascii()
            yield quoted(found[0]) if is_whole else f"{quoted(found[0])} *"
    for other in _BEYOND_ASCII.findall(run):
        yield expression(Term(other))
