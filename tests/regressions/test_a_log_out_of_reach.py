"""A log that could not be read for a moment counted as $0 for ever.

The user ran `index`; `usage` said $3.77. While the logs could not be read (other permissions, a disk that was not
mounted, a folder that was moved), `usage tool` counted them again. It kept "nothing, because permission denied" as what
these logs say. The logs came back, and nothing in them had changed: `usage` said $0, also after `index --full`,
`doctor` found no fault, and `--budget` passed. The same was done to heads, to rows of sessions and to readings of logs
that the index had never been able to read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.store.older_index import without_lists
from tests.views.cli.command import ONE, tracklog, transcript_in, with_old_folders
from tests.views.cli.written import PRICE, Log, working_day
from tracklog.ledger.ledger import packed
from tracklog.model.usage import UsageBlock

REQUESTS = 3


@contextmanager
def unreadable(*logs: Path) -> Iterator[None]:
    """Permissions that hold for commands with `is_mighty=False`, also as root."""
    for log in logs:
        log.chmod(0)
    try:
        yield
    finally:
        for log in logs:
            log.chmod(0o600)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one session, and an index that has counted it."""
    working_day().write_in(tmp_path)
    with_old_folders(tmp_path)
    assert tracklog("index", home=tmp_path).code == 0
    assert spent(tmp_path) == (REQUESTS, REQUESTS * PRICE)
    return tmp_path


def spent(home: Path, *words: str, is_mighty: bool = True) -> tuple[int, int]:
    total = tracklog("usage", *words, "--json", home=home, is_mighty=is_mighty).json["total"]
    return total["requests"], total["cost_micro_usd"]


def listed(home: Path, *words: str, is_mighty: bool = True) -> list[dict[str, Any]]:
    answer = tracklog("sessions", *words, "--json", home=home, is_mighty=is_mighty)
    rows: list[dict[str, Any]] = answer.json["sessions"]
    return rows


def test_it_is_counted_from_the_archive_and_as_before_when_it_is_back(home: Path) -> None:
    with unreadable(transcript_in(home)):
        assert spent(home, "tool", is_mighty=False) == (REQUESTS, REQUESTS * PRICE)
    assert spent(home) == (REQUESTS, REQUESTS * PRICE)
    assert tracklog("usage", "--budget", "0.00001", home=home).code == 1


def test_one_that_was_moved_away_is_counted_from_the_archive(home: Path) -> None:
    away = transcript_in(home).rename(home / "away.jsonl")
    assert spent(home, "tool", "--no-sync") == (REQUESTS, REQUESTS * PRICE)
    away.rename(transcript_in(home))
    assert spent(home) == (REQUESTS, REQUESTS * PRICE)


def test_without_an_archive_it_counts_as_it_did_before(tmp_path: Path) -> None:
    log = working_day().write_in(tmp_path)
    tracklog("index", "--no-archive", home=tmp_path)
    assert spent(tmp_path) == (REQUESTS, REQUESTS * PRICE)
    with unreadable(log):
        tracklog("usage", "tool", home=tmp_path, is_mighty=False)
        assert spent(tmp_path, is_mighty=False) == (REQUESTS, REQUESTS * PRICE)
    assert spent(tmp_path, "tool") == (REQUESTS, REQUESTS * PRICE)


def test_one_that_the_index_could_never_read_is_read_when_it_can_be(tmp_path: Path) -> None:
    log = working_day().write_in(tmp_path)
    with_old_folders(tmp_path)
    with unreadable(log):
        assert tracklog("index", home=tmp_path, is_mighty=False).code == 0
        assert spent(tmp_path, is_mighty=False) == (0, 0)
        asked = tracklog("usage", home=tmp_path, is_mighty=False)
        assert f"{log}: not readable: permission denied" in asked.err
        # nothing about the file changes, but this reader may read it (with one user's rights: only after the chmod)
        if spent(tmp_path, "--home", str(tmp_path / "no index")) == (REQUESTS, REQUESTS * PRICE):
            assert spent(tmp_path) == (REQUESTS, REQUESTS * PRICE)
    assert spent(tmp_path) == (REQUESTS, REQUESTS * PRICE)
    assert [row["id"] for row in listed(tmp_path)] == [ONE]


def test_a_session_whose_subagent_cannot_be_read_keeps_its_calls(tmp_path: Path) -> None:
    main = working_day()
    main.write_in(tmp_path)
    beside = Log(isSidechain=True, agentId="a1").prompt("Look.").answer("msg_a1", "Nothing.")
    subagent = beside.write(transcript_in(tmp_path, ONE) / "subagents" / "agent-a1.jsonl")
    tracklog("index", "--no-archive", home=tmp_path)
    with_old_folders(tmp_path)
    before = listed(tmp_path)
    with unreadable(subagent):
        main.prompt("Go on.").answer("msg_4", "Yes.").write_in(tmp_path)
        (during,) = listed(tmp_path, is_mighty=False)
        assert during["turns"] == before[0]["turns"] + 1
    (after,) = listed(tmp_path)
    assert (after["requests"], after["threads"]) == (before[0]["requests"] + 1, before[0]["threads"])


def test_an_index_that_holds_nothing_in_its_place_heals(home: Path) -> None:
    with closing(sqlite3.connect(home / ".local/share/tracklog/index.db")) as db:
        bad = packed(UsageBlock(file=-1, problem="permission denied"))
        db.execute("update blocks set body = ?", (bad,))
        db.execute("update ledger_logs set problem = 'permission denied'")
        for table in ("entry_rows", "sum_rows", "block_keys"):
            db.execute(f"delete from {table}")
        db.execute("update ledger_state set value = ? where name = 'scan'", (b"1",))
        db.execute("update blocks set inputs = x'00'")
        db.execute(
            "update log_files set problem = 'permission denied', contents_bytes = 0, lines = 0, position = 0"
        )
        db.execute("drop table entry_requests")
        without_lists(db)
        db.execute("delete from migrations where n > 3")
        db.execute("pragma user_version = 3")
        db.commit()
    assert spent(home) == (REQUESTS, REQUESTS * PRICE)
    (row,) = listed(home)
    assert row["requests"] == REQUESTS
    assert "A typo." in tracklog("search", "typo", home=home).out
