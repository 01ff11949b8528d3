"""Branches of a conversation, line by line: which lines belong to each, and which one sees.

Rules
  1. A record belongs to the branch that begins with it, else to that of its parent record: so interleaved branches are
     separated. A line that is no record of the conversation belongs where the line before it does.
  2. Following a branch shows the branches that it came from, each up to the line where that one continues without it.
     Lines elsewhere count as left; the first line of each other branch links to it.
  3. A turn on no living branch and on no known one, such as a retracted turn, is left, and links nowhere.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

from tracklog.model.events import ContextCompacted, LogEvent
from tracklog.sessions.tables_session import OutlinedBranch, OutlinedTurn

LIVING = "main"  # the name of the branch that is alive


class PlacedTurn(NamedTuple):
    """A turn of an outline, with the line that opens it, if known."""

    turn: OutlinedTurn
    seq: int | None


class BranchPath(NamedTuple):
    """A branch, the turns that only it has, and its first line."""

    branch: OutlinedBranch
    turns: tuple[PlacedTurn, ...] = ()
    seq: int | None = None

    @property
    def name(self) -> str:
        """The name by which the branch is followed."""
        return LIVING if self.branch.is_active else self.branch.id


class OpenedTurn(NamedTuple):
    """A line that opens a turn, or a branch within one, and whether it is on the followed branch."""

    seq: int
    n: int | None  # of the turn; None: within one
    is_on: bool = True
    n_turns: int = 0  # if another branch begins here: how many of its turns are not on this one
    leads_to: str | None = None  # the name of that branch, if it has one

    @property
    def is_head(self) -> bool:
        """Whether another branch begins here."""
        return bool(self.n_turns) or self.n is None


class Sides:
    """The branch of each line of a thread; grows with its log."""

    def __init__(self, branches: Iterable[OutlinedBranch]) -> None:
        self.branches = [one for one in branches if not one.is_active]
        self._heads = {one.id for one in self.branches}
        self._noted = self._heads | {one.start_node or "" for one in self.branches}
        self._branch_of: dict[str, str] = {}  # of records on these branches
        self._branch_at: dict[int, str] = {}  # of lines
        self._lines: dict[str, int] = {}  # of records at which a branch begins, or from which it forks
        self._messages: dict[str, list[int]] = {}  # by branch: the lines that hold messages
        self._here = LIVING
        self.n = 0  # lines that were added

    def add(self, told: Iterable[tuple[int, LogEvent]], last: int) -> None:
        """Adds the lines up to one, with all their events."""
        events: dict[int, list[LogEvent]] = {}
        for seq, event in told:
            events.setdefault(seq, []).append(event)
        for seq in range(self.n + 1, last + 1):
            for event in events.get(seq, ()):
                if event.node is not None and not event.is_sidechain:
                    self._place(seq, event, event.node)
            if self._here != LIVING:
                self._branch_at[seq] = self._here
        self.n = last

    def branch_at(self, seq: int) -> str:
        """The branch of a line."""
        return self._branch_at.get(seq, LIVING)

    def line_of(self, node: str | None) -> int | None:
        """The line of a record at which a branch begins, or from which it forks; None if it is not in these logs."""
        return self._lines.get(node or "")

    def goes_on_at(self, branch: str, after: int) -> float:
        """The next line of a branch that holds a message."""
        lines = self._messages.get(branch, [])
        at = bisect_right(lines, after)
        return lines[at] if at < len(lines) else math.inf

    def _place(self, seq: int, event: LogEvent, node: str) -> None:
        above = event.parent
        if above is None and isinstance(event, ContextCompacted):
            above = event.logical_parent
        branch = self._branch_of.get(node) or self._branch_of.get(above or "", LIVING)
        if node in self._heads:
            branch = node
        if branch != LIVING:
            self._branch_of[node] = branch
        if node in self._noted:
            self._lines.setdefault(node, seq)
        if event.is_message:
            self._messages.setdefault(branch, []).append(seq)
        self._here = branch


class VisibleBranch(NamedTuple):
    """The conversation as seen when one branch is followed."""

    turns: Sequence[OpenedTurn] = ()  # in the order of their lines
    sides: Sides = Sides(())
    until: Mapping[str, float] = MappingProxyType({LIVING: math.inf})  # by branch: its last visible line

    def is_on(self, seq: int) -> bool:
        """Whether a line is visible on the followed branch."""
        return seq <= self.until.get(self.sides.branch_at(seq), 0)

    def left_lines(self, first: int, last: int) -> set[int]:
        """Lines of a range that are not visible."""
        left = {seq for seq in range(first, last + 1) if not self.is_on(seq)}
        opens = [turn for turn in self.turns if turn.n is not None]
        for turn, after in zip_longest(opens, opens[1:]):
            if not turn.is_on and self.is_on(turn.seq):  # it was retracted
                end = last + 1 if after is None else after.seq
                left.update(range(max(turn.seq, first), min(end, last + 1)))
        return left


def ways_of(
    branches: Sequence[OutlinedBranch], turns: Sequence[PlacedTurn], sides: Sides
) -> list[BranchPath]:
    """Assigns turns to branches, in the order of the branches."""
    members: dict[str, list[PlacedTurn]] = {}
    for placed in turns:
        branch = LIVING if placed.seq is None else sides.branch_at(placed.seq)
        if branch != LIVING or placed.turn.on_active_branch:
            members.setdefault(branch, []).append(placed)
    made = []
    for one in branches:
        own = members.get(LIVING if one.is_active else one.id, [])
        made.append(BranchPath(one, tuple(own), own[0].seq if own else sides.line_of(one.id)))
    return made


def seen_from(
    ways: Sequence[BranchPath], turns: Sequence[PlacedTurn], sides: Sides, followed: str
) -> VisibleBranch:
    """The conversation as seen when the branch with this name is followed."""
    seen = VisibleBranch((), sides, _lines_on(ways, sides, followed))
    way_of = {placed.turn.n: way for way in ways for placed in way.turns}
    made: list[OpenedTurn] = []
    before: BranchPath | None = None
    for placed in turns:
        n, way = placed.turn.n, way_of.get(placed.turn.n)
        is_kept = way is not None or placed.turn.on_active_branch
        is_on = placed.seq is None or (is_kept and seen.is_on(placed.seq))
        if placed.seq is not None:
            is_head = not is_on and (way is None or way is not before)
            n_turns = _n_left(way, seen) if is_head else 0
            made.append(OpenedTurn(placed.seq, n, is_on, n_turns, way.name if is_head and way else None))
        before = None if is_on else way
    made += [
        OpenedTurn(way.seq, None, False, 0, way.name)
        for way in ways
        if not way.turns and way.seq is not None and not seen.is_on(way.seq)
    ]
    return seen._replace(turns=sorted(made, key=lambda one: one.seq))


def _n_left(way: BranchPath | None, seen: VisibleBranch) -> int:
    return 1 if way is None else sum(one.seq is not None and not seen.is_on(one.seq) for one in way.turns)


def _lines_on(ways: Sequence[BranchPath], sides: Sides, followed: str) -> dict[str, float]:
    """The last line of a branch and of those that it came from: where each continues without the next."""
    by_name = {way.name: way for way in ways}
    way = by_name.get(followed)
    if way is None or way.seq is None:
        return {LIVING: math.inf}
    until = {way.name: math.inf}
    while not way.branch.is_active:
        leaves = sides.line_of(way.branch.start_node)
        parent = by_name.get(way.branch.parent or LIVING)
        if parent is None or parent.name in until:
            break  # a branch that came from itself
        until[parent.name] = sides.goes_on_at(parent.name, leaves) - 1 if leaves else 0
        way = parent
    return until
