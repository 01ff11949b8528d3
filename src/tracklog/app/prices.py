"""The user's own prices: where their file is looked for, and how it is read."""

from __future__ import annotations

from pathlib import Path

from tracklog.home import tilde, tracklog_home
from tracklog.ledger.prices.rates import NAME, Prices, prices_with


def own_prices_path(home: Path | None) -> Path:
    """Where the file is looked for when none is named."""
    return tracklog_home(home) / NAME


def load_prices(home: Path | None, named: Path | None = None) -> Prices:
    """The shipped book with the user's file over it: the named one, or the one in tracklog's home if it is there."""
    path = named or own_prices_path(home)
    return prices_with(path, must_exist=named is not None, called=tilde(path))
