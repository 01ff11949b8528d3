"""Rates of a model on a day and on terms, from the price book and the user's file.

Rules
  1. A model without a price is unpriced: None, never 0.
  2. The last active of these counts: the book's standard price, the book's price on the request's terms, the
     user's own price, the user's own price on those terms. The user's own prices are not multiplied by anything.
  3. Money is whole pico-dollars. A dollar for a million tokens is 1,000,000 of them for one token.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.errors import UserError, why_failed, why_not_regular
from tracklog.ledger.prices.book import (
    STANDARD_TERMS,
    Book,
    Limit,
    ModelName,
    OwnPrice,
    PriceFile,
    PriceTier,
    Quote,
    Shelf,
    Tariff,
    Vendor,
    is_named,
    matches,
    read_name,
    shipped_book,
    spellings,
)
from tracklog.model.usage import STANDARD, Terms, Tokens

_ALWAYS = -(1 << 62)
_DAY_S = 86_400
_MOST_REMEMBERED = 4_096  # names and terms: a log may hold as many as it likes


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Pico-dollars for each token, and for each web search."""

    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_search: int
    source: str
    above: int | None = None  # tokens of the prompt: for a longer one, all of the request costs `higher`
    higher: Rates | None = None


class PriceListEntry(NamedTuple):
    """A model that has a price, for people to look at."""

    model: str
    vendor: str | None  # None: only in the user's own file
    quotes: tuple[Quote, ...]
    max_output: int | None


class _Dated(NamedTuple):
    since_ms: int
    hours: tuple[int, int] | None
    rates: Rates

    def is_active(self, at_ms: int) -> bool:
        return self.since_ms <= at_ms and (self.hours is None or _in_hours(at_ms, self.hours))


class _Found(NamedTuple):
    """The entry of the book for a model."""

    vendor: str
    tariff: Tariff


def cost_pico_usd(tokens: Tokens, rates: Rates) -> int:
    """Cost of a request. Cache writes without a stated lifetime count as kept for five minutes."""
    while rates.above is not None and rates.higher is not None and tokens.prompt > rates.above:
        rates = rates.higher
    written_5m = max(tokens.cache_write - tokens.cache_write_1h, tokens.cache_write_5m)
    return (
        tokens.input * rates.input
        + tokens.output * rates.output
        + tokens.cache_read * rates.cache_read
        + written_5m * rates.cache_write_5m
        + tokens.cache_write_1h * rates.cache_write_1h
        + tokens.web_searches * rates.web_search
    )


class Prices:
    """Prices of models: the shipped book, and the user's own prices over it."""

    def __init__(self, book: Book, own: PriceFile) -> None:
        self.book = book
        self.own = own
        self._dated: dict[tuple[str, Terms], list[_Dated]] = {}
        self._shelves: dict[str, Shelf] = {}
        self._limits = (*own.limits, *book.limits)
        self._most = max(limit.max_output for limit in self._limits)

    @classmethod
    def load(cls, user_toml: bytes | None = None, *, where: str = "prices.toml") -> Prices:
        """The shipped book with the user's file over it; a mistake in the file is a UserError."""
        if user_toml is None:
            return cls(shipped_book(), PriceFile())
        from tracklog.ledger.prices.user_file import read_prices  # loaded only if there is a file

        return cls(shipped_book(), read_prices(user_toml, where=where))

    def rates(self, model: str | None, at_ms: int | None = None, terms: Terms = STANDARD) -> Rates | None:
        """Rates of the model at that moment, or now if the moment is unknown; None without a known price.

        The answer for the same model, terms and time is the same object.
        """
        if model is None:
            return None
        dated = self._dated.get((model, terms))
        if dated is None:
            dated = self._remembered(model, terms)
        if at_ms is None:
            return next((one.rates for one in reversed(dated) if one.hours is None), None)
        return next((one.rates for one in reversed(dated) if one.is_active(at_ms)), None)

    def is_hourly(self, model: str | None, terms: Terms = STANDARD) -> bool:
        """Whether the price depends on the hour, not on the day alone."""
        if model is None:
            return False
        dated = self._dated.get((model, terms)) or self._remembered(model, terms)
        return any(one.hours is not None for one in dated)

    def borders(self, model: str | None, terms: Terms = STANDARD) -> list[int]:
        """The sizes of prompts above which a request costs something else, now or at another time."""
        if model is None:
            return []
        steps = [one.rates for one in self._dated.get((model, terms)) or self._remembered(model, terms)]
        found: set[int] = set()
        while steps:
            found |= {step.above for step in steps if step.above is not None}
            steps = [step.higher for step in steps if step.higher is not None]
        return sorted(found)

    def most_output(self, model: str | None) -> int:
        """The longest output of the model; of one that is not known, the longest of all that are."""
        limit = self._limit(model) if model is not None else None
        return self._most if limit is None else limit.max_output

    def listing(self) -> list[PriceListEntry]:
        """All models that have a price, by vendor; those of the user first."""
        vendors = self.book.vendors
        return [
            *(self._own_listed(model) for model in _own_models(self.own)),
            *(self._listed(_Found(vendor.id, tariff)) for vendor in vendors for tariff in vendor.models),
        ]

    def listed(self, model: str) -> PriceListEntry | None:
        """One model, by any of its names."""
        name = read_name(model)
        found = self._in_book(name) if name else None
        if found:
            return self._listed(found, as_named=model)
        return self._own_listed(model) if self._own_quotes(model) else None

    def _remembered(self, model: str, terms: Terms) -> list[_Dated]:
        dated = self._all_dated(model, terms)
        if len(self._dated) >= _MOST_REMEMBERED:
            self._dated.clear()
        self._dated[model, terms] = dated
        return dated

    def _all_dated(self, model: str, terms: Terms) -> list[_Dated]:
        name = read_name(model)
        words = _words(terms, name)
        own = [_dated(quote, (1, 1), "") for quote in _in_order(self._own_quotes(model), words)]
        found = self._in_book(name) if name else None
        if found is None:
            return own
        times = self._times(found.vendor, terms)
        quotes = _in_order(found.tariff.quotes, words)
        return [*(_dated(quote, times, self.book.made_from) for quote in quotes), *own]

    def _in_book(self, name: ModelName) -> _Found | None:
        for one in spellings(name.name):
            for vendor in self.book.vendors:
                if _may_sell(vendor, name.vendor, one) and (tariff := self._shelf(vendor).find(one)):
                    return _Found(vendor.id, tariff)
        return None

    def _shelf(self, vendor: Vendor) -> Shelf:
        shelf = self._shelves.get(vendor.id)
        if shelf is None:
            shelf = self._shelves[vendor.id] = Shelf(vendor)
        return shelf

    def _own_quotes(self, model: str) -> list[Quote]:
        names = _all_names(model)
        return [price.quote for price in self.own.prices if _is_meant(price, names)]

    def _times(self, vendor: str, terms: Terms) -> tuple[int, int]:
        numerator = denominator = 1
        for one in self.book.multipliers:
            if one.vendor == vendor and getattr(terms, one.condition) == one.value:
                numerator, denominator = numerator * one.times[0], denominator * one.times[1]
        return numerator, denominator

    def _limit(self, model: str) -> Limit | None:
        names = _all_names(model)
        return next((one for one in self._limits if any(is_named(one.model, name) for name in names)), None)

    def _listed(self, found: _Found, *, as_named: str | None = None) -> PriceListEntry:
        model = as_named or found.tariff.id
        quotes = (*found.tariff.quotes, *self._own_quotes(model))
        return PriceListEntry(found.tariff.id, found.vendor, quotes, self._stated_limit(model))

    def _own_listed(self, model: str) -> PriceListEntry:
        return PriceListEntry(model, None, tuple(self._own_quotes(model)), self._stated_limit(model))

    def _stated_limit(self, model: str) -> int | None:
        limit = self._limit(model)
        return limit.max_output if limit else None


