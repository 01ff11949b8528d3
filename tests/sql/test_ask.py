from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.made_index import ONE, TWO, made_index
from tracklog.home import Home
from tracklog.sql import ask as sql_ask
from tracklog.sql.ask import COSTS, TooLong, WrongQuestion, ask, lay_out, put_costs, views_named
from tracklog.store.database import reading

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return made_index(tmp_path_factory.mktemp("home"))


@pytest.fixture
def db(home: Home) -> Iterator[sqlite3.Connection]:
    with reading(home) as database:
        assert database is not None
        lay_out(database.db)
        yield database.db


def rows(db: sqlite3.Connection, question: str) -> list[tuple[object, ...]]:
    return ask(db, question, limit=1000, timeout_s=10).rows


def refusal(db: sqlite3.Connection, question: str) -> str:
    with pytest.raises(WrongQuestion) as refused:
        ask(db, question, limit=10, timeout_s=10)
    return str(refused.value)


@pytest.mark.parametrize(
    "question",
    [
        "insert into session_rows (id) values (9)",
        "update sessions set title = 'x'",
        "update session_rows set title = 'x'",
        "delete from call_rows",
        "drop view sessions",
        "create table mine (n)",
        "create temp table mine as select 1",
        "create temp view mine as select 1",
        "create virtual table temp.mine using fts5(x)",
        "attach ':memory:' as other",
        "attach '/tmp/other.db' as other",
        "detach main",
        "pragma query_only = off",
        "pragma table_info(sessions)",
        "select * from pragma_user_version",
        "begin",
        "savepoint mine",
        "reindex",
        "analyze",
        "select load_extension('evil')",
        "with x as (select 1) insert into names (name) select * from x",
        "replace into names (name) values ('x')",
        "explain delete from names",
    ],
)
def test_a_question_cannot_do_anything_but_read(db: sqlite3.Connection, home: Home, question: str) -> None:
    before = home.index.read_bytes()
    assert refusal(db, question).endswith(": questions only read, so one SELECT is all that is allowed")
    assert home.index.read_bytes() == before


