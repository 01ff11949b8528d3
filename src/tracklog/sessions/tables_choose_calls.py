"""Select calls of a list: which fit the filters, how each tool did, and a page of them.

Rules
  1. A figure of a tool counts what a click on it would show: the other filters hold, that of the tool does not.
  2. A call whose time is unknown is in no figure of times, and is counted for itself.
  3. The p-th percentile is the time of a call: p percent of those whose time is known took no longer.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from tracklog.model.session_rules import is_tool
from tracklog.sessions.listed import FacetKind, ShownCall
from tracklog.sessions.tables_choose import SessionSelection
from tracklog.sessions.tables_columns import CallLine
from tracklog.sessions.tables_list_values import LIST, Condition, all_of
from tracklog.store.surrogates import as_text, storable

Sort = Literal["time", "duration"]
_MOST_TOOLS = 200  # that have a line of their own
_BY_TOOL = "list_calls l indexed by list_calls_by_tool"
_LARGEST = (1 << 63) - 1


class WantedCalls(NamedTuple):
    """What a call must be like; None asks for nothing."""

    tool: str | None = None
    verdict: str | None = None
    session: str | None = None  # its id, or the beginning of it
    places: frozenset[tuple[int, int]] | None = None  # row and number of the calls of the thread
    since_ms: int | None = None
    until_ms: int | None = None
    min_ms: float | None = None
    is_timed: bool | None = None  # whether it is known how long it took
    is_own: bool = False  # only those that their session made itself


class ToolFigures(NamedTuple):
    """How the calls of one tool did."""

    tool: str
    n: int
    errors: int
    unknown: int  # whose time is unknown
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    total_ms: float
    n_from_p50: int = 0  # that took so long or longer
    n_from_p95: int = 0
    n_at_max: int = 0


class CallCursor(NamedTuple):
    """Behind which call a page begins."""

    took_ms: float | None  # in the order of times: None
    called_ms: int
    row: int
    n: int


class CallPage(NamedTuple):
    """Some of the selected calls, in their order."""

    calls: list[ShownCall]
    total: int
    n_before: int
    next: CallCursor | None


class _Tool(NamedTuple):
    """The calls of a tool as it is written: their numbers."""

    n: int
    errors: int
    timed: int
    max_ms: float | None
    total_ms: float


def rows_named(db: sqlite3.Connection, sessions: SessionSelection | None, name: str) -> list[int]:
    """The selected sessions with this id; if there is none, those whose ids begin so."""
    rows, values = sessions.rows() if sessions is not None else ("select row from list_rows", [])
    asked = f"select row from list_rows where row in ({rows}) and "
    exact = db.execute(f"{asked} session = ?", [*values, storable(name)]).fetchall()
    found = exact or db.execute(f"{asked} substr(session, 1, ?) = ?", [*values, len(name), storable(name)])
    return [row for (row,) in found]


class CallSelection:
    """The calls that fit, of all sessions or of selected ones."""

    def __init__(
        self, db: sqlite3.Connection, wanted: WantedCalls, sessions: SessionSelection | None = None
    ) -> None:
        self._db = db
        self.wanted = wanted
        self._sessions = sessions
        asked = "select id, name from list_values where kind = ?"
        self._names: dict[int, str] = dict(db.execute(asked, (FacetKind.CALLED,)).fetchall())

    @cached_property
    def _common(self) -> Condition:
        """The filters but tool and verdict."""
        return all_of(self._conditions())

    def _conditions(self) -> Iterator[Condition]:
        wanted = self.wanted
        if wanted.since_ms is not None or wanted.until_ms is not None:
            yield "l.called_ms >= ?", [max(wanted.since_ms or 0, 0)]
        if wanted.until_ms is not None:
            yield "l.called_ms < ?", [wanted.until_ms]
        if wanted.session is not None:
            yield f"l.row in {LIST}", [json.dumps(rows_named(self._db, self._sessions, wanted.session))]
        elif self._sessions is not None:
            rows, values = self._sessions.rows()
            yield f"l.row in ({rows})", values
        if wanted.places is not None:
            places = json.dumps(sorted(map(list, wanted.places)))
            yield "(l.row, l.n) in (select value ->> 0, value ->> 1 from json_each(?))", [places]
        if wanted.min_ms is not None:
            yield "l.took_ms >= ?", [wanted.min_ms]
        if wanted.is_timed is not None:
            yield f"l.took_ms is {'not ' if wanted.is_timed else ''}null", []
        if wanted.is_own:
            yield "not l.is_copy", []

    def _where(self, *, tools: Sequence[int] | None, with_verdict: bool = True) -> Condition:
        """All filters, with these tools; None: any."""
        verdict = self.wanted.verdict if with_verdict else None
        some: list[Condition] = [self._common]
        if tools is not None:
            some.append((f"l.tool in {LIST}", [json.dumps(tools)]))
        if verdict is not None:
            some.append(("l.verdict = ?", [storable(verdict)]))
        return all_of(some)

    @property
    def _tools_meant(self) -> list[int] | None:
        return None if self.wanted.tool is None else self._ids_of(self.wanted.tool)

    def _ids_of(self, tool: str) -> list[int]:
        return [id for id, name in self._names.items() if is_tool(name, tool)]

    def _count(self, where: str, values: list[Any]) -> int:
        return int(self._db.execute(f"select count(*) from {_BY_TOOL} where {where}", values).fetchone()[0])

    @cached_property
    def total(self) -> int:
        """How many calls are selected."""
        if self.wanted.tool is None:
            return self.all_tools.n
        return sum(one.n for id, one in self._by_name.items() if is_tool(self._names[id], self.wanted.tool))

    @cached_property
    def _by_name(self) -> dict[int, _Tool]:
        """The calls of each tool, by its exact name, without the filter by tool."""
        where, values = self._where(tools=None)
        asked = (
            "select l.tool, count(*), sum(l.verdict = 'error'), count(l.took_ms), max(l.took_ms), total(l.took_ms) "
            f"from {_BY_TOOL} where {where} group by l.tool"
        )
        return {id: _Tool(*rest) for id, *rest in self._db.execute(asked, values)}

    @cached_property
    def _groups(self) -> list[tuple[str, list[int]]]:
        """Tools whose names differ in capitals are one, named as it is written most; the most called first."""
        names, counts = self._names, self._by_name
        spelled: dict[str, str] = {}
        joined: dict[str, list[int]] = {}
        for id in sorted(counts, key=lambda id: (-counts[id].n, names[id])):
            joined.setdefault(spelled.setdefault(names[id].lower(), names[id]), []).append(id)
        return sorted(joined.items(), key=lambda one: (-sum(counts[id].n for id in one[1]), one[0]))

    @cached_property
    def tools(self) -> list[ToolFigures]:
        """Figures of each tool, without the filter by tool; the most called first."""
        servers = {server for name, _ in self._groups for server in _servers(name)}
        return [
            self._figures(tool, self._called(tool) if tool.lower().rstrip("_") in servers else ids)
            for tool, ids in islice(self._groups, _MOST_TOOLS)
        ]

    def _called(self, tool: str) -> list[int]:
        return [id for id in self._ids_of(tool) if id in self._by_name]

    @property
    def n_tools(self) -> int:
        """How many tools there are, with those that have no line of their own."""
        return len(self._groups)

    @cached_property
    def all_tools(self) -> ToolFigures:
        """How all of them did together."""
        return self._figures("", None)

    def _figures(self, tool: str, ids: list[int] | None) -> ToolFigures:
        some = [one for id, one in self._by_name.items() if ids is None or id in ids]
        timed = sum(one.timed for one in some)
        longest = max((one.max_ms for one in some if one.max_ms is not None), default=None)
        p50, p95 = (self._percentile(ids, timed, percent) for percent in (50, 95))
        return ToolFigures(
            tool=tool,
            n=sum(one.n for one in some),
            errors=sum(one.errors for one in some),
            unknown=sum(one.n for one in some) - timed,
            p50_ms=p50,
            p95_ms=p95,
            max_ms=longest,
            total_ms=sum(one.total_ms for one in some),
            n_from_p50=self._n_from(ids, p50),
            n_from_p95=self._n_from(ids, p95),
            n_at_max=self._n_from(ids, longest),
        )

    def _percentile(self, ids: list[int] | None, timed: int, percent: int) -> float | None:
        if not timed:
            return None
        at = -(-timed * percent // 100) - 1
        if (times := self._times_of(ids)) is not None:
            return times[at]
        way, behind = ("", at) if at * 2 < timed else ("desc", timed - 1 - at)  # from the nearer end
        source, where, values = self._timed(ids)
        asked = f"select l.took_ms from {source} where {where} order by l.took_ms {way} limit 1 offset ?"
        return float(self._db.execute(asked, [*values, behind]).fetchone()[0])

    def _n_from(self, ids: list[int] | None, least: float | None) -> int:
        if least is None:
            return 0
        if (times := self._times_of(ids)) is not None:
            return len(times) - bisect_left(times, least)
        source, where, values = self._timed(ids)
        asked = f"select count(*) from {source} where {where} and l.took_ms >= ?"
        return int(self._db.execute(asked, [*values, least]).fetchone()[0])

    def _times_of(self, ids: list[int] | None) -> list[float] | None:
        """The known times of some tools in order; None: the indexes have them."""
        if self._times is None:
            return None
        if ids is not None and len(ids) == 1:
            return self._times.get(ids[0], [])
        return sorted(
            chain.from_iterable(some for id, some in self._times.items() if ids is None or id in ids)
        )

    @cached_property
    def _times(self) -> dict[int, list[float]] | None:
        """The known times by tool, where sessions are selected: each question would have to select them again."""
        if self._sessions is None and self.wanted.session is None:
            return None
        where, values = all_of([self._where(tools=None), ("l.took_ms is not null", [])])
        found: dict[int, list[float]] = {}
        asked = f"select l.tool, l.took_ms from list_calls l where {where}"
        for tool, took_ms in self._db.execute(asked, values):
            found.setdefault(tool, []).append(took_ms)
        return {tool: sorted(some) for tool, some in found.items()}

    def _timed(self, ids: list[int] | None) -> tuple[str, str, list[Any]]:
        """The index that has the times of these tools in order, and which of its calls fit."""
        index = "list_calls_by_duration" if ids is None else "list_calls_by_tool"
        where, values = self._where(tools=None)
        if ids is not None:
            meant = "l.tool = ?" if len(ids) == 1 else f"l.tool in {LIST}"
            where, values = all_of([(meant, [ids[0] if len(ids) == 1 else json.dumps(ids)]), (where, values)])
        return f"list_calls l indexed by {index}", *all_of([(where, values), ("l.took_ms is not null", [])])

    @cached_property
    def verdicts(self) -> list[tuple[str, int]]:
        """Number of calls by verdict, without the filter by verdict; the commonest first."""
        where, values = self._where(tools=self._tools_meant, with_verdict=False)
        asked = f"select l.verdict, count(*) from {_BY_TOOL} where {where} group by l.verdict"
        counts = [(as_text(verdict), n) for verdict, n in self._db.execute(asked, values)]
        return sorted(counts, key=lambda one: (-one[1], one[0]))

    def page(self, sort: Sort, *, is_descending: bool, after: CallCursor | None, most: int) -> CallPage:
        """So many of them, behind the cursor. In the order of durations those that are not known come last."""
        parts: list[tuple[str, str, bool | None]]
        if sort == "time":
            parts = [("l.called_ms, l.row, l.n", "true", None)]
            after = after if after is not None and after.took_ms is None else None
        else:
            parts = [
                ("l.took_ms, l.called_ms, l.row, l.n", "l.took_ms is not null", True),
                ("l.called_ms, l.row, l.n", "l.took_ms is null", False),
            ]
        all_calls = self._where(tools=self._tools_meant)
        shown: list[ShownCall] = []
        n_behind = 0
        for order, of_part, is_timed in parts:
            where, values = all_of(
                [
                    all_calls,
                    (of_part, []),
                    _behind(order, after, is_timed=is_timed, is_descending=is_descending),
                ]
            )
            if after is not None:
                n_behind += self._n_in(where, values)
            if len(shown) < most:
                shown += self._some(order, where, values, is_descending=is_descending, most=most - len(shown))
        n_before = self.total - n_behind if after is not None else 0
        has_more = n_before + len(shown) < self.total
        return CallPage(
            shown, self.total, n_before, _cursor(shown[-1].line, sort) if has_more and shown else None
        )

    def _n_in(self, where: str, values: list[Any]) -> int:
        return int(self._db.execute(f"select count(*) from list_calls l where {where}", values).fetchone()[0])

    def _some(
        self, order: str, where: str, values: list[Any], *, is_descending: bool, most: int
    ) -> Iterator[ShownCall]:
        columns = "l.called_ms, l.row, l.n, l.tool, l.verdict, l.took_ms, l.took_by, l.is_copy"
        by = ", ".join(f"{name} {'desc' if is_descending else 'asc'}" for name in order.split(", "))
        asked = f"select {columns} from list_calls l where {where} order by {by} limit ?"
        for called_ms, row, n, tool, verdict, took_ms, took_by, is_copy in self._db.execute(
            asked, [*values, most]
        ):
            line = CallLine(called_ms, row, n, self._names[tool], as_text(verdict), took_ms, as_text(took_by))
            yield ShownCall(line, bool(is_copy))


def _behind(order: str, after: CallCursor | None, *, is_timed: bool | None, is_descending: bool) -> Condition:
    if after is None or (is_timed is False and after.took_ms is not None):
        return "true", []
    if is_timed and after.took_ms is None:
        return "false", []  # the cursor is among those whose time is unknown
    key: tuple[float | int | None, ...] = after if is_timed else after[1:]
    marks = ", ".join("?" * len(key))
    return f"({order}) {'<' if is_descending else '>'} ({marks})", [_small(one) for one in key]


def _small(value: float | int | None) -> float | int | None:
    return min(max(value, -_LARGEST), _LARGEST) if isinstance(value, int) else value


def _cursor(one: CallLine, sort: Sort) -> CallCursor:
    return CallCursor(one.took_ms if sort == "duration" else None, one.called_ms, one.row, one.n)


def _servers(tool: str) -> Iterator[str]:
    """The names that select an MCP tool together with others: `mcp__github` selects `mcp__github__list`, too."""
    parts = tool.lower().split("__")
    if parts[0] == "mcp":
        yield from ("__".join(parts[:n]) for n in range(1, len(parts)))
