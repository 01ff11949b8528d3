"""Changes of files as hunks of lines, with changed words marked.

Rules
  1. A patch in the log is shown as it is, with its own line numbers. Without one, the texts are compared here, and line
     numbers are unknown.
  2. Nothing raises: what is no patch gives no hunks.
  3. Work and size are bounded: beyond the bounds lines are only counted, and texts that differ too much are shown as
     one removed and one added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from tracklog.views.html.diff.lines import MOST_DIFFERENCES, Match, matches, steps
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
MOST_COMPARED = 20_000  # lines of a text
FOLDED_FROM = 400  # lines; more than that are not all shown at once
CONTEXT = 3
_MOST_NUMBER = 10**9
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


class RawHunk(NamedTuple):
    """A hunk as it was read: its line numbers, if known, and its lines with their signs."""

    old_start: int | None
    new_start: int | None
    lines: Sequence[str]
    heading: str = ""
    more_added: int = 0  # lines beyond the bounds, which are only counted
    more_removed: int = 0


def of_patch(patch: object) -> DiffView:
    """The view of Claude Code's `structuredPatch`: a list of hunks with their lines."""
    return view_of(_hunks_of(patch))


def of_texts(old: str, new: str) -> DiffView:
    """The view of a change from one text to another, without a patch."""
    return of_edits([(old, new)])


def of_edits(edits: Iterable[tuple[str, str]]) -> DiffView:
    """The view of several edits, each an old and a new text."""
    return view_of(hunk for old, new in edits for hunk in _compared(old, new))


def of_new_file(content: str) -> DiffView:
    """The view of a new file with this content."""
    lines, n_more = first_lines(content, MOST_LINES)
    return view_of([RawHunk(0, 1, [f"+{line}" for line in lines], more_added=n_more)])


def of_deleted_file(content: str) -> DiffView:
    """The view of a deleted file that had this content."""
    lines, n_more = first_lines(content, MOST_LINES)
    return view_of([RawHunk(1, 0, [f"-{line}" for line in lines], more_removed=n_more)])


def changed_counts(patch: object) -> tuple[int, int]:
    """Number of lines that a `structuredPatch` adds and removes, without making a view."""
    signs = [line[:1] for hunk in _hunks_of(patch) for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def first_lines(text: str, most: int) -> tuple[list[str], int]:
    """The first `most` lines of a text, as editors count lines, and the number of the others."""
    lines = text.split("\n", most)
    rest = lines.pop() if len(lines) > most else ""
    if lines[-1] == "" and not rest:
        lines.pop()
    return lines, rest.count("\n") + (rest != "" and not rest.endswith("\n"))


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
    signs = [line[:1] for line in raw.lines]
    added, removed = signs.count("+") + raw.more_added, signs.count("-") + raw.more_removed
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


def _hunks_of(patch: object) -> Iterator[RawHunk]:
    for hunk in patch if isinstance(patch, list) else ():
        if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list):
            lines = [line for line in hunk["lines"] if isinstance(line, str)]
            yield RawHunk(_number(hunk.get("oldStart")), _number(hunk.get("newStart")), lines)


def _number(value: Any) -> int | None:
    is_one = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_NUMBER
    return value if is_one else None


def _compared(old: str, new: str) -> Iterator[RawHunk]:
    if old == new:
        return
    before, old_more = first_lines(old, MOST_COMPARED)
    after, new_more = first_lines(new, MOST_COMPARED)
    if old_more or new_more:
        gone, come = [f"-{line}" for line in before], [f"+{line}" for line in after]
        yield RawHunk(None, None, [*gone, *come], more_added=new_more, more_removed=old_more)
        return
    lines = list(_signed(before, after))
    if len(lines) <= FOLDED_FROM:
        yield RawHunk(None, None, lines)
    else:
        yield from (RawHunk(None, None, part) for part in _around_changes(lines))


def _signed(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for step in steps(matches(before, after, MOST_DIFFERENCES), len(before), len(after)):
        yield from (f"-{line}" for line in before[step.old_from : step.old_to])
        yield from (f"+{line}" for line in after[step.new_from : step.new_to])
        if step.same is not None:
            yield f" {before[step.same]}"


def _around_changes(lines: Sequence[str]) -> Iterator[list[str]]:
    """Groups of changed lines with a few around them; lines far from any change are left out."""
    changed = [n for n, line in enumerate(lines) if line[0] != " "]
    start: int | None = None
    end = 0
    for n in changed:
        if start is not None and n - CONTEXT > end:
            yield list(lines[start:end])
            start = None
        start = max(n - CONTEXT, 0) if start is None else start
        end = min(n + CONTEXT + 1, len(lines))
    if start is not None:
        yield list(lines[start:end])
