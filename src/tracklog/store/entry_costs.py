"""What each request in the index cost, at the prices of whoever asks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from tracklog.model.books import terms_of
from tracklog.model.prices import Prices, cost_pico_usd
from tracklog.model.tokens import STANDARD, Tokens

_ASKED = (
    "select id, at_ms, model, terms, beside, input, output, reasoning, cache_write, cache_write_5m, cache_write_1h, "
    "cache_read, web_searches, certainty = 'missing' from entry_rows"
)


def entry_costs(db: sqlite3.Connection, prices: Prices) -> Iterator[tuple[int, int | None]]:
    """The numbers of all requests, each with its cost in pico-dollars; None: without a price, or without a count."""
    for id, at_ms, model, terms, beside, *figures, is_missing in db.execute(_ASKED):
        if is_missing:
            yield id, None
            continue
        rates = prices.rates(model, at_ms, terms_of(terms))
        cost = None if rates is None else cost_pico_usd(Tokens(*figures), rates)
        if cost is not None and beside is not None:
            cost += _of_advisors(prices, beside, at_ms)
        yield id, cost


def _of_advisors(prices: Prices, beside: str, at_ms: int | None) -> int:
    """What the models cost that were asked within a request."""
    cost = 0
    for what, model, figures in json.loads(beside):
        rates = prices.rates(model, at_ms, STANDARD) if what == "advisor" else None
        if rates is not None:
            cost += cost_pico_usd(Tokens(*figures), rates)
    return cost
