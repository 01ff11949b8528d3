"""A process that is killed while it reads logs into the index loses nothing, doubles nothing, and leaves it sound."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.make_logs import make_logs
from tests.index.known_homes import Made, fresh_index, index_of, snapshot, stored_bytes
from tracklog.archive import files
from tracklog.archive.files import stored_names
from tracklog.home import Busy, Home, held_lock
from tracklog.index import ingest, log_pass

KILLS = int(os.environ.get("TRACKLOG_KILLS", "10"))
_LOGS_BYTES = 1_500_000
_LONGEST_WAIT_S = 60.0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    top = tmp_path_factory.mktemp("killed")
    make_logs(top, n_bytes=_LOGS_BYTES, seed=5)
    for agent in ("claude", "codex"):
        os.rename(top / agent, top / f".{agent}")
    return Made(top)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers beside, many commits, many parts and many frames, as with logs a hundred times as large."""
    monkeypatch.setattr(ingest, "_WORTH_READERS", 50_000)
    monkeypatch.setattr(ingest, "_COMMIT_BYTES", 50_000)
    monkeypatch.setattr(log_pass, "PART_BYTES", 25_000)
    monkeypatch.setattr(files, "FRAME_BYTES", 10_000)
    monkeypatch.setattr("tracklog.sources.files.chunks.__kwdefaults__", {"size": 5_000}, raising=False)


def test_whoever_is_killed_again_and_again_ends_with_the_index_of_one_who_was_not(
    made: Made, small_parts: None, tmp_path: Path
) -> None:
    expected = fresh_index(made, tmp_path / "expected")
    whole, in_archive = snapshot(expected), stored_bytes(expected)
    dice, n_killed, longest_s = random.Random(f"kill {KILLS}"), 0, 1.0
    while n_killed < KILLS:
        shutil.rmtree(made.home.path, ignore_errors=True)
        n_in_a_row = 0
        while True:
            began = time.monotonic()
            patience = dice.uniform(0, longest_s) if n_killed < KILLS and n_in_a_row < 12 else _LONGEST_WAIT_S
            if not killed_after(patience, made):
                break
            n_killed, n_in_a_row = n_killed + 1, n_in_a_row + 1
            assert integrity(made.home) in ("ok", "none")
        if not n_in_a_row:
            longest_s = min(longest_s, time.monotonic() - began)
        ours = snapshot(made.home)
        for name, rows in whole.items():
            assert ours[name] == rows, name
        assert stored_bytes(made.home) == in_archive
        assert list(stored_names(made.home.archive, half_made=True)) == []


def killed_after(seconds: float, made: Made) -> bool:
    """Whether a process that brings the index up to date had to be killed; it has so many seconds."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            index_of(made)
            status = 0
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return False
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with free_lock(made.home):  # its readers end when they want to tell what they read
        return True


@contextmanager
def free_lock(home: Home) -> Iterator[None]:
    """The lock, as soon as it is free."""
    end = time.monotonic() + _LONGEST_WAIT_S
    home.make()
    while True:
        try:
            with held_lock(home):
                yield
                return
        except Busy:
            assert time.monotonic() < end, "a reader lives on without its writer"
            time.sleep(0.001)


def integrity(home: Home) -> str:
    """What SQLite says of the index, its words included; it may not have been made yet."""
    if not home.index.exists():
        return "none"
    db = sqlite3.connect(home.index)
    try:
        (found,) = db.execute("pragma integrity_check").fetchone()
        return str(found)
    finally:
        db.close()
