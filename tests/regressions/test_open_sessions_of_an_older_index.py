"""After an upgrade old sessions kept the state that the earlier version had guessed, `sql` another, `show` a third.

Versions before schema 3 did not look at processes: they called a thread that stopped in the middle of its turn
`unknown`, its session `ended`, and its open calls lost because "the log is at rest". Only sessions of the last day
were judged again.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store.older_index import without_lists
from tests.views.cli.command import tracklog, with_old_folders
from tests.views.cli.written import Log


def answers(home: Path) -> list[str]:
    commands = ("sessions --json", "calls --json", "sql --json select(state)from\tthreads")
    return [tracklog(*command.split(" "), home=home).out for command in commands]


def test_they_are_judged_as_by_a_fresh_index(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
    Log().prompt("Build it.").answer("msg_1", call, stop="tool_use").write_in(tmp_path)
    with_old_folders(tmp_path)
    tracklog("index", home=tmp_path)
    fresh = answers(tmp_path)
    with closing(sqlite3.connect(tmp_path / ".local/share/tracklog/index.db")) as db:
        db.execute("update session_rows set state = 'ended', signs = null, life = null, evidence = null")
        db.execute("update thread_rows set state = 'unknown'")
        db.execute("update call_rows set why = 'no result, and the log is at rest'")
        without_lists(db)
        db.execute("delete from migrations where n > 5")
        db.execute("pragma user_version = 5")
        db.commit()
    assert answers(tmp_path) == fresh
