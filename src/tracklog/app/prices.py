"""What models cost: the shipped prices with the user's own over them, and those of the models that a person means."""

from __future__ import annotations

from pathlib import Path

from tracklog.home import tilde, tracklog_home
from tracklog.ledger.prices.book import STANDARD_TERMS as STANDARD_TERMS
from tracklog.ledger.prices.book import Multiplier as Multiplier
from tracklog.ledger.prices.book import PriceTier as PriceTier
from tracklog.ledger.prices.book import Quote as Quote
from tracklog.ledger.prices.rates import NAME, prices_with
from tracklog.ledger.prices.rates import PriceListEntry as PriceListEntry
from tracklog.ledger.prices.rates import Prices as Prices


def own_prices_path(home: Path | None) -> Path:
    """Where the file is looked for when none is named."""
    return tracklog_home(home) / NAME


def load_prices(home: Path | None, named: Path | None = None) -> Prices:
    """The shipped book with the user's file over it: the named one, or the one in tracklog's home if it is there."""
    path = named or own_prices_path(home)
    return prices_with(path, must_exist=named is not None, called=tilde(path))


def price_list(known: Prices, model: str | None) -> list[PriceListEntry]:
    """The prices of the models that a name or a part of one means; of all, if none is given."""
    if model is None:
        return known.listing()
    exact = known.listed(model)
    if exact is not None:
        return [exact]
    part = model.strip().lower()
    return [one for one in known.listing() if part and part in one.model.lower()]
