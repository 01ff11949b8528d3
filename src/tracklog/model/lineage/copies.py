"""Separate a log's own lines from copies of what another session wrote.

Rules
  1. What a log says of its descent beats what can be seen in it, and that beats what can only be guessed.
  2. A line belongs to the one who wrote it first, however often it was copied since.
  3. The same session in two files is no fork: what is in both belongs to one of the files.
  4. The order in which traces come does not matter. Nothing shared means everything is own.
  5. Lines without ids between two copies are copies too. Those before the first one are not: a client that forks
     writes its own mode and queue first.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from tracklog.model.ids import CallId, SessionId
from tracklog.model.lineage.precedence import STATED_RULES, Precedence
from tracklog.model.lineage.trace import CopiedLines, Trace
from tracklog.model.session import Sureness

__all__ = ["CopiedLines", "Descent", "Own", "Trace", "descents", "own_history"]


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a file that are not its own, and how we know."""

    source: SessionId | None = None  # the session, or thread, that it was made from
    runs: list[CopiedLines] = []
    sureness: Sureness = "stated"
    why: str = "no_copies"  # the rule that decided; see `tracklog.model.lineage.precedence`

    @property
    def inherited(self) -> list[tuple[int, int]]:
        """First and last line of each copied run."""
        return [(run.first_line, run.last_line) for run in self.runs]

    def writer_of(self, line: int) -> SessionId | None:
        """Who wrote a copied line first; None if the line is the file's own, or nobody knows."""
        run = self._run_with(line)
        return run.writer if run is not None else None

    def is_copy(self, line: int) -> bool:
        """Whether a line is a copy of one that another session wrote before."""
        return self._run_with(line) is not None

    def _run_with(self, line: int) -> CopiedLines | None:
        """Runs are in order, and do not overlap."""
        n = bisect_left(self.runs, line, key=lambda run: run.last_line)
        return self.runs[n] if n < len(self.runs) and self.runs[n].first_line <= line else None


class Descent(msgspec.Struct, kw_only=True):
    """What a session shares with others: the owners of its copied lines, and the holders of copies of its calls."""

    own: dict[str, Own] = {}  # by path
    inherited_by: dict[CallId, list[SessionId]] = {}
    forks: list[SessionId] = []


def descents(traces: Iterable[Trace]) -> dict[SessionId, Descent]:
    """The place of each session among those that share history with it."""
    traces = sorted(traces, key=lambda trace: trace.path)
    own = own_history(traces)
    heirs = _heirs(traces, own)
    forks: dict[SessionId | None, dict[SessionId, None]] = defaultdict(dict)
    for trace in traces:
        if own[trace.path].source != trace.session:
            forks[own[trace.path].source][trace.session] = None
    return {
        session: Descent(
            own=own,
            inherited_by={id: list(by) for id, by in heirs.get(session, {}).items()},
            forks=list(forks.get(session, ())),
        )
        for session in {trace.session for trace in traces}
    }


_Heirs = dict[CallId, dict[SessionId, None]]


def _heirs(traces: Iterable[Trace], own: dict[str, Own]) -> dict[SessionId, _Heirs]:
    """Of each writer, the calls that others hold copies of."""
    found: dict[SessionId, _Heirs] = defaultdict(dict)
    for trace in traces:
        copied = own[trace.path]
        if not copied.runs:
            continue
        for key, line in zip(trace.keys, trace.lines, strict=True):
            writer = copied.writer_of(line) if key.startswith("call:") else None
            if writer is not None and writer != trace.session:
                found[writer].setdefault(CallId(key.removeprefix("call:")), {})[trace.session] = None
    return found


def own_history(traces: Iterable[Trace]) -> dict[str, Own]:
    """For each path, which of its lines are copies, and of whom."""
    precedence = Precedence(traces)
    return {trace.path: _own(trace, precedence) for trace in precedence.traces}


def _own(trace: Trace, precedence: Precedence) -> Own:
    stated = _as_id(next(iter(trace.sources), None))
    if trace.is_referring:
        return Own(source=stated, why="reference")
    if trace.own_from_ordinal is not None:
        return Own(source=stated, runs=_behind_meta([], trace.last_below, stated), why="ordinal")
    if trace.says_copies and trace.sources:
        return _replay(trace, precedence)
    nearest = precedence.nearest(trace)
    if nearest is None:
        runs = _runs(list(_lines(trace, precedence))) if trace.stated else []
        return Own(source=stated, runs=runs, why="marker" if trace.sources else "no_copies")
    lines = list(_lines(trace, precedence))
    if nearest.trace.name == trace.name:
        return Own(source=stated, runs=_again(trace, lines), why=nearest.rule)
    sure: Sureness = "stated" if precedence.rules(trace) <= STATED_RULES else "inferred"
    return Own(source=stated or nearest.trace.name, runs=_runs(lines), sureness=sure, why=nearest.rule)


class _Line(NamedTuple):
    """A line with ids: a copy (`writer`), surely no copy (`is_own`), or one that follows its neighbours."""

    number: int
    at: str | None
    writer: SessionId | None
    is_own: bool


