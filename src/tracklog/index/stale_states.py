"""Find states and verdicts in the index that are out of date because processes came and went.

Rules
  1. No log is opened: what log and hooks said is stored with each session (liveness/sessions.py).
  2. A changed state is written as it is. If verdicts depend on the process, the session is rebuilt.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.agents.supported import SUPPORTED
from tracklog.liveness.sessions import KnownOf, SessionLives, Signs, unpacked
from tracklog.model.states import LiveState
from tracklog.sessions.tables_write import Name, RestingRow, put_states, resting_rows
from tracklog.store.catalogue import roots_of
from tracklog.store.database import Database

_RECENT_MS = 24 * 3600 * 1000
_text_of = msgspec.json.Encoder().encode


class StaleLives(NamedTuple):
    """States and verdicts that are out of date."""

    states: dict[Name, LiveState]  # of sessions that do something else now
    to_settle: frozenset[Name]  # sessions whose verdicts are to be judged again

    def __bool__(self) -> bool:
        return bool(self.states or self.to_settle)


def lives_of(database: Database) -> SessionLives:
    """The live sessions of all homes that the index knows."""
    return SessionLives(database.home, homes=homes_in(database.db))


def homes_in(db: sqlite3.Connection) -> list[Path]:
    """The homes that an index knows, of agents whose clients register their sessions there."""
    return [
        home
        for agent, one in SUPPORTED.items()
        if one.processes.registry_folder
        for home in _homes(db, agent)
    ]


def _homes(db: sqlite3.Connection, agent: str) -> list[Path]:
    """The roots of an agent in the index, and the homes that contain them."""
    roots = [Path(root) for root in roots_of(db, agent)]
    beyond = SUPPORTED[agent].logs.homes_of(root / "log" for root in roots)
    return list(dict.fromkeys([*roots, *beyond]))


def changed_lives(database: Database, lives: SessionLives | None = None) -> StaleLives:
    """Find the states and verdicts in the index that are out of date now."""
    lives = lives or lives_of(database)
    homes = {agent: _homes(database.db, agent) for agent in SUPPORTED}
    alive = {id for agent, known in homes.items() if known for id in lives.living(agent, known)}
    since_ms = lives.now_ms - _RECENT_MS
    states: dict[Name, LiveState] = {}
    to_settle: set[Name] = set()
    for row in resting_rows(database.db, alive, since_ms=since_ms):
        known = _known_of(row)
        state, life = lives.state_of(known), lives.life_of(known)
        if row.life not in (None, life.word):
            to_settle.add((row.agent, row.session))
        if (state.state, _evidence(state)) != (row.state, row.evidence):
            states[row.agent, row.session] = state
    return StaleLives(states, frozenset(to_settle))


def write_states(database: Database, changed: StaleLives) -> None:
    """Write the current states of sessions."""
    with database.transaction() as db:
        put_states(db, {name: (one.state, _evidence(one)) for name, one in changed.states.items()})


def _evidence(state: LiveState) -> str:
    return _text_of(state.evidence).decode()


def _known_of(row: RestingRow) -> KnownOf:
    return KnownOf(
        agent=row.agent,
        id=row.session,
        paths=[row.path] if row.path is not None else [],
        last_ms=row.last_ms,
        signs=unpacked(row.signs) or Signs(),
    )
