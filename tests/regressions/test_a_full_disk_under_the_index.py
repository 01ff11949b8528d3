"""On a full disk `sessions`, `calls` and `usage` ended with an error, although the logs could be read.

The index could not take the lines that had been written since. Commands that answer without an index, too, should do so
then; those that need it should say what they knew.
"""

from __future__ import annotations

import contextlib
import io
import sqlite3
from pathlib import Path

import pytest

from tests.views.cli.command import Answer, with_old_folders
from tests.views.cli.written import Log, tool, working_day
from tracklog.store import database
from tracklog.views.cli.click_app import run

REQUESTS, CALLS = 3, 2


def ask(home: Path, *words: str) -> Answer:
    """Run a command in this process, where the disk is full."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--root", str(home / ".claude"), "--home", str(home / "own")])
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose index cannot grow, and lines that it does not know."""
    log: Log = working_day()
    log.write_in(tmp_path)
    with_old_folders(tmp_path)
    assert ask(tmp_path, "index").code == 0
    assert ask(tmp_path, "usage", "--json").json["total"]["requests"] == REQUESTS
    log.prompt("Go on.").answer("msg_9", "words " * 20_000, tool("toolu_9", "Bash", command="ls")).write_in(
        tmp_path
    )
    n_pages = (tmp_path / "own" / "index.db").stat().st_size // 4096
    opened = database._opened

    def small(path: Path, *, is_writer: bool) -> sqlite3.Connection:
        db = opened(path, is_writer=is_writer)
        db.execute(f"pragma max_page_count = {n_pages}")
        return db

    monkeypatch.setattr(database, "_opened", small)
    assert ask(tmp_path, "index").code == 2
    return tmp_path


def test_what_can_be_answered_from_the_logs_is(full: Path) -> None:
    sessions = ask(full, "sessions", "--json")
    assert sessions.json["sessions"][0]["requests"] == REQUESTS + 1
    assert sessions.err.splitlines()[-1] == "tracklog: the logs are read instead"
    assert "no space is left" in sessions.err
    assert ask(full, "usage", "--json").json["total"]["requests"] == REQUESTS + 1
    assert ask(full, "usage", "tool", "--json").json["total"]["requests"] == REQUESTS + 1
    assert len(ask(full, "calls", "--json").json["calls"]) == CALLS + 1


def test_what_needs_the_index_says_that_it_is_as_before(full: Path) -> None:
    said = ask(full, "search", "typo")
    assert (said.code, "A typo." in said.out) == (0, True)
    assert said.err.splitlines()[-1] == "tracklog: this is what the index knew before"
    rows = ask(full, "sql", "--json", "select count(*) from ledger")
    assert (rows.code, rows.json["rows"]) == (0, [[REQUESTS]])
