"""The index follows while somebody watches: one process at a time, seldom, and only where something changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    claude_turn,
    index_of,
    transcript,
    two_sessions,
)
from tracklog.home import Home
from tracklog.index.freshness import is_still
from tracklog.live.watch import index_sync
from tracklog.live.watch.index_sync import AFTER_FAILURE_S, LEAST_S, IndexSync, index_command
from tracklog.live.watch.shared import live_events
from tracklog.sources.log_file import Root
from tracklog.store.database import reading

ONE = "00000001-0000-4000-8000-000000000001"
LIMIT_S = 30.0


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = two_sessions(tmp_path)
    index_of(made)
    return made


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """Where each run of the command below leaves a line."""
    return tmp_path / "ran"


def noting(ran: Path, *, fails: bool = False) -> Callable[[Home, Sequence[Root]], list[str]]:
    """A command that notes that it ran."""
    script = f"open({str(ran)!r}, 'a').write('x'); raise SystemExit({int(fails)})"
    return lambda _home, _roots: [sys.executable, "-c", script]


def runs(ran: Path) -> int:
    return len(ran.read_text()) if ran.exists() else 0


def to_its_end(sync: IndexSync, n_changes: int) -> None:
    """Lets a sync begin, if it does, and end."""
    sync.step(n_changes)
    deadline = time.monotonic() + LIMIT_S
    while sync._running is not None and time.monotonic() < deadline:
        time.sleep(0.01)
        sync.step(n_changes)


def test_a_sync_is_started_for_changes_and_not_more_often_than_it_may(made: Made, ran: Path) -> None:
    clock = Clock()
    sync = IndexSync(made.home, made.roots, command=noting(ran), clock=clock)
    found = []
    for passed_s, n_changes in ((0, 1), (LEAST_S, 1), (LEAST_S, 1), (1, 2), (LEAST_S, 2), (LEAST_S, 2)):
        clock.now += passed_s
        to_its_end(sync, n_changes)
        found.append(runs(ran))
    assert found == [0, 1, 1, 2, 2, 2]


def test_a_long_sync_is_followed_by_a_longer_pause(made: Made, ran: Path) -> None:
    clock = Clock()
    sync = IndexSync(made.home, made.roots, command=noting(ran), clock=clock)
    clock.now += LEAST_S
    sync.step(1)
    running = sync._running
    assert running is not None
    running.wait()
    clock.now += 3
    sync.step(2)
    clock.now += 26
    to_its_end(sync, 2)
    assert runs(ran) == 1
    clock.now += 2
    to_its_end(sync, 2)
    assert runs(ran) == 2


def test_one_that_failed_is_not_tried_again_for_a_minute(made: Made, ran: Path) -> None:
    clock = Clock()
    sync = IndexSync(made.home, made.roots, command=noting(ran, fails=True), clock=clock)
    for n_changes, passed_s in ((1, LEAST_S), (2, AFTER_FAILURE_S - 1), (3, 2)):
        clock.now += passed_s
        to_its_end(sync, n_changes)
    assert runs(ran) == 2


def test_without_an_index_none_is_made(tmp_path: Path, ran: Path) -> None:
    made = two_sessions(tmp_path)
    clock = Clock()
    sync = IndexSync(made.home, made.roots, command=noting(ran), clock=clock)
    clock.now += LEAST_S
    to_its_end(sync, 1)
    assert (runs(ran), made.home.has_index()) == (0, False)


def test_roots_that_the_index_does_not_know_stay_out_of_it(made: Made, ran: Path, tmp_path: Path) -> None:
    clock = Clock()
    sync = IndexSync(made.home, [Root(tmp_path / "strange", "claude")], command=noting(ran), clock=clock)
    clock.now += LEAST_S
    to_its_end(sync, 1)
    assert runs(ran) == 0


def test_a_sync_that_runs_when_the_watch_ends_is_ended(made: Made) -> None:
    clock = Clock()
    forever = [sys.executable, "-c", "import time; time.sleep(600)"]
    sync = IndexSync(made.home, made.roots, command=lambda _home, _roots: forever, clock=clock)
    clock.now += LEAST_S
    sync.step(1)
    running = sync._running
    assert running is not None
    assert running.poll() is None
    sync.close()
    assert running.poll() is not None


def test_the_command_names_each_folder_once_and_is_not_looked_for_in_the_current_one() -> None:
    roots = [Root(Path("/a"), "claude"), Root(Path("/a"), "codex"), Root(Path("/b c"), "claude", "projects")]
    assert index_command(Home(Path("/ours")), roots)[1:] == [
        *("-P", "-m", "tracklog", "index", "--home", "/ours", "--root", "/a", "--root", "/b c/projects")
    ]


def test_what_was_appended_while_somebody_watches_comes_into_the_index(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sync, "LEAST_S", 0.1)
    deadline = time.monotonic() + LIMIT_S
    is_fresh = False
    with closing(live_events(made.roots, made.home)) as stream:
        next(stream)
        append(transcript(made, ONE), claude_turn(claude_session(1), 9))
        while not is_fresh and time.monotonic() < deadline:
            next(stream)
            with reading(made.home) as database:
                assert database is not None
                is_fresh = is_still(database.db, made.roots)
    assert is_fresh
