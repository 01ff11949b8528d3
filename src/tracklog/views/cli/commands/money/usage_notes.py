"""Remarks below a table of numbers: how sure they are, what they leave out, what the cache saved."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo

from tracklog.app.usage import Burn, burn
from tracklog.model.usage import UsageReport, UsageRow
from tracklog.views.documents.usage import BY_TIME, UsageProvenance
from tracklog.views.text.numbers import cost_of, is_unpriced, money, saving, share, short_number, took
from tracklog.views.text.printing import count, safe, short

_NAMES_SHOWN = 3


def remarks(report: UsageReport, manner: UsageProvenance, *, now: datetime, zone: tzinfo) -> Iterator[str]:
    """Remarks for people, each a sentence of its own."""
    yield from _what_if(manner)
    if report.group == "blocks":
        yield from (_burning(row, one, zone) for row in report.rows if (one := burn(row, now)))
    yield from _uncertainty(report, manner)
    yield from _unpriced(report)
    yield from _stated(report, manner)
    yield from _untimed(report)
    yield from _hidden(report)
    yield from _inherited(report.total)
    yield from _cache(report.total, manner)
    if report.group in BY_TIME:
        yield f"Times are those of {safe(manner.zone)}; --zone NAME chooses another."


def _what_if(manner: UsageProvenance) -> Iterator[str]:
    if manner.rule != "ours":
        yield f"Counted by the rule {manner.rule}, for comparison only: it is not what was spent."
    if manner.as_model or manner.as_of:
        model = f" with {short(manner.as_model, 60)}" if manner.as_model else ""
        day = f" at the prices of {manner.as_of}, or the oldest that are known" if manner.as_of else ""
        yield f"Not what was paid, but what the same tokens would cost{model}{day}."


def _burning(row: UsageRow, burning: Burn, zone: tzinfo) -> str:
    ends = f"{burning.ends_at.astimezone(zone):%H:%M}"
    priced = not is_unpriced(row)
    rates = [f"{short_number(burning.tokens_per_minute)} tokens/min"]
    rates += [f"{money(burning.cost_pico_usd_per_hour)}/h"] if priced else []
    end = (
        money(burning.projected_cost_pico_usd)
        if priced
        else f"{short_number(burning.projected_tokens)} tokens"
    )
    return (
        f"The running block ends at {ends}, {took(burning.left_ms)} from now: {', '.join(rates)}; "
        f"if that goes on, {end} at its end."
    )


def _uncertainty(report: UsageReport, manner: UsageProvenance) -> Iterator[str]:
    cost = cost_of(report.total, manner.basis)
    n_partial, n_missing = report.total.partial_requests, report.total.missing_requests
    where = "" if report.uncertain else "; --uncertain lists "
    if n_partial:
        has = "has" if n_partial == 1 else "have"
        span = _span(report.total, cost.least, cost.most)
        yield f"{span}: {count(n_partial, 'request')} {has} no final count in the log{where and where + _them(n_partial)}."
    if n_missing:
        left = f"{count(n_missing, 'request')} left no count at all, and nothing bounds what that cost"
        yield f"{left}{where and where + _them(n_missing)}."


def _them(n: int) -> str:
    return "it" if n == 1 else "them"


def _span(total: UsageRow, least: int | None, most: int | None) -> str:
    if least is None or most is None or least == most:
        return f"Output between {total.tokens.output:,} and {total.most_output:,} tokens"
    return f"Between {money(least)} and {money(most)}"


def _unpriced(report: UsageReport) -> Iterator[str]:
    names = sorted(report.unpriced_models, key=lambda name: (-report.unpriced_models[name], name))
    if not names:
        return
    told = ", ".join(f"{short(name, 40)} ({report.unpriced_models[name]:,})" for name in names[:_NAMES_SHOWN])
    more = f" and {count(len(names) - _NAMES_SHOWN, 'other')}" if len(names) > _NAMES_SHOWN else ""
    n = count(sum(report.unpriced_models.values()), "request")
    yield f"{n} without a known price: {told}{more}; `tracklog prices` says how to add one."


def _stated(report: UsageReport, manner: UsageProvenance) -> Iterator[str]:
    total = report.total
    if manner.basis != "ours" and total.stated_requests < total.requests:
        where = (
            "" if report.group == "session" else ", and late ones only for whole sessions: `usage session`"
        )
        yield (
            f"The logs state the cost of {total.stated_requests:,} of {count(total.requests, 'request')}: "
            f"most clients write none{where}."
        )


def _untimed(report: UsageReport) -> Iterator[str]:
    if report.untimed_requests:
        yield f"{count(report.untimed_requests, 'request')} left out by --since or --until: no log says when."


def _hidden(report: UsageReport) -> Iterator[str]:
    if not report.hidden:
        return
    costs = [one.cost_pico_usd for one in report.hidden if one.cost_pico_usd is not None]
    n_tokens = sum(one.tokens.prompt + one.tokens.output for one in report.hidden)
    much = f"{money(sum(costs))} more" if costs else f"{short_number(n_tokens)} more tokens"
    sessions = count(len({one.session for one in report.hidden}), "session")
    kinds = dict.fromkeys(one.what for one in report.hidden)
    told = "; ".join(short(kind, 60) for kind in list(kinds)[:_NAMES_SHOWN])
    yield f"Hidden: {much} in {sessions}, in no row above: {told}. --json lists it."


def _inherited(total: UsageRow) -> Iterator[str]:
    if total.inherited_requests == 1:
        yield "1 copy of a request stands in another session: it counts where it was made."
    elif total.inherited_requests:
        n = f"{total.inherited_requests:,}"
        yield f"{n} copies of requests stand in other sessions: they count where they were made."


def _cache(total: UsageRow, manner: UsageProvenance) -> Iterator[str]:
    if not total.tokens.cache_read:
        return
    text = f"{share(total.tokens.cache_read, total.tokens.prompt)} of the prompts came from the cache"
    saved = saving(total)
    if manner.basis == "stated" or is_unpriced(total) or not saved:
        yield f"{text}."
    elif saved > 0:
        yield f"{text}: {money(saved)} saved."
    else:
        yield f"{text}; all in all, caching cost {money(-saved)} more than it saved."