def _lines(trace: Trace, precedence: Precedence) -> Iterator[_Line]:
    telling = precedence.telling_kinds(trace)
    stated = iter(trace.stated)
    run = next(stated, None)
    for number, rows in groupby(range(len(trace.keys)), trace.lines.__getitem__):
        while run and run.last_line < number:
            run = next(stated, None)
        keys = [(trace.keys[row], trace.times[row]) for row in rows]
        writer = next(filter(None, (precedence.writer_of(key, trace) for key, _ in keys)), None)
        if writer is None and run and run.first_line <= number:
            writer = run.writer
        is_own = writer is None and any(telling(key) for key, _ in keys)
        yield _Line(number, keys[0][1], writer, is_own)


def _runs(lines: list[_Line]) -> list[CopiedLines]:
    runs: list[CopiedLines] = []
    loose: list[_Line] = []  # lines since the last run that follow their neighbours
    is_open = False  # whether nothing own follows the last run
    stamp: str | None = None  # the time of the last copy
    for line in lines:
        if line.is_own:
            _take_same_breath(runs, loose, stamp if is_open else None)
            is_open = False
            loose.clear()
        elif line.writer is None:
            loose.append(line)
        else:
            _take_copy(runs, line, first=(loose or [line])[0].number, is_open=is_open)
            is_open, stamp = True, line.at
            loose.clear()
    _take_same_breath(runs, loose, stamp if is_open else None)
    return runs


def _take_copy(runs: list[CopiedLines], line: _Line, *, first: int, is_open: bool) -> None:
    """Loose lines before a copy belong to it: a prompt to its answer."""
    if is_open:
        first = runs[-1].last_line + 1
        if runs[-1].writer == line.writer:
            first = runs.pop().first_line
    runs.append(CopiedLines(first, line.number, line.writer))


def _take_same_breath(runs: list[CopiedLines], loose: list[_Line], stamp: str | None) -> None:
    """1.0.x stamps all copies with one time: a prompt without an answer that has it too is one of them."""
    for line in loose:
        if stamp is None or line.at != stamp:
            return
        runs[-1] = CopiedLines(runs[-1].first_line, line.number, runs[-1].writer)


def _again(trace: Trace, lines: list[_Line]) -> list[CopiedLines]:
    """What is in another file of the session too: all up to the first line of its own, and from the last one on."""
    runs = _runs(lines)
    if runs and not any(line.is_own for line in lines if line.number < runs[0].first_line):
        runs[0] = CopiedLines(1, runs[0].last_line, runs[0].writer)
    if runs and not any(line.is_own for line in lines if line.number > runs[-1].last_line):
        runs[-1] = CopiedLines(runs[-1].first_line, trace.last_line, runs[-1].writer)
    return runs


def _replay(trace: Trace, precedence: Precedence) -> Own:
    """A rollout that holds another's lines, and says so, but not how many (docs/formats/codex.md)."""
    source = SessionId(next(iter(trace.sources)))
    lines = list(_lines(trace, precedence))
    own_turn = next((line.number for line in lines if line.is_own), trace.last_line + 1)
    runs = _runs([line for line in lines if line.number < own_turn])
    if runs and precedence.nearest(trace):  # all before the first turn of its own
        return Own(source=source, runs=_behind_meta(runs, own_turn - 1, source), why="turns")
    last = _last_of_older_turns(trace)
    if last is not None:
        return Own(source=source, runs=_behind_meta([], last, source), why="turns")
    last = max([trace.last_older, *(run.last_line for run in trace.stated)])
    if last < _BEHIND_META:
        return Own(source=source, sureness="inferred", why="source_missing")
    return Own(source=source, runs=_behind_meta([], last, source), sureness="inferred", why="times")


def _last_of_older_turns(trace: Trace) -> int | None:
    """The last line before the thread's first own turn, where the log has turns that are older than the thread.

    Ids of threads and turns begin with the time at which they were given (UUID version 7).
    """
    born = _born(trace.name)
    ages = [
        (line, _born(key.removeprefix("turn:")))
        for key, line in zip(trace.keys, trace.lines, strict=True)
        if key.startswith("turn:")
    ]
    if born is None or not any(age is not None and age < born for _, age in ages):
        return None
    own = (line for line, age in ages if age is not None and age >= born)
    return min(own, default=trace.last_line + 1) - 1


def _born(id: str) -> int | None:
    digits = id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16)
    except ValueError:
        return None


_BEHIND_META = 2  # the first line of a rollout is always its own


def _behind_meta(runs: list[CopiedLines], last_line: int, source: SessionId | None) -> list[CopiedLines]:
    """The runs, stretched to all lines between the first one and the last copied one."""
    if last_line < _BEHIND_META:
        return []
    behind = [run for run in runs if run.last_line >= _BEHIND_META]
    runs = behind or [CopiedLines(_BEHIND_META, last_line, source)]
    runs[0] = CopiedLines(_BEHIND_META, runs[0].last_line, runs[0].writer)
    runs[-1] = CopiedLines(runs[-1].first_line, last_line, runs[-1].writer)
    return runs


def _as_id(name: str | None) -> SessionId | None:
    return None if name is None else SessionId(name)
