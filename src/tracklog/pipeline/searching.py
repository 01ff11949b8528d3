"""From a query to hits that can be shown: asked of the index, read again from the logs.

Rules of this room
  1. The index finds, the log shows: what can no longer be read where it stood is left out, and counted as gone.
  2. A text that several logs hold word for word, of the same moment (a fork copies them), is shown once.
  3. What is not complete says so (`is_exact` false): more than are counted, a time limit, a pattern without words.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from tracklog.model.events import TextSource
from tracklog.pipeline.found_texts import FoundTexts
from tracklog.pipeline.pattern_matching import matches
from tracklog.pipeline.snippets import Marker, Snippet
from tracklog.store.database import Database
from tracklog.store.found_logs import log_of
from tracklog.store.pattern_words import likely_words, words_of_pattern
from tracklog.store.query import Query
from tracklog.store.scope import Scope
from tracklog.store.search import By, Found, Hit, search

TIME_LIMIT_S = 5.0
_CANDIDATES = 20_000  # texts that a pattern is tried on
_SPARE = 10  # more hits than are asked for, in place of those that turn out to be copies or gone


class Shown(NamedTuple):
    """A hit with the part of its text that was looked for."""

    hit: Hit
    snippet: Snippet
    source: TextSource = "result"  # of a tool's result: where the text was read


class Answer(NamedTuple):
    """What was found."""

    total: int
    is_exact: bool
    hits: list[Shown]
    n_gone: int = 0  # that could no longer be read


def find(
    database: Database,
    query: Query,
    *,
    scope: Scope | None = None,
    limit: int = 20,
    by: By = "time",
    time_limit_s: float = TIME_LIMIT_S,
) -> Answer:
    """The texts that fit a query, with snippets."""
    if query.pattern is not None:
        return _by_pattern(database, query, query.pattern, scope, limit, time_limit_s)
    found = search(database.db, query, scope=scope, limit=limit + _SPARE, by=by, time_limit_s=time_limit_s)
    return _shown(database, query, found, limit)


def _shown(database: Database, query: Query, found: Found, limit: int) -> Answer:
    marker, texts = Marker(query), _texts(database, found.hits)
    shown: list[Shown] = []
    seen: set[tuple[str, int | None, str]] = set()
    n_gone = n_other = 0
    for hit in found.hits:
        if len(shown) == limit:
            break
        found_text = texts.found(hit, marker.fits)
        if found_text is None:
            n_gone += 1
        elif not marker.is_verified(found_text.text):
            n_other += 1
        elif _is_new(hit, snippet := marker.snippet(found_text.text), seen):
            shown.append(Shown(hit, snippet, found_text.source))
    is_exact = found.is_exact and not (n_other and found.total > len(found.hits))
    return Answer(max(found.total - n_gone - n_other, len(shown)), is_exact, shown, n_gone)


def _is_new(hit: Hit, snippet: Snippet, seen: set[tuple[str, int | None, str]]) -> bool:
    key = (hit.role, hit.at_ms, snippet.text)
    is_copy = hit.at_ms is not None and key in seen
    seen.add(key)
    return not is_copy


def _texts(database: Database, hits: list[Hit]) -> FoundTexts:
    logs = (log_of(database.db, file) for file in dict.fromkeys(hit.file for hit in hits))
    return FoundTexts([log for log in logs if log is not None], database.home.archive, hits)


def _by_pattern(
    database: Database, query: Query, pattern: str, scope: Scope | None, limit: int, time_limit_s: float
) -> Answer:
    """Tried on the texts that hold its words; if it names none, on the likely ones, and if need be on all."""
    ends = time.monotonic() + time_limit_s

    def tried(words: str | None) -> Answer:
        left = max(ends - time.monotonic(), 0.1)
        found = search(database.db, query, scope=scope, limit=_CANDIDATES, time_limit_s=left / 2, words=words)
        return _matched(database, query, pattern, found, limit, max(ends - time.monotonic(), 0.1))

    sure, likely = words_of_pattern(pattern), likely_words(pattern)
    if sure is None and likely is not None:
        answer = tried(likely)
        if len(answer.hits) == limit:
            return answer._replace(is_exact=False)
    return tried(sure)


def _matched(
    database: Database, query: Query, pattern: str, candidates: Found, limit: int, time_limit_s: float
) -> Answer:
    found = matches(
        pattern,
        candidates.hits,
        _texts(database, candidates.hits),
        limit=limit + _SPARE,
        is_meant=Marker(query).is_verified,
        time_limit_s=time_limit_s,
    )
    seen: set[tuple[str, int | None, str]] = set()
    shown = [Shown(*one) for one in found.found if _is_new(one[0], one[1], seen)]
    return Answer(found.n_matched, candidates.is_exact and found.is_all, shown[:limit])
