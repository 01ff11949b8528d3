"""What was written, so that whoever measures knows the right answer.

The token sums follow the accounting rules of docs/accounting.md: one entry per API request, the chunk with the largest
output, subagents included. Names as in `tracklog usage --json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


@dataclass(frozen=True)
class Spent:
    """One request's tokens; `output_tokens` is what reached the disk."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def cache_write_tokens(self) -> int:
        return self.cache_write_5m_tokens + self.cache_write_1h_tokens


def add_up(sums: dict[str, int], spent: Spent) -> None:
    """Adds a request to sums by field."""
    for name in _FIELDS:
        sums[name] = sums.get(name, 0) + getattr(spent, name)


_FIELDS = (*(f.name for f in fields(Spent)), "cache_write_tokens")


@dataclass
class Tally:
    """The sums of one agent's home."""

    sessions: int = 0
    files: int = 0
    n_bytes: int = 0
    lines: int = 0
    longest_line: int = 0
    requests: int = 0
    unfinished_requests: int = 0  # no chunk has a stop_reason: the output is a lower bound
    tokens: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)

    def request(self, spent: Spent, *, finished: bool = True) -> None:
        self.requests += 1
        self.unfinished_requests += not finished
        add_up(self.tokens, spent)

    def written(self, lines: list[bytes]) -> None:
        self.files += 1
        self.lines += len(lines)
        self.n_bytes += sum(map(len, lines))
        self.longest_line = max(self.longest_line, *map(len, lines))


class LogFile:
    """A log in the making: lines are kept and written in one go."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path, self._tally = path, tally
        self._lines: list[bytes] = []
        self.size = 0

    def add(self, record: dict[str, Any], kind: str) -> None:
        line = _encode(record).encode("utf-8") + b"\n"
        self._lines.append(line)
        self.size += len(line)
        self._tally.kinds[kind] = self._tally.kinds.get(kind, 0) + 1

    def close(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"".join(self._lines))
        self._tally.written(self._lines)
