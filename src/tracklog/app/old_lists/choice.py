"""Which of many sessions are meant, how many there are of each kind, and a page of them.

Rules of this room
  1. A facet counts what one would see by choosing a value of it: the other filters hold, its own does not.
  2. A page goes on behind a session and its value in the order, not behind a number of rows: new sessions shift nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property, reduce
from itertools import compress
from operator import and_
from typing import NamedTuple

from tracklog.app.old_lists.sets import (
    IN_WORDS,
    SORTS,
    Holders,
    Key,
    Month,
    Name,
    SessionTable,
    TableSession,
    Value,
    union,
)

_FLAGS = bytes.maketrans(b"01", b"\x00\x01")
_TIME = "time"
_MOST = 100  # models whose sessions are counted


class SessionFilter(NamedTuple):
    """What a session must be like; None asks for nothing."""

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
        """Whether a period is asked for."""
        return self.since_ms is not None or self.until_ms is not None


class FacetCount(NamedTuple):
    """A value, and how many sessions one would see by choosing it."""

    value: str
    label: str
    n: int


class Cursor(NamedTuple):
    """Behind which session a page begins."""

    value: Key
    agent: str
    id: str


class Page(NamedTuple):
    """Some of the sessions that are meant, in their order."""

    sessions: list[TableSession]
    total: int
    n_before: int
    next: Cursor | None


class SelectionTotals(NamedTuple):
    """What the sessions that are meant come to."""

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


class SessionSelection:
    """The sessions of a table that are meant; `states` are those of sessions that live now."""

    def __init__(
        self, table: SessionTable, wanted: SessionFilter, states: Mapping[Name, str] | None = None
    ) -> None:
        self.table = table
        self.wanted = wanted
        self._live = states or {}
        self._filters = dict(self._made(wanted))

    def _made(self, wanted: SessionFilter) -> list[tuple[str, int]]:
        """The filters that are asked for, each with the sessions that pass it."""
        table, made = self.table, list[tuple[str, int]]()
        if wanted.project is not None:
            made.append(("project", table.in_project(wanted.project)))
        if wanted.agent is not None:
            made.append(("agent", table.set_at(table.agents.get(wanted.agent, ()))))
        if wanted.model is not None:
            made.append(("model", table.with_model(wanted.model)))
        if wanted.state is not None:
            made.append(("state", self.states.get(wanted.state, 0)))
        if wanted.tool is not None or wanted.verdict is not None:
            made.append(("use", table.with_use(wanted.tool, wanted.verdict)))
        if wanted.has_period:
            made.append((_TIME, table.during(wanted.since_ms, wanted.until_ms)))
        if wanted.words:
            made.append(("words", table.with_words(wanted.words)))
        return made

    @cached_property
    def states(self) -> dict[str, int]:
        """States with their sessions: of those that live now, what they do now."""
        known = {state: self.table.set_at(places) for state, places in self.table.states.items()}
        now: dict[str, int] = {}
        for name, state in self._live.items():
            at = self.table.at.get(name)
            if at is not None:
                now[state] = now.get(state, 0) | 1 << at
        elsewhere = ~union(now.values())
        kept = {state: mask & elsewhere for state, mask in known.items()}
        return {state: kept.get(state, 0) | now.get(state, 0) for state in {**kept, **now}}

    def state_of(self, session: TableSession) -> str:
        """What a session does, as far as is known."""
        return self._live.get((session.agent, session.id), session.state)

    @cached_property
    def all(self) -> int:
        """The sessions that pass all filters."""
        return self.without()

    def without(self, *names: str) -> int:
        """Those that pass all filters but these."""
        passed = (mask for name, mask in self._filters.items() if name not in names)
        return reduce(and_, passed, self.table.everything)

    @property
    def total(self) -> int:
        """How many sessions are meant."""
        return self.all.bit_count()

    @property
    def sessions(self) -> Iterable[TableSession]:
        """The sessions themselves, in the order of the table."""
        return compress(self.table.sessions, self._flags(self.all))

    def projects(self) -> list[FacetCount]:
        """The projects that lead to any session."""
        labels = self.table.project_labels
        return _ranked(
            FacetCount(labels.get(name, name), labels.get(name, name), n)
            for name, n in self._counts(self.table.projects, "project")
        )

    def agents(self) -> list[FacetCount]:
        """The agents that do."""
        return _ranked(FacetCount(name, name, n) for name, n in self._counts(self.table.agents, "agent"))

    def models(self) -> list[FacetCount]:
        """The models that do; of very many the commonest."""
        base = self.without("model")
        common = _ranked(FacetCount(name, name, n) for name, n in self._counts(self.table.models, "model"))
        return _ranked(
            one._replace(n=(self.table.with_model(one.value) & base).bit_count()) for one in common[:_MOST]
        )

    def state_facet(self) -> list[FacetCount]:
        """The states that do."""
        base = self.without("state")
        return _ranked(
            FacetCount(name, name, (mask & base).bit_count()) for name, mask in self.states.items()
        )

    def tools(self) -> list[FacetCount]:
        """The tools that do: called at all, or with the verdict that is asked for."""
        verdict, base = self.wanted.verdict, self.without("use")
        uses, labels = self.table.uses, self.table.tool_labels
        held = (
            self.table.tools
            if verdict is None
            else {tool: places for (tool, how), places in uses.items() if how == verdict}
        )
        found = (FacetCount(tool, labels.get(tool, tool), n) for tool, n in self._counts(held, "use"))
        return _ranked(
            one._replace(n=(self.table.with_use(one.value, verdict) & base).bit_count())
            if self.table.has_narrower_tools(one.value)
            else one
            for one in found
        )

    def verdicts(self) -> list[FacetCount]:
        """The verdicts that do: of any call, or of the tool that is asked for."""
        tool, base = self.wanted.tool, self.without("use")
        if tool is None:
            counts = self._counts(self.table.verdicts, "use")
        else:
            known = self.table.verdicts
            counts = [(one, (self.table.with_use(tool, one) & base).bit_count()) for one in known]
        return _ranked(FacetCount(one, one.replace("_", " "), n) for one, n in counts)

    def months(self) -> list[tuple[Month, int]]:
        """The months in which any of them lived, whatever time is asked for; the last first."""
        return [(month, n) for month, n in self._counts(self.table.months, _TIME) if n]

    def _counts(self, held: Holders[Value], name: str) -> list[tuple[Value, int]]:
        """For each value how many sessions one would see by choosing it as this filter."""
        base = self.without(name)
        if base == self.table.everything:
            return [(value, len(places)) for value, places in held.items()]
        is_meant = self._flags(base).__getitem__
        return [(value, sum(map(is_meant, places))) for value, places in held.items()]

    def n_during(self, since_ms: int | None, until_ms: int | None) -> int:
        """How many one would see by choosing another time."""
        return (self.table.during(since_ms, until_ms) & self.without(_TIME)).bit_count()

    def newest_without(self, *names: str) -> TableSession | None:
        """The last alive of those that pass all filters but these."""
        mask = self.without(*names)
        return self.table.sessions[mask.bit_length() - 1] if mask else None

    def page(self, sort: str, *, is_descending: bool, after: Cursor | None, most: int) -> Page:
        """So many of them, behind the cursor."""
        flags = self._flags(self.all)
        ranked = [n for n in self.table.order(sort, is_descending=is_descending) if flags[n]]
        key = SORTS[sort]

        def is_behind(n: int) -> bool:
            one = self.table.sessions[n]
            return after is not None and _is_behind(
                Cursor(key(self.table, one), one.agent, one.id), after, is_descending=is_descending
            )

        first = 0 if after is None else bisect_left(ranked, True, key=is_behind)
        shown = [self.table.sessions[n] for n in ranked[first : first + most]]
        has_more = first + most < len(ranked)
        next = Cursor(key(self.table, shown[-1]), shown[-1].agent, shown[-1].id) if has_more else None
        return Page(shown, len(ranked), first, next)

    def sums(self) -> SelectionTotals:
        """What they come to."""
        flags, columns = self._flags(self.all), self.table.columns

        def total(name: str) -> float:
            return sum(compress(columns[name], flags))

        return SelectionTotals(
            sessions=self.total,
            active_ms=total("active_ms"),
            wall_ms=total("wall_ms"),
            turns=int(total("turns")),
            calls=int(total("calls")),
            errors=int(total("errors")),
            subagents=int(total("subagents")),
            copies=int(total("copies")),
            tokens=int(total("tokens")),
            output_tokens=int(total("output_tokens")),
            cost_pico_usd=int(total("cost_pico_usd")),
            most_pico_usd=int(total("most_pico_usd")),
            is_lower_bound=bool(total("is_lower_bound") or total("unpriced")),
            partial_requests=int(total("partial_requests")),
            unpriced=int(total("unpriced")),
        )

    def _flags(self, chosen: int) -> bytes:
        """For each session of the table whether it is in a set."""
        digits = f"{chosen:0{max(len(self.table.sessions), 1)}b}"
        return digits.encode().translate(_FLAGS)[::-1]


def _ranked(found: Iterable[FacetCount]) -> list[FacetCount]:
    """Those that lead to most sessions first; those that lead to none not at all."""
    kept = (one for one in found if one.n)
    return sorted(kept, key=lambda one: (-one.n, one.label.lower(), one.value))


def fits(sort: str, cursor: Cursor) -> bool:
    """Whether a cursor can have come from a page in this order."""
    kind = str if sort in IN_WORDS else (int, float)
    return cursor.value is None or (isinstance(cursor.value, kind) and not isinstance(cursor.value, bool))


def _is_behind(one: Cursor, after: Cursor, *, is_descending: bool) -> bool:
    if one.value is None:
        return after.value is not None or one[1:] > after[1:]
    if after.value is None:
        return False
    mine, its = (one.value, *one[1:]), (after.value, *after[1:])
    return mine < its if is_descending else mine > its
