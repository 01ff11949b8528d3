from __future__ import annotations

import os
import socket
import tempfile
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.tree import locked
from tracklog.agents.discovery import file_at
from tracklog.sources.files import NotReadable, buffer_of, chunks, chunks_in, open_log, stored_chunks
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
