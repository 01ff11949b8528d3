"""What sessions, threads and requests cost, for the commands that show them.

Rules of this room
  1. Only what is shown is asked for: the logs of these sessions are searched, and of those that share history with them.
  2. What has no price is null in documents and silence for people. A lower bound says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.model.request_costs import NOTHING, RequestCost, Sum, sum_of, sums_by_session
from tracklog.model.tokens import Tokens
from tracklog.views.cli.own_prices import load_prices
from tracklog.views.cli.progress import progress
from tracklog.views.cli.usage_numbers import PICO_IN_MICRO, micro, money

if TYPE_CHECKING:
    from tracklog.model.session import Session
    from tracklog.pipeline.request_costs import Costs
    from tracklog.views.cli.filters import Filters
    from tracklog.views.cli.session_rows import Row
    from tracklog.views.cli.stories import Stories


def costs_of(stories: Stories, session: Session, home: Path | None) -> Costs:
    """What the requests of a session cost that was read."""
    from tracklog.pipeline.request_costs import Costs  # all readers come with it

    return Costs(session, stories.files_of(session), load_prices(home))


def add_costs(rows: Sequence[Row], stories: Stories, home: Path | None, filters: Filters) -> None:
    """Writes into the rows of sessions what each of them cost, in whole and in the period that is asked for."""
    from tracklog.pipeline.spending import spent_in  # all readers come with it

    files = stories.files_of_all({(row["agent"], row["id"]) for row in rows})
    done = 0

    def tell(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes

    total = sum(file.size for one in files for file in one.files)
    with progress("pricing", total, done=lambda: done):
        ledger, prices = spent_in(files, on_bytes=tell), load_prices(home)
    sums = sums_by_session(ledger, prices)
    in_period = sums_by_session(ledger, prices, filters.requests_meant) if filters.has_period else None
    for row in rows:
        row |= cost_row(sums.get(row["id"], Sum())) | period_row(row["id"], in_period)


def cost_row(cost: Sum) -> Row:
    """The fields of a document that say what something cost."""
    return {"cost_micro_usd": micro(cost.cost_pico_usd), "cost_is_lower_bound": cost.is_lower_bound}


def period_row(session: str, sums: Mapping[str, Sum] | None) -> Row:
    """The fields that say what a session cost in a period; null where none was asked for."""
    if sums is None:
        return {"period_cost_micro_usd": None, "period_cost_is_lower_bound": None}
    spent = sums.get(session, NOTHING)
    return {
        "period_cost_micro_usd": micro(spent.cost_pico_usd),
        "period_cost_is_lower_bound": spent.is_lower_bound,
    }


def spent_row(costs: Sequence[RequestCost]) -> Row:
    """What a request used and cost; null where the log does not say, or where it is another session's."""
    if not costs:
        return {"tokens": None, "certainty": None, **cost_row(Sum())}
    grades = {cost.entry.certainty for cost in costs}
    certainty = next(grade for grade in ("missing", "partial", "final") if grade in grades)
    tokens = None if certainty == "missing" else _tokens_row([cost.entry.tokens for cost in costs])
    return {"tokens": tokens, "certainty": certainty, **cost_row(sum_of(costs))}


def _tokens_row(tokens: Iterable[Tokens]) -> Row:
    names = Tokens.__struct_fields__
    sums = dict.fromkeys(names, 0)
    for one in tokens:
        for name in names:
            sums[name] += getattr(one, name)
    return {name if name == "web_searches" else f"{name}_tokens": n for name, n in sums.items()}


def cost_words(cost: Sum) -> str:
    """What something cost, for people: `$0.42`, `≥$0.42`; nothing where nothing has a price."""
    if cost.cost_pico_usd is None:
        return ""
    return f"{'≥' if cost.is_lower_bound else ''}{money(cost.cost_pico_usd)}"


def cost_in(row: Row) -> str:
    """The same, from the row of a document."""
    return _cost_words_of(row["cost_micro_usd"], is_lower_bound=row["cost_is_lower_bound"])


def period_cost_in(row: Row) -> str:
    """What a session cost in a period, for people."""
    return _cost_words_of(row["period_cost_micro_usd"], is_lower_bound=row["period_cost_is_lower_bound"])


def _cost_words_of(micros: int | None, *, is_lower_bound: bool) -> str:
    return cost_words(Sum(None if micros is None else micros * PICO_IN_MICRO, is_lower_bound))
