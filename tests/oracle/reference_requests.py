"""One request of Claude Code, from all its records: rules 2, 3, 5, 6 and 7 of docs/accounting.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tests.oracle.reading import Found, Json, inside
from tests.oracle.reference_chunks import NO_TIME, Chunk, count_of, day_of, has_odd_figure, moment, text_in
from tests.oracle.truth import Certainty, HiddenSpent, Spent


class Age(NamedTuple):
    """When a file began to be written: what decides between two records of the same time."""

    times: list[tuple[int, datetime]]  # of lines that no other file has

    def of(self, chunk: Chunk) -> tuple[bool, datetime]:
        """Lines before a copy that are later than it betray a fork; else the file that went on first is older."""
        is_behind = any(line < chunk.line and at > chunk.at for line, at in self.times)
        return is_behind, min((at for _, at in self.times), default=NO_TIME)


def ages(files: list[list[Found]]) -> dict[str, Age]:
    """The age of each file, by its path."""
    owners: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for found in file:
            owners[text_in(found.value.get("uuid"))].add(found.path)
    ages: dict[str, Age] = {}
    for file in files:
        own = [f for f in file if len(owners[text_in(f.value.get("uuid"))]) == 1 or not f.value.get("uuid")]
        timed = [(f.line, moment(f.value.get("timestamp"))) for f in own]
        ages |= {file[0].path: Age([one for one in timed if one[1] != NO_TIME])} if file else {}
    return ages


class Request:
    """One request, from all its records."""

    def __init__(self, chunks: list[Chunk], age: dict[str, Age], *, is_cut: bool) -> None:
        self.chunks = chunks
        self._is_cut = is_cut
        counted = [chunk for chunk in chunks if chunk.usage is not None]
        own = [chunk for chunk in counted if not chunk.is_echo]
        self.winner = max(own or counted or chunks, key=_weight)
        self.first = min(chunks, key=lambda c: (c.at, c.is_copy, age[c.path].of(c), c.path, c.line))

    @property
    def certainty(self) -> Certainty:
        """How sure the figures are."""
        if self.winner.usage is None:
            return "missing"
        ended = any(c.stop and not has_odd_figure(c.usage or {}) for c in self.chunks)
        return "final" if ended and not self._is_cut else "partial"

    def spent(self) -> Iterator[Spent]:
        """The request, and what advisors spent inside it."""
        usage = self.winner.usage or {}
        day, session = day_of(self.first.at), self.first.session
        yield Spent(session, self.winner.model, day, count_of(usage), self.certainty)
        for one in self._iterations("advisor_message"):
            yield Spent(session, one.get("model"), day, count_of(one), kind="advisor")

    def apart(self) -> Iterator[HiddenSpent]:
        """Compactions inside the request: billed, says the API; not counted, says the client."""
        for one in self._iterations("compaction"):
            model = one.get("model") or self.winner.model or ""
            yield HiddenSpent(self.first.session, model, count_of(one)._replace(write_5m=0, write_1h=0))

    def _iterations(self, kind: str) -> list[Json]:
        iterations = (self.winner.usage or {}).get("iterations")
        return [i for i in iterations if inside(i, "type") == kind] if isinstance(iterations, list) else []


def _weight(chunk: Chunk) -> tuple[int, datetime, str, int]:
    return count_of(chunk.usage or {}).output, chunk.at, chunk.path, chunk.line