def _may_sell(vendor: Vendor, named: str | None, model: str) -> bool:
    return matches(vendor.match, model) if named is None else named in vendor.aliases


def _all_names(model: str) -> set[str]:
    """The name as given, and its other spellings."""
    name = read_name(model)
    return {model[:1000].strip().lower(), *(spellings(name.name) if name else ())}


def _is_meant(price: OwnPrice, names: set[str]) -> bool:
    return any(is_named(pattern, name) for pattern in price.models for name in names)


def _own_models(own: PriceFile) -> list[str]:
    return list(dict.fromkeys(model for price in own.prices for model in price.models))


def _words(terms: Terms, name: ModelName | None) -> tuple[str, ...]:
    """The words of terms that a quote may be for, from the most general: later ones count."""
    tier = terms.service_tier if terms.service_tier not in (None, STANDARD_TERMS) else None
    is_fast = terms.speed == "fast" or (name is not None and name.is_fast)
    return (STANDARD_TERMS, *((tier,) if tier else ()), *(("fast",) if is_fast else ()))


def _in_order(quotes: tuple[Quote, ...] | list[Quote], words: tuple[str, ...]) -> Iterator[Quote]:
    for word in dict.fromkeys(words):
        yield from (quote for quote in quotes if quote.terms == word)


def _dated(quote: Quote, times: tuple[int, int], book: str) -> _Dated:
    rates = _rates(quote.steps, times, quote.source or book)
    return _Dated(_ALWAYS if quote.since is None else _midnight_ms(quote.since), quote.hours, rates)


def _rates(steps: tuple[PriceTier, ...], times: tuple[int, int], source: str) -> Rates:
    above, higher = None, None
    for step in reversed(steps):
        higher = _of_step(step, times, source, above, higher)
        above = step.above
    assert higher is not None, "a quote has at least one step"
    return higher


def _of_step(
    step: PriceTier, times: tuple[int, int], source: str, above: int | None, higher: Rates | None
) -> Rates:
    return Rates(
        input=_multiplied(step.input, times),
        output=_multiplied(step.output, times),
        cache_read=_multiplied(step.cache_read, times),
        cache_write_5m=_multiplied(step.cache_write_5m, times),
        cache_write_1h=_multiplied(step.cache_write_1h, times),
        web_search=step.web_search,
        source=source,
        above=above,
        higher=higher,
    )


def _multiplied(rate: int, times: tuple[int, int]) -> int:
    """Rounded half up, where a pico-dollar is not fine enough."""
    numerator, denominator = times
    return (2 * rate * numerator + denominator) // (2 * denominator)


def _midnight_ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def _in_hours(at_ms: int, hours: tuple[int, int]) -> bool:
    start, end = hours
    second = at_ms // 1000 % _DAY_S
    return start <= second < end if start <= end else second >= start or second < end


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
