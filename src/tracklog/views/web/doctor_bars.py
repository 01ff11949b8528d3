"""How much of the logs is understood, drawn: one block per agent, one bar per kind or version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from tracklog.pipeline.survey import Coverage
from tracklog.views.cli.coverage import READINGS, Share, shares, version_key
from tracklog.views.cli.printing import count, percent, size
from tracklog.views.html.plain import shown

WIDTH = 160  # pixels of the longest bar
_LEAST = 2.0  # of what is there at all
_SHOWN = 12


class Bar(NamedTuple):
    """Lines of one kind or version, drawn."""

    name: str
    lines: int
    share: str
    size: str
    read: str | None  # unless all is
    parts: list[tuple[str, float, float]]  # reading, from where, how wide


class AgentBars(NamedTuple):
    """How much of an agent's lines is understood."""

    agent: str
    words: str
    few: list[Bar]
    more: list[Bar]


def bars(rows: Sequence[Mapping[str, Any]], *, by: str) -> list[AgentBars]:
    """How much is understood, agent by agent."""
    coverage = msgspec.convert(list(rows), list[Coverage], strict=False)
    named = shares(coverage, by=lambda row: row.kind if by == "kind" else row.version or "no version said")
    return [
        _agent_bars(agent or "unknown agent", list(group), by=by)
        for agent, group in groupby(named, key=lambda share: share.agent)
    ]


def _agent_bars(agent: str, group: list[Share], *, by: str) -> AgentBars:
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
