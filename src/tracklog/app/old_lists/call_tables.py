"""All calls as a table: which are meant, how each tool did, and a page of them.

Rules of this room
  1. A figure of a tool counts what one would see by choosing it: the other filters hold, that of the tool does not.
  2. What took an unknown time is in no figure of times, and counted for itself.
  3. The p-th percentile is the time of a call: p percent of those whose time is known took no longer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter
from threading import Lock
from typing import Literal, NamedTuple

from tracklog.model.session_rules import is_tool
from tracklog.sessions.tables_columns import CallLine

Sort = Literal["time", "duration"]
Place = tuple[int, int]  # the row of its session, and where it stands there
_Key = tuple[float | None, ...]
_KEPT = 8  # questions whose answers are kept
_MOST_TOOLS = 200  # that have a line of their own
_called = attrgetter("called_ms")
_took = attrgetter("took_ms")
_verdict = attrgetter("verdict")


class WantedCalls(NamedTuple):
    """What a call must be like; None asks for nothing."""

    tool: str | None = None
    verdict: str | None = None
    rows: frozenset[int] | None = None  # of the sessions that are meant
    places: frozenset[Place] | None = None  # of the calls of the thread that is meant
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
    unknown: int  # that took nobody knows how long
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    total_ms: float
    n_from_p50: int = 0  # that took so long or longer
    n_from_p95: int = 0
    n_at_max: int = 0


class _Group(NamedTuple):
    """Some calls, and in order how long those took of which that is known."""

    calls: Sequence[CallLine]
    times: list[float]


class CallCursor(NamedTuple):
    """Behind which call a page begins."""

    took_ms: float | None  # in the order of times: None
    called_ms: int
    row: int
    n: int


class CallPage(NamedTuple):
    """Some of the calls that are meant, in their order."""

    calls: list[CallLine]
    total: int
    n_before: int
    next: CallCursor | None


class CallTable:
    """All calls, in the order of their times."""

    def __init__(self, calls: Sequence[CallLine] = (), copies: Set[Place] = frozenset()) -> None:
        self.calls = calls
        self.copies = copies  # those among them whose original stands nowhere
        self._lock = Lock()
        self._answers: OrderedDict[WantedCalls, ChosenCalls] = OrderedDict()

    def prepare(self) -> None:
        """Works out beforehand what is asked most."""
        everything = self.chosen(WantedCalls())
        _ = everything.tools, everything.all_tools, everything.verdicts

    def chosen(self, wanted: WantedCalls) -> ChosenCalls:
        """The calls that are meant; the last answers are kept."""
        with self._lock:
            answer = self._answers.pop(wanted, None) or ChosenCalls(self, wanted)
            self._answers[wanted] = answer
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return answer


class ChosenCalls:
    """The calls of a table that are meant."""

    def __init__(self, table: CallTable, wanted: WantedCalls) -> None:
        self._table = table
        self.wanted = wanted

    @cached_property
    def _common(self) -> Sequence[CallLine]:
        """Those that pass all filters but tool and verdict."""
        wanted, calls = self.wanted, self._table.calls
        if wanted.since_ms is not None or wanted.until_ms is not None:
            first = bisect_left(calls, max(wanted.since_ms or 0, 0), key=_called)
            behind = (
                len(calls) if wanted.until_ms is None else bisect_left(calls, wanted.until_ms, key=_called)
            )
            calls = calls[first:behind]
        if wanted.rows is not None:
            rows = wanted.rows
            calls = [one for one in calls if one.row in rows]
        if wanted.places is not None:
            places = wanted.places
            calls = [one for one in calls if (one.row, one.n) in places]
        if wanted.min_ms is not None:
            least = wanted.min_ms
            calls = [one for one in calls if one.took_ms is not None and one.took_ms >= least]
        if wanted.is_timed is not None:
            is_timed = wanted.is_timed
            calls = [one for one in calls if (one.took_ms is not None) == is_timed]
        if wanted.is_own and self._table.copies:
            calls = [one for one in calls if (one.row, one.n) not in self._table.copies]
        return calls

    @cached_property
    def _of_any_tool(self) -> Sequence[CallLine]:
        verdict = self.wanted.verdict
        return self._common if verdict is None else [one for one in self._common if one.verdict == verdict]

    def _of_the_tool(self, calls: Sequence[CallLine]) -> Sequence[CallLine]:
        tool = self.wanted.tool
        if tool is None:
            return calls
        meant = {name for name in {one.tool for one in calls} if is_tool(name, tool)}
        return [one for one in calls if one.tool in meant]

    @cached_property
    def calls(self) -> Sequence[CallLine]:
        """The calls that pass all filters, in the order of their times."""
        tool = self.wanted.tool
        return self._of_any_tool if tool is None else self._group_meant(tool).calls

    @property
    def total(self) -> int:
        """How many they are."""
        return len(self.calls)

    @cached_property
    def _whatever_tool(self) -> ChosenCalls:
        """The same question without its tool: whoever goes from tool to tool asks it once."""
        return self._table.chosen(self.wanted._replace(tool=None))

    @cached_property
    def _by_tool(self) -> dict[str, _Group]:
        """The calls of each tool, whatever tool is asked for; the most called first."""
        if self.wanted.tool is not None:
            return self._whatever_tool._by_tool
        groups: dict[str, list[CallLine]] = {}
        for one in self._of_any_tool:
            group = groups.get(one.tool)
            if group is None:
                groups[one.tool] = [one]
            else:
                group.append(one)
        return {tool: _Group(group, _times(group)) for tool, group in _most_first(_joined(groups))}

    def _group_meant(self, tool: str) -> _Group:
        """The calls that one sees by choosing a tool."""
        groups = [group.calls for name, group in self._by_tool.items() if is_tool(name, tool)]
        calls = groups[0] if len(groups) == 1 else sorted(chain.from_iterable(groups))
        return _Group(calls, _times(calls))

    @cached_property
    def tools(self) -> list[ToolFigures]:
        """How each tool did, whatever tool is asked for; the most called first."""
        if self.wanted.tool is not None:
            return self._whatever_tool.tools
        servers = {server for name in self._by_tool for server in _servers(name)}
        return [
            _figures(tool, self._group_meant(tool) if tool.lower().rstrip("_") in servers else group)
            for tool, group in islice(self._by_tool.items(), _MOST_TOOLS)
        ]

    @property
    def n_tools(self) -> int:
        """How many tools there are, those without a line of their own, too."""
        return len(self._by_tool)

    @cached_property
    def all_tools(self) -> ToolFigures:
        """How all of them did together."""
        if self.wanted.tool is not None:
            return self._whatever_tool.all_tools
        times = sorted(chain.from_iterable(group.times for group in self._by_tool.values()))
        return _figures("", _Group(self._of_any_tool, times))

    @cached_property
    def verdicts(self) -> list[tuple[str, int]]:
        """How many calls ended how, whatever verdict is asked for; the commonest first."""
        counts = Counter(map(_verdict, self._of_the_tool(self._common)))
        return sorted(counts.items(), key=lambda one: (-one[1], one[0]))

    @cached_property
    def _by_duration(self) -> list[CallLine]:
        """The quickest first, at the same time in the order of time."""
        return sorted((one for one in self.calls if one.took_ms is not None), key=_took)

    @cached_property
    def _untimed(self) -> list[CallLine]:
        return [one for one in self.calls if one.took_ms is None]

    def page(self, sort: Sort, *, is_descending: bool, after: CallCursor | None, most: int) -> CallPage:
        """So many of them, behind the cursor. In the order of durations those that are not known come last."""
        parts: list[tuple[Sequence[CallLine], bool]] = [(self.calls, False)]
        if sort == "duration":
            parts = [(self._by_duration, True), (self._untimed, False)]
        first = 0
        if after is not None:
            first = sum(
                _n_until(part, after, is_descending=is_descending, is_timed=is_timed)
                for part, is_timed in parts
            )
        shown = list(_slice([part for part, _ in parts], first, most, is_descending=is_descending))
        has_more = first + len(shown) < self.total
        next = _cursor(shown[-1], sort) if has_more and shown else None
        return CallPage(shown, self.total, first, next)


def _slice(
    parts: Iterable[Sequence[CallLine]], first: int, most: int, *, is_descending: bool
) -> Iterable[CallLine]:
    """Some calls of several lists, each of which is read from its end if the order descends."""
    for part in parts:
        taken = range(first, min(first + most, len(part)))
        yield from (part[len(part) - 1 - n] if is_descending else part[n] for n in taken)
        first, most = max(first - len(part), 0), most - len(taken)


def _n_until(part: Sequence[CallLine], after: CallCursor, *, is_descending: bool, is_timed: bool) -> int:
    """How many calls of a list stand before a cursor or at it."""
    place = after[1:]
    if is_timed and after.took_ms is None:
        return len(part)  # the cursor is among those that took nobody knows how long
    if not is_timed and after.took_ms is not None:
        return 0
    key: _Key = (after.took_ms, *place) if is_timed else place
    key_of = _timed_place if is_timed else _place
    at = bisect_left(part, key, key=key_of)
    is_there = at < len(part) and key_of(part[at]) == key
    return len(part) - at if is_descending else at + is_there


def _place(one: CallLine) -> _Key:
    return (one.called_ms, one.row, one.n)


def _timed_place(one: CallLine) -> _Key:
    return (one.took_ms, one.called_ms, one.row, one.n)


def _cursor(one: CallLine, sort: Sort) -> CallCursor:
    return CallCursor(one.took_ms if sort == "duration" else None, one.called_ms, one.row, one.n)


def _most_first(groups: Mapping[str, list[CallLine]]) -> list[tuple[str, list[CallLine]]]:
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _joined(groups: Mapping[str, list[CallLine]]) -> dict[str, list[CallLine]]:
    """Tools whose names differ in capitals are one to who chooses it; it is called as it is written most."""
    spelled: dict[str, str] = {}
    joined: dict[str, list[CallLine]] = {}
    for name, calls in _most_first(groups):
        known = spelled.setdefault(name.lower(), name)
        joined[known] = sorted([*joined[known], *calls]) if known in joined else calls
    return joined


def _servers(tool: str) -> Iterator[str]:
    """The names by which a tool of MCP is meant with others: `mcp__github` means `mcp__github__list`, too."""
    parts = tool.lower().split("__")
    if parts[0] == "mcp":
        yield from ("__".join(parts[:n]) for n in range(1, len(parts)))


def _figures(tool: str, group: _Group) -> ToolFigures:
    calls, times = group
    p50, p95 = _percentile(times, 50), _percentile(times, 95)
    return ToolFigures(
        tool=tool,
        n=len(calls),
        errors=sum(one.verdict == "error" for one in calls),
        unknown=len(calls) - len(times),
        p50_ms=p50,
        p95_ms=p95,
        max_ms=times[-1] if times else None,
        total_ms=sum(times),
        n_from_p50=_n_from(times, p50),
        n_from_p95=_n_from(times, p95),
        n_at_max=_n_from(times, times[-1] if times else None),
    )


def _times(calls: Iterable[CallLine]) -> list[float]:
    return sorted(took for one in calls if (took := one.took_ms) is not None)


def _percentile(times: Sequence[float], percent: int) -> float | None:
    return times[-(-len(times) * percent // 100) - 1] if times else None


def _n_from(times: Sequence[float], least: float | None) -> int:
    return 0 if least is None else len(times) - bisect_left(times, least)
