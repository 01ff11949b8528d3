"""Of two logs that hold the same records: who wrote them first.

Rules of this room, the first that decides
  same_session  two files of one session: the main line before a subagent's, the longer one before the shorter
  marker        one of them names the other, or somebody who names it, or says to have taken over a conversation
  times         the same records are older in one of them
  head          one begins with something newer than all the records that they share: it was there before them
  between       one has lines between the shared ones: they were written as it happened, a copy leaves them out
  own_start     one went on earlier, or not at all
  path          nothing tells them apart
The first four are as good as stated, the others are guesses.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from tracklog.model.ids import SessionId
from tracklog.model.trace import Trace

STATED_RULES = frozenset({"same_session", "marker", "times", "head"})
_LINE_KIND, _TURN_KIND = "uuid:", "turn:"
# Gateways hand out ids of their own, and the same ones again (docs/formats/claude_code.md): these are Anthropic's.
_UNIQUE = re.compile(r"(?:message:msg|call:(?:srv)?toolu)_(?:bdrk_|vrtx_)?01\w{22}")


class Pair(NamedTuple):
    """Two traces with common keys."""

    first: Trace
    second: Trace
    keys: frozenset[str]
    rule: str


class Nearest(NamedTuple):
    """The log that another one was made from."""

    trace: Trace
    rule: str


class Precedence:
    """Who came first among traces."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self.traces = sorted(traces, key=lambda trace: (trace.path, trace.session))
        self._ancestors = _ancestors_of(self.traces)
        self._older: dict[Trace, list[Pair]] = defaultdict(list)  # the pairs in which a trace comes second
        self._order: set[tuple[Trace, Trace]] = set()
        for (one, other), keys in sorted(_shared_keys(self.traces).items()):
            self._judge(self.traces[one], self.traces[other], keys)
        self._writers: dict[tuple[Trace, ...], Trace] = {}

    def nearest(self, trace: Trace) -> Nearest | None:
        """The older one with which it has most in common."""
        pairs = self._older[trace]
        if not pairs:
            return None
        pair = max(pairs, key=lambda pair: (pair.first.name != trace.name, len(pair.keys)))
        return Nearest(pair.first, pair.rule)

    def rules(self, trace: Trace) -> set[str]:
        """The rules by which others came before it."""
        return {pair.rule for pair in self._older[trace]}

    def writer_of(self, key: str, trace: Trace) -> SessionId | None:
        """Who wrote a record before it was copied here; None if it was no copy."""
        older = tuple(pair.first for pair in self._older[trace] if key in pair.keys)
        if not older:
            return None
        if older not in self._writers:
            self._writers[older] = max(
                older, key=lambda one: sum((one, other) in self._order for other in older)
            )
        return self._writers[older].name

    def telling_kinds(self, trace: Trace) -> Callable[[str], bool]:
        """Says of a key whether a line that shows it, and is not known as a copy, is surely the trace's own."""
        if trace.says_copies:
            return lambda key: key.startswith(_TURN_KIND) or not trace.sources
        by_line = {_is_by_line(pair.keys) for pair in self._older[trace]} or {True}
        return lambda key: key.startswith(_LINE_KIND) in by_line and not key.startswith(_TURN_KIND)

    def _judge(self, one: Trace, other: Trace, shared: list[str]) -> None:
        keys = _usable(one, other, shared)
        is_known = one.name == other.name or self._is_ancestor(one, other) or self._is_ancestor(other, one)
        if not keys or ((one.says_copies or other.says_copies) and not is_known):
            return
        sign, rule = self._compare(one, other, keys)
        first, second = (one, other) if sign < 0 else (other, one)
        self._older[second].append(Pair(first, second, keys, rule))
        self._order.add((first, second))

    def _compare(self, one: Trace, other: Trace, keys: frozenset[str]) -> tuple[int, str]:
        if one.name == other.name:
            return _by_place(one, other), "same_session"
        if sign := self._is_ancestor(other, one) - self._is_ancestor(one, other):
            return sign, "marker"
        if sign := one.is_background - other.is_background:
            return sign, "marker"
        if sign := _by_times(one, other, keys):
            return sign, "times"
        return _by_looks(_look(one, keys), _look(other, keys))

    def _is_ancestor(self, one: Trace, other: Trace) -> bool:
        return one.name in self._ancestors.get(other.name, ())


