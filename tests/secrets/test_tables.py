"""What was found is known with how far was looked, and counts only for the rules and the bytes it was found with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.secrets.tables import (
    Extent,
    LoggedSecret,
    Since,
    Which,
    drop_past,
    extent,
    has_past,
    not_scanned,
    put_scanned,
    standing,
    to_scan,
)
from tracklog.store.catalogue import add_file, change_file
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of
from tracklog.store.values import Scanned, SecretSeen

ALL = Which(scope_of(["/logs"]))
HASH = "0123456789abcdef"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Database]:
    with writing(Home(tmp_path / "ours")) as database:
        yield database


def add(index: Database, path: str = "/logs/a.jsonl", **more: object) -> int:
    known = {"agent": "claude", "kind": "transcript", "session": "s-1", "device": 1, "inode": 1}
    values = {"path": path, "root": "/logs", "mtime_ns": 5, "ctime_ns": 5, **known, **more}
    with index.transaction() as db:
        file = add_file(db, values)
        change_file(db, file, size=100, contents_bytes=100)
    return file


def part(file: int, *seen: SecretSeen, **more: object) -> Scanned:
    known = {"generation": 1, "from_line": 0, "position": 90, "lines": 4, "contents_bytes": 100}
    return Scanned(file=file, seen=list(seen), **{**known, **more})  # type: ignore[arg-type]


def put(index: Database, *parts: Scanned, rules: str = "r1") -> None:
    with index.transaction() as db:
        for one in parts:
            put_scanned(db, one, rules=rules)


def lines(index: Database, *, rules: str = "r1") -> list[int]:
    return [one.line for one in standing(index.db, ALL, rules=rules)]


def test_a_log_is_looked_through_once(index: Database) -> None:
    file = add(index)
    assert to_scan(index.db, ALL, rules="r1") == {file: Since(0, 0)}
    assert not_scanned(index.db, ALL, rules="r1") == [("/logs/a.jsonl", "not looked through to its end yet")]
    put(index, part(file, SecretSeen(3, "github-pat", HASH, 2)))
    assert to_scan(index.db, ALL, rules="r1") == {}
    assert not_scanned(index.db, ALL, rules="r1") == []
    assert standing(index.db, ALL, rules="r1") == [
        LoggedSecret("github-pat", "/logs/a.jsonl", 3, 2, HASH, "s-1", "claude", False)
    ]


def test_a_log_that_grew_goes_on_behind_its_last_ended_line(index: Database) -> None:
    file = add(index)
    put(index, part(file, SecretSeen(3, "a", HASH, 1), SecretSeen(5, "b", HASH, 1)))
    with index.transaction() as db:
        change_file(db, file, contents_bytes=150)
    assert to_scan(index.db, ALL, rules="r1") == {file: Since(90, 4)}
    put(
        index, part(file, SecretSeen(6, "c", HASH, 1), from_line=4, position=150, lines=6, contents_bytes=150)
    )
    assert lines(index) == [3, 6]


@pytest.mark.parametrize("what", ["other rules", "rewritten", "not read by the index", "not looked through"])
def test_what_counts_for_nothing_is_looked_through_anew(index: Database, what: str) -> None:
    file, rules = add(index), "r1"
    put(
        index,
        part(file, SecretSeen(3, "a", HASH, 1), problem="damaged" if what == "not looked through" else None),
    )
    with index.transaction() as db:
        if what == "rewritten":
            change_file(db, file, generation=2)
        if what == "not read by the index":
            change_file(db, file, problem="damaged")
        if what == "other rules":
            rules = "r2"
    assert to_scan(index.db, ALL, rules=rules) == {file: Since(0, 0)}
    still = what in ("not read by the index", "not looked through")
    assert lines(index, rules=rules) == ([3] if still else [])
    whys = {"not looked through": "damaged", "not read by the index": None}
    why = whys.get(what, "not looked through to its end yet")
    assert not_scanned(index.db, ALL, rules=rules) == ([("/logs/a.jsonl", why)] if why else [])


def test_what_stands_nowhere_any_more_is_forgotten(index: Database) -> None:
    file, other = add(index), add(index, "/logs/b.jsonl")
    put(index, part(file, SecretSeen(1, "a", HASH, 1)), part(other, SecretSeen(2, "a", HASH, 1)))
    assert not has_past(index.db)
    with index.transaction() as db:
        change_file(db, file, state="past")
    assert (has_past(index.db), lines(index)) == (True, [2])
    with index.transaction() as db:
        drop_past(db)
    assert not has_past(index.db)
    assert index.db.execute("select file from secret_rows").fetchall() == [(other,)]
    assert index.db.execute("select file from secret_scans").fetchall() == [(other,)]


def test_only_the_logs_that_are_meant_are_told(index: Database) -> None:
    one = add(index, "/logs/a.jsonl", mtime_ns=5)
    two = add(index, "/logs/odd-\udcff.jsonl", agent="codex", mtime_ns=9)
    add(index, "/elsewhere/c.jsonl")
    put(index, part(one, SecretSeen(1, "a", HASH, 1)), part(two, SecretSeen(2, "a", HASH, 1)))
    with index.transaction() as db:
        change_file(db, two, state="kept")
    found = standing(index.db, ALL, rules="r1")
    assert [(one.path, one.only_here) for one in found] == [
        ("/logs/a.jsonl", False),
        ("/logs/odd-\udcff.jsonl", True),
    ]
    assert [one.line for one in standing(index.db, ALL._replace(agent="codex"), rules="r1")] == [2]
    assert [one.line for one in standing(index.db, ALL._replace(since_ns=6), rules="r1")] == [2]
    assert extent(index.db, ALL) == Extent(2, 200)
    assert extent(index.db, ALL._replace(agent="claude")) == Extent(1, 100)
    assert to_scan(index.db, Which(scope_of([])), rules="r1") == {}
