"""The time that `top`, its page and `tracklog.read` took grew with the square of the sessions in a folder.

A person had 400 sessions of one day in one project: `tracklog top --once` took half a minute, and a loop that read each
of 300 logs took thirty seconds, where the index took one. To find forks, every session read the heads of all others
and searched all their bytes, and what one had read served no other. A log of 20 GB among them was read, too, up to the
end of its first 200 lines. Now each log is read a few times, however many sessions there are: these tests count bytes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import tracklog
from tests.live.board.test_board import PRICES
from tests.reading.test_families import answer, prompt, uuid
from tracklog.live.board.board import Board
from tracklog.live.watch.watcher import Watch
from tracklog.sources.log_file import Root

N = 40
LINES = 200
PROJECT = "projects/-w-many"

counts_bytes = pytest.mark.skipif(sys.platform != "linux", reason="the system must count what is read")


def session_id(n: int) -> str:
    return f"{n:08d}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def lines_of(session: int) -> bytes:
    id, first = session_id(session), 1_000 * session
    now = datetime.now(UTC).isoformat()
    lines = [prompt(uuid(first + n), id, cwd="/w", timestamp=now) for n in range(LINES)]
    return b"".join([*lines, answer(uuid(first + LINES), f"msg_{session}", id)])


def plant_session(home: Path, n: int) -> Path:
    path = home / PROJECT / f"{session_id(n)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines_of(n))
    return path


def settle(home: Path) -> None:
    """Gives all folders a time that a listing can rely upon."""
    past = time.time_ns() - 60 * 10**9
    for folder in (home, home / "projects", home / PROJECT):
        os.utime(folder, ns=(past, past))


@contextmanager
def at_most(n_bytes: int) -> Iterator[None]:
    """Fails if more bytes are read meanwhile."""
    before = bytes_read()
    yield
    assert bytes_read() - before <= n_bytes


def bytes_read() -> int:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"])


@counts_bytes
def test_reading_each_session_of_a_folder_reads_each_log_a_few_times(tmp_path: Path) -> None:
    logs = [plant_session(tmp_path, n) for n in range(N)]
    settle(tmp_path)
    tracklog.read(logs[0])
    with at_most(6 * sum(log.stat().st_size for log in logs)):
        sessions = [tracklog.read(log) for log in logs]
    assert [session.id for session in sessions] == list(map(session_id, range(N)))


@counts_bytes
def test_the_board_reads_each_log_a_few_times(tmp_path: Path) -> None:
    logs = [plant_session(tmp_path, n) for n in range(N)]
    with closing(Watch([Root(tmp_path, "claude")])) as watch, at_most(12 * sum(map(os.path.getsize, logs))):
        watch.begin()
        rows = Board(watch, PRICES).rows(time.time_ns() // 1_000_000)
    assert {row.id for row in rows} == set(map(session_id, range(N)))
    assert all(row.is_counted for row in rows)


@counts_bytes
def test_a_huge_log_beside_a_session_is_not_read(tmp_path: Path) -> None:
    log = plant_session(tmp_path, 1)
    huge = tmp_path / PROJECT / f"{session_id(2)}.jsonl"
    huge.write_bytes(prompt(uuid(99), session_id(2)) + b'{"type":"user","text":"')
    os.truncate(huge, 20 << 30)
    with at_most(200 << 20):
        assert tracklog.read(log).id == session_id(1)


def test_a_fork_that_came_after_the_first_reading_is_found(tmp_path: Path) -> None:
    log = plant_session(tmp_path, 1)
    settle(tmp_path)
    assert tracklog.read(log).forks == []
    fork = tmp_path / PROJECT / f"{session_id(2)}.jsonl"
    fork.write_bytes(lines_of(1).replace(session_id(1).encode(), session_id(2).encode()) + lines_of(2))
    assert tracklog.read(log).forks == [session_id(2)]
    assert tracklog.read(fork).forked_from == session_id(1)


def test_a_neighbour_that_was_rewritten_as_a_fork_is_found(tmp_path: Path) -> None:
    log, other = plant_session(tmp_path, 1), plant_session(tmp_path, 2)
    settle(tmp_path)
    assert tracklog.read(log).forks == []
    with other.open("r+b") as stream:
        copied = lines_of(1).replace(session_id(1).encode(), session_id(2).encode())
        stream.write(copied + lines_of(2))
    assert tracklog.read(log).forks == [session_id(2)]


def test_a_line_that_was_appended_to_a_known_session_is_read(tmp_path: Path) -> None:
    log = plant_session(tmp_path, 1)
    settle(tmp_path)
    n_turns = len(tracklog.read(log).turns)
    with log.open("ab") as stream:
        stream.write(prompt(uuid(9_000), session_id(1)))
    assert len(tracklog.read(log).turns) == n_turns + 1


def test_a_session_that_was_deleted_is_no_longer_related(tmp_path: Path) -> None:
    log = plant_session(tmp_path, 1)
    fork = tmp_path / PROJECT / f"{session_id(2)}.jsonl"
    fork.write_bytes(lines_of(1).replace(session_id(1).encode(), session_id(2).encode()) + lines_of(2))
    settle(tmp_path)
    assert tracklog.read(log).forks == [session_id(2)]
    fork.unlink()
    assert tracklog.read(log).forks == []