def _ancestors_of(traces: list[Trace]) -> dict[str, set[str]]:
    parents: dict[str, set[str]] = defaultdict(set)
    for trace in traces:
        parents[trace.name].update(trace.sources, trace.hints)
        for target in trace.targets:
            parents[target].add(trace.name)
    return {name: _reachable(name, parents) for name in list(parents)}


def _reachable(name: str, parents: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = parents.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _shared_keys(traces: list[Trace]) -> dict[tuple[int, int], list[str]]:
    holders: dict[str, list[int]] = {}
    seen: dict[str, int] = {}
    for n, trace in enumerate(traces):
        for key in trace.rows:
            first = seen.setdefault(key, n)
            if first != n:
                holders.setdefault(key, [first]).append(n)
    shared: dict[tuple[int, int], list[str]] = defaultdict(list)
    for key, numbers in holders.items():
        for pair in combinations(numbers, 2):
            shared[pair].append(key)
    return shared


def _usable(one: Trace, other: Trace, shared: list[str]) -> frozenset[str]:
    if one.says_copies or other.says_copies:
        return frozenset(shared)
    by_line = [key for key in shared if key.startswith(_LINE_KIND)]
    return frozenset(by_line or (key for key in shared if _names_one_thing(key, one, other)))


def _names_one_thing(key: str, one: Trace, other: Trace) -> bool:
    if key.startswith(_TURN_KIND):
        return False
    at = _time_of(key, one)
    return _UNIQUE.fullmatch(key) is not None or (at is not None and at == _time_of(key, other))


def _is_by_line(keys: frozenset[str]) -> bool:
    return next(iter(keys)).startswith(_LINE_KIND)


def _time_of(key: str, trace: Trace) -> str | None:
    return trace.times[trace.rows[key]]


def _by_place(one: Trace, other: Trace) -> int:
    def rank(trace: Trace) -> tuple[bool, int, str]:
        return trace.thread is not None, -len(trace.keys), trace.path

    return -1 if rank(one) < rank(other) else 1


def _by_times(one: Trace, other: Trace, keys: frozenset[str]) -> int:
    n_earlier = 0
    for key in keys:
        here, there = _time_of(key, one), _time_of(key, other)
        if here and there:
            n_earlier += (here < there) - (there < here)
    return (n_earlier < 0) - (n_earlier > 0)


class _Look(NamedTuple):
    """How the shared records stand in one of the traces."""

    is_behind_newer: bool
    n_between: int
    goes_on_at: str | None


def _look(trace: Trace, keys: frozenset[str]) -> _Look:
    """Looks at the lines before, between and behind the shared ones."""
    lines = [trace.lines[row] for row, key in enumerate(trace.keys) if key in keys]
    shared, first, last = set(lines), lines[0], lines[-1]
    others = [(line, at) for line, at in _alone(trace, keys) if line not in shared]
    newest = max((_time_of(key, trace) or "" for key in keys), default="")
    head = max((at or "" for line, at in others if line < first), default="")
    behind = (at for line, at in others if line > last and at)
    return _Look(
        is_behind_newer=bool(newest) and head > newest,
        n_between=sum(first < line < last for line, _ in others),
        goes_on_at=min(behind, default=None),
    )


def _alone(trace: Trace, keys: frozenset[str]) -> Iterator[tuple[int, str | None]]:
    """Lines without ids, and those of which the ids say that only this trace has them."""
    yield from zip(trace.note_lines, trace.note_times, strict=True)
    by_line = _is_by_line(keys)
    for key, line, at in zip(trace.keys, trace.lines, trace.times, strict=True):
        if key.startswith(_LINE_KIND) is by_line and key not in keys:
            yield line, at


def _by_looks(one: _Look, other: _Look) -> tuple[int, str]:
    if sign := one.is_behind_newer - other.is_behind_newer:
        return sign, "head"
    if one.n_between != other.n_between:
        return (-1 if one.n_between > other.n_between else 1), "between"
    if one.goes_on_at != other.goes_on_at:
        return (-1 if (one.goes_on_at or "") < (other.goes_on_at or "") else 1), "own_start"
    return -1, "path"
