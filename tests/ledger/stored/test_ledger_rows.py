"""The ledger's rows: which logs it was settled with, and who shares requests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.ledger.stored.tables import (
    BlockMark,
    SettledLog,
    all_bodies,
    block_marks,
    bodies,
    drop_blocks,
    drop_settled,
    files_in,
    has_tools,
    holders_of,
    is_settled,
    put_block,
    put_keys,
    put_logs,
    put_read_block,
    settled_logs,
)
from tracklog.store.catalogue import add_file, change_file
from tracklog.store.database import writing
from tracklog.store.scope import Files, Scope

MARK = BlockMark(1, 10, has_tools=False, inputs=b"i")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path)) as database:
        yield database.db


def log(db: sqlite3.Connection, path: str, *, kind: str = "transcript", n_bytes: int = 10) -> int:
    row = {"path": path, "root": "/logs", "agent": "claude", "kind": kind, "device": 1, "inode": 1}
    id = add_file(db, {**row, "mtime_ns": 1, "ctime_ns": 1})
    change_file(db, id, size=n_bytes, contents_bytes=n_bytes)
    return id


def settled(file: int, path: str, **values: object) -> SettledLog:
    known = SettledLog(file, 1, 10, path, "claude", f"session {file}", "main", True, True, file)
    return known._replace(**values)  # type: ignore[arg-type]


def test_a_ledger_is_settled_with_logs_as_they_are(db: sqlite3.Connection) -> None:
    assert is_settled(db)
    one = log(db, "/logs/one.jsonl")
    assert not is_settled(db)
    put_logs(db, [settled(one, "/logs/one.jsonl")])
    assert is_settled(db)


@pytest.mark.parametrize(
    "change",
    [
        {"contents_bytes": 11},
        {"generation": 2},
        {"path": "/logs/elsewhere.jsonl"},
        {"state": "past"},
        {"kind": "other"},
    ],
)
def test_a_log_that_changed_unsettles_the_ledger(db: sqlite3.Connection, change: dict[str, object]) -> None:
    one = log(db, "/logs/one.jsonl")
    put_logs(db, [settled(one, "/logs/one.jsonl")])
    change_file(db, one, **change)
    assert not is_settled(db)


def test_files_in_which_no_request_stands_unsettle_nothing(db: sqlite3.Connection) -> None:
    log(db, "/logs/one.meta.json", kind="meta")
    assert is_settled(db)


def test_logs_come_back_as_they_were_put_in(db: sqlite3.Connection) -> None:
    odd = settled(1, "/logs/\udcff.jsonl", cwd="/home/dev", problem="damaged")
    put_logs(db, [odd, settled(2, "/logs/two.jsonl", is_counted=False)])
    assert settled_logs(db) == {1: odd, 2: settled(2, "/logs/two.jsonl", is_counted=False)}


def test_logs_that_hold_the_same_keys_find_one_another(db: sqlite3.Connection) -> None:
    put_keys(db, 1, {1, 2, -(2**63)})
    put_keys(db, 2, {2, 3})
    assert holders_of(db, {2}) == {1, 2}
    assert holders_of(db, {-(2**63)}) == {1}
    put_keys(db, 1, {1})
    assert holders_of(db, {2, -(2**63)}) == {2}
    drop_blocks(db, [2])
    assert holders_of(db, {1, 2, 3}) == {1}


def test_a_block_that_was_just_read_is_of_the_bytes_that_were_read(db: sqlite3.Connection) -> None:
    one = log(db, "/logs/one.jsonl", n_bytes=77)
    put_read_block(db, one, inputs=b"i", body=b"body")
    put_read_block(db, one + 1, inputs=b"i", body=b"of a log that nobody knows")
    assert block_marks(db) == {one: BlockMark(1, 77, has_tools=False, inputs=b"i")}
    assert list(bodies(db, [one, one + 1])) == [(one, b"body")]


def test_only_blocks_of_logs_that_count_are_asked(db: sqlite3.Connection) -> None:
    for file in (1, 2):
        put_block(db, file, b"%d" % file, MARK)
    put_logs(db, [settled(1, "/logs/one.jsonl"), settled(2, "/logs/two.jsonl", is_counted=False)])
    assert list(all_bodies(db)) == [(1, b"1")]
    assert not has_tools(db)
    put_block(db, 1, b"1", MARK._replace(has_tools=True))
    assert has_tools(db)


def test_a_scope_is_closed_if_no_component_reaches_beyond_it(db: sqlite3.Connection) -> None:
    put_logs(
        db,
        [
            settled(1, "/logs/a/one.jsonl"),
            settled(2, "/logs/b/two.jsonl", component=1),
            settled(3, "/logs/c/three.jsonl", agent="codex"),
        ],
    )
    assert files_in(db, Scope(("/logs",)), None) is None
    assert files_in(db, Scope(("/logs/a",)), None) == Files(frozenset({1}), frozenset({"session 1"}), False)
    assert files_in(db, Scope(("/logs/c",)), None) == Files(frozenset({3}), frozenset({"session 3"}), True)
    both = Files(frozenset({1, 2}), frozenset({"session 1", "session 2"}), True)
    assert files_in(db, None, ["claude"]) == both
    assert files_in(db, Scope(("/log",)), None) == Files(frozenset(), frozenset(), True)


def test_what_was_settled_goes_as_a_whole(db: sqlite3.Connection) -> None:
    put_logs(db, [settled(1, "/logs/one.jsonl"), settled(2, "/logs/two.jsonl")])
    db.execute("insert into total_rows values ('session 1', 1, x'90', null, null)")
    db.execute("insert into parent_rows values ('session 1', 1, 'session 0')")
    drop_settled(db, [1], [1])
    assert list(settled_logs(db)) == [2]
    assert db.execute("select count(*) from total_rows").fetchone() == (0,)
    assert db.execute("select count(*) from parent_rows").fetchone() == (0,)
