"""All sessions as a table that can be asked quickly: who has a value, and in which order they stand.

Rules of this room
  1. A set of sessions is the bits of one number; what fits several filters is an intersection.
  2. A table never changes; what it works out is kept.
  3. What is not known stands last in every order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from datetime import datetime, tzinfo
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import NamedTuple, TypeVar

import msgspec

from tracklog.app.old_lists.costs import SessionCost
from tracklog.clock import NO_TIME, local_zone

_MCP = "mcp__"
NONE = "(none)"  # the value of what has none
_DIGITS = bytes.maketrans(b"\x00\x01", b"01")
_QUARTER_S = 900  # offsets of zones are multiples of it
_SORTED = 100  # letters of a text by which it is sorted
_MOST_MONTHS = 1200  # of one session: a clock that was wrong shall not fill the calendar
_NOTHING = SessionCost()
_BY_SPENT = ("cost", "tokens")  # orders
_SUMMED = ("turns", "calls", "errors", "subagents", "copies", "active_ms", "wall_ms")
_SPENT = ("tokens", "output_tokens", "cost_pico_usd", "most_pico_usd", "is_lower_bound", "partial_requests")
_PREPARED = (
    *("at", "agents", "states", "projects", "project_labels", "models", "uses", "tools", "tool_labels"),
    *("verdicts", "months", "texts", "columns", "_timed"),
)
Name = tuple[str, str]  # agent and session
Key = int | float | str | None
Use = tuple[str, str]  # tool and verdict
Value = TypeVar("Value")
Holders = dict[Value, list[int]]  # values, each with the places of the sessions that have it


class TableSession(msgspec.Struct, gc=False, kw_only=True):
    """A session, as a row of a table."""

    row: int  # in the index; below 0: it had to be read
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
    uses: frozenset[Use] = frozenset()
    copies: int = 0  # calls of others that stand nowhere but here; not among `calls`

    @property
    def wall_ms(self) -> int | None:
        """From its first line to its last."""
        if self.started_ms == NO_TIME or self.last_ms == NO_TIME:
            return None
        return max(self.last_ms - self.started_ms, 0)


class Month(NamedTuple):
    """A month of the calendar, in this machine's zone."""

    year: int
    month: int

    @property
    def next(self) -> Month:
        """The one that follows."""
        return Month(self.year + self.month // 12, self.month % 12 + 1)


class SessionTable:
    """All sessions, the last alive last: in this order their bits stand."""

    def __init__(
        self, sessions: Iterable[TableSession] = (), spent: Mapping[str, SessionCost] | None = None
    ) -> None:
        self.sessions = sorted(sessions, key=lambda one: (one.last_ms, one.agent, one.id))
        self.is_counted = spent is not None  # whether anybody has looked at what they cost
        self._spent = spent or {}
        self.everything = (1 << len(self.sessions)) - 1
        self._orders: dict[tuple[str, bool], list[int]] = {}

    def with_spent(self, spent: Mapping[str, SessionCost] | None) -> SessionTable:
        """The same sessions with what they cost in a period."""
        made = copy(self)
        made.is_counted = spent is not None
        made._spent = spent or {}
        made._orders = {order: found for order, found in self._orders.items() if order[0] not in _BY_SPENT}
        made.__dict__.pop("columns", None)
        return made

    def prepare(self) -> None:
        """Works out beforehand what nearly every question needs."""
        for name in _PREPARED:
            getattr(self, name)
        self.order("last", is_descending=True)

    def spent_by(self, session: TableSession) -> SessionCost:
        """What a session cost."""
        return self._spent.get(session.id, _NOTHING)

    @cached_property
    def at(self) -> dict[Name, int]:
        """Where each session stands."""
        return {(one.agent, one.id): n for n, one in enumerate(self.sessions)}

    @cached_property
    def agents(self) -> Holders[str]:
        """Agents, each with its sessions."""
        return _holders((one.agent,) for one in self.sessions)

    @cached_property
    def states(self) -> Holders[str]:
        """States, as the index knows them."""
        return _holders((one.state,) for one in self.sessions)

    @cached_property
    def projects(self) -> Holders[str]:
        """Projects by their names in small letters."""
        return _holders(one.projects or (NONE,) for one in self.sessions)

    @cached_property
    def project_labels(self) -> dict[str, str]:
        """Their names as they are written; where that differs, as it was last."""
        return {one.project.lower(): one.project for one in self.sessions if one.project}

    @cached_property
    def models(self) -> Holders[str]:
        """Models that answered."""
        return _holders(one.models or (NONE,) for one in self.sessions)

    @cached_property
    def _named_uses(self) -> Holders[Use]:
        """Tools as they are written, with verdicts: the sessions that have such a call."""
        return _holders(one.uses for one in self.sessions)

    @cached_property
    def uses(self) -> Holders[Use]:
        """The same with tools in small letters."""
        return _joined(self._named_uses, lambda use: (use[0].lower(), use[1]))

    @cached_property
    def tools(self) -> Holders[str]:
        """Tools in small letters, in the order of the alphabet: the sessions that called them."""
        return dict(sorted(_joined(self.uses, lambda use: use[0]).items()))

    @cached_property
    def tool_labels(self) -> dict[str, str]:
        """Their names as they are written most."""
        by_use = sorted(self._named_uses.items(), key=lambda one: (len(one[1]), one[0]))
        return {tool.lower(): tool for (tool, _), _ in by_use}

    @cached_property
    def verdicts(self) -> Holders[str]:
        """Verdicts: the sessions that have a call which ended so."""
        return _joined(self.uses, lambda use: use[1])

    @cached_property
    def months(self) -> Holders[Month]:
        """Months of the calendar, the last first, each with the sessions that lived in it."""
        zone = local_zone()
        return dict(sorted(_holders(_months(one, zone) for one in self.sessions).items(), reverse=True))

    @cached_property
    def texts(self) -> list[str]:
        """What words are looked for in, in small letters."""
        return [f"{one.title or ''}\n{' '.join(one.projects)}".lower() for one in self.sessions]

    @cached_property
    def _own_columns(self) -> dict[str, list[float]]:
        return {name: [getattr(one, name) or 0 for one in self.sessions] for name in _SUMMED}

    @cached_property
    def columns(self) -> dict[str, list[float]]:
        """What is summed up."""
        spent = list(map(self.spent_by, self.sessions))
        paid = {name: [getattr(one, name) or 0 for one in spent] for name in _SPENT}
        unpriced: list[float] = [one.cost_pico_usd is None and one.requests > 0 for one in spent]
        return {**self._own_columns, **paid, "unpriced": unpriced}

    def during(self, since_ms: int | None, until_ms: int | None) -> int:
        """The sessions that lived in a span; who says no time is in none that has a beginning or an end."""
        if since_ms is None and until_ms is None:
            return self.everything
        first = bisect_left(self.sessions, max(since_ms or 0, 0), key=lambda one: one.last_ms)
        late = self.everything >> first << first
        if until_ms is None:
            return late & self._timed
        n_begun = bisect_left(self._by_start, until_ms, key=lambda n: self.sessions[n].started_ms)
        return late & self.set_at(self._by_start[:n_begun])

    @cached_property
    def _by_start(self) -> list[int]:
        """The places of all that say when they began, the first first."""
        timed = [n for n, one in enumerate(self.sessions) if one.started_ms != NO_TIME]
        return sorted(timed, key=lambda n: self.sessions[n].started_ms)

    @cached_property
    def _timed(self) -> int:
        return self.set_at(self._by_start)

    def in_project(self, project: str) -> int:
        """The sessions that worked there: it is meant by its name, or by its folder if it begins with a slash."""
        named = self.projects.get(project.lower())
        if named is not None or not project.startswith("/"):  # `/` itself is a name, too
            return self.set_at(named or ())
        top = f"{project.rstrip('/')}/"
        return set_of(any(f"{folder}/".startswith(top) for folder in one.folders) for one in self.sessions)

    def with_model(self, part: str) -> int:
        """The sessions in which the model of this name answered; if there is none, one whose name has this part."""
        meant = part.lower()
        exact = [held for name, held in self.models.items() if name.lower() == meant]
        if exact:
            return union(map(self.set_at, exact))
        return union(self.set_at(held) for name, held in self.models.items() if meant in name.lower())

    def with_use(self, tool: str | None, verdict: str | None) -> int:
        """The sessions that have a call with this tool and this verdict."""
        if tool is None:
            return self.everything if verdict is None else self.set_at(self.verdicts.get(verdict, ()))
        names = self._tools_meant(tool.lower())
        if verdict is None:
            return union(self.set_at(self.tools[name]) for name in names)
        return union(self.set_at(self.uses.get((name, verdict), ())) for name in names)

    def has_narrower_tools(self, tool: str) -> bool:
        """Whether others are meant by the name of a tool, too."""
        return tool.startswith(_MCP) and len(self._tools_meant(tool)) > 1

    def _tools_meant(self, tool: str) -> list[str]:
        """A tool is meant by its name, or all tools of an MCP server by that of the server."""
        meant = [tool] if tool in self.tools else []
        if tool.startswith(_MCP):
            names, first = self._tool_names, f"{tool.rstrip('_')}__"
            meant += names[bisect_left(names, first) : bisect_left(names, f"{first}\U0010ffff")]
        return meant

    @cached_property
    def _tool_names(self) -> list[str]:
        return list(self.tools)

    def with_words(self, words: Collection[str]) -> int:
        """The sessions in whose title or project all these words stand."""
        found, texts = self.everything, self.texts
        for word in words:
            lowered = word.lower()
            found &= set_of([lowered in text for text in texts])
        return found

    def order(self, sort: str, *, is_descending: bool) -> list[int]:
        """All sessions by one of SORTS."""
        made = self._orders.get((sort, is_descending))
        if made is None:
            made = self._orders[sort, is_descending] = self._ordered(SORTS[sort], is_descending=is_descending)
        return made

    def _ordered(self, key: SortKey, *, is_descending: bool) -> list[int]:
        keys = [key(self, one) for one in self.sessions]
        names = [(one.agent, one.id) for one in self.sessions]
        known = [n for n, value in enumerate(keys) if value is not None]
        known.sort(key=lambda n: (keys[n], names[n]), reverse=is_descending)
        unknown = [n for n, value in enumerate(keys) if value is None]
        return known + sorted(unknown, key=lambda n: names[n])

    def set_at(self, places: Iterable[int]) -> int:
        """The sessions at some places."""
        mask = bytearray(len(self.sessions) // 8 + 1)
        for n in places:
            mask[n >> 3] |= 1 << (n & 7)
        return int.from_bytes(mask, "little")


SortKey = Callable[[SessionTable, TableSession], Key]
SORTS: Mapping[str, SortKey] = {
    "last": lambda _, one: None if one.last_ms == NO_TIME else one.last_ms,
    "started": lambda _, one: None if one.started_ms == NO_TIME else one.started_ms,
    "cost": lambda table, one: table.spent_by(one).cost_pico_usd,
    "tokens": lambda table, one: table.spent_by(one).output_tokens,
    "calls": lambda _, one: one.calls,
    "errors": lambda _, one: one.errors,
    "turns": lambda _, one: one.turns,
    "subagents": lambda _, one: one.subagents,
    "duration": lambda _, one: one.active_ms,
    "title": lambda _, one: _begun(one.title),
    "project": lambda _, one: _begun(one.project),
    "model": lambda _, one: _begun(one.models[0]) if one.models else None,
}
IN_WORDS = frozenset({"title", "project", "model"})  # sorted by letters


def _begun(text: str | None) -> str | None:
    """By what a text is sorted: it stands in the address of the next page."""
    return text[:_SORTED].lower() if text else None


def set_of(has: Iterable[bool]) -> int:
    """The sessions, in the order of the table, of which this is true."""
    return int(b"0" + bytes(has)[::-1].translate(_DIGITS), 2)


def union(sets: Iterable[int]) -> int:
    """What is in any of some sets."""
    return reduce(or_, sets, 0)


def _holders(values: Iterable[Iterable[Value]]) -> Holders[Value]:
    """For each value the places of the sessions that have it."""
    held: dict[Value, list[int]] = {}
    for n, some in enumerate(values):
        for value in some:
            places = held.get(value)
            if places is None:
                held[value] = [n]
            else:
                places.append(n)
    return held


def _joined(held: Holders[Use], key: Callable[[Use], Value]) -> Holders[Value]:
    """The places of several values together."""
    found: dict[Value, set[int] | list[int]] = {}
    for use, places in held.items():
        name = key(use)
        found[name] = places if name not in found else {*found[name], *places}
    return {name: sorted(places) for name, places in found.items()}


def _months(session: TableSession, zone: tzinfo) -> Iterator[Month]:
    """The months in which a session lived."""
    if session.started_ms == NO_TIME or session.last_ms == NO_TIME:
        return
    month, last = _month(session.started_ms, zone), _month(session.last_ms, zone)
    if month == last:
        yield month
        return
    for _ in range(_MOST_MONTHS):
        if month > last:
            return
        yield month
        month = month.next


def _month(ms: int, zone: tzinfo) -> Month:
    return _month_of_quarter(ms // 1000 // _QUARTER_S, zone)


@lru_cache(8192)
def _month_of_quarter(quarter: int, zone: tzinfo) -> Month:
    at = datetime.fromtimestamp(quarter * _QUARTER_S, zone)
    return Month(at.year, at.month)
