"""The user's own prices: where their file is looked for, and how it is read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tracklog.errors import UserError
from tracklog.model.prices import Prices
from tracklog.sources.reasons import why_failed, why_not_regular
from tracklog.views.cli.own_home import tracklog_home
from tracklog.views.cli.printing import tilde

NAME = "prices.toml"
_MOST_BYTES = 1_000_000


def own_prices_path(home: Path | None) -> Path:
    """Where the file is looked for when none is named."""
    return tracklog_home(home) / NAME


def load_prices(home: Path | None, named: Path | None = None) -> Prices:
    """The shipped book with the user's file over it: the named one, or the one in tracklog's home if it is there."""
    path = named or own_prices_path(home)
    try:
        toml = _contents(path)
    except FileNotFoundError as error:
        if named:
            raise UserError(f"{path} does not exist: name a file of prices") from error
        toml = None
    except OSError as error:
        raise UserError(f"cannot read the prices in {path}: {why_failed(error)}") from error
    return Prices.load(toml, where=tilde(path))


def _contents(path: Path) -> bytes:
    """The bytes of a regular file; a pipe would keep us waiting."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise UserError(f"{path} holds no prices: {why_not_regular(mode)}")
    with path.open("rb") as file:
        toml = file.read(_MOST_BYTES + 1)
    if len(toml) > _MOST_BYTES:
        raise UserError(f"{path} is too long for a file of prices")
    return toml
