"""The index: one writer, readers beside it, all or nothing, and trouble told plainly."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tracklog.home import Busy, Home
from tracklog.store import database as store
from tracklog.store.database import (
    DamagedIndex,
    StoreError,
    opened,
    put_setting,
    reading,
    removed_at_last,
    set_aside,
    setting,
    swap,
    writing,
)
from tracklog.store.integrity import is_sound


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    with writing(home) as database, database.transaction() as db:
        put_setting(db, "colour", "red")
    return home


def test_where_there_is_no_index_there_is_nothing_to_read(tmp_path: Path) -> None:
    with reading(Home(tmp_path)) as database:
        assert database is None
    assert os.listdir(tmp_path) == []


def test_what_was_written_can_be_read(home: Home) -> None:
    with reading(home) as database:
        assert database is not None
        assert setting(database.db, "colour") == "red"


def test_a_reader_cannot_write(home: Home) -> None:
    with reading(home) as database:
        assert database is not None
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            put_setting(database.db, "colour", "blue")


def _change_and_fail(db: sqlite3.Connection) -> None:
    put_setting(db, "colour", "blue")
    raise ZeroDivisionError


def test_a_transaction_that_fails_leaves_nothing(home: Home) -> None:
    with writing(home) as database:
        with pytest.raises(ZeroDivisionError), database.transaction() as db:
            _change_and_fail(db)
        assert setting(database.db, "colour") == "red"
        assert not database.db.in_transaction


def test_there_is_one_writer(home: Home) -> None:
    with writing(home), pytest.raises(Busy), writing(home):
        pass


def test_a_reader_sees_what_was_there_when_it_asked(home: Home) -> None:
    with reading(home) as reader, writing(home) as writer:
        assert reader is not None
        with writer.transaction() as db:
            put_setting(db, "colour", "blue")
            assert setting(reader.db, "colour") == "red"
        assert setting(reader.db, "colour") == "blue"


def test_a_writer_that_ends_leaves_no_log_of_changes(home: Home) -> None:
    with writing(home) as database, database.transaction() as db:
        put_setting(db, "colour", "blue")
    wal = home.index.with_name("index.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_a_writer_that_ends_while_another_reads_leaves_a_sound_index(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_WAIT_S", 0.05)
    with reading(home) as reader:
        assert reader is not None
        reader.db.execute("begin")
        assert setting(reader.db, "colour") == "red"
        with writing(home) as writer, writer.transaction() as db:
            put_setting(db, "colour", "blue")
        assert setting(reader.db, "colour") == "red"
        reader.db.execute("commit")
    with reading(home) as reader:
        assert reader is not None
        assert setting(reader.db, "colour") == "blue"
        assert is_sound(reader.db)


@pytest.mark.parametrize("data", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_damaged(home: Home, data: bytes) -> None:
    home.index.write_bytes(data)
    with pytest.raises(DamagedIndex, match="damaged"), writing(home):
        pass
    with pytest.raises(DamagedIndex, match="damaged"), reading(home):
        pass


def test_a_damaged_index_is_put_out_of_the_way_and_never_over_another(home: Home) -> None:
    for n in (1, 2):
        home.index.write_bytes(b"damaged %d" % n)
        home.index.with_name("index.db-wal").write_bytes(b"changes %d" % n)
        aside = set_aside(home)
        assert aside.name == f"index.damaged-{n}.db"
        assert aside.read_bytes() == b"damaged %d" % n
        assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"changes %d" % n
    assert not home.index.exists()


def test_one_index_takes_the_place_of_another(home: Home, tmp_path: Path) -> None:
    new = Home(home.path, index_name="new.db")
    with opened(new) as database, database.transaction() as db:
        put_setting(db, "colour", "blue")
    home.index.with_name("index.db-wal").write_bytes(b"of the old one")
    swap(new, home)
    with reading(home) as reader:
        assert reader is not None
        assert setting(reader.db, "colour") == "blue"
    assert not new.index.exists()


def test_an_index_is_taken_away_with_its_sides(home: Home) -> None:
    home.index.with_name("index.db-shm").write_bytes(b"")
    with removed_at_last(home):
        assert not home.index.exists()
    assert [path.name for path in home.path.iterdir() if path.name.startswith("index.db")] == []


def test_a_full_disk_is_told_with_what_to_do(home: Home) -> None:
    with writing(home) as database:
        (n_pages,) = database.db.execute("pragma page_count").fetchone()
        database.db.execute(f"pragma max_page_count = {n_pages}")
        with pytest.raises(StoreError, match="no space is left") as told, database.transaction() as db:
            put_setting(db, "long", "x" * 1_000_000)
        assert str(home.path) in str(told.value)
        assert setting(database.db, "long") is None
        assert is_sound(database.db)


def test_a_wrong_question_is_a_mistake_of_ours(home: Home) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), writing(home) as database:
        database.db.execute("select * from nowhere")


def test_a_mistake_of_ours_is_not_taken_for_damage(home: Home) -> None:
    with pytest.raises(TypeError, match="ours"), writing(home):
        raise TypeError("ours")
    with pytest.raises(sqlite3.IntegrityError), writing(home) as database, database.transaction() as db:
        db.execute("insert into settings values ('colour', 'blue')")


@pytest.mark.parametrize(
    "error", [TypeError("'<' of a text"), KeyError("what"), sqlite3.IntegrityError("unique")], ids=repr
)
def test_what_fails_on_a_value_that_nobody_wrote_fails_because_of_damage(
    home: Home, error: Exception
) -> None:
    with closing(sqlite3.connect(home.index)) as db, db:
        db.execute("insert into frames values ('many', 1, 1, 1)")
    with (
        pytest.raises(DamagedIndex, match=r"holds a value that was never written there.*tracklog rebuild"),
        reading(home),
    ):
        raise error


def test_what_can_no_longer_be_unpacked_is_damage(home: Home) -> None:
    with pytest.raises(DamagedIndex, match="never written"), reading(home):
        msgspec.msgpack.decode(b"\xc1")


def test_a_lock_of_somebody_else_on_the_index_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_WAIT_S", 0.05)
    with closing(sqlite3.connect(home.index, isolation_level=None)) as stranger:
        stranger.execute("begin immediate")
        with (
            pytest.raises(StoreError, match="another process"),
            writing(home) as database,
            database.transaction(),
        ):
            pass


def test_an_index_of_another_schema_is_not_read(home: Home) -> None:
    with closing(sqlite3.connect(home.index)) as db:
        db.execute("pragma user_version = 99")
    with reading(home) as database:
        assert database is None


@pytest.mark.parametrize("name", ["with space", "per%cent", "question?mark", "hash#tag", "日本語"])
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    with writing(home) as database, database.transaction() as db:
        put_setting(db, "colour", "red")
    with reading(home) as reader:
        assert reader is not None
        assert setting(reader.db, "colour") == "red"
    assert home.index.stat().st_size > 0
