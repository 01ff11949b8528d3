"""Answer questions in SQL from the index, and write its views as Parquet."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tracklog.app.index.open import indexed, why_as_before, why_there_is_none
from tracklog.app.prices import load_prices
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere
from tracklog.home import Busy, NotWritable
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.tables import entry_costs
from tracklog.ledger.stored.tables_names import has_unnamed
from tracklog.model.usage import micro
from tracklog.sql.ask import LARGEST_ANSWER as LARGEST_ANSWER
from tracklog.sql.ask import Answered as Answered
from tracklog.sql.ask import Cost, TooLong, ask, known_names, lay_out, put_costs, views_named
from tracklog.store.database import Database, DiskFull
from tracklog.store.surrogates import as_text

if TYPE_CHECKING:
    from tracklog.sql.duckdb_views import Written as Written

# Lazy imports: duckdb takes long to load, and most questions go to SQLite.

Engine = Literal["sqlite", "duckdb"]
_LARGEST = 2**63 - 1  # that a column can hold: only figures that nobody can have paid cost more
_OF_THE_LEDGER = {"ledger", "costs"}


def answer_question(
    question: str,
    roots: Sequence[Path],
    *,
    home: Path | None,
    engine: Engine,
    limit: int,
    timeout_s: float,
    last_resort: AbstractContextManager[None],
    syncs: bool,
    talk: Talk = QUIET,
) -> Answered:
    """The answer to one question, at most so many rows of it.

    SQLite looks at no clock inside one function over a huge text: `last_resort` is entered while it answers.
    """
    try:
        with _index_to_ask(roots, home=home, views=views_named(question), syncs=syncs, talk=talk) as db:
            if engine == "duckdb":
                from tracklog.sql.duckdb_views import ask_duck  # only here: DuckDB is an extra

                return ask_duck(db, question, limit=limit, timeout_s=timeout_s)
            with last_resort:
                return ask(db, question, limit=limit, timeout_s=timeout_s)
    except TooLong as error:
        raise NotThere(str(error)) from error


def too_long(timeout_s: float) -> str:
    """What to say of a question that the time limit ended."""
    return str(TooLong(timeout_s))


def half_text(data: bytes) -> str | None:
    """The text with half a character that these bytes are; None: they are no such."""
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return None
    try:
        text: str = as_text(data)
    except UnicodeDecodeError:
        return None
    return text


def described_views() -> list[dict[str, Any]]:
    """The views and their columns, as documents name them."""
    from tracklog.sql.schema_doc import described

    return described()


def write_views(
    folder: Path, roots: Sequence[Path], *, home: Path | None, syncs: bool, talk: Talk = QUIET
) -> list[Written]:
    """Write each view as Parquet files in a folder."""
    from tracklog.sql.duckdb_views import write_parquet

    with _index_to_ask(roots, home=home, views=known_names(columns=False), syncs=syncs, talk=talk) as db:
        return write_parquet(db, folder)


@contextmanager
def _index_to_ask(
    roots: Sequence[Path], *, home: Path | None, views: Collection[str], syncs: bool, talk: Talk = QUIET
) -> Iterator[sqlite3.Connection]:
    """The index with what these views need, limited to the roots."""
    with indexed(roots, home=home, talk=talk, syncs=syncs, makes=syncs) as index:
        if index is None:
            raise why_there_is_none(home)
        db = index.database.db
        if _OF_THE_LEDGER & set(views):
            prices = load_prices(home)
            _settle(index.database, prices, talk)
            if "costs" in views:
                put_costs(db, _costs(db, prices))
        lay_out(db, index.scope)
        yield db


def _settle(database: Database, prices: Prices, talk: Talk) -> None:
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
