"""Which logs are meant by some folders is the same in Python and in SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.made_index import CLAUDE_LOG, CLAUDE_ROOT, CODEX_ROOT, ONE, TWO, UNLISTED, made_index
from tracklog.store.database import reading
from tracklog.store.scope import Scope, scope_of

PARTS = st.sampled_from(["a", "b", "a b", "a.b", "a0", "A", "é", "a%", "a_", "a'b"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(PATHS, max_size=3), PATHS)
def test_sql_and_python_agree(tops: list[str], path: str) -> None:
    scope = scope_of(tops)
    condition, values = scope.condition("?1")
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create table t (path text)")
        db.execute("insert into t values (?)", (path,))
        condition, values = scope.condition("path")
        (found,) = db.execute(f"select count(*) from t where {condition}", values).fetchone()
    assert bool(found) == scope.holds(path)


@pytest.mark.parametrize(
    ("top", "path", "is_meant"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b", "/a/b/c.jsonl", True),
        ("/a/b/", "/a/b/c.jsonl", True),
        ("/a/b", "/a/bc/d.jsonl", False),
        ("/a/b", "/a/b.jsonl", False),
        ("/a/b", "/a", False),
        ("/", "/a/b", True),
        ("/a/../b", "/b/c", True),
        ("/a/%", "/a/b", False),
    ],
)
def test_a_folder_means_what_stands_in_it(top: str, path: str, is_meant: bool) -> None:
    scope = scope_of([top])
    condition, values = scope.condition("p")
    with closing(sqlite3.connect(":memory:")) as db:
        (found,) = db.execute(
            f"select count(*) from (select ? as p) where {condition}", [path, *values]
        ).fetchone()
    assert (scope.holds(path), bool(found)) == (is_meant, is_meant)


def test_no_folder_means_nothing() -> None:
    assert scope_of([]) == Scope(())
    assert not Scope(()).holds("/a")


def test_sessions_are_whole_or_have_logs_elsewhere(tmp_path: Path) -> None:
    home = made_index(tmp_path / "home")
    with reading(home) as database:
        assert database is not None
        both = scope_of([CLAUDE_ROOT, CODEX_ROOT])
        whole, parted = both.names(database.db)
        assert (
            {("claude", ONE), ("codex", TWO)}
            <= whole
            <= {("claude", ONE), ("codex", TWO), ("claude", UNLISTED)}
        )
        assert (parted, both.is_everything(database.db)) == (set(), True)
        assert not scope_of([CODEX_ROOT]).is_everything(database.db)
        assert scope_of([CLAUDE_LOG]).names(database.db)[1] in (set(), {("claude", ONE)})
