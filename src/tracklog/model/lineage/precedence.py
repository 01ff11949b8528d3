"""Of two logs that hold the same records: who wrote them first.

Rules, the first that decides
  same_session  two files of one session: the main line before a subagent's, the longer one before the shorter
  marker        one of them names the other, or a third that names it, or says to have taken over a conversation
  times         the same records are older in one of them
  head          one begins with something newer than all the records that they share: it was there before them
  between       one has lines between the shared ones: they were written as it happened, a copy leaves them out
  own_start     one went on earlier, or not at all
  path          nothing tells them apart
The first four are as good as stated, the others are guesses.

A conversation may have been forked a hundred times: all pairs are judged, but what many of them have in common is
looked at once for each log, not once for each pair.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import compress
from typing import NamedTuple

from tracklog.model.ids import SessionId
from tracklog.model.lineage.trace import Trace, TraceLines, in_common

STATED_RULES = frozenset({"same_session", "marker", "times", "head"})
_LINE_KIND, _TURN_KIND = "uuid:", "turn:"
# Gateways hand out ids of their own, and the same ones again (docs/formats/claude_code.md): these are Anthropic's.
_UNIQUE = re.compile(r"(?:message:msg|call:(?:srv)?toolu)_(?:bdrk_|vrtx_)?01\w{22}")


class Older(NamedTuple):
    """A trace that came before another one, and the keys that both have."""

    number: int  # among all traces
    trace: Trace
    keys: frozenset[str]
    is_by_line: bool  # whether these name lines
    rule: str


class Nearest(NamedTuple):
    """The log that another one was made from."""

    trace: Trace
    rule: str


class Precedence:
    """The order of traces: who came first. Sets of traces are written as integers, with a bit for each."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self.traces = sorted(traces, key=lambda trace: (trace.path, trace.session))
        self._ancestors = _ancestors_of(self.traces)
        self._older: dict[Trace, list[Older]] = {trace: [] for trace in self.traces}
        self._younger = [0] * len(self.traces)  # of each trace, those that came later
        self._lines: dict[tuple[Trace, bool], TraceLines] = {}
        for keys, pairs in in_common(self.traces):
            common = _Common(keys)
            for one, other in pairs:
                self._judge(one, other, common)
        for older in self._older.values():
            older.sort(key=lambda one: one.number)
        self._holders = {trace: _holders_of(older) for trace, older in self._older.items()}
        self._writers: dict[int, SessionId] = {}

    def nearest(self, trace: Trace) -> Nearest | None:
        """The older one with which it has most in common."""
        older = self._older[trace]
        if not older:
            return None
        best = max(older, key=lambda one: (one.trace.name != trace.name, len(one.keys)))
        return Nearest(best.trace, best.rule)

    def rules(self, trace: Trace) -> set[str]:
        """The rules by which others came before it."""
        return {one.rule for one in self._older[trace]}

    def writer_of(self, key: str, trace: Trace) -> SessionId | None:
        """Who wrote a record before it was copied here; None if it was no copy."""
        older = 0
        for keys, traces in self._holders[trace].items():
            if key in keys:
                older |= traces
        if not older:
            return None
        if older not in self._writers:
            self._writers[older] = self._first_of(older)
        return self._writers[older]

    def telling_kinds(self, trace: Trace) -> Callable[[str], bool]:
        """Says of a key whether a line that shows it, and is not known as a copy, is surely the trace's own."""
        if trace.says_copies:
            return lambda key: key.startswith(_TURN_KIND) or not trace.sources
        by_line = {one.is_by_line for one in self._older[trace]} or {True}
        return lambda key: key.startswith(_LINE_KIND) in by_line and not key.startswith(_TURN_KIND)

    def _first_of(self, traces: int) -> SessionId:
        """The one that came before most of the others."""
        members = (n for n in range(traces.bit_length()) if traces >> n & 1)
        return self.traces[max(members, key=lambda n: (self._younger[n] & traces).bit_count())].name

    def _judge(self, n: int, m: int, common: _Common) -> None:
        one, other = self.traces[n], self.traces[m]
        shared = common.usable(one, other)
        is_known = one.name == other.name or self._is_ancestor(one, other) or self._is_ancestor(other, one)
        if not shared.keys or ((one.says_copies or other.says_copies) and not is_known):
            return
        sign, rule = self._compare(one, other, shared)
        first, second = (n, m) if sign < 0 else (m, n)
        older = Older(first, self.traces[first], shared.keys, shared.is_by_line, rule)
        self._older[self.traces[second]].append(older)
        self._younger[first] |= 1 << second

    def _compare(self, one: Trace, other: Trace, shared: _Shared) -> tuple[int, str]:
        if one.name == other.name:
            return _by_place(one, other), "same_session"
        if sign := self._is_ancestor(other, one) - self._is_ancestor(one, other):
            return sign, "marker"
        if sign := one.is_background - other.is_background:
            return sign, "marker"
        if sign := _by_times(shared.times_in(one), shared.times_in(other)):
            return sign, "times"
        looks = (shared.look_in(trace, self._lines_of(trace, shared)) for trace in (one, other))
        return _by_looks(*looks)

    def _lines_of(self, trace: Trace, shared: _Shared) -> TraceLines:
        kind = trace, shared.is_by_line
        if kind not in self._lines:
            self._lines[kind] = TraceLines(trace, lambda key: key.startswith(_LINE_KIND) is shared.is_by_line)
        return self._lines[kind]

    def _is_ancestor(self, one: Trace, other: Trace) -> bool:
        return one.name in self._ancestors.get(other.name, ())


