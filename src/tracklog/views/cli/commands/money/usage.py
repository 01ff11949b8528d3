"""`tracklog usage`: tokens and money by day, session, model and more, with bounds and an optional budget."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from tracklog.app.scope.filters import Filters, moment_meant
from tracklog.app.usage import UsageQuery
from tracklog.errors import NOT_FINE, UserError
from tracklog.model.usage import COUNT_RULES, GROUPS, CountRule, Group, UsageReport
from tracklog.views.cli.commands.money.usage_answer import SHOWN, Form, answer_usage
from tracklog.views.cli.options import shared_options, sync_option, zone_option
from tracklog.views.documents.usage import ORDERS, Order
from tracklog.views.text.numbers import BASES, PICO_IN_DOLLAR, Basis, cost_of, money
from tracklog.views.text.printing import count, talk

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


def is_passed(report: UsageReport, budget: int, basis: Basis) -> bool:
    """Whether what is certain is more than the budget, hidden spending included."""
    return (cost_of(report.total, basis).least or 0) + _hidden(report, basis) > budget


def verdict(report: UsageReport, budget: int, basis: Basis) -> str | None:
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


def _hidden(report: UsageReport, basis: Basis) -> int:
    """Spending that the clients' totals reveal; where these are the basis, they include it."""
    return 0 if basis == "stated" else sum(one.cost_pico_usd or 0 for one in report.hidden)


def _unseen(report: UsageReport) -> str:
    """Spending that the comparison leaves out."""
    n = report.total.unpriced_requests
    return f", not counting {count(n, 'unpriced request')}" if n else ""


@click.command
@click.argument("group", type=click.Choice(GROUPS), default="daily", metavar="[GROUP]")
@click.option("--since", metavar="WHEN", help="Only requests from then on: a day, a time, or 7d, 12h, 30m.")
@click.option("--until", metavar="WHEN", help="Only requests before then; a day is meant whole.")
@click.option("--project", metavar="NAME", help="Only this project: the name of its folder, or the folder.")
@click.option("--model", metavar="NAME", help="Only this model; a part of its name will do.")
@click.option(
    "--zone",
    callback=zone_option,
    metavar="NAME",
    help="Whose days: a name such as Europe/Berlin, or utc. The machine's own unless told otherwise.",
)
@click.option(
    "--cost",
    "basis",
    type=click.Choice(BASES),
    default="ours",
    show_default=True,
    help="By our prices, as the logs state it, or both with the difference.",
)
@click.option(
    "--count",
    "rule",
    type=click.Choice(COUNT_RULES),
    default="ours",
    metavar="RULE",
    help=f"Count as other tools do, to compare: {', '.join(COUNT_RULES[1:])}.",
)
@click.option("--as-model", metavar="NAME", help="What the same tokens would cost with this model.")
@click.option("--as-of", metavar="DAY", help="What they would cost at the prices of this day.")
@click.option(
    "--budget",
    callback=budget_option,
    metavar="USD",
    help="Exit with 1 if more was spent, and say by how much.",
)
@click.option(
    "--uncertain",
    "with_uncertain",
    is_flag=True,
    help="List the requests whose final count never reached the disk, with their lines.",
)
@click.option(
    "--by",
    type=click.Choice(ORDERS),
    help="The order of the rows. Unless told otherwise days by their date, all others by their cost.",
)
@click.option("--reverse", "is_reversed", is_flag=True, help="Turn the order of the rows around.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most so many rows: {SHOWN} unless told otherwise, with --json and --csv all.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows for a spreadsheet.")
@sync_option
@shared_options
def usage(
    group: Group,
    since: str | None,
    until: str | None,
    project: str | None,
    model: str | None,
    zone: tzinfo,
    basis: Basis,
    rule: CountRule,
    as_model: str | None,
    as_of: str | None,
    budget: int | None,
    with_uncertain: bool,
    by: Order | None,
    is_reversed: bool,
    limit: int | None,
    as_csv: bool,
    syncs: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Tokens and money: what was spent, and how sure that is.

    \b
    GROUP is what a row stands for:
      daily weekly monthly   a day, a week (as ISO 8601 counts them), a month
      blocks                 five hours, as Claude's plans count them; with
                           --agent codex those of Codex
      session thread         a session with its subagents; each of them apart
      model project agent tool entrypoint

    Each request to an API counts once, in whatever files it stands. `input` is what no cache held, `output` all that
    was billed, thinking included. A `+` says that it was at least so much: some requests end before their final count
    was written, and some models have no price.

    \b
    tracklog usage --since 7d
    tracklog usage session --project . --limit 10
    tracklog usage monthly --zone utc --csv > usage.csv
    tracklog usage --since 1d --budget 20
    """
    if as_csv and (as_json or with_uncertain):
        raise UserError("--csv prints rows alone: leave out --json and --uncertain, or leave out --csv")
    now = datetime.now(UTC)
    filters = Filters(
        _moment("--since", since, now=now, zone=zone),
        _moment("--until", until, now=now, zone=zone),
        project,
        model,
    )
    day = _moment("--as-of", as_of, now=now, zone=UTC)
    asked = UsageQuery(group, rule, zone, filters, as_model, day, with_uncertain)
    form = Form(as_json, as_csv, basis, by, is_reversed, limit, as_of)
    report = answer_usage(asked, form, roots=roots, agent=agent, home=home, syncs=syncs)
    if budget is not None:
        _judge(report, budget, basis)


def _judge(report: UsageReport, budget: int, basis: Basis) -> None:
    said = verdict(report, budget, basis)
    if said:
        talk(f"tracklog: {said}")
    if is_passed(report, budget, basis):
        raise click.exceptions.Exit(NOT_FINE)


def _moment(option: str, text: str | None, *, now: datetime, zone: tzinfo) -> datetime | None:
    try:
        return None if text is None else moment_meant(text, now=now, is_end=option == "--until", zone=zone)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'{option}'") from None
