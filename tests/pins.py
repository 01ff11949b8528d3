"""Exact versions of the outside programs that tests and benches install, from pins.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

PINS_FILE = Path(__file__).with_name("pins.toml")
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
_PINS = tomllib.loads(PINS_FILE.read_text())


def pinned(registry: str, package: str) -> str:
    """Pinned version of a package of `npm` or `pypi`."""
    version: str = _PINS[registry][package]
    return version


def older_clients(agent: str) -> tuple[str, ...]:
    """Older client releases that `make lab` plays as well."""
    return tuple(_PINS["older_clients"][agent])
