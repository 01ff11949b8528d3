"""The index, open for anybody's questions."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tracklog.app.index.open import indexed, why_as_before, why_there_is_none
from tracklog.app.prices import load_prices
from tracklog.app.talk import QUIET, Talk
from tracklog.home import Busy, NotWritable
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.tables import entry_costs
from tracklog.ledger.stored.tables_names import has_unnamed
from tracklog.sql.ask import Cost, lay_out, put_costs
from tracklog.store.database import Database, DiskFull
from tracklog.views.text.numbers import micro

_LARGEST = 2**63 - 1  # that a column can hold: only figures that nobody can have paid cost more
_OF_THE_LEDGER = {"ledger", "costs"}


@contextmanager
def index_to_ask(
    roots: Sequence[Path], *, home: Path | None, views: Collection[str], syncs: bool, talk: Talk = QUIET
) -> Iterator[sqlite3.Connection]:
    """The index with what these views need, and in them what stands in the roots."""
    with indexed(roots, home=home, talk=talk, syncs=syncs, makes=syncs) as index:
        if index is None:
            raise why_there_is_none(home)
        db = index.database.db
        if _OF_THE_LEDGER & set(views):
            prices = load_prices(home)
            _count(index.database, prices, talk)
            if "costs" in views:
                put_costs(db, _costs(db, prices))
        lay_out(db, index.scope)
        yield db


def _count(database: Database, prices: Prices, talk: Talk) -> None:
    """Brings the ledger up to the logs that the index knows."""
    from tracklog.ledger.stored.freshness import is_settled

    if is_settled(database.db, prices) and not has_unnamed(database.db):
        return
    from tracklog.app.index.update import count_requests  # only now: all readers come with it

    try:
        count_requests(database.home, prices, talk=talk)
    except (Busy, NotWritable) as hindered:
        talk.say(f"tracklog: {why_as_before(hindered)}: the ledger is as it was before")
    except DiskFull as trouble:
        talk.say(f"tracklog: {trouble}")
        talk.say("tracklog: the ledger is as it was before")


def _costs(db: sqlite3.Connection, prices: Prices) -> Iterator[Cost]:
    for id, pico in entry_costs(db, prices):
        micros = micro(pico)
        is_fine = pico is not None and pico <= _LARGEST
        yield id, micros if micros is not None and micros <= _LARGEST else None, pico if is_fine else None
