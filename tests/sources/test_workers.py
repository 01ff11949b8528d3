"""Readers beside the one who writes: everything arrives whole, and nobody is left behind."""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest

from tracklog.sources.workers import Send, messages_of


def named(n: int, send: Send) -> None:
    """Sends the number, and who it was."""
    send(b"%d %d" % (n, os.getpid()))


def test_each_piece_of_work_is_done_once() -> None:
    for n in (1, 2, 3, 999, 1000, 1001, 2500):
        done = Counter(int(body.split()[0]) for body in messages_of(n, named))
        assert done == Counter(range(n)), n


def test_no_work_gives_no_messages() -> None:
    assert list(messages_of(0, named)) == []


def test_the_work_is_done_by_others() -> None:
    def slow(n: int, send: Send) -> None:
        time.sleep(0.01)
        named(n, send)

    readers = {int(body.split()[1]) for body in messages_of(40, slow)}
    assert len(readers) == 2
    assert os.getpid() not in readers


def test_a_message_of_any_size_arrives_whole() -> None:
    sizes = [0, 1, 7, 8, 65_535, 65_536, 65_537, 5_000_000]

    def sized(n: int, send: Send) -> None:
        send(bytes([n]) * sizes[n])
        send(b"")

    arrived = Counter(len(body) for body in messages_of(len(sizes), sized))
    assert arrived == Counter(sizes) + Counter({0: len(sizes)})


def test_a_message_arrives_in_one_piece_though_others_arrive_meanwhile() -> None:
    def long(n: int, send: Send) -> None:
        for _ in range(20):
            send(bytes([n]) * 100_000)

    for body in messages_of(6, long):
        assert (len(body), len(set(body))) == (100_000, 1)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_reader_that_dies_leaves_what_it_had_sent() -> None:
    def deadly(n: int, send: Send) -> None:
        named(n, send)
        if n == 1:
            os._exit(7)

    done = {int(body.split()[0]) for body in messages_of(4, deadly, n_readers=1)}
    assert done == {0, 1}


def test_a_reader_that_fails_dies_alone() -> None:
    def failing(n: int, send: Send) -> None:
        if n == 0:
            raise ValueError(n)
        time.sleep(0.002)
        named(n, send)

    done = {int(body.split()[0]) for body in messages_of(30, failing)}
    assert done == set(range(1, 30))


def test_who_stops_listening_is_not_kept_waiting() -> None:
    def endless(n: int, send: Send) -> None:
        for _ in range(10_000):
            send(b"%d " % os.getpid() + b"x" * 100_000)

    messages = messages_of(2, endless)
    readers = {int(next(messages).split()[0]) for _ in range(30)}
    began = time.monotonic()
    messages.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 60
    for pid in readers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_no_descriptor_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        list(messages_of(3, named))
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before  # others may have let go of some meanwhile
