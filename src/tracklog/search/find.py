"""Find texts for a query: ask the index for candidates, read them from the logs, cut snippets.

A regular expression may run practically for ever on one short text, and outside of the main thread only the end of its
process stops a match. So a child process reads and matches; the parent takes what arrived when the time is over.

Rules
  1. The index finds, the log shows: a text that can no longer be read from its log is left out, and counted as gone.
  2. A text that several logs hold word for word, at the same moment (a fork copies them), is shown once.
  3. An incomplete result says so (`is_exact` false): more hits than are counted, a time limit, a pattern without words.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from tracklog.model.events import TextSource
from tracklog.search.query import Query
from tracklog.search.snippets import Highlighter, Snippet, cut_out, pattern_spans
from tracklog.search.tables import COUNTED, By, Hit, HitPage, log_of, search
from tracklog.search.tables_match import likely_words, words_of_pattern
from tracklog.search.texts import FoundText, FoundTexts
from tracklog.store.database import Database
from tracklog.store.scope import Scope

_AT_ONCE = 1 << 16
_COUNTING_S = 0.3  # for which matches are counted that nobody will see


class Match(msgspec.Struct, array_like=True):
    """A candidate that matched, by its number; with a snippet if it is to be shown."""

    n: int
    text: str | None = None
    marks: list[tuple[int, int]] = []
    source: TextSource = "result"


class Matches(NamedTuple):
    """The matches that arrived in time, and whether these are all."""

    found: list[tuple[Hit, Snippet, TextSource]]
    n_matched: int
    is_all: bool


def matches(
    pattern: str,
    candidates: Sequence[Hit],
    texts: FoundTexts,
    *,
    limit: int,
    is_meant: Callable[[str], bool],
    time_limit_s: float,
) -> Matches:
    """The first `limit` candidates that match, in order, and how many matched in all, as far as that was counted."""
    ends = time.monotonic() + time_limit_s
    came: list[Match] = []
    with _Child(lambda: _matching(pattern, candidates, texts, limit, is_meant)) as child:
        for message in child.messages(ends):
            came.append(msgspec.msgpack.decode(message, type=Match))
    found = [
        (candidates[one.n], Snippet(one.text, one.marks), one.source) for one in came if one.text is not None
    ]
    is_all = child.is_done and len(came) < COUNTED and not (came and came[-1].n < 0)
    return Matches(found, sum(one.n >= 0 for one in came), is_all)


def _matching(
    pattern: str,
    candidates: Sequence[Hit],
    texts: FoundTexts,
    limit: int,
    is_meant: Callable[[str], bool],
) -> Iterator[bytes]:
    """Runs in the child: yields a message per match, and one with a negative number if it stopped counting."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(pattern, re.MULTILINE)
    n_matched, counts_until = 0, float("inf")
    for n, hit in enumerate(candidates):
        found = texts.found(hit, lambda _: True)
        text = None if found is None else found.text
        at = next(pattern_spans(compiled, text), None) if text is not None and is_meant(text) else None
        if found is None or at is None:
            continue
        n_matched += 1
        match = _match_of(n, compiled, found, at[0]) if n_matched <= limit else Match(n)
        yield msgspec.msgpack.encode(match)
        if n_matched == limit:
            counts_until = time.monotonic() + _COUNTING_S
        if n_matched >= COUNTED or time.monotonic() > counts_until:
            yield msgspec.msgpack.encode(Match(-1))
            return


def _match_of(n: int, compiled: re.Pattern[str], found: FoundText, at: int) -> Match:
    text = found.text

    def spans(begin: int, end: int) -> Iterator[tuple[int, int]]:
        for span in pattern_spans(compiled, text):
            if span[0] >= end:
                return
            if span[1] > begin:
                yield span

    snippet = cut_out(text, at, spans)
    return Match(n, snippet.text, snippet.marks, found.source)


class _Child:
    """A forked process that sends messages through a pipe, each after its length."""

    def __init__(self, work: Callable[[], Iterator[bytes]]) -> None:
        self._reading, writing = os.pipe()
        self.is_done = False
        self._pid = os.fork()
        if self._pid == 0:
            _live(work, self._reading, writing)
        os.close(writing)

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.kill(self._pid, signal.SIGKILL)  # it has not been waited for, so the number is still its own
        os.waitpid(self._pid, 0)

    def messages(self, ends: float) -> Iterator[bytes]:
        """Whole messages, until the child ends or the time is over."""
        held = b""
        while (left := ends - time.monotonic()) > 0 and select.select([self._reading], [], [], left)[0]:
            part = os.read(self._reading, _AT_ONCE)
            if not part:
                self.is_done = True
                return
            held += part
            while len(held) >= 4 and len(held) >= 4 + (length := int.from_bytes(held[:4], "little")):
                yield held[4 : 4 + length]
                held = held[4 + length :]


def _live(work: Callable[[], Iterator[bytes]], reading: int, writing: int) -> None:
    """Runs the child and always exits, without the parent's clean-up at exit."""
    try:
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as stream:
            for message in work():
                stream.write(len(message).to_bytes(4, "little") + message)
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except BaseException:  # the parent cannot see it: it is shown here, and the answer is incomplete
        traceback.print_exc()
    finally:
        os._exit(0)


TIME_LIMIT_S = 5.0
_CANDIDATES = 20_000  # texts that a pattern is tried on
_SPARE = 10  # more hits than are asked for, in place of those that turn out to be copies or gone


class Shown(NamedTuple):
    """A hit with a snippet of its text."""

    hit: Hit
    snippet: Snippet
    source: TextSource = "result"  # of a tool's result: where the text was read


class SearchResults(NamedTuple):
    """Hits with snippets, and how many there are in all."""

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
) -> SearchResults:
    """The texts that fit a query, with snippets."""
    if query.pattern is not None:
        return _by_pattern(database, query, query.pattern, scope, limit, time_limit_s)
    found = search(database.db, query, scope=scope, limit=limit + _SPARE, by=by, time_limit_s=time_limit_s)
    return _shown(database, query, found, limit)


def _shown(database: Database, query: Query, found: HitPage, limit: int) -> SearchResults:
    marker, texts = Highlighter(query), _texts(database, found.hits)
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
    return SearchResults(max(found.total - n_gone - n_other, len(shown)), is_exact, shown, n_gone)


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
) -> SearchResults:
    """Tries the pattern on texts with its sure words; without any, on texts with likely words, then on all."""
    ends = time.monotonic() + time_limit_s

    def tried(words: str | None) -> SearchResults:
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
    database: Database, query: Query, pattern: str, candidates: HitPage, limit: int, time_limit_s: float
) -> SearchResults:
    found = matches(
        pattern,
        candidates.hits,
        _texts(database, candidates.hits),
        limit=limit + _SPARE,
        is_meant=Highlighter(query).is_verified,
        time_limit_s=time_limit_s,
    )
    seen: set[tuple[str, int | None, str]] = set()
    shown = [Shown(*one) for one in found.found if _is_new(one[0], one[1], seen)]
    return SearchResults(found.n_matched, candidates.is_exact and found.is_all, shown[:limit])
