"""Requests that the stream told of and that the log does not hold: a client that was killed writes nothing any more.

They were paid for. What they cost at least is what the stream had told by then; at most, as much as the model can say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from tracklog.model.ledger_values import Row
from tracklog.model.prices import Prices, cost_pico_usd
from tracklog.model.sums import added
from tracklog.model.tokens import Tokens


class Told(NamedTuple):
    """A request as the stream told it."""

    id: str
    model: str | None
    usage: Mapping[str, Any]


def with_unlogged(row: Row, told: Iterable[Told], prices: Prices) -> Row:
    """The sums with these requests added, as partial ones."""
    for one in told:
        tokens = _tokens(one.usage)
        most = max(prices.most_output(one.model), tokens.output)
        rates = prices.rates(one.model)
        highest = msgspec.structs.replace(tokens, output=most)
        row = msgspec.structs.replace(
            row,
            requests=row.requests + 1,
            tokens=added(row.tokens, tokens),
            partial_requests=row.partial_requests + 1,
            unpriced_requests=row.unpriced_requests + (rates is None),
            cost_pico_usd=row.cost_pico_usd + (cost_pico_usd(tokens, rates) if rates else 0),
            most_output=row.most_output + most,
            most_cost_pico_usd=row.most_cost_pico_usd + (cost_pico_usd(highest, rates) if rates else 0),
            models=sorted({*row.models, *([one.model] if one.model else [])}),
        )
    return row


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    kept = usage.get("cache_creation")
    parts = kept if isinstance(kept, Mapping) else {}
    return Tokens(
        input=_count(usage, "input_tokens"),
        output=_count(usage, "output_tokens"),
        cache_write=_count(usage, "cache_creation_input_tokens"),
        cache_write_5m=_count(parts, "ephemeral_5m_input_tokens"),
        cache_write_1h=_count(parts, "ephemeral_1h_input_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else 0
