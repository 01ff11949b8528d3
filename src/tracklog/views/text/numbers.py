"""Money, tokens and times as words for people and values for documents.

Rules
  1. Money is rounded once, from pico-dollars, half to even: to micro-dollars for documents (`micro` of model/usage), here
     to cents for people; less than ten cents keeps four places.
  2. A cost without a price is None, and is never shown as a zero.
  3. Times for people are in this machine's zone; documents use UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, NamedTuple

from tracklog.app.scope.filters import moment_of
from tracklog.clock import local_zone
from tracklog.model.usage import UsageRow, rounded

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def when(at: str | None, *, now: datetime) -> str:
    """A moment in few letters: `11-15 22:29`, or only the date if it is in another year."""
    moment = local_moment(at)
    if moment is None:
        return ""
    is_this_year = moment.year == now.astimezone(moment.tzinfo).year
    return f"{moment:%m-%d %H:%M}" if is_this_year else f"{moment:%Y-%m-%d}"


def day_and_time(at: str | None) -> str:
    """A moment to the second: `2026-11-15 22:29:41`."""
    moment = local_moment(at)
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def local_moment(at: str | None) -> datetime | None:
    """A time of a log in this machine's zone; None if it is no time."""
    moment = moment_of(at)
    try:
        return None if moment is None else moment.astimezone(local_zone())
    except OverflowError:  # at the end of all days the zone makes no difference
        return moment


def moment_in_seconds(ns: int) -> str:
    """The time of a file as documents write it."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def took(ms: float | None) -> str:
    """How long something took: `340 ms`, `1.2 s`, `2 min 5 s`, `3 h 12 min`."""
    if ms is None:
        return ""
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < _MINUTE_MS:
        return f"{ms / 1000:.1f} s"
    if ms < _HOUR_MS:
        return f"{ms // _MINUTE_MS:.0f} min {ms % _MINUTE_MS // 1000:.0f} s"
    return f"{ms // _HOUR_MS:.0f} h {ms % _HOUR_MS // _MINUTE_MS:.0f} min"


Basis = Literal["ours", "stated", "both"]
BASES: tuple[Basis, ...] = ("ours", "stated", "both")
PICO_IN_DOLLAR = 10**12
_UNITS = ("", "k", "M", "B", "T")


class CostRange(NamedTuple):
    """The least and the most that a row cost; None if nothing in it has a price."""

    least: int | None
    most: int | None

    @property
    def is_certain(self) -> bool:
        """Whether both bounds are the same."""
        return self.least == self.most


def cost_of(row: UsageRow, basis: Basis) -> CostRange:
    """The cost of a row by our prices, or as the logs state it."""
    if basis == "stated":
        stated = row.stated_pico_usd if row.stated_requests else None
        return CostRange(stated if row.requests else 0, stated if row.requests else 0)
    if is_unpriced(row):
        return CostRange(None, None)
    return CostRange(row.cost_pico_usd, max(row.most_cost_pico_usd, row.cost_pico_usd))


def is_unpriced(row: UsageRow) -> bool:
    """Whether nothing in a row has a price."""
    return row.unpriced_requests > 0 and not row.cost_pico_usd


def n_tokens(row: UsageRow) -> int:
    """All tokens of a row, input and output."""
    return row.tokens.prompt + row.tokens.output


def difference(row: UsageRow) -> int | None:
    """Our cost minus the log's; None unless the log states the cost of every request."""
    if not row.requests or row.stated_requests < row.requests or is_unpriced(row):
        return None
    return row.cost_pico_usd - row.stated_pico_usd


def saving(row: UsageRow) -> int:
    """How much the cache saved."""
    return row.uncached_cost_pico_usd - row.cost_pico_usd


def money(pico: int | None) -> str:
    """Dollars for people: `$1,234.50`, `$0.0042`, `unpriced`."""
    if pico is None:
        return "unpriced"
    sign, size = "-" if pico < 0 else "", abs(pico)
    if not size:
        return "$0.00"
    if size < PICO_IN_DOLLAR // 10:
        places = rounded(size, PICO_IN_DOLLAR // 10_000)
        return f"{sign}${places / 10_000:.4f}" if places else f"{sign}<$0.0001"
    cents = rounded(size, PICO_IN_DOLLAR // 100)
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
    """A share in whole percents, or `less than 1 %`."""
    if not of or not part:
        return "0 %"
    return f"{part * 100 // of} %" if part * 100 >= of else "less than 1 %"
