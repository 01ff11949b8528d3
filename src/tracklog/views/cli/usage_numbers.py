"""Money and tokens as people and documents read them.

Rules of this room
  1. Money is rounded here and nowhere else, once, from pico-dollars: to micro-dollars for documents (half to even),
     to cents for people; what is less than ten cents keeps four places.
  2. What has no price is None, and is never shown as a zero.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from tracklog.model.ledger_values import Row

Basis = Literal["ours", "stated", "both"]
BASES: tuple[Basis, ...] = ("ours", "stated", "both")

PICO_IN_MICRO = 1_000_000
PICO_IN_DOLLAR = 10**12
_UNITS = ("", "k", "M", "B", "T")


class Cost(NamedTuple):
    """What a row cost: at least and at most. None if nothing of it has a price."""

    least: int | None
    most: int | None

    @property
    def is_certain(self) -> bool:
        """Whether both bounds are the same."""
        return self.least == self.most


def cost_of(row: Row, basis: Basis) -> Cost:
    """The cost of a row by our prices, or as the logs state it."""
    if basis == "stated":
        stated = row.stated_pico_usd if row.stated_requests else None
        return Cost(stated if row.requests else 0, stated if row.requests else 0)
    if is_unpriced(row):
        return Cost(None, None)
    return Cost(row.cost_pico_usd, max(row.most_cost_pico_usd, row.cost_pico_usd))


def is_unpriced(row: Row) -> bool:
    """Whether nothing in a row has a price."""
    return row.unpriced_requests > 0 and not row.cost_pico_usd


def n_tokens(row: Row) -> int:
    """All that went in and out."""
    return row.tokens.prompt + row.tokens.output


def difference(row: Row) -> int | None:
    """How much more our prices say than the log does; only where the log states the cost of every request."""
    if not row.requests or row.stated_requests < row.requests or is_unpriced(row):
        return None
    return row.cost_pico_usd - row.stated_pico_usd


def saving(row: Row) -> int:
    """How much less was paid than would have been without a cache."""
    return row.uncached_cost_pico_usd - row.cost_pico_usd


def micro(pico: int | None) -> int | None:
    """Micro-dollars for a document."""
    return None if pico is None else _rounded(pico, PICO_IN_MICRO)


def money(pico: int | None) -> str:
    """Dollars for people: `$1,234.50`, `$0.0042`, `unpriced`."""
    if pico is None:
        return "unpriced"
    sign, size = "-" if pico < 0 else "", abs(pico)
    if not size:
        return "$0.00"
    if size < PICO_IN_DOLLAR // 10:
        places = _rounded(size, PICO_IN_DOLLAR // 10_000)
        return f"{sign}${places / 10_000:.4f}" if places else f"{sign}<$0.0001"
    cents = _rounded(size, PICO_IN_DOLLAR // 100)
    return f"{sign}${cents // 100:,}.{cents % 100:02d}"


def short_number(n: int) -> str:
    """A number in at most six letters: `9,841`, `12.3k`, `1.05M`, `123B`."""
    if abs(n) < 10_000:
        return f"{n:,}"
    value, step = float(n), 0
    while abs(value) >= 999.5 and step < len(_UNITS) - 1:
        value, step = value / 1000, step + 1
    places = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{places}f}{_UNITS[step]}"


def share(part: int, of: int) -> str:
    """A share in whole percents; less than one is said so."""
    if not of or not part:
        return "0 %"
    return f"{part * 100 // of} %" if part * 100 >= of else "less than 1 %"


def _rounded(n: int, unit: int) -> int:
    """Half to even, in integers: as in a bank, no direction is preferred."""
    whole, rest = divmod(n, unit)
    return whole + (2 * rest > unit or (2 * rest == unit and whole % 2 == 1))
