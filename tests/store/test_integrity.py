"""An index is as we wrote it, or it is found out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.index.known_homes import index_of, two_sessions
from tests.views.cli.command import tracklog
from tracklog.store.integrity import has_our_schema, has_our_values, is_sound


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two sessions, read and settled, with what they cost."""
    made = two_sessions(tmp_path_factory.mktemp("made"))
    index_of(made)
    roots = [word for root in made.roots for word in ("--root", root.path)]
    done = tracklog("usage", "--home", made.home.path, *roots, home=made.top)
    assert (done.code, done.err) == (0, "")
    return made.home.index.read_bytes()


@pytest.fixture
def db(index: bytes, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "index.db"
    path.write_bytes(index)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def test_what_we_wrote_is_as_we_wrote_it(db: sqlite3.Connection) -> None:
    tables = ("session_rows", "call_rows", "request_rows", "entry_rows", "sum_rows", "frames", "blocks")
    assert all(db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables)
    assert (is_sound(db), has_our_schema(db), has_our_values(db)) == (True, True, True)


@pytest.mark.parametrize(
    "damage",
    [
        "update log_files set mtime_ns = 'late'",
        "update log_files set kind = 'transcripx'",
        "update log_files set state = 'hers'",
        "update session_rows set last_ms = x'00'",
        "update session_rows set models = '[\"m1'",
        "update turn_rows set took_ms = 'long'",
        "update entry_rows set output = 1.5",
        "update sum_rows set requests = 'two'",
        "update archives set stored_bytes = 'many'",
        "update blocks set body = 1.5",
    ],
)
def test_a_value_that_we_never_write_is_found(db: sqlite3.Connection, damage: str) -> None:
    assert db.execute(damage).rowcount
    assert (is_sound(db), has_our_schema(db), has_our_values(db)) == (True, True, False)


def test_a_null_where_none_may_be_is_found(db: sqlite3.Connection) -> None:
    db.execute("pragma writable_schema = on")
    db.execute(
        "update sqlite_schema set sql = replace(sql, 'is_listed integer not null', 'is_listed integer')"
    )
    db.execute("pragma writable_schema = reset")
    db.execute("update session_rows set is_listed = null")
    db.execute("pragma writable_schema = on")
    db.execute(
        "update sqlite_schema set sql = replace(sql, 'is_listed integer,', 'is_listed integer not null,')"
    )
    db.execute("pragma writable_schema = reset")
    assert (has_our_schema(db), has_our_values(db)) == (True, False)


def test_an_index_of_the_index_that_tells_something_else_is_found(db: sqlite3.Connection) -> None:
    (root,) = db.execute("select rootpage from sqlite_schema where name = 'session_rows_by_time'").fetchone()
    (path,) = [row[2] for row in db.execute("pragma database_list")]
    (size,) = db.execute("pragma page_size").fetchone()
    (last_ms,) = db.execute("select last_ms from session_rows order by 1 desc").fetchone()
    db.close()
    data = bytearray(Path(path).read_bytes())
    at = data.index(last_ms.to_bytes(6, "big"), (root - 1) * size, root * size)
    data[at + 5] ^= 1
    Path(path).write_bytes(data)
    with closing(sqlite3.connect(path)) as again:
        assert (is_sound(again), has_our_values(again)) == (True, False)


def test_another_schema_is_not_ours(db: sqlite3.Connection) -> None:
    db.execute("alter table names add column more text")
    assert not has_our_schema(db)
