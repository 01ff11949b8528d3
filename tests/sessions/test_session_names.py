from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.test_search import put_log
from tests.store.made_index import put
from tracklog.home import Home
from tracklog.sessions.tables_lists import NamedSession, sessions_named, titles_of
from tracklog.store.database import writing
from tracklog.store.scope import scope_of


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path / "home")) as database:
        for n, (session, title, project) in enumerate(
            [
                ("aaaa1111", "Fix the parser", "app"),
                ("bbbb2222", "Release 100%", "lib"),
                ("cccc3333", None, "parser-tools"),
                ("dddd4444", "Nobody is to see the parser", "app"),
            ],
            1,
        ):
            known = {"is_settled": 1, "is_listed": n != 4, "only_here": 0, "last_ms": n, "agent": "claude"}
            put(database.db, "session_rows", id=n, session=session, title=title, project=project, **known)
            put_log(database.db, n, f"/root{n % 2}/{session}.jsonl", f"/root{n % 2}", "claude", session)
        yield database.db


def ids(found: list[NamedSession]) -> list[str]:
    return [one.id for one in found]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["cccc3333", "bbbb2222", "aaaa1111"]),
        ("PARSER", ["cccc3333", "aaaa1111"]),
        ("parser fix", ["aaaa1111"]),
        ("bbbb", ["bbbb2222"]),
        ("2222", []),
        ("100%", ["bbbb2222"]),
        ("1_0", []),
        ("app", ["aaaa1111"]),
    ],
)
def test_sessions_are_found_by_words_of_title_and_project_or_the_beginning_of_the_id(
    db: sqlite3.Connection, words: str, found: list[str]
) -> None:
    assert ids(sessions_named(db, words)) == found


def test_only_sessions_of_the_scope_are_found(db: sqlite3.Connection) -> None:
    assert ids(sessions_named(db, "", scope=scope_of(["/root1"]))) == ["cccc3333", "aaaa1111"]
    assert ids(sessions_named(db, "", scope=scope_of(["/root0", "/root1"]), limit=1)) == ["cccc3333"]


def test_titles_are_told_of_listed_sessions_that_have_one(db: sqlite3.Connection) -> None:
    names = [("claude", id) for id in ("aaaa1111", "cccc3333", "dddd4444", "nobody", "half\udc80")]
    assert titles_of(db, names) == {("claude", "aaaa1111"): "Fix the parser"}
