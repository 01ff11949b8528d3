"""Names for the requests of the ledger: those that the sessions give them.

Rules
  1. Some agents count tokens without naming the request. A count belongs to the last request of its log that had
     begun; until Codex 0.50 it comes before the request that it counts.
  2. A request has begun at the first of its texts. One without a text leaves its count to its neighbour.
  3. If several files hold copies of one thread, any of them can be used.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tracklog.agents.supported import SUPPORTED

_UNNAMED = (
    "from entry_rows entry left join entry_requests named on named.entry = entry.id "
    "where entry.agent in (select value from json_each(?)) and named.entry is null"
)


class _Begun(NamedTuple):
    """A request, and where in its log it had begun."""

    offset: int
    request: str


def _agents() -> str:
    """The agents whose counts do not name their requests, for `json_each`."""
    return json.dumps([name for name, agent in SUPPORTED.items() if not agent.usage.counts_name_requests])


def has_unnamed(db: sqlite3.Connection) -> bool:
    """Whether a request of the ledger may get a name."""
    return db.execute(f"select 1 {_UNNAMED} limit 1", (_agents(),)).fetchone() is not None


def name_requests(db: sqlite3.Connection) -> None:
    """Name the requests that came to the ledger, as far as their sessions are in the index."""
    agents = _agents()
    unnamed: dict[tuple[str, str, int], list[tuple[int, int]]] = defaultdict(list)
    asked = (
        f"select entry.id, entry.agent, entry.session, entry.counted_file, entry.counted_offset {_UNNAMED}"
    )
    for entry, agent, session, file, offset in db.execute(asked, (agents,)):
        unnamed[agent, session, file].append((offset, entry))
    first_counts = dict(
        db.execute(
            "select counted_file, min(counted_offset) from entry_rows "
            "where agent in (select value from json_each(?)) group by counted_file",
            (agents,),
        ).fetchall()
    )
    begun: dict[tuple[str, str], dict[int, list[_Begun]]] = {}
    for (agent, session, file), counts in unnamed.items():
        if (agent, session) not in begun:
            begun[agent, session] = _begun_in(db, agent, session)
        of_session = begun[agent, session]
        requests = of_session.get(file) or next(iter(of_session.values()), None)
        if requests:
            db.executemany(
                "insert or replace into entry_requests values (?, ?)",
                _named(counts, requests, comes_first=first_counts[file] < requests[0].offset),
            )


def _named(
    counts: Sequence[tuple[int, int]], requests: Sequence[_Begun], *, comes_first: bool
) -> Iterator[tuple[int, str]]:
    offsets = [one.offset for one in requests]
    for offset, entry in counts:
        at = bisect_right(offsets, offset) - (0 if comes_first else 1)
        yield entry, requests[min(max(at, 0), len(requests) - 1)].request


def _begun_in(db: sqlite3.Connection, agent: str, session: str) -> dict[int, list[_Begun]]:
    """The requests of a session by log, in their order."""
    rows = db.execute(
        "select own.file, own.first_line, own.last_line, own.request from request_rows own "
        "join session_rows session on session.id = own.session_row "
        "where session.agent = ? and session.session = ? and not own.is_synthetic",
        (agent, session),
    ).fetchall()
    found: dict[int, list[_Begun]] = {}
    for file in dict.fromkeys(row[0] for row in rows if row[0] is not None):
        texts = db.execute(
            "select line, offset from text_rows where file = ? order by offset", (file,)
        ).fetchall()
        lines = [line for line, _ in texts]
        begun = []
        for _, first, last, request in (row for row in rows if row[0] == file):
            at = bisect_left(lines, first)
            if at < len(lines) and lines[at] <= last:
                begun.append(_Begun(texts[at][1], request))
        if begun:
            found[file] = sorted(begun)
    return found
