from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.store.database import writing
from tracklog.store.text import EPOCH_S, SLOT_BITS, call_key, drop_texts, put_texts, worded
from tracklog.store.values import SearchableText, WordedText

AT_MS = 1_772_385_882_123
SECOND = AT_MS // 1000 - EPOCH_S


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path / "home")) as database:
        yield database.db


def text(words: str, *, at_ms: int | None = AT_MS, line: int = 1, n: int = 0) -> WordedText:
    return worded(SearchableText(line, line * 100, n, 1, at_ms, None, None, words))


def ids(db: sqlite3.Connection, match: str = "words") -> list[int]:
    return [row[0] for row in db.execute("select rowid from words where words match ? order by 1", (match,))]


def rows(db: sqlite3.Connection) -> list[tuple[int, int]]:
    return db.execute("select file, line from text_rows order by id").fetchall()


def test_a_text_is_put_down_with_where_it_stands(db: sqlite3.Connection) -> None:
    put_texts(db, [(7, worded(SearchableText(3, 250, 1, 4, AT_MS, "Bash", "call_1", "ls -la")))])
    assert db.execute(
        "select t.*, names.name from text_rows t join names on names.id = t.name"
    ).fetchall() == [(SECOND << SLOT_BITS, 7, 3, 250, 1, 4, AT_MS, 1, call_key("call_1"), "Bash")]
    assert ids(db, "la") == [SECOND << SLOT_BITS]


def test_later_texts_have_higher_ids_in_whatever_order_they_come(db: sqlite3.Connection) -> None:
    put_texts(db, [(1, text("c", at_ms=AT_MS + 2000, line=3)), (1, text("a", line=1))])
    put_texts(db, [(2, text("b", at_ms=AT_MS + 1000, line=2))])
    assert rows(db) == [(1, 1), (2, 2), (1, 3)]


def test_texts_of_one_second_stand_side_by_side(db: sqlite3.Connection) -> None:
    for n in range(3):
        put_texts(db, [(1, text("words", n=n))])
    assert ids(db) == [(SECOND << SLOT_BITS) + n for n in range(3)]


def test_a_second_that_is_full_goes_on_behind_it(db: sqlite3.Connection) -> None:
    put_texts(db, [(1, text("words", line=n)) for n in range(1 << SLOT_BITS)])
    put_texts(db, [(1, text("last"))])
    assert ids(db, "last") == [(SECOND + 1) << SLOT_BITS]


def test_a_log_that_says_everything_in_one_second_is_not_slow(db: sqlite3.Connection) -> None:
    db.execute("begin")
    took = []
    for _ in range(6):
        began = time.process_time()
        put_texts(db, [(1, text("x", n=n)) for n in range(10_000)])
        took.append(time.process_time() - began)
    db.execute("commit")
    assert min(took[3:]) < 5 * min(took[:3])
    assert db.execute("select count(distinct id) from text_rows").fetchone() == (60_000,)


def test_a_text_without_a_time_stands_behind_what_its_log_said_before(db: sqlite3.Connection) -> None:
    put_texts(db, [(1, text("a")), (1, text("title", at_ms=None, line=2)), (2, text("other", at_ms=None))])
    put_texts(db, [(1, text("again", at_ms=None, line=3))])
    assert ids(db, "title") == [(SECOND << SLOT_BITS) + 1]
    assert ids(db, "again") == [(SECOND << SLOT_BITS) + 2]
    assert ids(db, "other") == [0]


@pytest.mark.parametrize("at_ms", [-5, 0, 1 << 60])
def test_a_time_that_cannot_be_is_taken_for_the_nearest_one(db: sqlite3.Connection, at_ms: int) -> None:
    put_texts(db, [(1, text("words", at_ms=at_ms))])
    assert len(ids(db)) == 1


def test_a_dropped_text_leads_nowhere_and_its_id_is_not_given_again(db: sqlite3.Connection) -> None:
    put_texts(db, [(1, text("old words", line=1)), (1, text("words", line=2))])
    drop_texts(db, 1, from_offset=200)
    put_texts(db, [(1, text("new", line=2))])
    assert rows(db) == [(1, 1), (0, 2), (1, 2)]
    assert not set(ids(db, "new")) & set(ids(db, "words"))


def test_the_key_of_a_call_never_changes() -> None:
    assert call_key("toolu_01") == 1151217531995857669
    assert 0 <= call_key("\ud800") < 1 << 63
