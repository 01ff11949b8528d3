"""One page of search results: sessions with snippets, and facets of all hits.

Rules
  1. The hits that the index gives at once (at most COUNTED) are counted; `is_whole` says whether these are all.
  2. Only texts that are shown are read from the logs, and they are masked before: of a text the part around the hit,
     wide enough that no secret is cut in half.
  3. A text that occurs twice in a session (its logs overlap) is shown once there. Where only a few snippets are shown
     no two are alike, and after SAME hits with a known snippet no more are read: there may be a thousand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tracklog.model.events import TextSource
from tracklog.search.find import Shown, find
from tracklog.search.query import Query, Term
from tracklog.search.snippets import Highlighter, Snippet, cut_out
from tracklog.search.tables import COUNTED, By, Hit, log_of, search
from tracklog.search.tables_facets import Facets, Name, SessionSeen, facets_of, sessions_seen
from tracklog.search.texts import FoundTexts
from tracklog.secrets.key_blocks import LONGEST_BLOCK
from tracklog.store.database import Database
from tracklog.store.scope import Scope

Clean = Callable[[str], str]
SESSIONS = 12  # on a page
SNIPPETS = 3  # of each
ALONE = 50  # of the only session found
SAME = 20  # hits that say what another said, after which a session has no other snippets
TIME_LIMIT_S = 3.0
_MATCHED = 200  # texts that fit a pattern
_VERIFIED = 300  # texts that are read to check whether they hold a phrase as it was typed
_AROUND = (
    1 << 12
)  # letters on either side of a snippet that are cleaned with it: no secret but a long key is longer
_MOST_WORDS = 8  # for which the hits of each alone are counted
_ALONE_S = 0.5
_BETWEEN = "\n\x1e\x1e\x1e\n"  # no secret goes on behind it
_WHITE = re.compile(r"\s+")
_KEY_BEGINS = "-----BEGIN "
_PLACEHOLDER = re.compile(r"«(?:secret|private):[^»\s]{1,60}»")


class SessionHits(NamedTuple):
    """A session, and the hits in it."""

    name: Name | None  # None: the log belongs to nobody we know
    seen: SessionSeen | None
    path: str  # of the log of the first hit
    n_hits: int
    shown: list[Shown]


class Results(NamedTuple):
    """One page of results."""

    total: int
    is_exact: bool
    is_whole: bool  # the groups and facets count every hit
    n_counted: int  # by them
    groups: list[SessionHits]
    n_groups: int
    n_pages: int
    facets: Facets
    n_gone: int  # hits of this page that could no longer be read
    n_same: int  # hits of a session alone that are not shown: one beside them says the same
    n_masked: int  # texts of this page in which something was replaced
    oldest_ms: int | None  # of the hits that were counted


class Alone(NamedTuple):
    """A word or a group of alternatives, and how many texts it finds by itself."""

    words: str
    n: int
    is_exact: bool


class _Counted(NamedTuple):
    total: int
    is_exact: bool
    hits: list[Hit]
    snippets: dict[int, Snippet]  # that are known already, by the id of the hit


def results(
    database: Database, query: Query, *, scope: Scope | None, by: By = "time", page: int = 1, clean: Clean
) -> Results:
    """One page of the texts that match a query."""
    counted = _counted(database, query, scope, by)
    sessions = sessions_seen(database.db, filter(None, map(_name_of, counted.hits)))
    grouped = _grouped(counted.hits)
    reading = _Reading(database, query, counted, clean)
    if len(grouped) == 1:
        (key,) = grouped
        wanted = [(key, grouped[key][(page - 1) * ALONE : page * ALONE], ALONE)]
        n_pages = -(-len(grouped[key]) // ALONE)
    else:
        here = islice(grouped.items(), (page - 1) * SESSIONS, page * SESSIONS)
        wanted = [(key, hits, SNIPPETS) for key, hits in here]
        n_pages = -(-len(grouped) // SESSIONS)
    read = [(key, list(reading.read(hits, most))) for key, hits, most in wanted]
    shown = iter(reading.shown([one for _, ones in read for one in ones]))
    groups = [_group(key, grouped[key], sessions, list(islice(shown, len(ones)))) for key, ones in read]
    return Results(
        counted.total,
        counted.is_exact,
        counted.is_exact and counted.total == len(counted.hits),
        len(counted.hits),
        groups,
        len(grouped),
        n_pages,
        facets_of(database.db, counted.hits, sessions),
        reading.n_gone,
        reading.n_same if len(grouped) == 1 else 0,
        reading.n_masked,
        min((hit.at_ms for hit in counted.hits if hit.at_ms is not None), default=None),
    )


def words_alone(database: Database, query: Query, *, scope: Scope | None) -> list[Alone]:
    """How many texts each word of a query finds by itself, without the filters."""
    found = []
    for group in query.groups[:_MOST_WORDS]:
        answer = search(database.db, Query((group,)), scope=scope, limit=1, time_limit_s=_ALONE_S)
        found.append(Alone(" OR ".join(map(_typed, group)), answer.total, answer.is_exact))
    return found


def _typed(term: Term) -> str:
    words = f'"{term.words}"' if term.is_phrase else term.words
    return f"{words}*" if term.is_prefix else words


def _counted(database: Database, query: Query, scope: Scope | None, by: By) -> _Counted:
    if query.pattern is not None:
        answer = find(database, query, scope=scope, limit=_MATCHED, by=by, time_limit_s=TIME_LIMIT_S)
        snippets = {shown.hit.id: shown.snippet for shown in answer.hits}
        return _Counted(answer.total, answer.is_exact, [shown.hit for shown in answer.hits], snippets)
    found = search(database.db, query, scope=scope, limit=COUNTED, by=by, time_limit_s=TIME_LIMIT_S)
    marker = Highlighter(query)
    if marker.is_verified(""):
        return _Counted(*found, {})
    looked, texts = found.hits[:_VERIFIED], _texts(database, found.hits[:_VERIFIED])
    hits = [hit for hit in looked if (text := texts.text(hit, marker.fits)) and marker.is_verified(text)]
    return _Counted(len(hits), found.is_exact and len(looked) == len(found.hits), hits, {})


def _name_of(hit: Hit) -> Name | None:
    return (hit.agent, hit.session) if hit.agent and hit.session else None


def _grouped(hits: Iterable[Hit]) -> dict[Name | str, list[Hit]]:
    """Groups hits by session, in the order of their first hits; those without a session by log."""
    grouped: dict[Name | str, list[Hit]] = defaultdict(list)
    for hit in hits:
        grouped[_name_of(hit) or hit.path].append(hit)
    return grouped


def _group(
    key: Name | str, hits: Sequence[Hit], sessions: dict[Name, SessionSeen], shown: list[Shown]
) -> SessionHits:
    name = None if isinstance(key, str) else key
    return SessionHits(name, sessions.get(name) if name else None, hits[0].path, len(hits), shown)


def _texts(database: Database, hits: Sequence[Hit]) -> FoundTexts:
    logs = (log_of(database.db, file) for file in dict.fromkeys(hit.file for hit in hits))
    return FoundTexts([log for log in logs if log is not None], database.home.archive, hits)


class _Read(NamedTuple):
    """A hit, the part of its text around it, and its snippet before masking."""

    hit: Hit
    part: str
    snippet: Snippet
    source: TextSource


class _Reading:
    """Reads and masks the texts that are shown."""

    def __init__(self, database: Database, query: Query, counted: _Counted, clean: Clean) -> None:
        self._marker = Highlighter(query)
        self._texts = _texts(database, counted.hits)
        self._snippets = counted.snippets
        self._clean = clean
        self.n_gone = 0
        self.n_same = 0
        self.n_masked = 0

    def read(self, hits: Iterable[Hit], most: int) -> Iterator[_Read]:
        """The first `most` hits whose texts can be read, each text once; if these are few, no two snippets alike."""
        seen: set[tuple[int | None, str]] = set()
        are_few, n_same = most <= SNIPPETS, 0
        for hit in hits:
            found = self._texts.found(hit, self._marker.fits)
            if found is None:
                self.n_gone += 1
                continue
            text = found.text
            snippet = self._snippets.get(hit.id) or self._marker.snippet(text)
            key = (0 if are_few else hit.at_ms, snippet.text)
            if key in seen and hit.at_ms is not None:
                self.n_same += 1
                n_same += 1
                if are_few and n_same == SAME:
                    return
                continue
            seen.add(key)
            yield _Read(hit, _around(text, snippet), snippet, found.source)
            if (most := most - 1) == 0:
                return

    def shown(self, read: Sequence[_Read]) -> Iterator[Shown]:
        """The same hits with masked snippets."""
        for one, cleaned in zip(read, all_clean([one.part for one in read], self._clean), strict=True):
            yield Shown(one.hit, self._snippet(one, cleaned), one.source)

    def _snippet(self, read: _Read, cleaned: str) -> Snippet:
        if cleaned == read.part:
            return read.snippet
        self.n_masked += 1
        if _core(read.snippet) in _WHITE.sub(" ", cleaned):
            return read.snippet  # nothing of it was replaced
        if not self._snippets and self._marker.fits(cleaned):
            return self._marker.snippet(cleaned)
        return _of_masked(cleaned)


def all_clean(parts: list[str], clean: Clean) -> list[str]:
    """Masks all parts in one call, which takes a third of the time; one by one if the result cannot be split again."""
    cleaned = clean(_BETWEEN.join(parts)).split(_BETWEEN) if parts else []
    return cleaned if len(cleaned) == len(parts) else [clean(part) for part in parts]


def _around(text: str, snippet: Snippet) -> str:
    """The part of a long text around its snippet."""
    if len(text) <= 2 * _AROUND:
        return text
    found = re.search(r"\s+".join(map(re.escape, _core(snippet).split())), text)
    if found is None:
        return text
    begin, end = found.start(), found.end()
    key = text.rfind(_KEY_BEGINS, max(begin - LONGEST_BLOCK, 0), begin)
    if key >= 0:  # it may be amid a private key, which is known by its beginning and its end
        begin, end = key, max(end, key + LONGEST_BLOCK)
    return text[max(begin - _AROUND, 0) : end + _AROUND]


def _core(snippet: Snippet) -> str:
    return snippet.text.removeprefix("…").removesuffix("…").strip()


def _of_masked(cleaned: str) -> Snippet:
    """A snippet around the first placeholder, where the match itself was masked."""
    first = _PLACEHOLDER.search(cleaned)

    def spans(begin: int, end: int) -> Iterator[tuple[int, int]]:
        return (one.span() for one in _PLACEHOLDER.finditer(cleaned, begin, end))

    return cut_out(cleaned, first.start() if first else 0, spans)