def _holders_of(older: Iterable[Older]) -> dict[frozenset[str], int]:
    holders: dict[frozenset[str], int] = defaultdict(int)
    for one in older:
        holders[one.keys] |= 1 << one.number
    return holders


def _ancestors_of(traces: list[Trace]) -> dict[str, set[str]]:
    parents: dict[str, set[str]] = defaultdict(set)
    for trace in traces:
        parents[trace.name].update(trace.sources, trace.hints)
        for target in trace.targets:
            parents[target].add(trace.name)
    names = {trace.name for trace in traces}
    return {name: _reachable(name, parents) & names for name in names}


def _reachable(name: str, parents: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = parents.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


class _Common:
    """The keys that pairs of traces have in common. Which of them count may depend on the pair."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._all = keys
        self._by_line = frozenset(key for key in self._all if key.startswith(_LINE_KIND))
        others = () if self._by_line else [key for key in self._all if not key.startswith(_TURN_KIND)]
        self._unique = frozenset(key for key in others if _UNIQUE.fullmatch(key))
        self._doubtful = [key for key in others if key not in self._unique]
        self._shared: dict[frozenset[str], _Shared] = {}

    def usable(self, one: Trace, other: Trace) -> _Shared:
        """Those that say that two traces hold the same records."""
        keys = self._usable(one, other)
        if keys not in self._shared:
            self._shared[keys] = _Shared(keys)
        return self._shared[keys]

    def _usable(self, one: Trace, other: Trace) -> frozenset[str]:
        if one.says_copies or other.says_copies:
            return self._all
        if self._by_line or not self._doubtful:
            return self._by_line or self._unique
        return self._unique.union(key for key in self._doubtful if _is_at_one_time(key, one, other))


class _Shared:
    """Keys that traces share, and their order in each: computed once for all pairs."""

    def __init__(self, keys: frozenset[str]) -> None:
        self.keys = keys
        self.is_by_line = any(key.startswith(_LINE_KIND) for key in keys)
        self._times: dict[Trace, _Times] = {}
        self._alike: dict[tuple[str | None, ...], _Times] = {}
        self._looks: dict[Trace, _Look] = {}

    def times_in(self, trace: Trace) -> _Times:
        """When the records were written; one and the same value where two traces agree."""
        if trace not in self._times:
            column = trace.times_of(self.keys)
            self._times[trace] = self._alike.setdefault(column, _Times(column))
        return self._times[trace]

    def look_in(self, trace: Trace, lines: TraceLines) -> _Look:
        """What surrounds the shared records."""
        if trace not in self._looks:
            self._looks[trace] = _look(trace, lines, keys=self.keys, times=self.times_in(trace))
        return self._looks[trace]


def _is_at_one_time(key: str, one: Trace, other: Trace) -> bool:
    at = _time_of(key, one)
    return at is not None and at == _time_of(key, other)


def _time_of(key: str, trace: Trace) -> str | None:
    return trace.times[trace.rows[key]]


def _by_place(one: Trace, other: Trace) -> int:
    def rank(trace: Trace) -> tuple[bool, int, str]:
        return trace.thread is not None, -len(trace.keys), trace.path

    return -1 if rank(one) < rank(other) else 1


class _Times:
    """The times of shared records in one trace, in the order of their keys."""

    def __init__(self, column: tuple[str | None, ...]) -> None:
        self.column = column
        known = [at for at in column if at]
        self._ends = (min(known), max(known)) if column and len(known) == len(column) else None

    def are_all_before(self, other: _Times) -> bool:
        """Whether the first and the last one already tell; a copy of 1.0.x is newer than all that it copied."""
        return self._ends is not None and other._ends is not None and self._ends[1] < other._ends[0]


def _by_times(one: _Times, other: _Times) -> int:
    if one is other:
        return 0
    if one.are_all_before(other) or other.are_all_before(one):
        return -1 if one.are_all_before(other) else 1
    n_earlier = 0
    for here, there in zip(one.column, other.column, strict=True):
        if here and there:
            n_earlier += (here < there) - (there < here)
    return (n_earlier < 0) - (n_earlier > 0)


class _Look(NamedTuple):
    """The order of the shared records in one of the traces."""

    is_behind_newer: bool
    n_between: int
    goes_on_at: str | None


def _look(trace: Trace, lines: TraceLines, *, keys: frozenset[str], times: _Times) -> _Look:
    """Looks at the lines before, between and behind the shared ones; at those of which the ids say that only this
    trace has them, and those without ids.
    """
    shared = list(compress(trace.lines, map(keys.__contains__, trace.keys)))
    first, last = shared[0], shared[-1]
    newest = max(filter(None, times.column), default="")
    return _Look(
        is_behind_newer=bool(newest) and lines.newest_before(first) > newest,
        n_between=lines.n_between(first, last, without=set(shared)),
        goes_on_at=lines.oldest_behind(last),
    )


def _by_looks(one: _Look, other: _Look) -> tuple[int, str]:
    if sign := one.is_behind_newer - other.is_behind_newer:
        return sign, "head"
    if one.n_between != other.n_between:
        return (-1 if one.n_between > other.n_between else 1), "between"
    if one.goes_on_at != other.goes_on_at:
        return (-1 if (one.goes_on_at or "") < (other.goes_on_at or "") else 1), "own_start"
    return -1, "path"
