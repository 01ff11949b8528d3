"""Answer `search`: the texts of all sessions that match a query, from the index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.index.open import indexed, why_there_is_none
from tracklog.app.scope.filters import Filters, moment_meant
from tracklog.app.talk import QUIET, Talk
from tracklog.search.query import Filter, Query, parse

if TYPE_CHECKING:
    from tracklog.model.events import TextSource
    from tracklog.search.find import Shown
    from tracklog.search.tables import By, Titled


class SearchQuery(NamedTuple):
    """What to find: words and filters as docs/search.md explains them, or one regular expression."""

    text: str
    roots: Sequence[Path] = ()
    agent: str | None = None
    filters: Filters = Filters()
    limit: int = 20
    by: By = "time"
    is_pattern: bool = False
    home: Path | None = None
    syncs: bool = True  # whether the index is made, or brought up to date first


class SearchHit(NamedTuple):
    """A text that matches: where it is, a snippet of it, and the session that it belongs to."""

    session: str | None
    agent: str | None
    path: str
    line: int
    role: str
    source: TextSource  # of a tool's result: where its text was read
    at: str | None
    snippet: str
    marks: list[tuple[int, int]]  # the ranges of the snippet that match
    title: str | None
    project: str | None


class SearchAnswer(NamedTuple):
    """The first hits, and how many there are in all."""

    hits: list[SearchHit]
    total: int
    is_exact: bool  # False: `total` is a lower bound
    n_gone: int = 0  # hits that can no longer be read where the index found them


def search(query: SearchQuery, talk: Talk = QUIET) -> SearchAnswer:
    """The texts that match a query. Raises UserError for a wrong one, NotThere where there is no index."""
    parsed = _parsed(query, datetime.now(UTC))
    with indexed(
        query.roots,
        home=query.home,
        talk=talk,
        syncs=query.syncs,
        settles=parsed.needs_sessions,
        makes=query.syncs,
    ) as index:
        if index is None:
            raise why_there_is_none(query.home)
        # only here: a query that is wrong needs no reader of logs
        from tracklog.search.find import find
        from tracklog.search.tables import titles_of

        found = find(index.database, parsed, scope=index.scope, limit=query.limit, by=query.by)
        hits = [shown.hit for shown in found.hits]
        names = {(hit.agent, hit.session) for hit in hits if hit.agent and hit.session}
        titles = titles_of(index.database.db, names)
    return SearchAnswer([_hit(one, titles) for one in found.hits], found.total, found.is_exact, found.n_gone)


def _hit(shown: Shown, titles: dict[tuple[str, str], Titled]) -> SearchHit:
    hit, snippet, source = shown
    titled = titles.get((hit.agent or "", hit.session or ""))
    return SearchHit(
        session=hit.session,
        agent=hit.agent,
        path=hit.path,
        line=hit.line,
        role=hit.role,
        source=source,
        at=hit.at,
        snippet=snippet.text,
        marks=snippet.marks,
        title=titled.title if titled else None,
        project=titled.project if titled else None,
    )


def _parsed(query: SearchQuery, now: datetime) -> Query:
    """The query with the filters beside its text."""
    parsed = parse(query.text, partial(moment_meant, now=now), as_pattern=query.is_pattern)
    filters = query.filters
    given = {"agent": query.agent, "project": filters.project, "model": filters.model}
    added = [Filter(key, value) for key, value in given.items() if value is not None]
    since = [_ms(filters.since), parsed.since_ms]
    until = [_ms(filters.until), parsed.until_ms]
    return parsed._replace(
        filters=(*parsed.filters, *added),
        since_ms=max((ms for ms in since if ms is not None), default=None),
        until_ms=min((ms for ms in until if ms is not None), default=None),
    )


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
