"""Which words changed inside a line, where one line became another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tracklog.views.html.diff_lines import Match, matches

if TYPE_CHECKING:
    from tracklog.views.html.diffs import DiffLine, Hunk

_MOST_PAIRS = 400
_LONGEST_LINE = 500
_MOST_DIFFERENCES = 60
_ALIKE = 0.4  # what is less so is another line, and marks in it say nothing
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Part(NamedTuple):
    """A piece of a line, and whether it is what changed in it."""

    text: str
    is_changed: bool


def with_words(hunks: Sequence[Hunk]) -> list[Hunk]:
    """The hunks, with what changed marked in lines that replace one another."""
    room = _MOST_PAIRS
    made: list[Hunk] = []
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


def changed_words(old: str, new: str) -> tuple[list[Part], list[Part]]:
    """Both lines in parts; without marks if they are too long, or have too little in common."""
    if max(len(old), len(new)) > _LONGEST_LINE:
        return [Part(old, is_changed=False)], [Part(new, is_changed=False)]
    before, after = _WORD.findall(old), _WORD.findall(new)
    matched = matches(before, after, _MOST_DIFFERENCES)
    n_same = sum(len(before[one].strip()) for one, _ in matched)
    if n_same < _ALIKE * max(len(old.strip()), len(new.strip())):
        return [Part(old, is_changed=False)], [Part(new, is_changed=False)]
    return _parts(before, matched, 0), _parts(after, matched, 1)


def _parts(words: Sequence[str], matched: Sequence[Match], side: int) -> list[Part]:
    same = {match[side] for match in matched}
    parts: list[Part] = []
    for n, word in enumerate(words):
        is_changed = n not in same
        if parts and parts[-1].is_changed == is_changed:
            word = parts.pop().text + word
        parts.append(Part(word, is_changed))
    return parts or [Part("", is_changed=False)]


def _pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[int, int]]:
    """Where lines went and others came in their place: the first with the first, and so on."""
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
