"""How much of the logs is understood, summed by agent and by kind or version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from tracklog.reading.survey import Coverage as Coverage

CoverageBy = Literal["kind", "version"]
READINGS = ("read", "unknown", "broken")


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


def shares(rows: Iterable[Coverage], *, by: CoverageBy) -> list[Share]:
    """The rows summed by agent, and by kind or client version; known agents first, and of each the largest first."""
    if by == "kind":
        return _summed(rows, lambda row: row.kind)
    return _summed(rows, lambda row: row.version or "no version said")


def _summed(rows: Iterable[Coverage], by: Callable[[Coverage], str]) -> list[Share]:
    summed: dict[tuple[str | None, str], Share] = {}
    for row in rows:
        key = (row.agent, by(row))
        summed.setdefault(key, Share(*key)).add(row)
    return sorted(summed.values(), key=lambda s: (s.agent is None, s.agent or "", -s.all_lines, s.name))


def by_agent(rows: Iterable[Coverage]) -> list[Share]:
    """One share per agent."""
    return _summed(rows, lambda row: row.agent or "unknown agent")


def versions_of(rows: Iterable[Coverage], agent: str | None) -> list[str]:
    """The client versions that wrote an agent's lines, oldest first."""
    return sorted({row.version for row in rows if row.agent == agent and row.version}, key=version_key)


def version_key(version: str) -> list[tuple[int, str]]:
    """Sorts `2.1.9` before `2.1.10`, and survives whatever a log calls a version."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in version.split(".")]
