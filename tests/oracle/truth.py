"""What a folder of logs ought to count for, and how an answer is held against it. Plain values only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from tests.oracle.logs import Files

Certainty = Literal["final", "partial", "missing"]


class Count(NamedTuple):
    """Tokens by kind. `input` was not cached; `reasoning` is a part of `output`; the parts of a write may not add up."""

    input: int = 0
    output: int = 0
    write: int = 0
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    reasoning: int = 0
    searches: int = 0

    def plus(self, other: Count) -> Count:
        """Field by field."""
        return Count(*(one + two for one, two in zip(self, other, strict=True)))

    def minus(self, other: Count) -> Count:
        """Field by field, never below nothing."""
        return Count(*(max(one - two, 0) for one, two in zip(self, other, strict=True)))

    @property
    def four(self) -> tuple[int, int, int, int]:
        """The kinds that every tool reports: input, output, cache write, cache read."""
        return self.input, self.output, self.write, self.read


NOTHING = Count()


class Spent(NamedTuple):
    """One request; or what an advisor spent inside one; or one that a prompt still awaits, of which nothing is on disk."""

    session: str
    model: str | None
    day: str  # UTC
    tokens: Count
    certainty: Certainty = "final"
    kind: Literal["request", "advisor", "awaited"] = "request"


class HiddenSpent(NamedTuple):
    """Spending that no transcript holds."""

    session: str
    model: str
    tokens: Count


@dataclass(frozen=True)
class Truth:
    """All requests of a folder, and what is hidden behind them."""

    spent: list[Spent]
    hidden: list[HiddenSpent] = field(default_factory=list)
    stated_micro_usd: int | None = None  # what the records themselves say that they cost
    days: dict[str, dict[str, int]] = field(default_factory=dict)  # by time zone and day, the output


class Case(NamedTuple):
    """A folder of logs that one rule of counting is tried on."""

    name: str
    proves: str
    files: Files
    truth: Truth

    @property
    def agent(self) -> str:
        """Whose logs these are."""
        return "codex" if any(path.startswith(".codex/") for path in self.files) else "claude"

    def write(self, home: Path) -> None:
        """The files, in a home of their own."""
        for path, data in self.files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(data)


class Sum(NamedTuple):
    """What a group of requests comes to."""

    requests: int = 0
    partial: int = 0
    missing: int = 0
    tokens: Count = NOTHING

    def plus(self, spent: Spent) -> Sum:
        """With one more."""
        return Sum(
            self.requests + (spent.kind == "request"),
            self.partial + (spent.certainty == "partial"),
            self.missing + (spent.certainty == "missing"),
            self.tokens.plus(spent.tokens),
        )


class Said(NamedTuple):
    """All that a full answer says."""

    total: Sum
    by_session: dict[str, Sum]  # of those that have requests of their own
    by_day: dict[str, Sum]
    by_model: dict[str, Count]  # of models that used anything
    hidden: list[HiddenSpent]
    stated_micro_usd: int | None
    days: dict[str, dict[str, int]]


NO_NAME = "(unknown)"


def said_by(truth: Truth) -> Said:
    """What the answer to a truth is."""
    models = by(truth.spent, lambda one: one.model or NO_NAME)
    return Said(
        total_of(truth.spent),
        by(truth.spent, lambda one: one.session),
        by(truth.spent, lambda one: one.day),
        {model: one.tokens for model, one in models.items() if one.tokens != NOTHING},
        sorted(truth.hidden),
        truth.stated_micro_usd,
        truth.days,
    )


def total_of(spent: Iterable[Spent]) -> Sum:
    """Everything together."""
    total = Sum()
    for one in spent:
        total = total.plus(one)
    return total


def by(spent: Iterable[Spent], key: Callable[[Spent], str]) -> dict[str, Sum]:
    """The sums of groups."""
    sums: dict[str, Sum] = defaultdict(Sum)
    for one in spent:
        sums[key(one)] = sums[key(one)].plus(one)
    return dict(sums)
