from __future__ import annotations

import os
import socket
import tempfile
import tracemalloc
from pathlib import Path

import psutil
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.tree import locked
from tracklog.agents.discovery import file_at
from tracklog.sources.files import (
    NotReadable,
    buffer_of,
    can_be_opened,
    chunks,
    chunks_in,
    open_log,
    opened_once,
    stored_chunks,
)
from tracklog.sources.log_file import LogFile


def refusal(path: Path) -> tuple[Path, str]:
    with pytest.raises(NotReadable) as raised:
        open_log(path)
    return raised.value.path, raised.value.why


def test_a_regular_file_is_opened_from_a_path_or_from_a_found_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo")
    found = file_at(path)
    assert isinstance(found, LogFile)
    for file in (path, found):
        with open_log(file) as stream:
            assert stream.read() == b"one\ntwo"


def test_opening_a_fifo_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == (tmp_path / "pipe", "FIFO")


def test_links_folders_devices_sockets_and_nothing_are_refused_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    here = os.getcwd()
    os.chdir(tmp_path)  # socket addresses are short; the folder's path may not be
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
    finally:
        os.chdir(here)
    paths = [tmp_path / "link", tmp_path, Path("/dev/zero"), tmp_path / "socket", tmp_path / "none"]
    paths += [tmp_path / "real" / "below", tmp_path / (300 * "n"), Path("a\0b"), Path("\ud800")]
    assert [refusal(path) for path in paths] == [
        (paths[0], "symbolic link"),
        (paths[1], "directory"),
        (paths[2], "character device"),
        (paths[3], "socket"),
        (paths[4], "does not exist"),
        (paths[5], "not a directory"),
        (paths[6], "path too long"),
        (paths[7], "no file can have this name"),
        (paths[8], "no file can have this name"),
    ]


def test_a_file_we_may_not_read_is_refused_in_plain_words() -> None:
    with locked("x.jsonl") as top:
        assert refusal(top / "locked/x.jsonl") == (top / "locked/x.jsonl", "permission denied")


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    for _ in range(20):
        refusal(tmp_path / "pipe")
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert after == before


@settings(max_examples=50, deadline=None)
@given(
    data=st.binary(max_size=3000), start=st.integers(0, 3100), size=st.integers(1, 1000), n=st.integers(0, 3)
)
def test_the_chunks_are_the_file_from_the_start_given(data: bytes, start: int, size: int, n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, cold = Path(folder) / "a.jsonl", Path(folder) / "a.jsonl.zst"
        plain.write_bytes(data)
        cut = len(data) * n // 3
        cold.write_bytes(zstandard.compress(data[:cut]) + zstandard.compress(data[cut:]))
        for path in (plain, cold):
            pieces = list(chunks(path, start, size=size))
            assert b"".join(pieces) == data[start:]
            assert all(0 < len(piece) <= size for piece in pieces)
        assert b"".join(stored_chunks(cold, size=size)) == cold.read_bytes()


@settings(deadline=None)
@given(st.binary(max_size=50), st.integers(1, 60), st.sampled_from(["a.jsonl", "a.jsonl.zst"]))
def test_a_buffer_that_is_filled_again_and_again_gives_the_same_chunks(
    data: bytes, size: int, name: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
        pieces = list(map(bytes, chunks_in(buffer_of(size), path)))
        assert pieces == [data[at : at + size] for at in range(0, len(data), size)]


def test_an_empty_file_has_no_chunks_compressed_or_not(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.zst"):
        (tmp_path / name).touch()
        assert list(chunks(tmp_path / name)) == []


def test_a_cut_compressed_file_gives_its_good_bytes_first_and_then_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    data = os.urandom(300_000)  # three blocks of at most 128 KiB, nothing to compress
    path.write_bytes(zstandard.compress(data)[:-10])
    good: list[bytes] = []
    with pytest.raises(NotReadable) as raised:
        good.extend(chunks(path, size=1000))
    assert b"".join(good) == data[: 2 * 131072]
    assert (raised.value.path, raised.value.why) == (path, "cut short after 262144 good bytes")


def test_a_plain_file_called_zst_is_refused_in_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b'{"type":"user"}\n')
    with pytest.raises(NotReadable, match="not a zstd frame after 0 good bytes"):
        list(chunks(path))


def test_a_small_compressed_file_that_claims_gigabytes_does_not_grow_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.zst"
    with path.open("wb") as stream, zstandard.ZstdCompressor().stream_writer(stream) as writer:
        for _ in range(2048):
            writer.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 18
    tracemalloc.start()
    total = sum(map(len, chunks(path)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 2 << 30
    assert peak < 8 << 20


def open_descriptors() -> int:
    """How many files this process has open."""
    return psutil.Process().num_fds()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zst"])
def test_within_a_block_a_log_is_opened_once_and_stays_the_same_file(
    tmp_path: Path, opened_files: list[str], name: str
) -> None:
    path, other = tmp_path / name, tmp_path / f"other-{name}"
    for file, data in ((path, b"one" * 100), (other, b"two" * 100)):
        file.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
    opened_files.clear()
    with opened_once():
        first = b"".join(chunks(path))
        os.replace(other, path)
        with opened_once():  # a step of a step
            assert b"".join(map(bytes, chunks_in(buffer_of(50), path))) == first
        assert b"".join(chunks(path, 3)) == first[3:]
        assert can_be_opened(path)
    assert opened_files.count(str(path)) == 1
    assert b"".join(chunks(path)) == b"two" * 100


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zst"])
def test_two_readers_of_one_open_log_do_not_move_each_other(tmp_path: Path, name: str) -> None:
    path, data = tmp_path / name, os.urandom(3000)
    path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
    with opened_once():
        pairs = list(zip(chunks(path, size=100), chunks(path, 100, size=100), strict=False))
    assert pairs == [(data[at : at + 100], data[at + 100 : at + 200]) for at in range(0, 2900, 100)]


def test_of_many_logs_only_some_stay_open_and_none_behind_the_block(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.jsonl" for n in range(100)]
    for path in paths:
        path.write_bytes(b"x" * 10)
    before = open_descriptors()
    with opened_once():
        reader = chunks(paths[0], size=5)
        assert next(reader) == b"xxxxx"
        for path in paths:
            assert b"".join(chunks(path)) == b"x" * 10
        assert open_descriptors() - before <= 65
    assert open_descriptors() - before == 1
    assert next(reader) == b"xxxxx"  # what is still read stays open
    assert next(reader, None) is None
    assert open_descriptors() == before


def test_a_log_that_is_gone_is_read_from_its_fallback_within_a_block_too(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.jsonl", tmp_path / "copy.zst"
    path.write_bytes(b"one\n")
    copy.write_bytes(zstandard.compress(b"kept\n"))
    found = file_at(path)
    assert isinstance(found, LogFile)
    path.unlink()
    with opened_once():
        assert b"".join(chunks(found._replace(fallback=copy))) == b"kept\n"
        with pytest.raises(NotReadable, match="does not exist"):
            list(chunks(found._replace(fallback=tmp_path / "none.zst")))
