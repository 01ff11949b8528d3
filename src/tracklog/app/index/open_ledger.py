"""The ledger in the index, counted before it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.app.index.open import Index, indexed, why_as_before
from tracklog.home import Busy, Home, NotWritable, tracklog_home
from tracklog.index.freshness import is_counted
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.freshness import is_settled
from tracklog.store.database import DiskFull

if TYPE_CHECKING:
    from tracklog.app.talk import Talk


@contextmanager
def indexed_ledger(
    given: Sequence[Path],
    *,
    home: Path | None,
    prices: Prices,
    talk: Talk,
    syncs: bool = True,
    settles: bool = False,
    with_tools: bool = False,
) -> Iterator[Index | None]:
    """The index for some roots with its ledger up to date, as far as nobody else writes it; None if there is none.

    `settles` says whether rows of sessions are brought up to date, too.
    """
    with indexed(given, home=home, talk=talk, syncs=syncs, settles=settles) as index:
        if index is None:
            yield None
            return
        is_ready = is_settled(index.database.db, prices, with_tools=with_tools)
        if is_ready and is_counted(index.database):
            yield index
            return
    can_answer = _count(
        Home(tracklog_home(home)), prices, with_tools=with_tools, talk=talk, is_ready=is_ready
    )
    if not can_answer:
        yield None
        return
    with indexed(given, home=home, talk=talk, syncs=False, settles=False) as counted:
        yield None if counted is None else counted._replace(look=index.look)


def _count(home: Home, prices: Prices, *, with_tools: bool, talk: Talk, is_ready: bool) -> bool:
    """Whether the ledger can be asked afterwards: else the disk took no more, and the logs can be.

    Where the ledger is ready, only the status line is behind: then nothing is said of what hinders us.
    """
    from tracklog.app.index.update import count_requests  # all readers come with it

    try:
        count_requests(home, prices, talk=talk, with_tools=with_tools)
    except (Busy, NotWritable) as hindered:
        if not is_ready:
            talk.say(f"tracklog: {why_as_before(hindered)}: this is what it knew before")
    except DiskFull as trouble:
        if not is_ready:
            talk.say(f"tracklog: {trouble}")
            talk.say("tracklog: the logs are read instead")
        return is_ready
    return True
