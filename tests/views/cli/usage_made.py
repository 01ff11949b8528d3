"""Reports written by hand, to show and to sort."""

from __future__ import annotations

from typing import Any

from tracklog.model.usage import Group, Tokens, UsageReport, UsageRow

DOLLAR = 10**12


def row(key: str, dollars: float = 1, **more: Any) -> UsageRow:
    """Ten requests that cost so much, all of it certain."""
    cost = round(dollars * DOLLAR)
    tokens = Tokens(
        input=1_000,
        output=2_000,
        reasoning=500,
        cache_write=30_000,
        cache_write_1h=10_000,
        cache_read=400_000,
    )
    known: dict[str, Any] = {
        "requests": 10,
        "tokens": tokens,
        "cost_pico_usd": cost,
        "most_cost_pico_usd": cost,
        "most_output": tokens.output,
        "uncached_cost_pico_usd": 3 * cost,
        "models": ["claude-opus-4-6"],
        "first_at": "2026-03-01T10:00:00.000Z",
        "last_at": "2026-03-01T12:00:00.000Z",
    }
    return UsageRow(key=key, **{**known, **more})


def report(*rows: UsageRow, group: Group = "daily", **more: Any) -> UsageReport:
    """A report whose total is the sum of its rows."""
    return UsageReport(group=group, rows=list(rows), total=_total(rows), **more)


def _total(rows: tuple[UsageRow, ...]) -> UsageRow:
    numbers = [
        name
        for name in UsageRow.__struct_fields__
        if all(isinstance(getattr(row, name), int) for row in rows)
    ]
    tokens = Tokens(*(sum(getattr(row.tokens, name) for row in rows) for name in Tokens.__struct_fields__))
    sums = {name: sum(getattr(row, name) for row in rows) for name in numbers}
    return UsageRow(key="total", tokens=tokens, **(sums if rows else {}))
