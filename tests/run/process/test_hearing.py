"""The FIFO of a child's hooks: every payload whole and once, whoever else writes there, and nobody waits for ever."""

from __future__ import annotations

import json
import os
import select
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.hooks.command import are_our_words, is_our_command
from tracklog.hook import MOST_BYTES
from tracklog.run.process.private_dir import PREFIX, Fifo, handler, hook_words

SILENT = (0, b"", b"")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "stop.fifo", 0o600)
    return tmp_path / "stop.fifo"


@pytest.fixture
def fifo(path: Path) -> Iterator[Fifo]:
    opened = Fifo(path)
    yield opened
    opened.close()


def hooked(path: Path, payload: bytes) -> tuple[int, bytes, bytes]:
    """How a hook ended, run as an agent runs it."""
    command = handler(path)["command"]
    done = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.write(descriptor, data)
    os.close(descriptor)


def heard(fifo: Fifo, n: int, *, seconds: float = 60) -> list[bytes]:
    payloads: list[bytes] = []
    until = time.monotonic() + seconds
    while len(payloads) < n and time.monotonic() < until:
        select.select([fifo.descriptor], [], [], 0.1)
        payloads += fifo.read_payloads()
    return payloads


def test_a_payload_is_heard_as_it_was_given(path: Path, fifo: Fifo) -> None:
    payload = (
        json.dumps({"hook_event_name": "Stop", "text": "é 日本 😀"}, ensure_ascii=False).encode() + b"\n"
    )
    assert hooked(path, payload) == SILENT
    assert fifo.read_payloads() == [payload]
    assert fifo.read_payloads() == []


def test_silence_is_no_end(fifo: Fifo) -> None:
    assert (fifo.read_payloads(), select.select([fifo.descriptor], [], [], 0)[0]) == ([], [])


@pytest.mark.parametrize("n_bytes", [0, 1, 4096, 4097, 65536, 1 << 20, 5_000_000])
def test_payloads_of_any_length_come_whole(path: Path, fifo: Fifo, n_bytes: int) -> None:
    payload = (b"0123456789abcdef" * (n_bytes // 16 + 1))[:n_bytes]
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(hooked, path, payload)
        assert heard(fifo, 1) == [payload]
        assert ended.result() == SILENT


def test_fifty_hooks_at_once_are_each_heard_once(path: Path, fifo: Fifo) -> None:
    lengths = [1 << (n % 21) for n in range(50)]
    payloads = [(b"%05d " % n * (length // 6 + 1))[: max(length, 6)] for n, length in enumerate(lengths)]
    with ThreadPoolExecutor(50) as pool:
        ended = [pool.submit(hooked, path, payload) for payload in payloads]
        assert sorted(heard(fifo, 50, seconds=60)) == sorted(payloads)
        assert {one.result() for one in ended} == {SILENT}


def test_a_hook_waits_for_nobody_and_is_heard_later(path: Path, fifo: Fifo) -> None:
    assert [hooked(path, b"x" * n) for n in (5_000_000, 1)] == [SILENT] * 2
    assert fifo.read_payloads() == [b"x" * 5_000_000, b"x"]


def test_when_we_have_gone_a_hook_does_nothing_and_does_not_wait(path: Path) -> None:
    Fifo(path).close()
    assert hooked(path, b"{}") == SILENT  # it has a limit of time of its own


def test_who_has_closed_hears_nothing(path: Path) -> None:
    fifo = Fifo(path)
    fifo.close()
    fifo.close()
    assert fifo.read_payloads() == []


def test_what_was_heard_is_removed(path: Path, fifo: Fifo) -> None:
    hooked(path, b"{}")
    (told,) = [name for name in os.listdir(path.parent) if name != path.name]
    assert (told.startswith(PREFIX), stat.S_IMODE((path.parent / told).stat().st_mode)) == (True, 0o600)
    fifo.read_payloads()
    assert os.listdir(path.parent) == [path.name]


def test_too_much_is_left_out_and_removed(path: Path, fifo: Fifo) -> None:
    assert hooked(path, b"x" * (MOST_BYTES + 1)) == SILENT
    assert (fifo.read_payloads(), os.listdir(path.parent)) == ([], [path.name])


@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/etc/hostname")])
def test_what_is_no_file_of_a_hook_is_not_read(path: Path, fifo: Fifo, put: Callable[[Path], None]) -> None:
    put(path.parent / f"{PREFIX}7")
    write(path, b"7\n")
    assert fifo.read_payloads() == []


def test_a_fifo_that_was_deleted_is_nobodys_trouble(path: Path, fifo: Fifo) -> None:
    path.unlink()
    assert hooked(path, b"{}") == SILENT
    assert (fifo.read_payloads(), path.exists()) == ([], False)


def test_a_file_or_a_link_in_its_place_is_not_written_to(path: Path, fifo: Fifo, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    os.mkfifo(tmp_path / "other.fifo")
    other = Fifo(tmp_path / "other.fifo")
    for put in (
        lambda: path.write_bytes(b"mine"),
        lambda: path.symlink_to(tmp_path / "mine"),
        lambda: path.symlink_to(tmp_path / "other.fifo"),
        lambda: path.mkdir(),
    ):
        path.unlink(missing_ok=True)
        put()
        assert hooked(path, b"{}") == SILENT
        if path.is_file():
            assert path.read_bytes() == b"mine"
    assert other.read_payloads() == []
    other.close()


def test_what_is_no_fifo_is_not_opened_as_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    before = sorted(os.listdir("/proc/self/fd"))
    for name in ("file", "link", "none"):
        with pytest.raises(OSError, match=r"no FIFO|symbolic links|No such file"):
            Fifo(tmp_path / name)
    assert sorted(os.listdir("/proc/self/fd")) == before


@given(st.lists(st.one_of(st.binary(max_size=300), st.from_regex(rb"[0-9./\n]{1,20}")), max_size=6))
def test_garbage_in_the_fifo_does_not_spoil_what_follows(garbage: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "stop.fifo")
        os.mkfifo(path)
        fifo = Fifo(path)
        for one in garbage:
            write(path, one)
            assert fifo.read_payloads() == []
        Path(folder, f"{PREFIX}12").write_bytes(b"told")
        write(path, b"\n12\n")
        assert fifo.read_payloads() == [b"told"]
        fifo.close()


def test_the_hook_is_one_of_ours_by_its_word(path: Path) -> None:
    words = hook_words(path)
    assert are_our_words(words)
    assert words[4:] == [str(path.parent), path.name]
    one = handler(path, timeout_s=5)
    assert is_our_command(one.pop("command"))
    assert one == {"type": "command", "timeout": 5}


def test_a_path_with_quotes_and_blanks_is_a_path(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s $(odd) "one"'
    odd.mkdir()
    os.mkfifo(odd / "stop.fifo")
    fifo = Fifo(odd / "stop.fifo")
    assert hooked(odd / "stop.fifo", b"{}") == SILENT
    assert fifo.read_payloads() == [b"{}"]
    fifo.close()
