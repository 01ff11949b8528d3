"""What each session's own requests cost, stored so that lists can sort and add it up.

Rules
  1. The figures are those of `usage session`, to the last digit.
  2. The rows are written with the sums that they are made from, and at the same prices: settling at other prices
     writes all of them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC
from operator import attrgetter
from sqlite3 import Connection
from typing import Any

import msgspec

from tracklog.ledger.cost_sums import CostSum, sums_in
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.stored.query import LedgerQuery, report_of
from tracklog.model.usage import UsageReport, UsageRow
from tracklog.store.scope import Files
from tracklog.store.surrogates import as_text, storable


class SessionCost(msgspec.Struct, frozen=True, gc=False):
    """What a session's own requests came to."""

    cost_pico_usd: int | None = None  # None: not one of them has a price
    most_pico_usd: int | None = None  # at most
    is_lower_bound: bool = False
    tokens: int = 0  # all that went in and out
    output_tokens: int = 0
    unpriced_requests: int = 0
    partial_requests: int = 0
    missing_requests: int = 0
    requests: int = 0
    models: tuple[str, ...] = ()


def stored_costs(
    db: Connection, prices: Prices, wanted: RequestFilter | None = None, files: Files | None = None
) -> dict[str, SessionCost]:
    """Cost of the matching requests, by session, of all or some logs."""
    question = LedgerQuery("session", UTC, wanted or RequestFilter())
    return costs_in(report_of(db, prices, question, files)[0])


def costs_in(made: UsageReport) -> dict[str, SessionCost]:
    """Cost of each session, from a report by session."""
    sums = sums_in(made)
    return {row.key: _cost_of(row, sums[row.key]) for row in made.rows}


def _cost_of(row: UsageRow, cost: CostSum) -> SessionCost:
    least = cost.cost_pico_usd
    return SessionCost(
        cost_pico_usd=least,
        most_pico_usd=None if least is None else max(least, row.most_cost_pico_usd),
        is_lower_bound=cost.is_lower_bound,
        tokens=row.tokens.prompt + row.tokens.output,
        output_tokens=row.tokens.output,
        unpriced_requests=row.unpriced_requests,
        partial_requests=row.partial_requests,
        missing_requests=row.missing_requests,
        requests=row.requests,
        models=tuple(row.models),
    )


SUMMED_COSTS = (
    *("session", "cost_pico_usd", "most_pico_usd", "is_lower_bound", "tokens", "output_tokens"),
    *("partial_requests", "requests"),
)
_COLUMNS = ("session", *SessionCost.__struct_fields__)
_LARGEST = (1 << 63) - 1
_MARKS = ", ".join("?" * len(_COLUMNS))


def put_costs(db: Connection, costs: Mapping[str, SessionCost], *, gone: Iterable[str]) -> None:
    """Replaces the costs of some sessions, and deletes those of others."""
    db.executemany("delete from cost_rows where session = ?", [(storable(one),) for one in gone])
    rows = ([storable(session), *map(_stored, _values(one))] for session, one in costs.items())
    db.executemany(f"insert or replace into cost_rows values ({_MARKS})", rows)


def costs_at(db: Connection, sessions: Iterable[str]) -> dict[str, SessionCost]:
    """Costs of some sessions, without those that have no known cost."""
    asked = f"select {', '.join(_COLUMNS)} from cost_rows where session = ?"
    found = (db.execute(asked, (storable(one),)).fetchone() for one in dict.fromkeys(sessions))
    return {as_text(row[0]): _cost(row[1:]) for row in found if row is not None}


def cost_json(costs: Mapping[str, SessionCost]) -> str:
    """Costs as a list that SQL can read, each with SUMMED_COSTS."""
    values = attrgetter(*SUMMED_COSTS[1:])
    return json.dumps([(session, *values(one)) for session, one in costs.items()])


def _values(one: SessionCost) -> list[Any]:
    return [*(getattr(one, name) for name in _COLUMNS[1:-1]), json.dumps(one.models)]


def _stored(value: Any) -> Any:
    return min(value, _LARGEST) if isinstance(value, int) else value


def _cost(values: tuple[Any, ...]) -> SessionCost:
    made = dict(zip(_COLUMNS[1:], values, strict=True))
    made["is_lower_bound"] = bool(made["is_lower_bound"])
    made["models"] = tuple(json.loads(made["models"]))
    return SessionCost(**made)
