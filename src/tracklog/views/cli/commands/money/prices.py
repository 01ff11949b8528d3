"""`tracklog prices`: what a model costs, since when, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import click

from tracklog.app.prices import (
    STANDARD_TERMS,
    Multiplier,
    PriceListEntry,
    Prices,
    PriceTier,
    Quote,
    load_prices,
    own_prices_path,
    price_list,
)
from tracklog.errors import NotThere
from tracklog.home import tilde
from tracklog.views.cli.options import A_PATH, home_option, json_option
from tracklog.views.documents.prices import clock_words, prices_document, why_unpriced
from tracklog.views.text.printing import answer, answer_json, count, safe

# Lazy imports: rich takes longer to load than most answers, and --json needs none of it.

_HEADS = ("input", "output", "read", "5m", "1h")
_OWN = "your own"


@click.command
@click.argument("model", required=False)
@click.option(
    "--prices", "file", type=A_PATH, metavar="FILE", help="Your own prices, instead of prices.toml."
)
@click.option("--check", is_flag=True, help="Only say whether the file of your own prices is right.")
@click.option("--path", "only_path", is_flag=True, help="Only say where your own prices are looked for.")
@home_option
@json_option
def prices(
    model: str | None, file: Path | None, check: bool, only_path: bool, home: Path | None, as_json: bool
) -> None:
    """What models cost, since when, and who says so.

    MODEL is a name as it stands in a log, or a part of one; without it all models are listed. Prices are dollars for
    a million tokens: input, output, reads of the cache, writes to it for 5 minutes and for an hour. They come with
    tracklog and are used by date. A model that is not among them is unpriced, never free.

    Your own prices stand in prices.toml in tracklog's home, and count before all others:

    \b
    [[price]]
    model = "my-gateway-model"     # * at the end stands for anything
    input = 0.60
    output = 2.20
    cache_read = 0.11              # else as input; also cache_write, cache_write_1h
    since = 2026-03-13             # if it was another price before

    \b
    tracklog prices claude-opus-5-5
    tracklog prices gpt --json
    tracklog prices --check --prices new.toml
    """
    path = file or own_prices_path(home)
    if only_path:
        _answer_path(path, as_json=as_json)
        return
    known = load_prices(home, file)
    if check:
        _answer_check(path, known, as_json=as_json)
        return
    models = price_list(known, model)
    if as_json:
        answer_json(prices_document(models, known))
    if model is not None and not models:
        raise NotThere(why_unpriced(model, path))
    if not as_json:
        _show(models, known, is_one=model is not None and len(models) == 1)


def _answer_path(path: Path, *, as_json: bool) -> None:
    if as_json:
        answer_json({"path": str(path), "exists": path.exists()})
    else:
        answer(safe(str(path)))


def _answer_check(path: Path, known: Prices, *, as_json: bool) -> None:
    """Only for a file without a mistake, or none."""
    own, exists = known.own.prices, path.exists()
    if as_json:
        answer_json({"path": str(path), "exists": exists, "prices": len(own)})
    elif exists:
        answer(f"{safe(tilde(path))} is right: {count(len(own), 'price')}")
    else:
        answer(f"{safe(tilde(path))} does not exist: you have no prices of your own")


def _show(models: Sequence[PriceListEntry], known: Prices, *, is_one: bool) -> None:
    from tracklog.views.cli.output.drawing import line, painted

    if is_one:
        _show_one(models[0], known)
    else:
        _show_all(models)
    line()
    line(painted("dollars for a million tokens; read, 5m and 1h are of the cache", "dim"))
    line(painted(f"from {known.book.made_from}, as of {known.book.made_on}, if nothing else is said", "dim"))


def _show_all(models: Sequence[PriceListEntry]) -> None:
    """Today's standard price of each, by vendor."""
    from tracklog.views.cli.output.drawing import line, painted, table

    today = datetime.now(UTC).date().isoformat()
    width = max(len(one.model) for one in models)
    for vendor, group in groupby(models, key=lambda one: one.vendor or _OWN):
        line(painted(vendor, "bold"))
        rows = [(one.model, *_today(one.quotes, today)) for one in group]
        table([("".ljust(width), *_HEADS, ""), *rows], "<>>>>><", gives_way=0)


def _today(quotes: Iterable[Quote], today: str) -> tuple[str, ...]:
    plain = [one for one in quotes if one.hours is None and (one.since or "") <= today]
    standard = [one for one in plain if one.terms == STANDARD_TERMS] or plain
    if not standard:
        return ("",) * (len(_HEADS) + 1)
    steps = standard[-1].steps
    return (*_dollars(steps[0]), f"{_above(steps[1])}: more" if len(steps) > 1 else "")


def _show_one(one: PriceListEntry, known: Prices) -> None:
    """Show all that is known about its price."""
    from tracklog.views.cli.output.drawing import line, painted, paragraphs, table

    most = f"  at most {one.max_output:,} tokens of output" if one.max_output else ""
    line(painted(one.model, "bold"), f"  {one.vendor or _OWN}{most}")
    rows = [row for quote in one.quotes for row in _quote_lines(quote)]
    table([("", "since", "prompt", *_HEADS, "search"), *rows], "<<>>>>>>>", gives_way=0)
    others = [(_words(quote), quote.source) for quote in one.quotes if quote.source]
    rules = [_rule(rule) for rule in known.book.multipliers if rule.vendor == one.vendor]
    if others or rules:
        line()
        paragraphs([(f"  {words}", source) for words, source in dict.fromkeys((*others, *rules))])


def _quote_lines(quote: Quote) -> list[tuple[str, ...]]:
    first, *others = quote.steps
    since = quote.since or "always"
    when = "-".join(map(clock_words, quote.hours)) if quote.hours else since
    search = _money(first.web_search // 10**6) if first.web_search else ""
    return [
        (quote.terms, when, "", *_dollars(first), search),
        *(("", "", _above(step), *_dollars(step), "") for step in others),
    ]


def _words(quote: Quote) -> str:
    return f"{quote.terms} since {quote.since}" if quote.since else quote.terms


def _rule(rule: Multiplier) -> tuple[str, str]:
    times = rule.times[0] / rule.times[1]
    return f"{rule.condition} {rule.value}: × {times:g}", rule.source


def _dollars(step: PriceTier) -> tuple[str, ...]:
    rates = (step.input, step.output, step.cache_read, step.cache_write_5m, step.cache_write_1h)
    return tuple(map(_money, rates))


def _money(micro_usd: int) -> str:
    """At least cents, and all that is finer."""
    whole, rest = divmod(micro_usd, 10**6)
    cents = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{whole:,}.{cents}"


def _above(step: PriceTier) -> str:
    return f"> {step.above // 1000}k" if step.above % 1000 == 0 else f"> {step.above:,}"
