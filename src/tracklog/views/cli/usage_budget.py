"""A budget: a sum of dollars, and what is to be said when it is passed."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import click

from tracklog.errors import UserError
from tracklog.model.ledger_values import Report
from tracklog.views.cli.printing import count
from tracklog.views.cli.usage_numbers import PICO_IN_DOLLAR, Basis, cost_of, money

_MOST = Decimal(10) ** 12  # dollars; more is a slip of the finger


def budget_option(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """The pico-dollars behind --budget."""
    if text is None:
        return None
    try:
        dollars = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or not 0 <= dollars < _MOST:
        raise click.BadParameter(f"{text!r} is no sum of dollars: give a number such as 20 or 7.50")
    return int(dollars * PICO_IN_DOLLAR)


def is_passed(report: Report, budget: int, basis: Basis) -> bool:
    """Whether what is certain is more than the budget, hidden spending included."""
    return (cost_of(report.total, basis).least or 0) + _hidden(report, basis) > budget


def verdict(report: Report, budget: int, basis: Basis) -> str | None:
    """One line that says by how much a budget is passed, or that it may be; nothing if all is well."""
    if basis == "stated" and report.total.requests and not report.total.stated_requests:
        raise UserError("no log states a cost, so no budget can be compared with it: leave out --cost stated")
    cost, hidden = cost_of(report.total, basis), _hidden(report, basis)
    least, most = (cost.least or 0) + hidden, (cost.most or 0) + hidden
    asked = f"the budget of {_as_given(budget)}"
    if least > budget:
        bound = "" if most == least else f", at most {money(most)}"
        over = f"{asked} is passed by {money(least - budget)}"
        return f"{over}: {money(least)} was spent{bound}{_unseen(report)}"
    if most > budget:
        return f"{asked} may be passed: between {money(least)} and {money(most)} was spent"
    unseen = _unseen(report)
    return f"{asked} is kept{unseen}" if unseen else None


def _as_given(budget: int) -> str:
    """To the cent, or to the last digit where it is finer."""
    dollars = Decimal(budget) / PICO_IN_DOLLAR
    return f"${dollars:,.2f}" if dollars == round(dollars, 2) else f"${dollars.normalize():,f}"


def _hidden(report: Report, basis: Basis) -> int:
    """What the clients' totals reveal; where these are the basis, it is in them already."""
    return 0 if basis == "stated" else sum(one.cost_pico_usd or 0 for one in report.hidden)


def _unseen(report: Report) -> str:
    """What the comparison leaves out."""
    n = report.total.unpriced_requests
    return f", not counting {count(n, 'unpriced request')}" if n else ""
