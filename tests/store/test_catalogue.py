"""Which logs the index knows, and how far each was read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tracklog.home import Home
from tracklog.store import catalogue
from tracklog.store.database import writing
from tracklog.store.file_stamps import folders_of, stamps
from tracklog.store.values import FileRead, KnownFile

ODD = os.fsdecode(b"/home/dev/\xff/log.jsonl")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path)) as database:
        yield database.db


def values(path: str = "/home/dev/log.jsonl", **more: Any) -> dict[str, Any]:
    """A log as it is found."""
    known = {"root": "/home/dev", "agent": "claude", "kind": "transcript", "own_session": "s"}
    times = {"device": 1, "inode": 2, "mtime_ns": 3, "ctime_ns": 4}
    return {"path": path, **known, **times, **more}


def only(db: sqlite3.Connection) -> KnownFile:
    """The one log that is known."""
    (row,) = catalogue.all_files(db)
    return row


def a_reading(file: int, **more: Any) -> FileRead:
    """What a reading of a log to its end gives."""
    known: dict[str, Any] = {"starts_at": 0, "contents_bytes": 70, "position": 60, "lines": 3, "head": b"h"}
    known |= {"tail": b"t", "counts": (1, 2, 3, 4), "memory": b"m", "texts": [], "archived": None}
    return FileRead(file=file, **{**known, "stamp": (70, 5, 6, 7, 8), **more})


def test_a_new_log_is_here_and_unread(db: sqlite3.Connection) -> None:
    number = catalogue.add_file(db, values())
    expected = KnownFile(**values(), id=number, session=None, state="here", size=-1)
    assert only(db) == expected
    assert catalogue.numbers(db) == {"/home/dev/log.jsonl": number}


def test_a_name_that_is_no_text_comes_back_as_it_was(db: sqlite3.Connection) -> None:
    number = catalogue.add_file(db, values(ODD, own_session=ODD))
    assert (only(db).path, only(db).own_session) == (ODD, ODD)
    assert catalogue.numbers(db) == {ODD: number}
    assert [path for path, *_ in stamps(db)] == [ODD]


def test_a_reading_says_how_far_and_how(db: sqlite3.Connection) -> None:
    number = catalogue.add_file(db, values())
    catalogue.put_reading(db, a_reading(number))
    row = only(db)
    assert (row.contents_bytes, row.position, row.lines, row.head, row.tail, row.memory) == (
        70,
        60,
        3,
        b"h",
        b"t",
        b"m",
    )
    assert (row.pieces_read, row.pieces_unknown, row.pieces_broken, row.recovered) == (1, 2, 3, 4)
    assert (row.size, row.mtime_ns, row.ctime_ns, row.inode, row.device) == (70, 5, 6, 7, 8)


def test_a_reading_that_goes_on_leaves_the_stamp(db: sqlite3.Connection) -> None:
    number = catalogue.add_file(db, values())
    catalogue.put_reading(db, a_reading(number, stamp=None))
    assert (only(db).size, only(db).mtime_ns, only(db).contents_bytes) == (-1, 3, 70)


def test_a_log_that_was_rewritten_starts_anew(db: sqlite3.Connection) -> None:
    number = catalogue.add_file(db, values())
    catalogue.put_reading(db, a_reading(number, problem="torn"))
    catalogue.start_anew(db, number, generation=2)
    row = only(db)
    assert (row.generation, row.size, row.contents_bytes, row.position, row.lines) == (2, -1, 0, 0, 0)
    assert (row.head, row.tail, row.memory, row.problem) == (None, None, None, None)
    assert (row.pieces_read, row.pieces_unknown, row.pieces_broken, row.recovered) == (0, 0, 0, 0)


def test_a_path_is_taken_once_by_what_counts(db: sqlite3.Connection) -> None:
    first = catalogue.add_file(db, values())
    with pytest.raises(sqlite3.IntegrityError):
        catalogue.add_file(db, values())
    catalogue.change_file(db, first, state="past")
    second = catalogue.add_file(db, values())
    assert [row.id for row in catalogue.all_files(db)] == [second]
    assert [row.id for row in catalogue.all_files(db, with_past=True)] == [first, second]
    assert catalogue.numbers(db) == {"/home/dev/log.jsonl": second}


def test_only_what_stands_at_its_place_has_a_stamp(db: sqlite3.Connection) -> None:
    for n, state in enumerate(("here", "kept", "past")):
        catalogue.change_file(db, catalogue.add_file(db, values(f"/{n}")), state=state)
    assert stamps(db) == [("/0", -1, 3, 4, 2)]


def test_folders_are_known_by_their_root(db: sqlite3.Connection) -> None:
    catalogue.put_folders(db, "one", {"/a": 1, ODD: 2})
    catalogue.put_folders(db, "two", {"/a": 3})
    assert folders_of(db, ["one", "two", "three"]) == {"one": {"/a": 1, ODD: 2}, "two": {"/a": 3}}
    catalogue.put_folders(db, "one", {"/b": 4})
    assert folders_of(db, ["one", "two"]) == {"one": {"/b": 4}, "two": {"/a": 3}}


def test_sessions_that_share_history_find_one_another(db: sqlite3.Connection) -> None:
    for session in ("a", "b", "c", "d", "e"):
        catalogue.add_file(db, values(f"/{session}", session=session))
    catalogue.put_kin(db, "claude", "a", [("begins", b"1"), ("holds", b"1"), ("holds", b"2")])
    catalogue.put_kin(db, "claude", "b", [("begins", b"2"), ("holds", b"3")])
    catalogue.put_kin(db, "claude", "c", [("begins", b"9"), ("names", b"b")])
    catalogue.put_kin(db, "claude", "d", [("begins", b"8"), ("holds", b"2")])
    catalogue.put_kin(db, "codex", "e", [("begins", b"1")])
    assert catalogue.kin_of(db, "claude", "a") == {"a", "b", "c", "d"}
    assert catalogue.kin_of(db, "claude", "c") == {"a", "b", "c", "d"}
    assert catalogue.kin_of(db, "codex", "e") == {"e"}
    catalogue.put_kin(db, "claude", "b", [])
    assert catalogue.kin_of(db, "claude", "a") == {"a"}


def test_a_session_that_is_only_named_leads_to_nobody(db: sqlite3.Connection) -> None:
    for session in ("a", "b"):
        catalogue.add_file(db, values(f"/{session}", session=session))
        catalogue.put_kin(db, "claude", session, [("names", b"unknown")])
    assert catalogue.kin_of(db, "claude", "a") == {"a"}
