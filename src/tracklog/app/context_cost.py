"""What it cost to send each thing of a conversation along again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionReader
from tracklog.app.session.show import costs_of
from tracklog.app.talk import QUIET, Talk
from tracklog.ledger.context_cost import KINDS as KINDS
from tracklog.ledger.context_cost import THINGS, carried, contents_of
from tracklog.ledger.context_cost import Kind as Kind
from tracklog.ledger.context_cost import Thing as Thing
from tracklog.ledger.cost_sums import CostSum
from tracklog.model.session import Session


class ContextReport(NamedTuple):
    """The items that the prompts of a session consisted of."""

    session: Session
    things: list[Thing]
    cost: CostSum

    @property
    def listed(self) -> list[Thing]:
        """Items of a log that were read at least once, most expensive first."""
        return [thing for thing in self.things if thing.kind in THINGS and thing.n_reads]

    @property
    def prompts_pico_usd(self) -> int | None:
        """Cost of all prompts."""
        return cost_of_things(self.things)

    def of_kind(self, kind: Kind) -> list[Thing]:
        """Items of a kind that were read at least once."""
        return [thing for thing in self.things if thing.kind == kind and thing.n_reads]


def context_report(
    session: str,
    roots: Sequence[Path],
    *,
    agent: str | None,
    filters: Filters,
    home: Path | None,
    talk: Talk = QUIET,
) -> ContextReport:
    """The items of the prompts of the session that a person means."""
    reader = SessionReader(roots, agent=agent, filters=filters, home=home, talk=talk)
    found = reader.named(session)
    costs = costs_of(reader, found, home)
    things = carried(found, contents_of(reader.files_of(found)[0]), costs.spent())
    return ContextReport(found, things, costs.sum)


def cost_of_things(things: Iterable[Thing]) -> int | None:
    """The cost of items together; None if no request that read them has a price."""
    read = [thing for thing in things if thing.n_reads]
    if all(thing.n_unpriced_reads == thing.n_reads for thing in read):
        return None
    return sum(thing.cost_pico_usd for thing in read)
