"""The ledger in the index, settled before it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from tracklog.app.index.open import Index, indexed, why_as_before
from tracklog.home import Busy, Home, NotWritable, tracklog_home
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.freshness import is_settled
from tracklog.store.database import Database, DiskFull, writing
from tracklog.views.cli.output.progress import progress_of_unknown
from tracklog.views.text.printing import talk


@contextmanager
def indexed_ledger(
    given: Sequence[Path], *, home: Path | None, prices: Prices, syncs: bool = True, with_tools: bool = False
) -> Iterator[Index | None]:
    """The index for some roots with its ledger up to date, as far as nobody else writes it; None if there is none."""
    with indexed(given, home=home, syncs=syncs, settles=False) as index:
        if index is None or is_settled(index.database.db, prices, with_tools=with_tools):
            yield index
            return
    if not _settle(Home(tracklog_home(home)), prices, with_tools=with_tools):
        yield None
        return
    with indexed(given, home=home, syncs=False, settles=False) as index:
        yield index


def _settle(home: Home, prices: Prices, *, with_tools: bool) -> bool:
    """Whether the ledger can be asked afterwards: else the disk took no more, and the logs can be."""
    try:
        with writing(home) as database:
            settle(database, prices, with_tools=with_tools)
    except (Busy, NotWritable) as hindered:
        talk(f"tracklog: {why_as_before(hindered)}: this is what it knew before")
    except DiskFull as trouble:
        talk(f"tracklog: {trouble}")
        talk("tracklog: the logs are read instead")
        return False
    return True


def settle(database: Database, prices: Prices, *, with_tools: bool = False) -> None:
    """Counts what is new, and leaves what the status line shows."""
    from tracklog.app.index.refresh import write_statusline
    from tracklog.clock import local_zone
    from tracklog.index.refresh import session_files  # all readers come with these
    from tracklog.ledger.stored.refresh import settle_ledger

    with progress_of_unknown("counting") as (set_total, tell):
        sessions = session_files(database)
        settle_ledger(database, sessions, prices, with_tools=with_tools, on_plan=set_total, on_bytes=tell)
        with suppress(OSError):  # the status line shows what it knew, until the disk takes more
            write_statusline(database, prices, now=datetime.now(local_zone()))
