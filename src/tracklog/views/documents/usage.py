"""Usage as the fields of a JSON document, and the order in which it is listed.

Rules
  1. Every field of a row is always present; an unknown value is null. `bounds` are equal if all is certain.
  2. A limit leaves out rows, but nothing of the total.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from tracklog.app.usage import Burn, burn
from tracklog.model.usage import CountRule, Entry, Group, Hidden, Tokens, UsageReport, UsageRow, micro
from tracklog.views.text.numbers import Basis, cost_of, difference, is_unpriced, n_tokens, saving

Order = Literal["cost", "tokens", "time", "key"]
ORDERS: tuple[Order, ...] = ("cost", "tokens", "time", "key")
BY_TIME: tuple[Group, ...] = ("daily", "weekly", "monthly", "blocks")


class UsageProvenance(NamedTuple):
    """The settings by which an answer was computed, which are part of it."""

    rule: CountRule
    basis: Basis
    zone: str
    as_model: str | None = None
    as_of: str | None = None


class RowSelection(NamedTuple):
    """The listed rows, in order, and those that a limit leaves out."""

    rows: list[UsageRow]
    others: list[UsageRow]


def listed(
    report: UsageReport,
    *,
    by: Order | None,
    basis: Basis,
    is_reversed: bool = False,
    limit: int | None = None,
) -> RowSelection:
    """Orders rows: times ascend and a limit keeps the newest; else the largest come first, and a limit keeps them."""
    order = by or ("key" if report.group in BY_TIME else "cost")
    rows = sorted(report.rows, key=lambda row: row.key)
    keeps_the_end = order == "time" or (order == "key" and report.group in BY_TIME)
    if order != "key":
        rows.sort(key=_rank(order, basis), reverse=not keeps_the_end)
    n = len(rows) if limit is None else limit
    first = max(len(rows) - n, 0) if keeps_the_end else 0
    shown, others = rows[first : first + n], rows[:first] + rows[first + n :]
    return RowSelection(shown[::-1] if is_reversed else shown, others)


def usage_document(
    report: UsageReport,
    rows: list[UsageRow],
    manner: UsageProvenance,
    *,
    now: datetime,
    with_uncertain: bool = False,
) -> dict[str, Any]:
    """The document of `usage`, as docs/cli.md names its fields."""
    made: dict[str, Any] = {
        "group": report.group,
        "count": manner.rule,
        "cost": manner.basis,
        "zone": manner.zone,
        "as_model": manner.as_model,
        "as_of": manner.as_of,
        "rows": [_row_of(row, report.group, manner.basis, now=now) for row in rows],
        "total": usage_row(report.total, manner.basis),
        "hidden": [hidden_row(one) for one in report.hidden],
        "unpriced_models": report.unpriced_models,
    }
    if with_uncertain:
        made["uncertain"] = [uncertain_row(one) for one in report.uncertain]
    return made


def usage_row(row: UsageRow, basis: Basis) -> dict[str, Any]:
    """The tokens and cost of a group of requests."""
    cost = cost_of(row, basis)
    return {
        "key": row.key,
        "requests": row.requests,
        **token_fields(row.tokens),
        "cost_micro_usd": micro(cost.least),
        "unpriced_requests": row.requests - row.stated_requests
        if basis == "stated"
        else row.unpriced_requests,
        "partial_requests": row.partial_requests,
        "missing_requests": row.missing_requests,
        "bounds": {
            "output_tokens": [row.tokens.output, max(row.most_output, row.tokens.output)],
            "cost_micro_usd": [micro(cost.least), micro(cost.most)],
        },
        "awaited_requests": row.awaited_requests,
        "inherited_requests": row.inherited_requests,
        "stated_cost_micro_usd": micro(row.stated_pico_usd) if row.stated_requests else None,
        "stated_requests": row.stated_requests,
        "difference_micro_usd": micro(difference(row)),
        "cache_saving_micro_usd": None if is_unpriced(row) else micro(saving(row)),
        "cache_hit_rate": round(row.tokens.cache_read / row.tokens.prompt, 4) if row.tokens.prompt else None,
        "models": row.models,
        "first_at": row.first_at,
        "last_at": row.last_at,
    }


def token_fields(tokens: Tokens) -> dict[str, int]:
    """Tokens as every document names them."""
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "reasoning_tokens": tokens.reasoning,
        "cache_write_tokens": tokens.cache_write,
        "cache_write_5m_tokens": tokens.cache_write_5m,
        "cache_write_1h_tokens": tokens.cache_write_1h,
        "cache_read_tokens": tokens.cache_read,
        "web_searches": tokens.web_searches,
    }


def hidden_row(hidden: Hidden) -> dict[str, Any]:
    """Spending that is in no transcript."""
    return {
        "session": hidden.session,
        "what": hidden.what,
        "tokens": hidden.tokens.prompt + hidden.tokens.output,
        "cost_micro_usd": micro(hidden.cost_pico_usd),
        "agent": hidden.agent,
        "model": hidden.model,
        "detail": token_fields(hidden.tokens),
        "at": hidden.at,
        "path": hidden.place.path if hidden.place else None,
        "line": hidden.place.line if hidden.place else None,
    }


def uncertain_row(entry: Entry) -> dict[str, Any]:
    """A request whose final count was never written, and the line that shows it."""
    return {
        "key": entry.id,
        "certainty": entry.certainty,
        "agent": entry.agent,
        "session": entry.session,
        "thread": entry.thread,
        "model": entry.model,
        "at": entry.at,
        "path": entry.place.path,
        "line": entry.place.line or None,
        **token_fields(entry.tokens),
    }


def _row_of(row: UsageRow, group: Group, basis: Basis, *, now: datetime) -> Mapping[str, Any]:
    made = usage_row(row, basis)
    if group != "blocks":
        return made
    burning = burn(row, now)
    return {**made, "burn": _burn_row(burning) if burning else None}


def _burn_row(burning: Burn) -> dict[str, Any]:
    return {
        "ends_at": f"{burning.ends_at:%Y-%m-%dT%H:%M:%SZ}",
        "left_ms": burning.left_ms,
        "tokens_per_minute": burning.tokens_per_minute,
        "cost_micro_usd_per_hour": micro(burning.cost_pico_usd_per_hour),
        "projected_tokens": burning.projected_tokens,
        "projected_cost_micro_usd": micro(burning.projected_cost_pico_usd),
    }


def _rank(order: Order, basis: Basis) -> Callable[[UsageRow], tuple[int, int, str]]:
    def rank(row: UsageRow) -> tuple[int, int, str]:
        if order == "time":
            return 0, 0, row.last_at or ""
        cost = cost_of(row, basis).least
        by_cost = -1 if cost is None else cost
        return (by_cost, n_tokens(row), "") if order == "cost" else (n_tokens(row), by_cost, "")

    return rank
