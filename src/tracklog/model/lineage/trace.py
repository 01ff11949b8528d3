"""Evidence of a log's descent: the ids it holds, what it says of itself, and what is in between.

Rules
  1. A trace grows by a line in constant time, and never judges: `precedence` and `lineage` do.
  2. An id is a key with its kind before a colon. `uuid:` names a line, and decides alone where two files share any.
     `message:`, `call:` and others decide between files without a common uuid (1.0.x writes new ones on `--resume`).
     `turn:` counts only in logs that say themselves that they are copies.
  3. Forks hold the same ids and times: each is kept once, however many traces show it.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, combinations
from sys import intern

import msgspec

from tracklog.model.ids import SessionId


class CopiedLines(msgspec.Struct, frozen=True, gc=False):
    """Lines of a file that another session, or another file of the same session, wrote first."""

    first_line: int
    last_line: int
    writer: SessionId | None


class Trace:
    """Evidence of one file's descent; grows by a line in constant time.

    `thread` is the subagent whose file it is, None for the main line. `says_copies` is for agents whose logs always
    say so when they hold another's history (Codex): of theirs, no copy is seen where none is said. Its sources are
    then named by threads.
    """

    def __init__(
        self, path: str, session: str, *, thread: str | None = None, says_copies: bool = False
    ) -> None:
        self.path = path
        self.session = SessionId(session)
        self.thread = thread
        self.says_copies = says_copies
        self.keys: list[str] = []  # with `lines` and `times`: the columns of a table, a row for each id seen
        self.lines: list[int] = []
        self.times: list[str | None] = []
        self.rows: dict[str, int] = {}  # of each key, the first one
        self.note_lines: list[int] = []
        self.note_times: list[str | None] = []
        self.sources: dict[str, None] = {}  # an ordered set: the nearest first
        self.hints: set[str] = set()
        self.targets: set[str] = set()
        self.stated: list[CopiedLines] = []
        self.is_referring = False  # to the history of its source, in place of a copy
        self.is_background = False
        self.own_from_ordinal: int | None = None
        self.last_line = 0
        self.last_below = 0  # the last line with a lower ordinal
        self.last_older = 0  # the last line that is older than the file
        self._began: str | None = None

    @property
    def name(self) -> SessionId:
        """What markers call it."""
        return SessionId(self.thread) if self.says_copies and self.thread else self.session

    def saw(self, key: str, line: int, at: str | None = None) -> None:
        """Note a record with an id. One line may show several; what a record only quotes does not count."""
        if key.endswith(":"):
            return
        key, at = intern(key), at and intern(at.rstrip("Z"))
        self.rows.setdefault(key, len(self.keys))
        self.keys.append(key)
        self.lines.append(line)
        self.times.append(at)
        self._pass(line, at)

    def noted(self, line: int, at: str | None = None) -> None:
        """A line without any id: metadata, operations of the queue."""
        at = at and at.rstrip("Z")
        self.note_lines.append(line)
        self.note_times.append(at)
        self._pass(line, at)

    def counted(self, ordinal: int, line: int) -> None:
        """The line has a number of its own. Comes behind the marker that speaks of such numbers."""
        if self.own_from_ordinal is not None and ordinal < self.own_from_ordinal:
            self.last_below = line

    def marked(
        self,
        source: str,
        *,
        line: int | None = None,
        own_from_ordinal: int | None = None,
        is_referring: bool = False,
    ) -> None:
        """The log names the session or thread that it comes from; with `line`, that line says to be a copy."""
        if source != self.name:
            self.sources.setdefault(source)
            if line is not None:
                self._state(SessionId(source), line)
        if own_from_ordinal is not None:
            self.own_from_ordinal = own_from_ordinal
        self.is_referring = self.is_referring or is_referring

    def hinted(self, source: str) -> None:
        """A line calls itself another session's. That tells who came first where lines are shared, and nothing else:
        2.0.x does so in forks, but also in subagents' files at a resume.
        """
        if source != self.name:
            self.hints.add(source)

    def marked_background(self) -> None:
        """The log says that it took over a conversation, but not whose (`sessionKind`, `history-suppression`)."""
        self.is_background = True

    def went_on_in(self, target: str) -> None:
        """The log names the session in which it goes on."""
        if target != self.name:
            self.targets.add(target)

    def times_of(self, keys: Iterable[str]) -> tuple[str | None, ...]:
        """When each was first seen here."""
        return tuple(map(self.times.__getitem__, map(self.rows.__getitem__, keys)))

    def _state(self, source: SessionId, line: int) -> None:
        if self.stated and self.stated[-1].writer == source:
            self.stated[-1] = CopiedLines(self.stated[-1].first_line, line, source)
        else:
            self.stated.append(CopiedLines(line, line, source))

    def _pass(self, line: int, at: str | None) -> None:
        self.last_line = max(self.last_line, line)
        if at is None:
            return
        if self._began is None:
            self._began = at
        elif at < self._began:
            self.last_older = line


class TraceLines:
    """The lines of a trace that show some kind of key, once for each, and those that show none; in order."""

    def __init__(self, trace: Trace, is_meant: Callable[[str], bool]) -> None:
        rows = zip(trace.keys, trace.lines, trace.times, strict=True)
        shown = [(line, at or "") for key, line, at in rows if is_meant(key)]
        notes = [(line, at or "") for line, at in zip(trace.note_lines, trace.note_times, strict=True)]
        entries = sorted([*shown, *notes])
        self._lines = [line for line, _ in entries]
        self._newest = ["", *accumulate((at for _, at in entries), max)]
        backwards = accumulate((at for _, at in reversed(entries)), _older)
        self._oldest = ["", *backwards][::-1]

    def newest_before(self, line: int) -> str:
        """The newest time of all lines before one; nothing if none has a time."""
        return self._newest[bisect_left(self._lines, line)]

    def oldest_behind(self, line: int) -> str | None:
        """The oldest time of all lines behind one."""
        return self._oldest[bisect_right(self._lines, line)] or None

    def n_between(self, first: int, last: int, *, without: AbstractSet[int]) -> int:
        """How many there are between two lines, some left out."""
        between = self._lines[bisect_right(self._lines, first) : bisect_left(self._lines, last)]
        return len(between) - sum(map(without.__contains__, between))


def _older(one: str, other: str) -> str:
    return min(one, other) if one and other else one or other


def in_common(traces: Sequence[Trace]) -> Iterator[tuple[frozenset[str], list[tuple[int, int]]]]:
    """The keys that pairs of traces share, each time with all pairs, by number, that share just these."""
    parts = _parts(traces)
    held: dict[int, set[int]] = defaultdict(set)
    for part, (holders, _) in enumerate(parts):
        for n in holders:
            held[n].add(part)
    pairs: dict[frozenset[int], list[tuple[int, int]]] = defaultdict(list)
    for one, other in combinations(sorted(held), 2):
        if both := held[one] & held[other]:
            pairs[frozenset(both)].append((one, other))
    for shared, alike in pairs.items():
        yield frozenset(key for part in shared for key in parts[part][1]), alike


def _parts(traces: Iterable[Trace]) -> list[tuple[tuple[int, ...], list[str]]]:
    """The keys of more than one trace, put together where all of their holders are the same."""
    holders: dict[str, list[int]] = {}
    seen: dict[str, int] = {}
    for n, trace in enumerate(traces):
        for key in trace.rows:
            first = seen.setdefault(key, n)
            if first != n:
                holders.setdefault(key, [first]).append(n)
    parts: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for key, numbers in holders.items():
        parts[tuple(numbers)].append(key)
    return list(parts.items())