def test_a_copy_of_the_index_cannot_be_made(db: sqlite3.Connection, tmp_path: Path) -> None:
    assert "only read" in refusal(db, f"vacuum into '{tmp_path}/copy.db'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("select * from sesions", "no such table: sesions; did you mean sessions?"),
        ("select titel from sessions", "no such column: titel; did you mean title?"),
        (
            "select state from files",
            "no such column: state; state is a column of sessions, threads",
        ),
        ("select s.projekt from sessions s", "no such column: s.projekt; did you mean project?"),
        (
            "select * from zebra",
            "no such table: zebra; `tracklog sql --schema` lists the views and their columns",
        ),
        ("select nope(1)", "no such function: nope"),
        ("selec 1", 'near "selec": syntax error'),
        ("select 1; select 2", "one question at a time: there is something behind the first `;`"),
        ("select ?", "the question has placeholders (?): write the values themselves"),
        ("select :a", "the question has placeholders (?): write the values themselves"),
        ("select randomblob(100000000)", "string or blob too big"),
        ("select 'a' like printf('%.*c', 5000, '%')", "LIKE or GLOB pattern too complex"),
        ("select " + ", ".join(["randomblob(1000000)"] * 201), "too many columns in result set"),
        ("select abs(-9223372036854775808)", "integer overflow"),
        ("", "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
        (" ;; ", "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
        ("-- nothing", "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
        ("select '\0'", "the question holds bytes that are no text"),
        ("select '\ud800'", "the question holds bytes that are no text"),
        ("select " + "1+" * 600_000 + "1", "the question is longer than 1,000,000 letters"),
    ],
    ids=lambda text: text[:20].encode("ascii", "replace").decode(),
)
def test_a_wrong_question_is_one_line_that_helps(db: sqlite3.Connection, question: str, said: str) -> None:
    assert refusal(db, question) == said


@pytest.mark.parametrize("question", ["(" * 100_000, "select " + "(" * 5_000 + "1" + ")" * 5_000])
def test_a_question_too_deep_is_refused(db: sqlite3.Connection, question: str) -> None:
    assert refusal(db, question)


@pytest.mark.parametrize(
    "question",
    [
        ENDLESS,
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n where i < 0",
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n order by -i",
        "select count(*) from sqlite_master a, sqlite_master b, sqlite_master c, sqlite_master d, sqlite_master e",
    ],
)
def test_a_question_without_end_is_ended(db: sqlite3.Connection, question: str) -> None:
    with pytest.raises(TooLong, match=r"longer than 0\.2 s"):
        ask(db, question, limit=10, timeout_s=0.2)


def test_after_a_refusal_and_after_the_time_limit_the_connection_answers_as_before(
    db: sqlite3.Connection,
) -> None:
    refusal(db, "pragma query_only = off")
    with pytest.raises(TooLong):
        ask(db, ENDLESS, limit=1, timeout_s=0.1)
    assert ask(db, "select id from sessions order by agent", limit=1, timeout_s=5) == (["id"], [(ONE,)], True)
    assert ask(db, "select id from sessions order by agent;", limit=2, timeout_s=5) == (
        ["id"],
        [(ONE,), (TWO,)],
        False,
    )


def test_words_json_and_recursion_can_be_asked_for(db: sqlite3.Connection) -> None:
    found = "select line from texts where id in (select rowid from words where words match 'frobnicate')"
    assert rows(db, found) == [(3,)]
    assert rows(db, "select value from sessions, json_each(models)") == [("claude-opus-4-6",)]
    assert rows(
        db, "with recursive n(i) as (select 1 union select i + 1 from n where i < 3) select * from n"
    ) == [
        (1,),
        (2,),
        (3,),
    ]


def test_a_text_that_is_no_utf_8_is_an_answer_too(db: sqlite3.Connection) -> None:
    assert rows(db, "select cast(x'61ff' as text), x'61ff'") == [("a�", b"a\xff")]


def test_costs_are_a_table_of_the_connection(db: sqlite3.Connection, home: Home) -> None:
    assert refusal(db, "select * from costs").startswith("no such table: costs")
    put_costs(db, [(1, 2, 2_000_001), (2, None, None)])
    answer = ask(db, "select * from costs", limit=9, timeout_s=5)
    assert answer.columns == [column.name for column in COSTS.columns]
    assert answer.rows == [(1, 2, 2_000_001), (2, None, None)]
    with reading(home) as other:
        assert other is not None
        assert refusal(other.db, "select * from costs").startswith("no such table: costs")


def test_the_views_that_a_question_names_are_found_in_it() -> None:
    assert views_named("SELECT * FROM Sessions s JOIN \"calls\" ON 'costs' <> my_ledger") == {
        "sessions",
        "calls",
        "costs",
    }


MANY = "with recursive n(i) as (select 1 union all select i + 1 from n limit 100000)"


@pytest.mark.parametrize(
    ("question", "n_rows"),
    [
        (f"{MANY} select zeroblob(900000) from n", 71),
        (f"{MANY} select printf('%.900000c', 'x') from n", 71),
    ],
)
def test_an_answer_ends_where_it_would_take_too_much_memory(
    db: sqlite3.Connection, question: str, n_rows: int
) -> None:
    found = ask(db, question, limit=1_000_000, timeout_s=60)
    assert (len(found.rows), found.is_truncated) == (n_rows, True)


def test_numbers_take_memory_too(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_ask, "LARGEST_ANSWER", sql_ask.LARGEST_ANSWER // 100)
    found = ask(db, f"{MANY} select {', '.join(['i'] * 100)} from n", limit=1_000_000, timeout_s=60)
    assert (len(found.rows), found.is_truncated) == (800, True)
