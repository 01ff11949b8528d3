"""Facets of search hits: counts by agent, project, role, tool, verdict and time.

Rules
  1. A count is the number of hits that remain when the value is added as a filter: what a filter means
     (search/tables_match.py) decides what is counted here.
  2. A text may have several tools and verdicts (a call that a fork copied), and counts for each.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from tracklog.clock import local_zone
from tracklog.model.session_rules import last_part
from tracklog.search.query import VERDICTS, Query
from tracklog.search.tables import Hit
from tracklog.search.tables_match import conditions_of
from tracklog.store.surrogates import as_text, storable

Name = tuple[str, str]  # agent and session
_FAR_MS = 32_503_680_000_000  # the year 3000
_MOST_DAYS, _MOST_MONTHS = 31, 24


class FacetValue(NamedTuple):
    """A value of a facet, and how many hits have it."""

    value: str
    n: int


class Span(NamedTuple):
    """A day, a month or a year, from its first day to its last, and the number of its hits."""

    words: str
    first: date
    last: date
    n: int


class Facets(NamedTuple):
    """All facets; the most frequent value first, the newest span first."""

    agent: list[FacetValue]
    project: list[FacetValue]
    role: list[FacetValue]
    tool: list[FacetValue]
    verdict: list[FacetValue]
    spans: list[Span]


class SessionSeen(NamedTuple):
    """Title, project and folders of a session with hits."""

    title: str | None
    project: str | None
    path: str | None  # of its main log
    folders: list[str]


def sessions_seen(db: sqlite3.Connection, names: Iterable[Name]) -> dict[Name, SessionSeen]:
    """The sessions with these names that have rows."""
    asked = "select title, project, path, cwd, cwds from session_rows where agent = ? and session = ?"
    found = {name: db.execute(asked, (name[0], storable(name[1]))).fetchone() for name in set(names)}
    return {name: _seen(row) for name, row in found.items() if row is not None}


def _seen(row: Any) -> SessionSeen:
    title, project, path, cwd, cwds = map(as_text, row)
    return SessionSeen(title, project, path, json.loads(cwds) if cwds else [cwd] if cwd else [])


def facets_of(db: sqlite3.Connection, hits: Sequence[Hit], sessions: dict[Name, SessionSeen]) -> Facets:
    """The facets of some hits."""
    calls = _calls_of(db, hits)
    return Facets(
        agent=_ordered(Counter(hit.agent for hit in hits if hit.agent)),
        project=_projects(hits, sessions),
        role=_ordered(Counter(hit.role for hit in hits if hit.role)),
        tool=_tools(calls),
        verdict=_ordered(
            Counter(verdict for call in calls for verdict in call.verdicts if verdict in VERDICTS)
        ),
        spans=_spans(db, hits),
    )


class _CallOf(NamedTuple):
    """Names and verdicts of the call that a text belongs to."""

    names: set[str]
    verdicts: set[str]


def _calls_of(db: sqlite3.Connection, hits: Sequence[Hit]) -> list[_CallOf]:
    """The call of each hit that belongs to one."""
    ids = json.dumps([hit.id for hit in hits])
    texts = db.execute(
        "select t.call_key, n.name from json_each(?) cross join text_rows t on t.id = value "
        "left join names n on n.id = t.name where t.call_key is not null",
        (ids,),
    ).fetchall()
    keys = json.dumps(list({key for key, _ in texts}))
    asked = "select call_key, name, verdict from json_each(?) cross join call_rows c on c.call_key = value"
    known: dict[int, _CallOf] = defaultdict(lambda: _CallOf(set(), set()))
    for key, name, verdict in db.execute(asked, (keys,)):
        known[key].names.add(as_text(name))
        known[key].verdicts.add(verdict)
    return [
        _CallOf(known[key].names | ({as_text(name)} if name else set()), known[key].verdicts)
        for key, name in texts
    ]


def _tools(calls: Sequence[_CallOf]) -> list[FacetValue]:
    """Counts by tool as the filter matches names: case does not count, and an MCP server matches all its tools."""
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for names, n in Counter(frozenset(call.names) for call in calls).items():
        small = {_small(name): name for name in sorted(names)}
        spelled |= small
        counts.update(dict.fromkeys(small, n))
        counts.update(
            dict.fromkeys({server for name in small for server in _servers(name)} - small.keys(), n)
        )
    return _ordered(Counter({spelled[name]: n for name, n in counts.items() if name in spelled}))


def _servers(name: str) -> Iterator[str]:
    """Prefixes that a filter matches an MCP tool by: `mcp__github` matches `mcp__github__list`."""
    parts = name.split("__")
    if parts[0] == "mcp":
        yield from ("__".join(parts[:n]) for n in range(2, len(parts)))


def _small(name: str) -> str:
    """A name in lower case as LIKE compares it: ASCII letters only."""
    return name.lower() if name.isascii() else "".join(one.lower() if one.isascii() else one for one in name)


def _projects(hits: Sequence[Hit], sessions: dict[Name, SessionSeen]) -> list[FacetValue]:
    """Counts by the names of all folders that a session worked in, whatever their case."""
    per_session = Counter((hit.agent or "", hit.session or "") for hit in hits)
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for name, n in per_session.items():
        folders = sessions[name].folders if name in sessions else []
        names = {last_part(folder).lower(): last_part(folder) for folder in folders}
        spelled = names | spelled
        counts.update(dict.fromkeys(names, n))
    return _ordered(Counter({spelled[name]: n for name, n in counts.items()}))


def _ordered(counts: Counter[str]) -> list[FacetValue]:
    return [FacetValue(*one) for one in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]


def _spans(db: sqlite3.Connection, hits: Sequence[Hit]) -> list[Span]:
    """Counts by day, month or year, whichever makes neither one span nor very many."""
    zone = local_zone()
    days = sorted({day for hit in hits if (day := _day_of(hit.at_ms, zone)) is not None})
    if not days:
        return []
    spans = dict.fromkeys(map(_unit(days[0], days[-1]), days))
    return [
        Span(words, first, last, _n_within(db, hits, _ms(first, zone), _ms(last + timedelta(days=1), zone)))
        for words, first, last in reversed(spans)
    ]


def _day_of(at_ms: int | None, zone: tzinfo) -> date | None:
    """The day of a moment; None if it is outside the years that we show."""
    if at_ms is None or not 0 <= at_ms < _FAR_MS:
        return None
    return datetime.fromtimestamp(at_ms / 1000, zone).date()


def _unit(first: date, last: date) -> Callable[[date], tuple[str, date, date]]:
    if (last - first).days <= _MOST_DAYS:
        return lambda day: (f"{day:%a} {day.day} {day:%b}", day, day)
    if (last.year - first.year) * 12 + last.month - first.month <= _MOST_MONTHS:
        return _month_of
    return lambda day: (f"{day.year}", date(day.year, 1, 1), date(day.year, 12, 31))


def _month_of(day: date) -> tuple[str, date, date]:
    first = day.replace(day=1)
    behind = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return f"{day:%b} {day.year}", first, behind - timedelta(days=1)


def _n_within(db: sqlite3.Connection, hits: Sequence[Hit], since_ms: int, until_ms: int) -> int:
    """The number of hits in a span; a hit without a time counts at the time that its id encodes."""
    values = conditions_of(db, Query(since_ms=since_ms, until_ms=until_ms), None).values
    first_id, last_id = values["first_id"], values["last_id"]
    return sum(
        first_id <= hit.id <= last_id if hit.at_ms is None else since_ms <= hit.at_ms < until_ms
        for hit in hits
    )


def _ms(day: date, zone: tzinfo) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() * 1000)
