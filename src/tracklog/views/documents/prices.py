"""Prices as the fields of a JSON document: micro-dollars for a million tokens."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tracklog.app.prices import PriceListEntry, Prices, PriceTier, Quote
from tracklog.home import tilde
from tracklog.views.text.printing import short


def prices_document(models: Iterable[PriceListEntry], known: Prices) -> dict[str, Any]:
    """The answer as the contract names its fields: prices are micro-dollars for a million tokens."""
    return {
        "book": {"made_from": known.book.made_from, "made_on": known.book.made_on},
        "models": [_model_row(one, known.book.made_from) for one in models],
        "multipliers": [
            {"vendor": one.vendor, one.condition: one.value, "times": list(one.times), "source": one.source}
            for one in known.book.multipliers
        ],
    }


def why_unpriced(model: str, own_prices: Path) -> str:
    """That no model of this name has a price, and what to do."""
    name = short(model, 60)
    return (
        f'no price for {name}: put [[price]] with model = "{name}", input = … and output = … (dollars for a million '
        f"tokens) into {tilde(own_prices)}; `tracklog prices --help` says more"
    )


def _model_row(one: PriceListEntry, book: str) -> dict[str, Any]:
    quotes = [_quote_row(quote, book) for quote in one.quotes]
    return {"model": one.model, "vendor": one.vendor, "max_output_tokens": one.max_output, "prices": quotes}


def _quote_row(quote: Quote, book: str) -> dict[str, Any]:
    return {
        "terms": quote.terms,
        "since": quote.since,
        "hours_utc": [clock_words(second) for second in quote.hours] if quote.hours else None,
        "source": quote.source or book,
        "steps": [_step_row(step) for step in quote.steps],
    }


def _step_row(step: PriceTier) -> dict[str, int]:
    return {
        "above_prompt_tokens": step.above,
        "input_micro_usd_per_mtok": step.input,
        "output_micro_usd_per_mtok": step.output,
        "cache_read_micro_usd_per_mtok": step.cache_read,
        "cache_write_5m_micro_usd_per_mtok": step.cache_write_5m,
        "cache_write_1h_micro_usd_per_mtok": step.cache_write_1h,
        "web_search_micro_usd": step.web_search // 10**6,
    }


def clock_words(second: int) -> str:
    """A second of the day as a clock shows it."""
    return f"{second // 3600:02d}:{second // 60 % 60:02d}"
