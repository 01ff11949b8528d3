"""Changes of files as hunks of lines, with changed words marked.

Rules
  1. Size is bounded: beyond the bounds lines are only counted.
  2. Which lines changed is decided in model/diff; this is how they look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

from tracklog.model.diff.calls import changes_of_call
from tracklog.model.diff.hunks import RawHunk
from tracklog.model.diff.lines import Match, matches
from tracklog.model.diff.patches import ChangedFile, FileAct
from tracklog.views.html.legible import legible, shown

_MOST_PAIRS = 400
_LONGEST_LINE = 500
_MOST_DIFFERENCES = 60
_ALIKE = 0.4  # below it, the lines have too little in common for marks to help
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class DiffSegment(NamedTuple):
    """A piece of a line, and whether it changed."""

    text: str
    is_changed: bool


def with_words(hunks: Sequence[DiffHunk]) -> list[DiffHunk]:
    """The hunks, with changed words marked in lines that replace one another."""
    room = _MOST_PAIRS
    made: list[DiffHunk] = []
    for hunk in hunks:
        lines = list(hunk.lines)
        for old, new in _pairs(lines):
            if not room:
                break
            room -= 1
            before, after = changed_words(lines[old].text, lines[new].text)
            lines[old] = lines[old]._replace(parts=before)
            lines[new] = lines[new]._replace(parts=after)
        made.append(hunk._replace(lines=lines))
    return made


def changed_words(old: str, new: str) -> tuple[list[DiffSegment], list[DiffSegment]]:
    """Both lines in segments; without marks if they are too long, or have too little in common."""
    if max(len(old), len(new)) > _LONGEST_LINE:
        return [DiffSegment(old, is_changed=False)], [DiffSegment(new, is_changed=False)]
    before, after = _WORD.findall(old), _WORD.findall(new)
    matched = matches(before, after, _MOST_DIFFERENCES)
    n_same = sum(len(before[one].strip()) for one, _ in matched)
    if n_same < _ALIKE * max(len(old.strip()), len(new.strip())):
        return [DiffSegment(old, is_changed=False)], [DiffSegment(new, is_changed=False)]
    return _parts(before, matched, 0), _parts(after, matched, 1)


def _parts(words: Sequence[str], matched: Sequence[Match], side: int) -> list[DiffSegment]:
    same = {match[side] for match in matched}
    parts: list[DiffSegment] = []
    for n, word in enumerate(words):
        is_changed = n not in same
        if parts and parts[-1].is_changed == is_changed:
            word = parts.pop().text + word
        parts.append(DiffSegment(word, is_changed))
    return parts or [DiffSegment("", is_changed=False)]


def _pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[int, int]]:
    """Pairs of a removed line and the added one in its place: the first with the first, and so on."""
    n = 0
    while n < len(lines):
        gone = _run(lines, n, "-")
        come = _run(lines, gone, "+")
        yield from zip(range(n, gone), range(gone, come), strict=False)
        n = max(come, n + 1)


def _run(lines: Sequence[DiffLine], start: int, kind: str) -> int:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return end


Kind = Literal[" ", "+", "-"]
MOST_LINES = 5_000  # that a view holds
LONGEST_LINE = 2_000  # letters
FOLDED_FROM = 400  # lines; more than that are not all shown at once
_NO_NEWLINE = "\\"


class DiffLine(NamedTuple):
    """A line that stayed, was added or was removed; with its numbers if known."""

    kind: Kind
    old_n: int | None
    new_n: int | None
    parts: list[DiffSegment]
    n_cut: int = 0  # letters beyond the bound of a line
    lacks_newline: bool = False

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(part.text for part in self.parts)


class DiffHunk(NamedTuple):
    """Lines that follow one another."""

    old_start: int | None
    new_start: int | None
    lines: list[DiffLine]
    heading: str = ""
    added: int = 0
    removed: int = 0


class Fold(NamedTuple):
    """The lines of a hunk that are shown at first, and the number of the others."""

    hunk: DiffHunk
    lines: list[DiffLine]
    n_more: int


@dataclass(frozen=True)
class DiffView:
    """What changed in one file."""

    hunks: list[DiffHunk]
    added: int
    removed: int
    has_places: bool
    n_left: int = 0  # lines beyond the bounds

    @property
    def n_lines(self) -> int:
        """How many lines it holds."""
        return sum(len(hunk.lines) for hunk in self.hunks)

    def folds(self, most: int = FOLDED_FROM) -> list[Fold]:
        """The hunks, with the first `most` lines of them all."""
        folds, room = [], most
        for hunk in self.hunks:
            lines = hunk.lines[: max(room, 0)]
            room -= len(lines)
            folds.append(Fold(hunk, lines, len(hunk.lines) - len(lines)))
        return folds

    def n_more(self, most: int = FOLDED_FROM) -> int:
        """How many lines are not among the first `most`."""
        return max(0, self.n_lines - most) + self.n_left


def view_of(hunks: Iterable[RawHunk]) -> DiffView:
    """The view of some hunks: lines numbered, words marked, up to the bounds."""
    made: list[DiffHunk] = []
    room, n_left = MOST_LINES, 0
    for raw in hunks:
        hunk = _hunk(raw, room)
        room -= len(hunk.lines)
        n_left += len(raw.lines) - len(hunk.lines) - _n_notes(raw) + raw.more_added + raw.more_removed
        if raw.lines:
            made.append(hunk)
    return DiffView(
        hunks=with_words(made),
        added=sum(hunk.added for hunk in made),
        removed=sum(hunk.removed for hunk in made),
        has_places=bool(made) and all(hunk.new_start is not None for hunk in made),
        n_left=n_left,
    )


def _hunk(raw: RawHunk, most: int) -> DiffHunk:
    added, removed = raw.counts
    lines = list(islice(_numbered(raw), most))
    return DiffHunk(raw.old_start, raw.new_start, lines, shown(raw.heading, most=200), added, removed)


def _n_notes(raw: RawHunk) -> int:
    return sum(line.startswith(_NO_NEWLINE) for line in raw.lines)


def _numbered(raw: RawHunk) -> Iterator[DiffLine]:
    old, new = raw.old_start, raw.new_start
    lines = raw.lines
    for n, line in enumerate(lines):
        if line.startswith(_NO_NEWLINE):
            continue
        kind: Kind = "+" if line[:1] == "+" else "-" if line[:1] == "-" else " "
        lacks = n + 1 < len(lines) and lines[n + 1].startswith(_NO_NEWLINE)
        yield DiffLine(
            kind,
            old if kind != "+" else None,
            new if kind != "-" else None,
            [DiffSegment(legible(line[1 : LONGEST_LINE + 1]), is_changed=False)],
            max(0, len(line) - LONGEST_LINE - 1),
            lacks,
        )
        old = None if old is None else old + (kind != "+")
        new = None if new is None else new + (kind != "-")


@dataclass(frozen=True)
class FileDiff:
    """What a call changed in one file."""

    path: str
    act: FileAct
    view: DiffView
    moved_to: str | None = None


def file_diff(file: ChangedFile) -> FileDiff:
    """The view of a changed file."""
    view = view_of(file.hunks)
    view = replace(view, n_left=view.n_left + file.n_left) if file.n_left else view
    return FileDiff(shown(file.path), file.act, view, None if file.moved_to is None else shown(file.moved_to))


def diffs_of_call(asked: object, answered: object) -> list[FileDiff]:
    """The files that a call changed, or wanted to change; none for other calls."""
    return [file_diff(file) for file in changes_of_call(asked, answered)]
