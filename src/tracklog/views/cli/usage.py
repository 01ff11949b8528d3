"""`tracklog usage`: tokens and money, by day, session, model and more, with the bounds of what is not certain."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from pathlib import Path

import click

from tracklog.errors import UserError
from tracklog.model.ledger_values import COUNT_RULES, GROUPS, CountRule, Group, Report
from tracklog.views.cli.ending import NOT_FINE
from tracklog.views.cli.filters import Filters, moment_meant
from tracklog.views.cli.options import shared_options, sync_option
from tracklog.views.cli.printing import talk
from tracklog.views.cli.usage_answer import SHOWN, Form, answer_usage
from tracklog.views.cli.usage_budget import budget_option, is_passed, verdict
from tracklog.views.cli.usage_numbers import BASES, Basis
from tracklog.views.cli.usage_reading import Asked
from tracklog.views.cli.usage_rows import ORDERS, Order
from tracklog.views.cli.usage_zone import zone_option


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
    asked = Asked(group, rule, zone, filters, as_model, day, with_uncertain)
    form = Form(as_json, as_csv, basis, by, is_reversed, limit, as_of)
    report = answer_usage(asked, form, roots=roots, agent=agent, home=home, syncs=syncs)
    if budget is not None:
        _judge(report, budget, basis)


def _judge(report: Report, budget: int, basis: Basis) -> None:
    said = verdict(report, budget, basis)
    if said:
        talk(f"tracklog: {said}")
    if is_passed(report, budget, basis):
        raise click.exceptions.Exit(NOT_FINE)


def _moment(option: str, text: str | None, *, now: datetime, zone: tzinfo) -> datetime | None:
    try:
        return None if text is None else moment_meant(text, now=now, is_end=option == "--until", zone=zone)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is no time: give a day such as 2026-03-01, or 7d, 12h, 30m", param_hint=f"'{option}'"
        ) from None
