"""The check of the index that the server keeps fresh, and bars of how much is understood.

There is one block of bars per agent, one bar per kind or version.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from tracklog.app.doctor.checks import Check
from tracklog.app.doctor.coverage import READINGS, Coverage, CoverageBy, Share, shares, version_key
from tracklog.app.index.background import IndexStatus
from tracklog.views.html.legible import shown
from tracklog.views.text.printing import count, percent, size
from tracklog.views.web.frame import foot_words

WIDTH = 160  # pixels of the longest bar
_LEAST = 2.0  # width of a part that is not empty
_SHOWN = 12


class Bar(NamedTuple):
    """A bar for the lines of one kind or version."""

    name: str
    lines: int
    share: str
    size: str
    read: str | None  # None if all are read
    parts: list[tuple[str, float, float]]  # reading, start and width


class AgentBars(NamedTuple):
    """The bars of one agent."""

    agent: str
    words: str
    few: list[Bar]
    more: list[Bar]


def bars(rows: Sequence[Coverage], *, by: CoverageBy) -> list[AgentBars]:
    """Bars of how much is understood, by agent."""
    return [
        _agent_bars(agent or "unknown agent", list(group), by=by)
        for agent, group in groupby(shares(rows, by=by), key=lambda share: share.agent)
    ]


def _agent_bars(agent: str, group: list[Share], *, by: CoverageBy) -> AgentBars:
    lines, n_bytes = sum(one.all_lines for one in group), sum(one.all_bytes for one in group)
    read = sum(one.lines["read"] for one in group)
    words = f"{count(lines, 'line')}, {size(n_bytes)}, {percent(read, lines)} read"
    if by == "version":
        ordered = sorted(group, key=lambda one: version_key(one.name), reverse=True)
    else:
        ordered = sorted(group, key=lambda one: (one.lines["read"] == one.all_lines, -one.all_lines))
    largest = max((one.all_lines for one in group), default=1)
    made = [_bar(one, largest, lines) for one in ordered]
    return AgentBars(agent, words, made[:_SHOWN], made[_SHOWN:])


def _bar(share: Share, largest: int, of: int) -> Bar:
    parts, at = [], 0.0
    for reading in READINGS:
        width = share.lines[reading] * WIDTH / max(largest, 1)
        width = max(width, _LEAST) if share.lines[reading] else 0.0
        if width:
            parts.append((reading, round(at, 1), round(width, 1)))
            at += width
    read = share.lines["read"]
    return Bar(
        shown(share.name, most=60),
        share.all_lines,
        percent(share.all_lines, of),
        size(share.all_bytes),
        None if read == share.all_lines else f"{percent(read, share.all_lines)} read",
        parts,
    )


def freshness_check(status: IndexStatus) -> Check:
    """How fresh the index is that the server keeps."""
    words = foot_words(status)
    evidence = " · ".join(part for part in (words.what, words.how_far, words.why) if part)
    if status.state == "failed":
        return Check(
            "freshness", "fail", evidence, "tracklog index says more, tracklog rebuild makes a new one"
        )
    if status.problems:
        return Check(
            "freshness", "warn", f"{evidence}; {count(len(status.problems), 'problem')}: {status.problems[0]}"
        )
    return Check("freshness", "warn" if words.tone != "calm" else "ok", evidence)
