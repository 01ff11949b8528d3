"""Decide which session owns a request whose copies in several sessions have the same time.

A fork of Claude Code keeps the times of what it copies, so nothing in the copied lines tells who was first. The logs
as a whole do (`model.lineage`); they are read in full only for sessions that share requests, and not for a crowd: all
pairs are compared there, so in families of more than LARGEST_FAMILY the oldest record decides, and then the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracklog.ledger.ledger import Ledger, give_to_eldest, shared_rows
from tracklog.model.ids import SessionId
from tracklog.reading.family import Kinship
from tracklog.reading.session_files import SessionFiles

LARGEST_FAMILY = 200


def settle_owners(ledger: Ledger, sessions: Sequence[SessionFiles]) -> None:
    """Give each request that is in several sessions to the one that the others descend from."""
    give_to_eldest(ledger, parents_in(ledger, sessions))


def parents_in(ledger: Ledger, sessions: Sequence[SessionFiles]) -> dict[str, str]:
    """Of the sessions that share requests, from whom each descends."""
    known = {session.id: session for session in sessions}
    parents: dict[str, str] = {}
    for family in _families(set(shared_rows(ledger).values())):
        if len(family) <= LARGEST_FAMILY:
            parents |= _parents([known[id] for id in sorted(family) if id in known])
    return parents


def _families(groups: Iterable[frozenset[str]]) -> Iterator[set[str]]:
    """Sessions that share something, over any number of steps."""
    top: dict[str, str] = {}

    def top_of(id: str) -> str:
        while top.setdefault(id, id) != id:
            top[id] = id = top[top[id]]
        return id

    for group in groups:
        for other in group:
            top[top_of(other)] = top_of(min(group))
    families: dict[str, set[str]] = {}
    for id in list(top):
        families.setdefault(top_of(id), set()).add(id)
    yield from families.values()


def _parents(sessions: list[SessionFiles]) -> dict[str, str]:
    if len(sessions) < 2:
        return {}
    kin = Kinship(sessions)
    parents: dict[str, str] = {}
    for session in sessions:
        own = kin.descent(SessionId(session.id)).own
        for file in session.mains:
            source = own[str(file.path)].source if str(file.path) in own else None
            if source is not None and source != session.id:
                parents.setdefault(session.id, source)
    return parents
