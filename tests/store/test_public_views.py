from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.made_index import AT, CLAUDE_LOG, CLAUDE_ROOT, CODEX_LOG, ONE, TWO, made_index
from tracklog.home import Home
from tracklog.sql.ask import lay_out
from tracklog.sql.schema_doc import page
from tracklog.store.database import Database, reading, writing
from tracklog.store.public_views import VIEWS, PublicView, drop_views, make_views
from tracklog.store.scope import scope_of

PROJECT = Path(__file__).parents[2]
BY_NAME = {view.name: view for view in VIEWS}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return made_index(tmp_path_factory.mktemp("home"))


@pytest.fixture
def index(home: Home) -> Iterator[Database]:
    with reading(home) as database:
        assert database is not None
        yield database


def rows(db: sqlite3.Connection, question: str) -> list[tuple[Any, ...]]:
    return db.execute(question).fetchall()


def test_the_page_on_the_schema_is_fresh() -> None:
    page_there = (PROJECT / "docs" / "schema.md").read_text("utf-8")
    assert page_there == page(), "run: python -m tracklog.sql.schema_doc > docs/schema.md"


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_just_the_columns_that_are_documented(view: PublicView, index: Database) -> None:
    described = index.db.execute(f"select * from {view.name}").description
    assert [column[0] for column in described] == [column.name for column in view.columns]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_and_column_says_what_it_is_in_one_sentence(view: PublicView) -> None:
    sentences = {"": view.what, **{column.name: column.what for column in view.columns}}
    assert {name: what for name, what in sentences.items() if not what.endswith(".") or "|" in what} == {}
    assert len(sentences) == len(view.columns) + 1


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_values_have_the_types_that_are_documented(view: PublicView, index: Database) -> None:
    types = {"text": {"text", "null"}, "integer": {"integer", "null"}, "real": {"real", "null"}}
    for column in view.columns:
        found = {kind for (kind,) in rows(index.db, f'select typeof("{column.name}") from {view.name}')}
        assert found <= types[column.type], column.name


def test_what_time_a_row_has_is_one_of_its_columns() -> None:
    timed = [view for view in VIEWS if view.time]
    assert all(view.time in {column.name for column in view.columns} for view in timed)
    assert {view.name for view in timed} == {
        "sessions",
        "turns",
        "prompts",
        "requests",
        "calls",
        "ledger",
        "texts",
    }


def test_views_that_are_there_are_not_written_again(tmp_path: Path) -> None:
    with writing(Home(tmp_path)) as database, database.transaction() as db:
        make_views(db)
        before = db.total_changes, rows(db, "pragma schema_version")
        assert make_views(db) is False
        assert (db.total_changes, rows(db, "pragma schema_version")) == before


def test_a_view_of_another_release_is_replaced_and_one_that_is_unknown_goes(tmp_path: Path) -> None:
    with writing(Home(tmp_path)) as database:
        db = database.db
        drop_views(db)
        db.execute("create view sessions as select 1 as old")
        db.execute('create view "of yesterday" as select 1 as old')
        assert make_views(db) is True
        assert {name for (name,) in rows(db, "select name from sqlite_master where type = 'view'")} == set(
            BY_NAME
        )
        assert rows(db, "select id from sessions") == []


def test_views_are_made_all_or_none(tmp_path: Path) -> None:
    with writing(Home(tmp_path)) as database:
        db = database.db
        drop_views(db)
        db.execute("create view sessions as select 1 as old")
        db.execute("create table turns (taken integer)")
        with pytest.raises(sqlite3.OperationalError, match="turns"):
            make_views(db)
        assert rows(db, "select name, sql from sqlite_master where type = 'view'") == [
            ("sessions", "CREATE VIEW sessions as select 1 as old")
        ]
        assert not db.in_transaction


def test_sessions_that_are_not_listed_are_left_out_with_their_parts(index: Database) -> None:
    assert rows(index.db, "select id, only_here from sessions order by agent") == [(ONE, 0), (TWO, 1)]
    parts = ("threads", "turns", "prompts", "requests", "branches", "problems")
    assert {name: rows(index.db, f"select agent, session from {name}") for name in parts} == {
        name: [("claude", ONE)] for name in parts
    }
    assert rows(index.db, "select id, session, verdict, path, line from calls order by id") == [
        ("call_1", TWO, "ok", CODEX_LOG, 3),
        ("toolu_1", ONE, "error", CLAUDE_LOG, 3),
    ]


def test_what_was_spent_counts_whether_its_session_is_listed_or_not(index: Database) -> None:
    asked = "select id, at, input_tokens, stated_cost_micro_usd, path from ledger"
    assert rows(index.db, asked) == [
        (1, AT, 100, 2, CLAUDE_LOG),
        (2, AT, 200, 2, CODEX_LOG),
        (3, AT, 300, 2, CLAUDE_LOG),
    ]


def test_logs_of_the_past_are_in_no_view_and_kept_ones_say_so(index: Database) -> None:
    asked = "select path, only_here, file_bytes, archived_bytes, modified_at from files order by agent"
    assert rows(index.db, asked) == [(CLAUDE_LOG, 0, 500, None, AT), (CODEX_LOG, 1, 500, 90, AT)]


def test_a_passage_names_its_role_tool_call_and_line(index: Database) -> None:
    asked = "select role, name, call, at, path, line from texts order by id desc"
    assert rows(index.db, asked) == [
        ("input", "Bash", "toolu_1", AT, CLAUDE_LOG, 3),
        ("prompt", None, None, None, CLAUDE_LOG, 1),
    ]
    found = "select line from texts where id in (select rowid from words where words match 'frobnicate')"
    assert rows(index.db, found) == [(3,)]


def test_the_views_can_be_narrowed_to_what_stands_below_a_folder(index: Database) -> None:
    lay_out(index.db, scope_of([CLAUDE_ROOT]))
    found = {view.name: rows(index.db, f"select distinct agent from {view.name}") for view in VIEWS}
    assert found == {name: [("claude",)] for name in BY_NAME}


def test_a_folder_whose_name_only_begins_like_the_asked_one_is_not_meant(index: Database) -> None:
    lay_out(index.db, scope_of(["/home/dev/.c"]))
    assert rows(index.db, "select path from files") == []


def test_a_connection_has_the_views_of_today_even_if_the_index_has_not(tmp_path: Path) -> None:
    home = made_index(tmp_path)
    with writing(home) as database:
        drop_views(database.db)
        database.db.execute("create view sessions as select 1 as old")
    with reading(home) as reader:
        assert reader is not None
        lay_out(reader.db)
        assert len(rows(reader.db, "select id from sessions")) == 2


def test_the_page_can_be_made_by_its_command() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "tracklog.sql.schema_doc"],
        env={"PATH": os.defpath, "PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        check=True,
    )
    assert made.stdout.decode() == page()
