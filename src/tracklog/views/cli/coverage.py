"""How much of the logs is understood, drawn: one block per agent, one bar per kind or version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rich.text import Text

from tracklog.pipeline.survey import Coverage
from tracklog.views.cli.drawing import bar, line, painted, table
from tracklog.views.cli.printing import count, percent, short, size

_LONGEST_NAME = 60
READINGS = ("read", "unknown", "broken")
_COLOURS = dict(zip(READINGS, ("green", "yellow", "red"), strict=True))


@dataclass(slots=True)
class Share:
    """Some lines of one agent: how many there are, and how they were read."""

    agent: str | None
    name: str
    lines: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))
    bytes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))

    @property
    def all_lines(self) -> int:
        """Lines of any reading."""
        return sum(self.lines.values())

    @property
    def all_bytes(self) -> int:
        """Bytes of any reading."""
        return sum(self.bytes.values())

    def add(self, row: Coverage) -> None:
        """Counts a row of the survey."""
        self.lines[row.reading] += row.lines
        self.bytes[row.reading] += row.bytes


def shares(rows: Iterable[Coverage], *, by: Callable[[Coverage], str]) -> list[Share]:
    """The rows summed by agent and name; known agents first, and of each the largest first."""
    summed: dict[tuple[str | None, str], Share] = {}
    for row in rows:
        key = (row.agent, by(row))
        summed.setdefault(key, Share(*key)).add(row)
    return sorted(summed.values(), key=lambda s: (s.agent is None, s.agent or "", -s.all_lines, s.name))


def by_agent(rows: Iterable[Coverage]) -> list[Share]:
    """One share per agent."""
    return shares(rows, by=lambda row: row.agent or "unknown agent")


def versions_of(rows: Iterable[Coverage], agent: str | None) -> list[str]:
    """The client versions that wrote an agent's lines, oldest first."""
    return sorted({row.version for row in rows if row.agent == agent and row.version}, key=version_key)


def version_key(version: str) -> list[tuple[int, str]]:
    """Sorts `2.1.9` before `2.1.10`, and survives whatever a log calls a version."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in version.split(".")]


def show_in_short(rows: Sequence[Coverage]) -> None:
    """One line per agent."""
    table(
        [
            (
                painted(share.name, "bold"),
                _bar_of(share, share.all_lines),
                f"{percent(share.lines['read'], share.all_lines)} read",
                count(share.all_lines, "line"),
                size(share.all_bytes),
                _spoken(versions_of(rows, share.agent)),
            )
            for share in by_agent(rows)
        ],
        "<<>>><",
    )


def show(rows: Sequence[Coverage], *, by: str, most: int | None) -> None:
    """A block of bars per agent; `most` is how many of them are shown before the rest is summed up."""
    named = shares(rows, by=lambda row: row.kind if by == "kind" else row.version or "no version said")
    for agent, group in groupby(named, key=lambda share: share.agent):
        _show_agent(agent or "unknown agent", list(group), by=by, most=most)


def _show_agent(name: str, group: list[Share], *, by: str, most: int | None) -> None:
    lines = sum(share.all_lines for share in group)
    read = percent(sum(share.lines["read"] for share in group), lines)
    line()
    line(
        painted(name, "bold"),
        f"  {count(lines, 'line')}, {size(sum(s.all_bytes for s in group))}, {read} read",
    )
    shown = group if most is None else _with_what_was_not_read_first(group)[:most]
    largest = max(share.all_lines for share in shown)
    table([_row(share, largest, lines) for share in _in_order(shown, by)], "<<>>>>", gives_way=0)
    _show_rest([share for share in group if share not in shown], by=by)


def _in_order(group: list[Share], by: str) -> list[Share]:
    if by == "version":
        return sorted(group, key=lambda share: version_key(share.name), reverse=True)
    return sorted(group, key=lambda share: -share.all_lines)


def _show_rest(rest: list[Share], *, by: str) -> None:
    if rest:
        lines, read = sum(s.all_lines for s in rest), sum(s.lines["read"] for s in rest)
        text = f"{count(len(rest), f'more {by}')} with {count(lines, 'line')}, {percent(read, lines)} read"
        line(painted(f"  … {text}: --all lists them", "dim"))


def _with_what_was_not_read_first(group: list[Share]) -> list[Share]:
    return sorted(group, key=lambda share: (share.lines["read"] == share.all_lines, -share.all_lines))


def _row(share: Share, largest: int, of: int) -> tuple[str | Text, ...]:
    read = share.lines["read"]
    return (
        short(share.name, _LONGEST_NAME),
        _bar_of(share, largest),
        percent(share.all_lines, of),
        f"{share.all_lines:,}",
        size(share.all_bytes),
        "" if read == share.all_lines else painted(f"{percent(read, share.all_lines)} read", "yellow"),
    )


def _bar_of(share: Share, of: int) -> Text:
    return bar([(share.lines[reading], _COLOURS[reading]) for reading in READINGS], of, width=14)


def _spoken(versions: list[str]) -> str:
    return " ".join(versions) if len(versions) < 3 else f"{versions[0]} … {versions[-1]}"
