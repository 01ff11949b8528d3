"""The user's own prices in TOML, one `[[price]]` for each model, day and terms.

[[price]]
model = "my-gateway-model"      # or a list of names; a * at the end matches anything
since = 2026-03-13              # if it was another price before
terms = "fast"                  # if only for these: fast, batch, priority, flex
input = 0.60                    # dollars for a million tokens
output = 2.20
cache_read = 0.11               # else as input
cache_write = 0.75              # else as input; for five minutes
cache_write_1h = 1.20           # else as cache_write
web_search = 0.01               # dollars for each; this is what it is if nothing is said
above = { prompt_tokens = 200_000, input = 1.20, output = 3.30 }
max_output = 128_000
source = "https://…"
why = "…"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NoReturn

from tracklog.errors import UserError
from tracklog.ledger.prices.book import STANDARD_TERMS, Limit, OwnPrice, PriceFile, PriceTier, Quote

TERMS = (STANDARD_TERMS, "fast", "batch", "priority", "flex")
_RATES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_KEYS = {"model", "since", "terms", *_RATES, "web_search", "above", "max_output", "source", "why"}
_MOST_DOLLARS = 1_000_000
_USUAL_SEARCH = Decimal("0.01")  # docs/decisions/0009-a-price-book-in-the-package.md
_HEADING = re.compile(r"\s*\[\[\s*[\"']?price[\"']?\s*\]\]")


def read_prices(toml: bytes, *, where: str) -> PriceFile:
    """Read the file; a mistake in it is a UserError with its line and key."""
    import tomllib  # only who has a file pays for it

    try:
        text = toml.decode("utf-8-sig")
        document = tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError as error:
        line = toml.count(b"\n", 0, error.start) + 1
        raise UserError(f"{where}, line {line}: not UTF-8") from error
    except (ValueError, ArithmeticError, RecursionError) as error:  # also numbers and nesting without end
        raise UserError(f"{where} is not TOML: {error}") from error
    return prices_of(document, text, where=where)


def prices_of(document: Mapping[str, Any], text: str, *, where: str) -> PriceFile:
    """The same, from a document that is parsed already."""
    entries = document.get("price", [])
    if stranger := next((key for key in document if key != "price"), None):
        raise UserError(f"{where}: unknown key {stranger!r}; prices stand under [[price]]")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UserError(f"{where}: prices stand under [[price]], one for each")
    read = [_Entry(entry, n, text, where) for n, entry in enumerate(entries)]
    prices = sorted((one.price() for one in read), key=lambda price: price.quote.since or "")
    return PriceFile(tuple(prices), tuple(limit for one in read for limit in one.limits()))


class _Entry:
    """One `[[price]]` and its line, for error messages."""

    def __init__(self, table: Mapping[str, Any], n: int, text: str, where: str) -> None:
        self.table = table
        self.n = n
        self.text = text
        self.where = where

    def price(self) -> OwnPrice:
        if stranger := next((key for key in self.table if key not in _KEYS), None):
            self.complain(stranger, f"is no key of a price; known are {', '.join(sorted(_KEYS))}")
        return OwnPrice(self.models(), self.quote())

    def quote(self) -> Quote:
        search = self.pico("web_search", self.table, _USUAL_SEARCH)
        return Quote(
            steps=(self.step(self.table, 0, search), *self.longer(search)),
            since=self.since(),
            terms=self.terms(),
            source=self.words("source") or self.where,
        )

    def limits(self) -> list[Limit]:
        most = self.table.get("max_output")
        if most is None:
            return []
        self.check("max_output", "must be a number of tokens", that=_is_count(most))
        source = self.words("source") or self.where
        return [Limit(model, most, source) for model in self.models()]

    def models(self) -> tuple[str, ...]:
        given = self.table.get("model")
        names: list[Any] = given if isinstance(given, list) else [given]
        is_fine = bool(names) and all(isinstance(name, str) and _is_name(name) for name in names)
        wanted = "must be the name of a model, or a list of names; a * may stand at the end of one, not alone"
        self.check("model", wanted, that=is_fine)
        return tuple(name.strip().lower() for name in names)

    def since(self) -> str | None:
        given = self.table.get("since")
        is_day = isinstance(given, date) and not isinstance(given, datetime)
        self.check("since", "must be a day, as 2026-03-13 without quotes", that=given is None or is_day)
        return None if given is None else given.isoformat()

    def terms(self) -> str:
        given = self.table.get("terms", STANDARD_TERMS)
        self.check("terms", f"must be one of {', '.join(TERMS)}", that=given in TERMS)
        return str(given)

    def words(self, key: str) -> str | None:
        given = self.table.get(key)
        self.check(key, "must be a text", that=given is None or isinstance(given, str))
        return given

    def longer(self, search: int) -> list[PriceTier]:
        given = self.table.get("above", [])
        tables = [given] if isinstance(given, dict) else given
        is_fine = isinstance(tables, list) and all(isinstance(one, dict) for one in tables)
        self.check("above", "must be a table with prompt_tokens and prices", that=is_fine)
        steps = [self.step(one, self.prompt_tokens(one), search) for one in tables]
        return sorted(steps, key=lambda step: step.above)

    def prompt_tokens(self, table: Mapping[str, Any]) -> int:
        stranger = next((key for key in table if key not in (*_RATES, "prompt_tokens")), None)
        self.check("above", f"does not know {stranger!r}", that=stranger is None)
        most = table.get("prompt_tokens")
        self.check("above", "needs prompt_tokens, a number of tokens", that=_is_count(most))
        return int(most)  # type: ignore[arg-type]

    def step(self, table: Mapping[str, Any], above: int, search: int) -> PriceTier:
        input = self.pico("input", table)
        write = self.pico("cache_write", table, table["input"])
        return PriceTier(
            above=above,
            input=input,
            output=self.pico("output", table),
            cache_read=self.pico("cache_read", table, table["input"]),
            cache_write_5m=write,
            cache_write_1h=self.pico("cache_write_1h", table, table.get("cache_write", table["input"])),
            web_search=search,
        )

    def pico(self, key: str, table: Mapping[str, Any], default: Any = None) -> int:
        """The price in pico-dollars for one: dollars are for a million tokens, or for one search."""
        given = table.get(key, default)
        self.check(key, "is missing: dollars for a million tokens", that=given is not None)
        is_number = (
            isinstance(given, int | Decimal) and not isinstance(given, bool) and Decimal(given).is_finite()
        )
        self.check(key, "must be a number of dollars", that=is_number and 0 <= given <= _MOST_DOLLARS)
        micro = Decimal(given) * 10**6
        self.check(key, "is finer than a millionth of a dollar", that=micro == int(micro))
        return int(micro) * (10**6 if key == "web_search" else 1)

    def check(self, key: str, complaint: str, *, that: bool) -> None:
        if not that:
            self.complain(key, complaint)

    def complain(self, key: str, complaint: str) -> NoReturn:
        raise UserError(f"{self.where}, line {self.line_of(key)}: price {self.n + 1}: {key!r} {complaint}")

    def line_of(self, key: str) -> int:
        """The line of the key, or else of its table's heading: the TOML reader does not report it."""
        lines = self.text.splitlines()
        heads = [i for i, line in enumerate(lines) if _HEADING.match(line)]
        start = heads[self.n] if self.n < len(heads) else 0
        end = heads[self.n + 1] if self.n + 1 < len(heads) else len(lines)
        is_key: Callable[[str], Any] = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]").match
        return next((i for i in range(start, end) if is_key(lines[i])), start) + 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_name(text: str) -> bool:
    name = text.strip().removesuffix("*")
    return bool(name.strip()) and "*" not in name
