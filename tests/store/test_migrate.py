"""Each migration is one step that is made whole or not at all, and every released index can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.made_index import made_index
from tests.store.make_schema import load, schema
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.store import migrate as store_migrate
from tracklog.store.database import setting, writing
from tracklog.store.migrate import NEWEST, migrate, migrations, version_of


def connect(path: Path) -> sqlite3.Connection:
    """As the store does it: transactions are begun by hand."""
    return sqlite3.connect(path, isolation_level=None)


def test_the_newest_is_the_last_in_the_folder() -> None:
    assert [n for n, _, _ in migrations()] == list(range(1, NEWEST + 1))


def test_a_new_index_has_the_record_of_each_step(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "index.db")) as db:
        migrate(db)
        assert version_of(db) == NEWEST
        assert db.execute("select n, name from migrations").fetchall() == [
            (n, name) for n, name, _ in migrations()
        ]


def test_an_index_that_is_new_enough_is_left_alone(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "index.db")) as db:
        migrate(db)
        before = db.execute("select * from migrations").fetchall(), db.total_changes
        migrate(db)
        assert (db.execute("select * from migrations").fetchall(), db.total_changes) == before


def test_an_index_of_a_later_tracklog_is_refused(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "index.db")) as db:
        db.execute(f"pragma user_version = {NEWEST + 1}")
        with pytest.raises(UserError, match="later tracklog"):
            migrate(db)
        assert schema(db) == {}


def test_a_step_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = ((1, "0001_good", "create table a (b);\n"), (2, "0002_bad", "create table c (d);\nbroken;\n"))
    monkeypatch.setattr(store_migrate, "migrations", lambda: steps)
    with closing(connect(tmp_path / "index.db")) as db:
        with pytest.raises(sqlite3.OperationalError):
            migrate(db, up_to=2)
        assert version_of(db) == 1
        assert schema(db).keys() == {"a", "migrations"}
        assert not db.in_transaction


def test_statements_may_hold_semicolons_and_comments() -> None:
    text = "-- first; a comment\ncreate table a (b text default ';');  -- behind\n\ncreate trigger t after insert on a\n"
    text += "begin\n  delete from a;\n  delete from a;\nend;\n-- the end\n"
    found = store_migrate._statements(text)
    with closing(connect(Path(":memory:"))) as db:
        for statement in found:
            db.execute(statement)
        assert schema(db).keys() == {"a", "t"}
    assert len(found) == 2


@pytest.mark.parametrize("n", range(1, NEWEST + 1))
def test_an_index_of_a_released_schema_becomes_one_of_the_newest(n: int, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    load(n, home.index)
    with writing(home) as database, closing(connect(tmp_path / "new.db")) as new:
        migrate(new)
        assert version_of(database.db) == NEWEST
        assert schema(database.db) == schema(new)
        assert database.db.execute("select count(*) from session_rows").fetchone() == (3,)
        (found,) = database.db.execute(
            "select count(*) from words where words match 'story OR fine OR a*'"
        ).fetchone()
        assert found >= 0
        assert database.db.execute("pragma integrity_check").fetchone() == ("ok",)


def test_an_index_that_an_older_tracklog_filled_is_marked_as_such(tmp_path: Path) -> None:
    filled, empty = Home(tmp_path / "filled"), Home(tmp_path / "empty")
    for home in (filled, empty):
        home.make()
    load(2, filled.index)
    with writing(filled) as database, writing(empty) as new:
        assert setting(database.db, "read_by") == "older"
        assert setting(new.db, "read_by") is None


def test_a_released_schema_was_not_changed_afterwards(tmp_path: Path) -> None:
    """A migration that was released is never changed: a new one gets the next number."""
    for n in range(1, NEWEST + 1):
        load(n, tmp_path / f"{n}.db")
        with closing(connect(tmp_path / f"{n}.db")) as old, closing(connect(Path(":memory:"))) as new:
            migrate(new, up_to=n)
            assert schema(old) == schema(new)


def test_the_fixture_holds_what_a_new_index_would(tmp_path: Path) -> None:
    load(NEWEST, tmp_path / "index.db")
    made = made_index(tmp_path / "made")
    asked = "select path, state, contents_bytes from log_files order by id"
    with closing(connect(tmp_path / "index.db")) as old, closing(connect(made.index)) as new:
        assert old.execute(asked).fetchall() == new.execute(asked).fetchall()
