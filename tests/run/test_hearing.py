"""The FIFO of a child's hooks: every payload whole and once, whoever else writes there, and nobody waits for ever."""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog import hook
from tracklog.live.hook_command import are_our_words, is_our_command
from tracklog.run.hearing import MOST_BYTES, Fifo, Frames, handler, hook_words
from tracklog.run.leaves import leaf

SILENT = (0, b"", b"")
ROOM = hook.LONGEST_FRAME - hook.HEADER_BYTES


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


def frames_of(payload: bytes, *, pid: int = 7) -> list[bytes]:
    parts = [payload[at : at + ROOM] for at in range(0, len(payload), ROOM)]
    return [hook.HEADER % (hook.MAGIC, pid, n, len(parts), len(part)) + part for n, part in enumerate(parts)]


def heard(fifo: Fifo, n: int, *, seconds: float = 30) -> list[bytes]:
    payloads: list[bytes] = []
    until = time.monotonic() + seconds
    while len(payloads) < n and time.monotonic() < until:
        select.select([fifo.descriptor], [], [], 0.1)
        payloads += fifo.hear()
    return payloads


def test_a_payload_is_heard_as_it_was_given(path: Path, fifo: Fifo) -> None:
    payload = (
        json.dumps({"hook_event_name": "Stop", "text": "é 日本 😀"}, ensure_ascii=False).encode() + b"\n"
    )
    assert hooked(path, payload) == SILENT
    assert fifo.hear() == [payload]
    assert fifo.hear() == []


def test_silence_is_no_end(fifo: Fifo) -> None:
    assert (fifo.hear(), select.select([fifo.descriptor], [], [], 0)[0]) == ([], [])


@pytest.mark.parametrize("n_bytes", [1, ROOM - 1, ROOM, ROOM + 1, 65536, 1 << 20, 5_000_000])
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


def test_a_hook_that_nobody_reads_gives_up(path: Path, fifo: Fifo) -> None:
    began = time.monotonic()
    assert hooked(path, b"x" * 5_000_000) == SILENT
    assert 1.5 < time.monotonic() - began < 8
    assert fifo.hear() == []  # a half is nothing
    assert hooked(path, b"after") == SILENT
    assert fifo.hear() == [b"after"]


def test_when_we_have_gone_a_hook_does_nothing_and_does_not_wait(path: Path) -> None:
    Fifo(path).close()
    began = time.monotonic()
    assert hooked(path, b"{}") == SILENT
    assert time.monotonic() - began < 1.5


def test_when_we_go_while_a_hook_writes_it_ends(path: Path) -> None:
    fifo = Fifo(path)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(hooked, path, b"x" * 5_000_000)
        select.select([fifo.descriptor], [], [], 10)
        fifo.close()
        fifo.close()
        assert ended.result() == SILENT
    assert fifo.hear() == []


def test_a_fifo_that_was_deleted_is_nobodys_trouble(path: Path, fifo: Fifo) -> None:
    path.unlink()
    assert hooked(path, b"{}") == SILENT
    assert (fifo.hear(), path.exists()) == ([], False)


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
    assert other.hear() == []
    other.close()


def test_what_is_no_fifo_is_not_opened_as_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    before = sorted(os.listdir("/proc/self/fd"))
    for name in ("file", "link", "none"):
        with pytest.raises(OSError, match=r"no FIFO|symbolic links|No such file"):
            Fifo(tmp_path / name)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_garbage_in_the_fifo_does_not_spoil_what_follows(path: Path, fifo: Fifo) -> None:
    writing = os.open(path, os.O_WRONLY)
    for garbage in (b"hello\n", b"\0" * 5000, hook.MAGIC * 3, hook.MAGIC + b"9" * 26, hook.MAGIC[:-1]):
        os.write(writing, garbage)
        assert hooked(path, b'{"a":1}') == SILENT
        assert heard(fifo, 1) == [b'{"a":1}']
    os.close(writing)


def test_a_payload_with_our_own_mark_in_it_is_no_payload(path: Path, fifo: Fifo) -> None:
    assert hooked(path, b'{"a":"' + hook.MAGIC + b'"}') == SILENT
    assert fifo.hear() == []


def test_the_half_of_a_writer_that_died_is_dropped_when_its_pid_comes_again() -> None:
    first, second = frames_of(b"a" * ROOM * 2)
    assert Frames().take(first + first + second) == [b"a" * ROOM * 2]
    assert Frames().take(first + frames_of(b"new")[0] + second) == [b"new"]


def test_memory_has_a_bound_and_the_oldest_half_goes_first() -> None:
    frames = Frames()
    n_frames = 4000
    for pid in range(6):
        for n in range(n_frames - 1):
            part = b"x" * ROOM
            assert frames.take(hook.HEADER % (hook.MAGIC, pid, n, n_frames, ROOM) + part) == []
    held = sum(len(part) for parts in frames._parts.values() for part in parts)
    assert (held, held <= MOST_BYTES) == (frames._n_bytes, True)
    assert list(frames._parts) == [2, 3, 4, 5]
    last = frames.take(hook.HEADER % (hook.MAGIC, 5, n_frames - 1, n_frames, ROOM) + b"x" * ROOM)
    assert last == [b"x" * ROOM * n_frames]


@given(
    payloads=st.lists(st.binary(min_size=1, max_size=3 * ROOM), max_size=4),
    noise=st.lists(st.binary(max_size=60), max_size=6),
    choice=st.randoms(use_true_random=False),
)
def test_frames_in_any_order_of_writers_cut_anywhere_give_the_payloads(
    payloads: list[bytes], noise: list[bytes], choice: random.Random
) -> None:
    payloads = [payload for payload in payloads if hook.MAGIC not in payload]
    queues = [frames_of(payload, pid=n + 1) for n, payload in enumerate(payloads)]
    stream = b""
    while any(queues):
        stream += choice.choice([queue for queue in queues if queue]).pop(0)
        stream += choice.choice([*noise, b""]).replace(hook.MAGIC, b"")
    step = choice.randrange(1, 5000)
    in_pieces = Frames()
    small = [one for at in range(0, len(stream), step) for one in in_pieces.take(stream[at : at + step])]
    assert sorted(Frames().take(stream)) == sorted(small) == sorted(payloads)


@given(st.binary(max_size=2000), st.lists(st.integers(0, 5), max_size=5))
def test_any_bytes_are_taken(data: bytes, marks: list[int]) -> None:
    frames = Frames()
    for n in marks:
        frames.take(hook.MAGIC + b"%026d" % n + data)
    frames.take(data)
    assert len(frames._rest) <= hook.HEADER_BYTES + 9999 + len(data)


def test_the_hook_is_one_of_ours_by_its_word(path: Path) -> None:
    words = hook_words(path)
    assert are_our_words(words)
    assert words[4:] == [os.path.abspath(sys.executable), "-I", "-S", leaf(hook), "--fifo", str(path)]
    one = handler(path, timeout_s=5)
    assert is_our_command(one.pop("command"))
    assert one == {"type": "command", "timeout": 5}


def test_a_path_with_quotes_and_blanks_is_a_path(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s $(odd) "one"'
    odd.mkdir()
    os.mkfifo(odd / "stop.fifo")
    fifo = Fifo(odd / "stop.fifo")
    assert hooked(odd / "stop.fifo", b"{}") == SILENT
    assert fifo.hear() == [b"{}"]
    fifo.close()
