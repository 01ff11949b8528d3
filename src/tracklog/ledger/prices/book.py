"""The price book that comes with tracklog: vendors, names and prices of models, with their dates.

Rules
  1. The book is generated: `python -m tests.prices.make_book` makes it from genai-prices and from our own
     `data/price_overrides.toml`, where each line has its source.
  2. Prices are integers: pico-dollars for a token, which is the same number as micro-dollars for a million of
     them.
  3. Of several quotes for one model the last that is active counts.
  4. Spellings of one model have one price, as in Claude Code: `claude-opus-4-5-20251101`, `claude-opus-4-5[1m]`,
     `us.anthropic.claude-opus-4-5-20251101-v1:0`, `claude-opus-4-5@20251101`, `anthropic/claude-opus-4.5`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

import msgspec

STANDARD_TERMS = "standard"
_FILE = "data/price_book.json"


class Clause(msgspec.Struct, frozen=True, array_like=True):
    """One condition on a model's name, in lower case."""

    kind: Literal["equals", "starts_with", "ends_with", "contains", "regex"]
    text: str

    def holds(self, name: str) -> bool:
        """Whether the name meets the condition."""
        kind, text = self.kind, self.text
        if kind == "equals":
            return name == text
        if kind == "starts_with":
            return name.startswith(text)
        if kind == "ends_with":
            return name.endswith(text)
        return text in name if kind == "contains" else re.search(text, name) is not None


Match = tuple[tuple[Clause, ...], ...]  # any of these, of each of which all must hold


def matches(match: Match, name: str) -> bool:
    """Whether the name matches."""
    return any(all(clause.holds(name) for clause in clauses) for clauses in match)


class PriceTier(msgspec.Struct, frozen=True, array_like=True):
    """Price of each token of a request whose prompt is longer than `above`, and of each web search."""

    above: int
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_search: int = 0


class Quote(msgspec.Struct, frozen=True, omit_defaults=True):
    """Price of a model from a day on, in some hours of each day, or on some terms."""

    steps: tuple[PriceTier, ...]  # by the length of the prompt; the first is for any
    since: str | None = None  # a day in UTC; None: from the beginning
    hours: tuple[int, int] | None = None  # seconds of the day in UTC: from, until
    terms: str = STANDARD_TERMS
    source: str | None = None  # None: what the book was made from


class Tariff(msgspec.Struct, frozen=True):
    """All prices of one model."""

    id: str
    match: Match
    quotes: tuple[Quote, ...]


class Vendor(msgspec.Struct, frozen=True):
    """A company that sells models under its own name."""

    id: str
    aliases: tuple[str, ...]  # as written before the slash: `z-ai/glm-4.6`
    match: Match
    models: tuple[Tariff, ...]


class Shelf:
    """The models of a vendor, quickly found: a hostile log has another name in each line."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self._equal: dict[str, int] = {}
        self._begin: dict[str, int] = {}
        self._other: list[tuple[tuple[Clause, ...], int]] = []
        for n, model in enumerate(vendor.models):
            for clauses in model.match:
                self._put(clauses, n)
        self._beginnings = tuple(self._begin)

    def find(self, name: str) -> Tariff | None:
        """The first model that the name means."""
        found = [self._equal[name]] if name in self._equal else []
        if name.startswith(self._beginnings):
            found += [n for text, n in self._begin.items() if name.startswith(text)]
        found += [n for clauses, n in self._other if all(clause.holds(name) for clause in clauses)]
        return self.vendor.models[min(found)] if found else None

    def _put(self, clauses: tuple[Clause, ...], n: int) -> None:
        first = clauses[0]
        if len(clauses) > 1 or first.kind not in ("equals", "starts_with"):
            self._other.append((clauses, n))
        else:
            (self._equal if first.kind == "equals" else self._begin).setdefault(first.text, n)


class Multiplier(msgspec.Struct, frozen=True):
    """A condition of a request that changes the price of all its tokens, but not of its searches."""

    vendor: str
    condition: Literal["service_tier", "speed", "geo"]
    value: str
    times: tuple[int, int]  # numerator, denominator
    source: str


class Limit(msgspec.Struct, frozen=True):
    """The longest output of a model; a name may end with * for all that begin so."""

    model: str
    max_output: int
    source: str


class Book(msgspec.Struct, frozen=True):
    """The whole book."""

    made_from: str
    made_on: str
    multipliers: tuple[Multiplier, ...]
    limits: tuple[Limit, ...]
    vendors: tuple[Vendor, ...]


# Made here, where one thread imports and the others wait: msgspec crashes if several look at a new type at once.
_decode = msgspec.json.Decoder(Book).decode


class OwnPrice(NamedTuple):
    """One price that a user wrote down: for which names, and what."""

    models: tuple[str, ...]
    quote: Quote


class PriceFile(NamedTuple):
    """The prices that a user wrote down."""

    prices: tuple[OwnPrice, ...] = ()
    limits: tuple[Limit, ...] = ()


@cache
def shipped_book() -> Book:
    """The book that comes with this package."""
    return _decode(_packaged(_FILE))


def _packaged(name: str) -> bytes:
    """Data beside this module, through the loader of the module: importlib.resources takes longer than the book."""
    path = __file__.removesuffix("book.py") + name
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data


_LONGEST = 200  # of a name that is looked at: logs may hold anything
_WINDOW = re.compile(r"\[[12]m\]$")
_BEDROCK = re.compile(r"(?:[a-z-]+\.)?anthropic\.(?=claude-)")
_VERSION = re.compile(r"-v\d{1,3}:\d{1,3}$")
_BEDROCK_VERSION = re.compile(r"-v\d{1,3}$")
_DATE = re.compile(r"(?:-v\d{1,3})?[-@](20\d\d)-?(\d\d)-?(\d\d)$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")
_ROUTES = {"openrouter", "bedrock", "vertex_ai", "azure", "litellm", "litellm_proxy"}


class ModelName(NamedTuple):
    """A parsed model name: vendor, model, and whether it is the fast variant."""

    vendor: str | None  # if the name says so, as the name spells it
    name: str
    is_fast: bool = False


def read_name(model: str) -> ModelName | None:
    """Parse a model's name: strip additions of clients and gateways; None if it cannot be one."""
    if len(model) > _LONGEST:
        return None
    *before, name = _WINDOW.sub("", model.strip().lower()).split("/")
    vendors = [part for part in before if part not in _ROUTES]
    if len(vendors) > 1 or not name:
        return None
    name, n_bedrock = _BEDROCK.subn("", _VERSION.sub("", name), count=1)
    if n_bedrock:
        name = _BEDROCK_VERSION.sub("", name)
    if ":" in name:  # `:free` and its like are sold at other prices
        return None
    is_fast = name.startswith("claude-") and name.endswith("-fast")
    return ModelName(
        vendors[0] if vendors else None, name.removesuffix("-fast") if is_fast else name, is_fast
    )


def spellings(name: str) -> list[str]:
    """The name, then as others spell it, then without its date: the first that has a price counts."""
    undated = _DATE.sub("", name)
    ways = [name]
    if undated != name:
        ways += [_DATE.sub(r"-\1-\2-\3", name), _DATE.sub(r"-\1\2\3", name), undated]
    if name.startswith("claude-"):
        ways = [one for way in ways for one in (way, _DOTTED.sub("-", way))]
    return list(dict.fromkeys(ways))


def is_named(pattern: str, name: str) -> bool:
    """Whether a name is the one that is written, or begins like one that ends with a star."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
