"""A session as lists show it, and the values by which they filter and sort it.

Rules
  1. Names are as addresses can hold them: valid UTF-8, stripped, and cut to a limit.
  2. Projects and tools are compared in small letters, and shown as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tracklog.clock import NO_TIME, local_zone, moment_ms
from tracklog.model.session_rules import last_part
from tracklog.sessions.tables_columns import CallLine, SessionLine, sayable, whole
from tracklog.sessions.tables_lists import texts_in

if TYPE_CHECKING:
    from tracklog.ledger.stored.tables_costs import SessionCost

NONE = "(none)"  # the value of a session that has none
_DAY_S = 86_400
_QUARTER_S = 900  # offsets of zones are multiples of it
_MOST_MONTHS = 1200  # of one session: a clock that was wrong shall not fill the calendar
_SORTED = 100  # letters of a text by which it is sorted
Name = tuple[str, str]  # agent and session
Key = int | float | str | None
SORTS = (
    *("last", "started", "cost", "tokens", "calls", "errors", "turns", "subagents", "duration"),
    *("title", "project", "model"),
)
IN_WORDS = frozenset({"title", "project", "model"})  # sorted by letters


class FacetKind(IntEnum):
    """What a value is."""

    PROJECT = 1  # in small letters
    LABEL = 2  # a project as it is written
    FOLDER = 3
    MODEL = 4
    TOOL = 5  # in small letters
    VERDICT = 6
    USE = 7  # a tool as it is written, and a verdict: see `use_name`
    CALLED = 8  # a tool as it is written, of single calls


class TableSession(msgspec.Struct, gc=False, kw_only=True):
    """A session, as a row of a list."""

    row: int  # in the index; below 0: it was read
    agent: str
    id: str
    title: str | None
    project: str | None
    folders: tuple[str, ...]
    projects: tuple[str, ...]  # the names of these, in small letters
    branch: str | None
    models: tuple[str, ...]
    started_at: str | None
    last_at: str | None
    started_ms: int
    last_ms: int
    state: str
    turns: int
    calls: int
    errors: int
    subagents: int
    active_ms: float | None
    only_here: bool
    copies: int = 0  # calls of sessions that are gone; not among `calls`

    @property
    def wall_ms(self) -> int | None:
        """From its first line to its last."""
        if self.started_ms == NO_TIME or self.last_ms == NO_TIME:
            return None
        return max(self.last_ms - self.started_ms, 0)

    @property
    def words(self) -> str:
        """The text in which words are looked for."""
        return f"{self.title or ''}\n{' '.join(self.projects)}".lower()


class ShownCall(NamedTuple):
    """A call of a list."""

    line: CallLine
    is_copy: bool  # of a call whose session is gone


def table_session(
    line: SessionLine, *, active_ms: float | None, subagents: int, copies: int = 0
) -> TableSession:
    """The session of a row."""
    folders = tuple(map(whole, _folders(line)))
    models = filter(None, map(sayable, texts_in(line.models))) if line.models is not None else ()
    made = TableSession(
        row=line.row,
        agent=line.agent,
        id=line.session,
        title=whole(line.title) if line.title else None,
        project=(sayable(line.project) or None) if line.project else None,
        folders=folders,
        projects=tuple(dict.fromkeys(filter(None, map(_project, folders)))),
        branch=whole(line.branch) if line.branch else None,
        models=tuple(dict.fromkeys(models)),
        started_at=line.started_at,
        last_at=line.last_at,
        started_ms=moment_ms(line.started_at),
        last_ms=moment_ms(line.last_at),
        state=line.state or "unknown",
        turns=line.turns or 0,
        calls=line.calls or 0,
        errors=line.errors or 0,
        subagents=subagents,
        active_ms=active_ms,
        only_here=bool(line.only_here),
        copies=copies,
    )
    if active_ms is not None and made.wall_ms is not None and active_ms > made.wall_ms:
        made.active_ms = float(made.wall_ms)  # turns whose times contradict each other
    return made


def facets_of(session: TableSession, calls: Iterable[ShownCall]) -> Iterator[tuple[FacetKind, str]]:
    """The values that a session has."""
    for project in session.projects or (NONE,):
        yield FacetKind.PROJECT, project
    if session.project:
        yield FacetKind.LABEL, session.project
    for folder in session.folders:
        yield FacetKind.FOLDER, folder
    for model in session.models or (NONE,):
        yield FacetKind.MODEL, model
    for tool, verdict in {(one.line.tool, one.line.verdict) for one in calls}:
        yield FacetKind.TOOL, tool.lower()
        yield FacetKind.VERDICT, verdict
        yield FacetKind.USE, use_name(tool, verdict)


def use_name(tool: str, verdict: str) -> str:
    """The name of a tool with a verdict."""
    return f"{verdict}\n{tool}"


def use_in(name: str) -> tuple[str, str]:
    """Tool and verdict of such a name."""
    verdict, _, tool = name.partition("\n")
    return tool, verdict


def sort_text(text: str | None) -> str | None:
    """The beginning of a text by which it is sorted: it is in the address of the next page."""
    return text[:_SORTED].lower() if text else None


def _project(folder: str) -> str:
    return sayable(last_part(folder)).lower()


def _folders(line: SessionLine) -> list[str]:
    named = texts_in(line.cwds) if line.cwds is not None else []
    return list(dict.fromkeys([*named, line.cwd] if line.cwd else named))


class SessionFilter(NamedTuple):
    """Filters on sessions; None does not filter."""

    project: str | None = None
    agent: str | None = None
    model: str | None = None
    tool: str | None = None
    verdict: str | None = None
    state: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    words: tuple[str, ...] = ()

    @property
    def has_period(self) -> bool:
        """Whether there is a filter by time."""
        return self.since_ms is not None or self.until_ms is not None


class FacetCount(NamedTuple):
    """A value, and how many sessions a click on it would show."""

    value: str
    label: str
    n: int


class Cursor(NamedTuple):
    """The session after which a page begins."""

    value: Key
    agent: str
    id: str


class Page(NamedTuple):
    """Some of the selected sessions, in their order."""

    sessions: list[TableSession]
    total: int
    n_before: int
    next: Cursor | None
    spent: Mapping[str, SessionCost]


class SelectionTotals(NamedTuple):
    """Totals of the selected sessions."""

    sessions: int
    active_ms: float
    wall_ms: float
    turns: int
    calls: int
    errors: int
    subagents: int
    copies: int
    tokens: int
    output_tokens: int
    cost_pico_usd: int
    most_pico_usd: int
    is_lower_bound: bool
    partial_requests: int  # whose output is only known in part
    unpriced: int  # sessions of which nothing has a price


def fits(sort: str, cursor: Cursor) -> bool:
    """Whether a cursor can have come from a page in this order."""
    kind = str if sort in IN_WORDS else (int, float)
    return cursor.value is None or (isinstance(cursor.value, kind) and not isinstance(cursor.value, bool))


class Month(NamedTuple):
    """A month of the calendar, in this machine's zone."""

    year: int
    month: int

    @property
    def next(self) -> Month:
        """The one that follows."""
        return Month(self.year + self.month // 12, self.month % 12 + 1)


def months_of(times: Iterable[tuple[int, int]]) -> list[tuple[Month, int]]:
    """The months in which sessions lived, each with their number, from their first and last moments; the last first."""
    zone = local_zone()
    counts = Counter((_month(started_ms, zone), _month(last_ms, zone)) for started_ms, last_ms in times)
    found: Counter[Month] = Counter()
    for (first, last), n in counts.items():
        for month in _months(first, last):
            found[month] += n
    return sorted(found.items(), reverse=True)


def _months(month: Month, last: Month) -> Iterator[Month]:
    for _ in range(_MOST_MONTHS):
        if month > last:
            return
        yield month
        month = month.next


def _month(ms: int, zone: tzinfo) -> Month:
    at_s = ms // 1000
    return _month_of_day(at_s // _DAY_S, zone) or _month_at(at_s // _QUARTER_S * _QUARTER_S, zone)


@lru_cache(16384)
def _month_of_day(day: int, zone: tzinfo) -> Month | None:
    """The month of a day in UTC; None: in this zone a month begins in it."""
    first, last = _month_at(day * _DAY_S, zone), _month_at((day + 1) * _DAY_S - _QUARTER_S, zone)
    return first if first == last else None


def _month_at(at_s: int, zone: tzinfo) -> Month:
    at = datetime.fromtimestamp(at_s, zone)
    return Month(at.year, at.month)
