from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.made_index import made_index
from tracklog.home import Home
from tracklog.sql.ask import Answered, TooLong, WrongQuestion, ask, lay_out
from tracklog.sql.duckdb_views import ask_duck, duck, load
from tracklog.store.database import reading, writing
from tracklog.store.public_views import SESSIONS, VIEWS, PublicView


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return made_index(tmp_path_factory.mktemp("home"))


@pytest.fixture
def db(home: Home) -> Iterator[sqlite3.Connection]:
    with reading(home) as database:
        assert database is not None
        lay_out(database.db)
        yield database.db


def asked(db: sqlite3.Connection, question: str) -> Answered:
    return ask_duck(db, question, limit=1000, timeout_s=20)


def refusal(db: sqlite3.Connection, question: str) -> str:
    with pytest.raises(WrongQuestion) as refused:
        asked(db, question)
    return str(refused.value)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_duckdb_and_sqlite_give_the_same_rows_of_a_view(db: sqlite3.Connection, view: PublicView) -> None:
    question = f"select * from {view.name} order by 1, 2, 3"
    answer = asked(db, question)
    assert answer == ask(db, question, limit=1000, timeout_s=5)
    assert len(answer.rows) > 0


@pytest.mark.parametrize(
    "question",
    [
        "copy (select 1) to '/tmp/x.csv'",
        "attach '/tmp/x.db'",
        "install sqlite",
        "load json",
        "set threads = 1",
        "create table mine (n int)",
        "insert into sessions (id) values ('x')",
        "explain select 1",
    ],
)
def test_duckdb_is_asked_with_one_select_only(db: sqlite3.Connection, question: str) -> None:
    assert refusal(db, question).startswith("not authorized: questions only read")


@pytest.mark.parametrize(
    "question", ["select * from read_text('{0}')", "select * from '{0}'", "select * from glob('{0}')"]
)
def test_duckdb_reaches_no_file(db: sqlite3.Connection, tmp_path: Path, question: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("password\n")
    assert "password" not in refusal(db, question.format(secret))


def test_a_name_in_a_question_is_no_variable_of_the_program(db: sqlite3.Connection) -> None:
    assert refusal(db, "select * from connection").startswith("Catalog Error: Table with name connection")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "select * from sesions",
            "Catalog Error: Table with name sesions does not exist!; did you mean sessions?",
        ),
        (
            "select titel from sessions",
            'Binder Error: Referenced column "titel" not found in FROM clause!; did you mean title?',
        ),
        ("select 1; select 2", "one question at a time: there is something behind the first `;`"),
        ("select ?", "the question has placeholders (?): write the values themselves"),
        ("", "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
        ("-- nothing", "no question was asked: give one SELECT, or try `tracklog sql --schema`"),
        ("select '\ud800'", "the question holds bytes that are no text"),
        ("select '\0'", "the question holds bytes that are no text"),
    ],
    ids=lambda text: text[:20].encode("ascii", "replace").decode(),
)
def test_a_wrong_question_is_one_line_that_helps(db: sqlite3.Connection, question: str, said: str) -> None:
    assert refusal(db, question) == said


def test_a_question_without_end_is_ended(db: sqlite3.Connection) -> None:
    endless = "select count(*) from range(1000000000) a, range(1000000000) b where a.range % 7 = b.range % 5"
    with pytest.raises(TooLong, match=r"longer than 0\.2 s"):
        ask_duck(db, endless, limit=1, timeout_s=0.2)


def test_many_rows_odd_texts_and_nul_get_through(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with writing(home) as database, database.transaction() as db:
        many = ((f"s-{n}", f"a\0b {n}", n) for n in range(12_000))
        db.executemany(
            "insert into session_rows (agent, session, is_settled, is_listed, only_here, title, turns) "
            "values ('claude', ?, 1, 1, 0, ?, ?)",
            many,
        )
        db.execute(
            "update session_rows set title = x'61eda080' where session = 's-7'"
        )  # a, and half a character
    with reading(home) as reader, duck() as connection:
        assert reader is not None
        assert load(connection, reader.db, SESSIONS) == 12_002
        found = "select count(*), sum(turns) from sessions where title = 'a' || chr(0) || 'b ' || turns"
        assert connection.execute(found).fetchall() == [(11_999, sum(range(12_000)) - 7)]
        assert connection.execute("select title from sessions where id = 's-7'").fetchall() == [("a?",)]
