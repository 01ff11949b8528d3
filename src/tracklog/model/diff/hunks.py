"""Hunks of changed lines, from Claude Code's `structuredPatch` or from two texts.

Rules
  1. A patch in the log is taken as it is, with its own line numbers. Without one, the texts are compared here, and line
     numbers are unknown.
  2. Nothing raises: what is no patch gives no hunks.
  3. Work and size are bounded: beyond the bounds lines are only counted, and texts that differ too much are one removed
     and one added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tracklog.model.diff.lines import MOST_DIFFERENCES, matches, steps

MOST_LINES = 50_000  # of a text or a patch that are in the hunks
MOST_COMPARED = 20_000  # lines of a text
CONTEXT = 3
_WHOLE = 400  # lines; of more than that only those around changes are in the hunks
_MOST_NUMBER = 10**9


class RawHunk(NamedTuple):
    """A hunk as it was read: its line numbers, if known, and its lines with their signs."""

    old_start: int | None
    new_start: int | None
    lines: Sequence[str]
    heading: str = ""
    more_added: int = 0  # lines beyond the bounds, which are only counted
    more_removed: int = 0

    @property
    def counts(self) -> tuple[int, int]:
        """Number of lines that it adds and removes."""
        signs = [line[:1] for line in self.lines]
        return signs.count("+") + self.more_added, signs.count("-") + self.more_removed


def of_patch(patch: object) -> Iterator[RawHunk]:
    """The hunks of Claude Code's `structuredPatch`."""
    for hunk in patch if isinstance(patch, list) else ():
        if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list):
            lines = [line for line in hunk["lines"] if isinstance(line, str)]
            yield RawHunk(_number(hunk.get("oldStart")), _number(hunk.get("newStart")), lines)


def of_texts(old: str, new: str) -> Iterator[RawHunk]:
    """The hunks of a change from one text to another, without a patch."""
    return _compared(old, new)


def of_edits(edits: Iterable[tuple[str, str]]) -> Iterator[RawHunk]:
    """The hunks of several edits, each an old and a new text."""
    return (hunk for old, new in edits for hunk in _compared(old, new))


def of_new_file(content: str) -> list[RawHunk]:
    """The hunk of a new file with this content."""
    lines, n_more = first_lines(content, MOST_LINES)
    return [RawHunk(0, 1, [f"+{line}" for line in lines], more_added=n_more)]


def of_deleted_file(content: str) -> list[RawHunk]:
    """The hunk of a deleted file that had this content."""
    lines, n_more = first_lines(content, MOST_LINES)
    return [RawHunk(1, 0, [f"-{line}" for line in lines], more_removed=n_more)]


def first_lines(text: str, most: int) -> tuple[list[str], int]:
    """The first `most` lines of a text, as editors count lines, and the number of the others."""
    lines = text.split("\n", most)
    rest = lines.pop() if len(lines) > most else ""
    if lines[-1] == "" and not rest:
        lines.pop()
    return lines, rest.count("\n") + (rest != "" and not rest.endswith("\n"))


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
    if len(lines) <= _WHOLE:
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
