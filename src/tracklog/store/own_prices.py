"""Prices with the user's own over them, from a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tracklog.errors import UserError
from tracklog.model.prices import Prices
from tracklog.sources.reasons import why_failed, why_not_regular

NAME = "prices.toml"
_MOST_BYTES = 1_000_000


def prices_with(path: Path, *, must_exist: bool = False, called: str | None = None) -> Prices:
    """The shipped book with the user's file over it, if there is one."""
    try:
        toml = _contents(path)
    except FileNotFoundError as error:
        if must_exist:
            raise UserError(f"{path} does not exist: name a file of prices") from error
        toml = None
    except OSError as error:
        raise UserError(f"cannot read the prices in {path}: {why_failed(error)}") from error
    return Prices.load(toml, where=called or str(path))


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
