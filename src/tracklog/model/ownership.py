"""Whose request it is, where copies of it stand in several sessions: the one that the others descend from."""

from __future__ import annotations

from collections.abc import Mapping

from tracklog.model.ledger import Ledger


def shared_rows(ledger: Ledger) -> dict[int, frozenset[str]]:
    """The requests that stand in several sessions, and in which."""
    holders = {row: frozenset(ledger.heirs_of(row)) for row in ledger.elsewhere}
    return {row: held_by for row, held_by in holders.items() if held_by}


def give_to_eldest(ledger: Ledger, parents: Mapping[str, str]) -> None:
    """Gives each such request to the session that all others descend from, if there is one."""
    for row, holders in shared_rows(ledger).items():
        oldest = [id for id in sorted(holders) if not _descends(id, holders, parents)]
        if len(oldest) == 1:
            ledger.give(row, oldest[0])


def _descends(id: str, holders: frozenset[str], parents: Mapping[str, str]) -> bool:
    """Whether one of the holders is an ancestor."""
    seen = {id}
    while (parent := parents.get(id)) is not None and parent not in seen:
        if parent in holders:
            return True
        seen.add(parent)
        id = parent
    return False
