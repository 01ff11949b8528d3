"""The doctor's checks that need no reading of logs, and bars of how much is understood.

The checks have the same form as those of the command line; there is one block of bars per agent, one bar per kind or
version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from tracklog.app.doctor import READINGS, SOON_DAYS, Check, Health, Share, shares, version_key
from tracklog.app.index.background import IndexStatus
from tracklog.hooks.status import HookStatus
from tracklog.reading.survey import Coverage
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


def bars(rows: Sequence[Mapping[str, Any]], *, by: str) -> list[AgentBars]:
    """Bars of how much is understood, by agent."""
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


_NAMED = 5


def checks_at_once(status: IndexStatus, known: Health | None, hooks: HookStatus) -> list[Check]:
    """The checks that need no reading of logs."""
    found = [_freshness(status)]
    if known is not None:
        found += [_understood(known), _archive(known), _due_check(known), _prices(known)]
    return [
        *found,
        _hooks(hooks),
        Check("network", "ok", "none: nothing is sent anywhere, nothing is fetched"),
    ]


def _freshness(status: IndexStatus) -> Check:
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


def _understood(known: Health) -> Check:
    """Checks how much is understood, without logs of unknown agents, of which everything is unknown."""
    ours = [one for one in known.agents if one.agent is not None]
    pieces, unknown, broken = (
        sum(getattr(one, name) for one in ours) for name in ("pieces", "unknown", "broken")
    )
    if not pieces:
        return Check("understood", "ok", "nothing read yet")
    files = count(sum(one.files for one in ours), "file")
    evidence = f"{percent(pieces - unknown - broken, pieces)} of {count(pieces, 'record')} in {files}"
    if not unknown and not broken:
        return Check("understood", "ok", evidence)
    found = f"{evidence}; {unknown:,} unknown, {broken:,} broken"
    return Check("understood", "warn", found, "they are listed below, and kept")


def _archive(known: Health) -> Check:
    sums = known.archive
    if not sums.logs:
        return Check(
            "archive",
            "warn",
            "holds nothing: a session that is deleted is gone",
            "tracklog index keeps copies",
        )
    share = percent(sums.stored_bytes, sums.contents_bytes)
    return Check(
        "archive",
        "ok",
        f"{count(sums.logs, 'log')} in {size(sums.stored_bytes)}, {share} of them; {sums.only_here:,} only here",
    )


def _due_check(known: Health) -> Check:
    lost = [one for one in known.due if not one.is_archived]
    if not known.due:
        return Check("deletion", "ok", f"nothing within {SOON_DAYS} days")
    evidence = f"{count(len(known.due), 'session')} within {SOON_DAYS} days"
    if not lost:
        return Check("deletion", "ok", f"{evidence}; the archive has them all")
    return Check(
        "deletion",
        "warn",
        f"{evidence}; {len(lost):,} of them not in the archive",
        "tracklog index keeps copies of them",
    )


def _prices(known: Health) -> Check:
    if not known.unpriced:
        return Check("prices", "ok", "every model that answered has one")
    named = ", ".join(f"{shown(model, most=60)} ({n:,})" for model, n in known.unpriced[:_NAMED])
    more = f" and {len(known.unpriced) - _NAMED:,} more" if len(known.unpriced) > _NAMED else ""
    return Check(
        "prices",
        "warn",
        f"none for {named}{more}: what these cost is missing",
        "tracklog prices --help says how to set one",
    )


def _hooks(hooks: HookStatus) -> Check:
    ours = [hook for hook in hooks.hooks if hook.ours]
    running = [hook for hook in ours if hook.why_not is None]
    if not ours:
        return Check(
            "hooks",
            "ok",
            "none of ours: states are read from logs and processes",
            "tracklog hooks install makes them exact",
        )
    agents = ", ".join(sorted({hook.agent for hook in running}))
    if len(running) < len(ours):
        why = next(hook.why_not for hook in ours if hook.why_not) or ""
        return Check(
            "hooks", "warn", f"{count(len(ours) - len(running), 'hook')} of ours do not run: {shown(why)}"
        )
    return Check("hooks", "ok", f"{count(len(ours), 'hook')} of ours in {agents}")
