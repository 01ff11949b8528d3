from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.sessions.test_tables_write import call_values, put_log, session
from tracklog.home import Home
from tracklog.sessions.tables_calls import CallRest, FoundCall, ask_calls, found_calls
from tracklog.sessions.tables_lists import KnownSession, known_sessions
from tracklog.sessions.tables_write import put_session
from tracklog.store.database import writing

N = 60


def crowded(db: sqlite3.Connection) -> KnownSession:
    """A session with two requests: the first asks for N calls at once, the second for two."""
    rows = session()
    groups = [(0, N - 1)] * N + [(N, N + 1)] * 2
    rows.calls[:] = [call_values(n, f"c{n}", CallRest(beside=group)) for n, group in enumerate(groups)]
    put_session(db, rows, only_here=False)
    put_log(db, 1, "/logs/s1.jsonl")
    return known_sessions(db)[0]


def groups_of(found: list[FoundCall]) -> list[list[str]]:
    return [list(map(str, one.call.group)) for one in found]


def test_a_group_is_asked_for_once_however_many_calls_it_has(tmp_path: Path) -> None:
    with writing(Home(tmp_path / "home")) as database:
        known, asked = crowded(database.db), list[str]()
        database.db.set_trace_callback(asked.append)
        few = found_calls(database.db, known, "n >= ?", [1])
        all_of_them = list(ask_calls(database.db, known))
        database.db.set_trace_callback(None)
    first, second = [f"c{n}" for n in range(N)], [f"c{N}", f"c{N + 1}"]
    assert groups_of(all_of_them) == [first] * N + [second] * 2
    assert groups_of(few) == groups_of(all_of_them)[1:]
    assert sum(" n between " in one for one in asked) == 2


def test_calls_of_a_group_hold_one_list_of_its_members(tmp_path: Path) -> None:
    """A list for each would be a million names for a line with a thousand calls."""
    with writing(Home(tmp_path / "home")) as database:
        known = crowded(database.db)
        few = found_calls(database.db, known, "n < ?", [N])
        all_of_them = list(ask_calls(database.db, known))[:N]
    for found in (few, all_of_them):
        assert len({id(one.call.group) for one in found}) == 1
