"""Costs of single requests, and their sums for a session or a thread.

Rules
  1. A request without a price costs None, never 0; a sum of such is None, too.
  2. A sum says when it is a lower bound: a request in it has no price, no final count or no count at all, or the log
     reveals spending that no request shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from typing import NamedTuple

from tracklog.clock import NO_TIME, moment_ms
from tracklog.ledger.context_window import PricedUsage, PromptRates
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices, Rates, cost_pico_usd
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.report import all_entries, report
from tracklog.model.usage import STANDARD, Certainty, Entry, Terms, Tokens, UsageReport, UsageRow


class CostSum(NamedTuple):
    """The cost of some requests. None: not one of them has a price."""

    cost_pico_usd: int | None = None
    is_lower_bound: bool = False


NOTHING = CostSum(0)
_GRADES: tuple[Certainty, ...] = ("missing", "partial", "final")  # the least certain first


class RequestCost(NamedTuple):
    """A request as the ledger has it, and its price."""

    entry: Entry
    rates: Rates | None
    cost_pico_usd: int | None

    @property
    def spent(self) -> PricedUsage | None:
        """Its usage, to explain what its prompt consisted of."""
        if self.entry.certainty == "missing":
            return None
        rates = _prompt_rates(self.rates, self.entry.tokens) if self.rates is not None else None
        return PricedUsage(self.entry.tokens, is_final=self.entry.certainty == "final", rates=rates)


class RequestSpending(NamedTuple):
    """What a request used and cost, from all its parts."""

    tokens: Tokens | None = None  # None: the log does not say, or it is another session's request
    certainty: Certainty | None = None
    cost: CostSum = CostSum()


def spending_of(costs: Sequence[RequestCost]) -> RequestSpending:
    """What a request in these parts used and cost; the least certain part decides how certain that is."""
    if not costs:
        return RequestSpending()
    grades = {cost.entry.certainty for cost in costs}
    certainty = next(grade for grade in _GRADES if grade in grades)
    parts = [cost.entry.tokens for cost in costs]
    tokens = None if certainty == "missing" else parts[0] if len(parts) == 1 else _added(parts)
    return RequestSpending(tokens, certainty, sum_of(costs))


def _added(parts: Sequence[Tokens]) -> Tokens:
    names = Tokens.__struct_fields__
    return Tokens(*(sum(getattr(one, name) for one in parts) for name in names))


def request_costs(ledger: Ledger, prices: Prices) -> Iterator[RequestCost]:
    """All requests of a ledger with their prices, in its order; then those that were only waited for."""
    for entry in all_entries(ledger, prices):
        is_known = entry.certainty != "missing"
        rates = _rates(prices, entry, entry.model, entry.terms) if is_known else None
        cost = cost_pico_usd(entry.tokens, rates) + _beside(prices, entry) if rates is not None else None
        yield RequestCost(entry, rates, cost)


def sum_of(costs: Iterable[RequestCost]) -> CostSum:
    """The sum over requests."""
    priced, is_lower_bound = [], False
    for one in costs:
        is_lower_bound |= one.entry.certainty != "final" or one.cost_pico_usd is None
        if one.cost_pico_usd is not None:
            priced.append(one.cost_pico_usd)
    return CostSum(sum(priced), is_lower_bound) if priced else CostSum()


def sums_by_session(
    ledger: Ledger, prices: Prices, wanted: RequestFilter | None = None
) -> dict[str, CostSum]:
    """Cost of each session's own requests: all of them, or those that match a filter."""
    return sums_in(report(ledger, prices, "session", zone=UTC, wanted=wanted))


def sums_in(made: UsageReport) -> dict[str, CostSum]:
    """The same, from a report by session."""
    hiding = {one.session for one in made.hidden}
    return {row.key: _sum(row, has_hidden=row.key in hiding) for row in made.rows}


def _sum(row: UsageRow, *, has_hidden: bool) -> CostSum:
    if row.requests <= row.unpriced_requests + row.missing_requests and not row.cost_pico_usd:
        return CostSum()
    is_uncertain = row.partial_requests or row.missing_requests or row.unpriced_requests
    return CostSum(row.cost_pico_usd, bool(is_uncertain) or has_hidden)


def _beside(prices: Prices, entry: Entry) -> int:
    """Cost of the advisors that the model asked within the request."""
    advice = [one for one in entry.beside if one.what == "advisor"]
    rates = ((_rates(prices, entry, one.model, STANDARD), one.tokens) for one in advice)
    return sum(cost_pico_usd(tokens, rate) for rate, tokens in rates if rate is not None)


def _rates(prices: Prices, entry: Entry, model: str | None, terms: Terms) -> Rates | None:
    at_ms = moment_ms(entry.at)
    return prices.rates(model, None if at_ms == NO_TIME else at_ms, terms)


def _prompt_rates(rates: Rates, tokens: Tokens) -> PromptRates:
    while rates.above is not None and rates.higher is not None and tokens.prompt > rates.above:
        rates = rates.higher
    return PromptRates(rates.input, rates.cache_read, rates.cache_write_5m, rates.cache_write_1h)
