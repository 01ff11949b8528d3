from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import examples
from tracklog.live.watch.follow import Appended, Follower, Gone, Restarted, found_beside, goes_on_at


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
        st.tuples(st.just("rewrite"), st.binary(min_size=1, max_size=30)),
        st.tuples(st.just("replace"), st.binary(max_size=60)),
        st.tuples(st.just("ask"), st.just(b"")),
    ),
    max_size=20,
)


@settings(max_examples=examples(50), deadline=None)
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
            elif change == "rewrite":
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 3] + data)
            elif change == "replace":
                (Path(folder) / "other").write_bytes(data)
                os.replace(Path(folder) / "other", path)
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


def test_a_file_that_was_put_aside_is_found_again_by_what_was_read_of_it(log: Path) -> None:
    log.write_bytes(b"one\n")
    follower = Follower(log)
    follower.ask()
    with log.open("ab") as stream:
        stream.write(b"two\n")
    aside = log.rename(log.with_name("aside"))
    log.write_bytes(b"new\n")
    assert follower.ask() == Restarted("replaced")
    left = follower.left
    assert left is not None
    assert left.offset == 4
    assert found_beside(left, log.parent) == aside
    assert not goes_on_at(left, log)


def test_another_file_with_the_same_inode_is_not_the_one_that_was_left(log: Path) -> None:
    """Systems give the numbers of deleted files again."""
    log.write_bytes(b"one\n")
    follower = Follower(log)
    follower.ask()
    left = follower.identity
    assert left is not None
    log.write_bytes(b"other\n")  # the same inode
    assert not goes_on_at(left, log)
    assert found_beside(left, log.parent) is None


def test_what_is_gone_is_not_found(log: Path) -> None:
    log.write_bytes(b"one\n")
    follower = Follower(log)
    assert follower.identity is None
    follower.ask()
    left = follower.identity
    assert left is not None
    log.unlink()
    assert not goes_on_at(left, log)
    assert found_beside(left, log.parent) is None
    assert found_beside(left, log.parent / "nowhere") is None


def test_a_line_written_over_by_one_that_ends_alike_starts_over(log: Path) -> None:
    """As two results of the same program do."""
    log.write_bytes(b"before\n" + b"A" * 10 + b"same " * 400)
    follower = Follower(log)
    follower.ask()
    log.write_bytes(b"before\n" + b"B" * 10 + b"same " * 800)
    assert follower.ask() == Restarted("rewritten")
