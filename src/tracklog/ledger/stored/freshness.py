"""Check whether the stored ledger is fresh: settled by the same scan, at the same prices, with the same logs."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

import msgspec

from tracklog.ledger.ledger import SCAN
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored import tables

_SCAN = b"%d" % SCAN
_ROWS = b"3"  # what is written of each request; another number makes all rows again from the blocks
_encode = msgspec.msgpack.Encoder().encode


def is_settled(db: Connection, prices: Prices, *, with_tools: bool = False) -> bool:
    """Whether the stored ledger can answer as it is; looks at the list of logs, and at no log."""
    state = tables.state_of(db)
    is_as_asked = all(state.get(name) == value for name, value in state_with(prices).items())
    if not (is_as_asked and tables.is_settled(db) and (not with_tools or tables.has_tools(db))):
        return False
    return not any(_can_be_opened(path) for path in tables.unread_logs(db))


def _can_be_opened(path: str) -> bool:
    from tracklog.sources.files import can_be_opened  # seldom needed

    return can_be_opened(Path(path))


def was_settled(db: Connection) -> bool:
    """Whether the ledger was settled once, by this version of the scan."""
    return tables.state_of(db).get("scan") == _SCAN


def has_costs(db: Connection) -> bool:
    """Whether what sessions cost was stored when the ledger was settled."""
    state = tables.state_of(db)
    return (state.get("scan"), state.get("rows")) == (_SCAN, _ROWS)


def state_with(prices: Prices) -> dict[str, bytes]:
    """The state of a ledger that is settled with these prices."""
    return {"scan": _SCAN, "rows": _ROWS, "prices": _encode((prices.book, prices.own))}
