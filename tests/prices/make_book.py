"""Makes the price book that ships with tracklog: genai-prices' own data, then our overrides.

python -m tests.prices.make_book            writes src/tracklog/ledger/prices/data/price_book.json
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import genai_prices
import msgspec
from genai_prices import types
from genai_prices.data import providers

from tracklog.ledger.prices.book import (
    Book,
    Clause,
    Limit,
    Match,
    Multiplier,
    OwnPrice,
    PriceTier,
    Quote,
    Tariff,
    Vendor,
    matches,
)
from tracklog.ledger.prices.user_file import prices_of

DATA = Path(__file__).parents[2] / "src/tracklog/ledger/prices/data"
BOOK = DATA / "price_book.json"
OVERRIDES = DATA / "price_overrides.toml"

# The vendors whose models are met behind Claude Code and Codex, and what stands before the slash in gateways' names.
# Z.ai before Zhipu: both sell GLM, and it is the first that has an endpoint for Claude Code outside of China.
VENDORS = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "google": ("google", "gemini"),
    "deepseek": ("deepseek", "deepseek-ai"),
    "moonshotai": ("moonshotai", "moonshot"),
    "minimax": ("minimax", "minimaxai"),
    "zai": ("z-ai", "zai", "zai-org"),
    "zhipuai": ("zhipuai", "zhipu"),
    "x-ai": ("x-ai", "xai"),
    "mistral": ("mistralai", "mistral"),
    "meta": ("meta",),
    "cohere": ("cohere",),
}
QWEN = "qwen"  # Alibaba's own prices are not in genai-prices; OpenRouter's for its models are
_MORE_NAMES = {
    "openai": ("codex-mini", "chatgpt-"),
    "zai": ("glm-",),
}
_CONTEXTS = {  # the word of ours -> how genai-prices asks for it
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "fast": {"service_tier": "fast"},
}
_BY_MULTIPLIER = {
    ("anthropic", "batch")
}  # half of all its prices: a rule of ours, tests/ledger/prices/test_prices.py
_KINDS = {
    types.ClauseEquals: "equals",
    types.ClauseStartsWith: "starts_with",
    types.ClauseEndsWith: "ends_with",
    types.ClauseContains: "contains",
    types.ClauseRegex: "regex",
}


def make_book() -> Book:
    """The book, as of the day of the one that stands there if nothing else is new."""
    overrides = tomllib.loads(OVERRIDES.read_text("utf-8"), parse_float=Decimal)
    book = Book(
        made_from=f"genai-prices {genai_prices.__version__}",
        made_on=datetime.now(UTC).date().isoformat(),
        multipliers=tuple(msgspec.convert(overrides["multiplier"], list[Multiplier])),
        limits=tuple(_limits(overrides["limit"])),
        vendors=tuple(_overridden(list(_vendors()), _own_prices(overrides))),
    )
    standing = msgspec.json.decode(BOOK.read_bytes(), type=Book) if BOOK.exists() else book
    same = msgspec.structs.replace(book, made_on=standing.made_on)
    return same if same == standing else book


def written(book: Book) -> str:
    """The book as JSON with one model on each line, so that a change can be read."""
    head = {key: value for key, value in msgspec.to_builtins(book).items() if key != "vendors"}
    lines = [json.dumps(head, ensure_ascii=False)[:-1] + ', "vendors": [']
    for n, vendor in enumerate(book.vendors):
        front = {key: value for key, value in msgspec.to_builtins(vendor).items() if key != "models"}
        lines.append(f"{',' * bool(n)}{json.dumps(front, ensure_ascii=False)[:-1]}, " + '"models": [')
        models = [msgspec.json.encode(model).decode() for model in vendor.models]
        lines += [",\n".join(models), "]}"]
    return "\n".join([*lines, "]}\n"])


def _vendors() -> Iterator[Vendor]:
    by_id = {provider.id: provider for provider in providers}
    for id, aliases in VENDORS.items():
        provider = by_id[id]
        named = () if provider.model_match is None else _alternatives(provider.model_match)
        more = tuple((Clause("starts_with", text),) for text in _MORE_NAMES.get(id, ()))
        own = [model for model in provider.models if id == "anthropic" or "claude" not in model.id]
        models = [_tariff(id, model) for model in own if _is_sold_by_token(model)]
        yield Vendor(id, aliases, named + more, tuple(_found_by_id(models)))
    match: Match = ((Clause("starts_with", QWEN),),)
    yield Vendor(QWEN, (QWEN, "alibaba"), match, tuple(_qwen(by_id["openrouter"])))


def _qwen(openrouter: types.Provider) -> Iterator[Tariff]:
    source = f"genai-prices {genai_prices.__version__}: OpenRouter"
    for model in openrouter.models:
        if model.id.startswith(f"{QWEN}/") and _is_sold_by_token(model):
            tariff = _tariff("openrouter", model)
            yield Tariff(
                id=_bare(tariff.id),
                match=tuple(tuple(Clause(c.kind, _bare(c.text)) for c in both) for both in tariff.match),
                quotes=tuple(msgspec.structs.replace(quote, source=source) for quote in tariff.quotes),
            )


def _bare(name: str) -> str:
    return name.removeprefix(f"{QWEN}/")


def _found_by_id(models: list[Tariff]) -> Iterator[Tariff]:
    """Some models of genai-prices do not go by their own id."""
    for model in models:
        is_found = any(matches(other.match, model.id.lower()) for other in models)
        own: Match = () if is_found else ((Clause("equals", model.id.lower()),),)
        yield msgspec.structs.replace(model, match=(*model.match, *own))


def _is_sold_by_token(model: types.ModelInfo) -> bool:
    """Models by the hour or the page are left out, and those that only a gateway or their owner can use."""
    return ":" not in model.id and all(
        prices.input_mtok is not None and prices.output_mtok is not None for _, prices in _periods(model)
    )


def _tariff(vendor: str, model: types.ModelInfo) -> Tariff:
    standard = tuple(Quote(_steps(prices), *_when(constraint)) for constraint, prices in _periods(model))
    others = [
        quote for word in _CONTEXTS if (vendor, word) not in _BY_MULTIPLIER for quote in _on(word, model)
    ]
    return Tariff(model.id, _alternatives(model.match), (*standard, *others))


def _periods(model: types.ModelInfo) -> list[tuple[Any, types.ModelPrice]]:
    if isinstance(model.prices, types.ModelPrice):
        return [(None, model.prices)]
    return [(one.constraint, one.prices) for one in model.prices]


def _when(constraint: Any) -> tuple[str | None, tuple[int, int] | None]:
    if constraint is None:
        return None, None
    if isinstance(constraint, types.StartDateConstraint):
        return constraint.start_date.isoformat(), None
    start, end = (
        time.hour * 3600 + time.minute * 60 for time in (constraint.start_time, constraint.end_time)
    )
    return None, (start, end)


def _on(word: str, model: types.ModelInfo) -> Iterator[Quote]:
    """The model's prices on these terms.

    genai-prices dates them by the day when somebody looked. We take them to hold for as long as the standard price
    has been what it was on that day: what a tier costs moves with it.
    """
    variants = [
        one for one in model.price_variants or () if one.when == _CONTEXTS[word] and one.prices.__dict__
    ]
    for constraint, prices in _periods(model) if variants else ():
        assert not isinstance(constraint, types.TimeOfDateConstraint), f"{model.id}: terms and hours"
        since, _ = _when(constraint)
        own = [one for one in variants if _standard_on(model, one.constraint) is prices]
        if own:
            merged = dict(prices.__dict__)
            for variant in reversed(own):
                merged.update(
                    {key: price for key, price in variant.prices.__dict__.items() if price is not None}
                )
            yield Quote(_steps(types.ModelPrice(**merged)), since, terms=word)


def _standard_on(model: types.ModelInfo, looked_at: Any) -> types.ModelPrice:
    day = (
        datetime.max.replace(tzinfo=UTC)
        if looked_at is None
        else datetime.combine(looked_at.start_date, datetime.min.time(), UTC)
    )
    return model.get_prices(day)


def _steps(prices: types.ModelPrice) -> tuple[PriceTier, ...]:
    tiered = [price for price in prices.__dict__.values() if isinstance(price, types.TieredPrices)]
    starts = sorted({0, *(tier.start for price in tiered for tier in price.tiers)})
    return tuple(_step(prices, start) for start in starts)


def _step(prices: types.ModelPrice, above: int) -> PriceTier:
    def mtok(key: str, default: int) -> int:
        price = _at(getattr(prices, key), above)
        return default if price is None else _whole(price * 10**6)

    input = mtok("input_mtok", 0)
    write = mtok("cache_write_mtok", input)
    return PriceTier(
        above=above,
        input=input,
        output=mtok("output_mtok", 0),
        cache_read=mtok("cache_read_mtok", input),
        cache_write_5m=write,
        cache_write_1h=mtok("cache_write_1h_mtok", write),
        web_search=_whole((_at(prices.web_searches_kcount, above) or Decimal(0)) * 10**9),
    )


def _at(price: Decimal | types.TieredPrices | None, above: int) -> Decimal | None:
    if isinstance(price, types.TieredPrices):
        return next((tier.price for tier in reversed(price.tiers) if above >= tier.start), price.base)
    return price


def _whole(price: Decimal) -> int:
    assert price == int(price), f"{price} is no whole number of pico-dollars"
    return int(price)


def _alternatives(clause: Any) -> Match:
    """Any nesting of and and or as: any of these, of each of which all must hold."""
    if isinstance(clause, types.ClauseOr):
        return tuple(both for part in clause.or_ for both in _alternatives(part))
    if isinstance(clause, types.ClauseAnd):
        joined: Match = ((),)
        for part in clause.and_:
            joined = tuple(left + right for left in joined for right in _alternatives(part))
        return joined
    kind = _KINDS[type(clause)]
    text = getattr(clause, kind)
    return ((msgspec.convert([kind, text if kind == "regex" else text.lower()], Clause),),)


def _own_prices(overrides: Mapping[str, Any]) -> tuple[OwnPrice, ...]:
    document = {"price": overrides["price"]}
    return prices_of(document, OVERRIDES.read_text("utf-8"), where=OVERRIDES.name).prices


def _overridden(vendors: list[Vendor], own: tuple[OwnPrice, ...]) -> Iterator[Vendor]:
    """Our prices are behind the others, so they count; a model that is new is Anthropic's."""
    quotes: dict[str, list[Quote]] = {}
    for price in own:
        for model in price.models:
            quotes.setdefault(model, []).append(price.quote)
    for vendor in vendors:
        known = [
            msgspec.structs.replace(model, quotes=(*model.quotes, *quotes.pop(model.id, ())))
            for model in vendor.models
        ]
        new = [
            Tariff(id, ((Clause("equals", id),),), tuple(more))
            for id, more in (list(quotes.items()) if vendor.id == "anthropic" else ())
            if id not in {model.id for other in vendors for model in other.models}
        ]
        yield msgspec.structs.replace(vendor, models=(*known, *new))


def _limits(tables: list[Mapping[str, Any]]) -> Iterator[Limit]:
    for table in tables:
        models = table["model"] if isinstance(table["model"], list) else [table["model"]]
        for model in models:
            yield Limit(model, table["max_output"], table["source"])


def main() -> int:
    """Writes the book."""
    book = make_book()
    BOOK.write_text(written(book), "utf-8")
    models = sum(len(vendor.models) for vendor in book.vendors)
    print(f"{BOOK.name}: {models} models from {book.made_from} and {OVERRIDES.name}, as of {book.made_on}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
