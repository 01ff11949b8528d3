"""Compare several runs of the same request: their cost, their duration, and their final texts.

Rules
  1. Two results are the same if their texts are, but for blanks around them. Groups are named by letters, in order of size,
     then of their first run; runs without a text are a group of their own.
  2. Shown texts are bounded.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from tracklog.run.result import Result

_MOST_COMPARED = 2_000  # lines of a text
_MOST_SHOWN = 200  # lines of a difference
_LONGEST = 2_000  # letters of such a line


class MatchingRuns(NamedTuple):
    """Runs with the same final text."""

    name: str
    runs: tuple[int, ...]  # from 1 on
    text: str | None


def compare(results: Sequence[Result], *, runs: Sequence[int]) -> dict[str, Any]:
    """The comparison of these runs as a document; `runs` are their numbers."""
    groups = groups_of(results, runs=runs)
    letter = {run: group.name for group in groups for run in group.runs}
    telling = sorted((group for group in groups if group.text is not None), key=lambda one: one.runs[0])
    return {
        "rows": [_row(n, result, letter[n]) for n, result in zip(runs, results, strict=True)],
        "groups": [
            {"name": one.name, "runs": list(one.runs), "has_text": one.text is not None} for one in groups
        ],
        "first": telling[0].name if telling else None,
        "diffs": [_diff(telling[0], other) for other in telling[1:]],
        "cost_micro_usd": _spread(result.cost_micro_usd for result in results),
        "duration_ms": _spread(_number(result, "duration_ms") for result in results),
        "num_turns": _spread(_number(result, "num_turns") for result in results),
    }


def groups_of(results: Sequence[Result], *, runs: Sequence[int]) -> list[MatchingRuns]:
    """The groups of runs with the same text; the largest first."""
    members: dict[str | None, list[int]] = {}
    for n, result in zip(runs, results, strict=True):
        members.setdefault((result.text or "").strip() or None, []).append(n)
    in_order = sorted(members.items(), key=lambda one: (one[0] is None, -len(one[1]), one[1][0]))
    return [MatchingRuns(_letters(n), tuple(said_by), text) for n, (text, said_by) in enumerate(in_order)]


def _row(n: int, result: Result, group: str) -> dict[str, Any]:
    document = result.document
    return {
        "run": n,
        "session": result.session,
        "ended_by": result.ended_by,
        "cost_micro_usd": result.cost_micro_usd,
        "duration_ms": _number(result, "duration_ms"),
        "num_turns": _number(result, "num_turns"),
        "calls": document.get("calls") or {},
        "files_changed": document.get("files_changed") or [],
        "group": group,
    }


def _diff(first: MatchingRuns, other: MatchingRuns) -> dict[str, Any]:
    one, two = (_lines(each.text or "") for each in (first, other))
    before, after = (f"{each.name} (run {each.runs[0]})" for each in (first, other))
    lines = list(unified_diff(one, two, before, after, lineterm=""))
    is_cut = len(lines) > _MOST_SHOWN or max(len(one), len(two)) == _MOST_COMPARED
    shown = "\n".join(line[:_LONGEST] for line in lines[:_MOST_SHOWN])
    return {"from": first.name, "to": other.name, "diff": shown, "is_cut": is_cut}


def _lines(text: str) -> list[str]:
    return text.split("\n", _MOST_COMPARED)[:_MOST_COMPARED]


def _number(result: Result, name: str) -> int | None:
    value = result.document.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _spread(values: Iterable[int | None]) -> dict[str, int] | None:
    """Minimum, median and maximum of the known values."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return {"min": min(known), "median": round(statistics.median(known)), "max": max(known)}


def _letters(n: int) -> str:
    """A, B, … Z, AA, AB, …"""
    return chr(65 + n) if n < 26 else _letters(n // 26 - 1) + chr(65 + n % 26)
