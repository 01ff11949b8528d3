from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tracklog.home import Busy
from tracklog.live.journal import MOST_FILES, Following, LiveEvent, kept_journal

AT = "2026-03-01T10:00:00.000Z"


def seen(text: str = "x") -> LiveEvent:
    return LiveEvent(n=0, at=AT, event="prompt_given", session="s", data={"text": text})


def numbers(following: Following) -> list[int]:
    return [event.n for event in following.more()]


def test_events_are_numbered_from_one_on_and_come_back_as_they_were(tmp_path: Path) -> None:
    following = Following(tmp_path, after=0)
    with kept_journal(tmp_path) as journal:
        written = [journal.write(seen(text)) for text in ("a", "b")]
    assert list(following.more()) == written
    assert [event.n for event in written] == [1, 2]


def test_the_next_writer_goes_on_counting(tmp_path: Path) -> None:
    for _ in range(3):
        with kept_journal(tmp_path) as journal:
            journal.write(seen())
    assert numbers(Following(tmp_path, after=0)) == [1, 2, 3]


def test_who_follows_without_a_number_sees_only_what_comes(tmp_path: Path) -> None:
    with kept_journal(tmp_path) as journal:
        journal.write(seen())
        following = Following(tmp_path)
        assert numbers(following) == []
        journal.write(seen())
        assert numbers(following) == [2]
        assert numbers(following) == []


def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    with kept_journal(tmp_path), pytest.raises(Busy), kept_journal(tmp_path):
        pass


def test_the_journal_is_bounded_and_who_comes_too_late_is_told_how_much_is_gone(tmp_path: Path) -> None:
    with kept_journal(tmp_path, file_bytes=500) as journal:
        for _ in range(100):
            journal.write(seen("x" * 50))
    assert len(list(tmp_path.glob("events-*.jsonl"))) == MOST_FILES
    following = Following(tmp_path, after=0)
    kept = numbers(following)
    assert kept == list(range(kept[0], 101))
    assert following.lost == kept[0] - 1 > 0


def test_a_reader_that_keeps_up_loses_nothing_while_files_come_and_go(tmp_path: Path) -> None:
    following = Following(tmp_path, after=0)
    read: list[int] = []
    with kept_journal(tmp_path, file_bytes=300) as journal:
        for n in range(60):
            journal.write(seen("y" * (n % 90)))
            if n % 3 == 0:
                read += numbers(following)
    read += numbers(following)
    assert read == list(range(1, 61))
    assert following.lost == 0


def test_a_torn_line_of_a_killed_writer_is_passed_over(tmp_path: Path) -> None:
    with kept_journal(tmp_path) as journal:
        journal.write(seen())
    (file,) = tmp_path.glob("events-*.jsonl")
    with file.open("ab") as stream:
        stream.write(b'{"n":2,"at":"20')
    with kept_journal(tmp_path) as journal:
        journal.write(seen("whole"))
    assert [(event.n, event.data["text"]) for event in Following(tmp_path, after=0).more()] == [
        (1, "x"),
        (2, "whole"),
    ]


def test_an_event_that_is_half_written_comes_when_it_is_whole(tmp_path: Path) -> None:
    with kept_journal(tmp_path) as journal:
        journal.write(seen())
    (file,) = tmp_path.glob("events-*.jsonl")
    line = b'{"n":2,"at":"2026-03-01T10:00:00.000Z","event":"turn_ended"}\n'
    following = Following(tmp_path, after=1)
    for part in (line[:20], line[20:]):
        before = numbers(following)
        with file.open("ab") as stream:
            stream.write(part)
    assert before == []
    assert numbers(following) == [2]


def test_half_a_character_does_not_stop_the_journal(tmp_path: Path) -> None:
    with kept_journal(tmp_path) as journal:
        journal.write(LiveEvent(n=0, at=AT, event="x", path="/caf\udce9", data={"a": ["\ud800"]}))
    (event,) = Following(tmp_path, after=0).more()
    assert (event.path, event.data) == ("/caf?", {"a": ["?"]})


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    with kept_journal(tmp_path / "live") as journal:
        journal.write(seen())
    modes = {stat.S_IMODE(os.stat(path).st_mode) for path in (tmp_path / "live").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(os.stat(tmp_path / "live").st_mode) == 0o700
