from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.sources.follow import Appended, Follower, Gone, Restarted


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    return path


def test_a_follower_gives_each_byte_once_with_its_place(log: Path) -> None:
    follower = Follower(log)
    assert follower.ask() == Appended(0, b"one\n")
    assert follower.ask() == Appended(4, b"")
    append(log, b"two\nhal")
    assert follower.ask() == Appended(4, b"two\nhal")
    append(log, b"f\n")
    assert follower.ask() == Appended(11, b"f\n")


def test_a_follower_can_begin_in_the_middle(log: Path) -> None:
    assert Follower(log, 2).ask() == Appended(2, b"e\n")


def test_a_big_addition_comes_in_pieces(log: Path) -> None:
    follower = Follower(log, limit=3)
    assert [follower.ask() for _ in range(3)] == [Appended(0, b"one"), Appended(3, b"\n"), Appended(4, b"")]


def test_a_file_cut_shorter_starts_over(log: Path) -> None:
    follower = Follower(log)
    follower.ask()
    os.truncate(log, 2)
    assert follower.ask() == Restarted("shorter")
    assert follower.ask() == Appended(0, b"on")


def test_a_file_replaced_by_another_starts_over(log: Path) -> None:
    follower = Follower(log)
    follower.ask()
    other = log.with_name("b")
    other.write_bytes(b"one\nof another file\n")
    other.rename(log)
    assert follower.ask() == Restarted("replaced")
    assert follower.ask() == Appended(0, b"one\nof another file\n")


def test_a_message_dropped_and_written_over_by_a_longer_one_starts_over(log: Path) -> None:
    follower = Follower(log)
    append(log, b"dropped\n")
    follower.ask()
    os.truncate(log, 4)
    append(log, b"another, longer one\n")
    assert follower.ask() == Restarted("rewritten")
    assert follower.ask() == Appended(0, b"one\nanother, longer one\n")


def test_a_missing_file_is_gone_until_it_appears(tmp_path: Path) -> None:
    path = tmp_path / "later.jsonl"
    follower = Follower(path)
    assert follower.ask() == Gone("does not exist")
    path.write_bytes(b"here\n")
    assert follower.ask() == Appended(0, b"here\n")


def test_a_file_moved_away_and_back_goes_on_where_it_was(log: Path) -> None:
    follower = Follower(log)
    follower.ask()
    away = log.rename(log.with_name("away"))
    assert follower.ask() == Gone("does not exist")
    away.rename(log)
    append(log, b"two\n")
    assert follower.ask() == Appended(4, b"two\n")


def test_a_log_swapped_for_a_link_or_a_fifo_is_gone(log: Path) -> None:
    follower = Follower(log)
    follower.ask()
    log.rename(log.with_name("away"))
    log.symlink_to("away")
    assert follower.ask() == Gone("symbolic link")
    log.unlink()
    os.mkfifo(log)
    assert follower.ask() == Gone("FIFO")


changes = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(min_size=1, max_size=30)),
        st.tuples(st.just("truncate"), st.binary(max_size=1)),
        st.tuples(st.just("ask"), st.just(b"")),
    ),
    max_size=20,
)


@settings(max_examples=100, deadline=None)
@given(changes=changes, limit=st.integers(1, 40))
def test_however_a_file_changes_the_follower_ends_with_its_bytes(
    changes: list[tuple[str, bytes]], limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.touch()
        follower, mirror = Follower(path, limit=limit), b""
        for change, data in changes:
            if change == "append":
                append(path, data)
            elif change == "truncate":
                os.truncate(path, path.stat().st_size // 2)
            else:
                mirror = mirrored(follower.ask(), mirror)
        while (news := follower.ask()) != Appended(len(mirror), b""):
            mirror = mirrored(news, mirror)
        assert mirror == path.read_bytes()


def mirrored(news: Appended | Restarted | Gone, mirror: bytes) -> bytes:
    assert not isinstance(news, Gone)
    if isinstance(news, Restarted):
        return b""
    assert news.offset == len(mirror)
    return mirror + news.data
