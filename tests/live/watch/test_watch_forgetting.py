"""What a watch that runs for weeks keeps in mind, and what it forgets."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.live_home import ONE, TWO, LiveHome, a_process, now_ms
from tracklog.live.journal import LiveEvent
from tracklog.live.watch.watcher import Watch

DAY_MS = 24 * 3600 * 1000
LIMIT_S = 10.0


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def prompts(watch: Watch, n: int) -> list[LiveEvent]:
    """The next prompts that are told."""
    told: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    while len(told) < n and time.monotonic() < deadline:
        told += [event for event in watch.wait(0.05) if event.event == "prompt_given"]
    return told


def test_an_old_log_that_goes_on_is_told_from_there_on(home: LiveHome) -> None:
    home.prompt("long ago")
    os.utime(home.log(), (1_700_000_000, 1_700_000_000))
    with closing(Watch(home.roots)) as watch:
        watch.begin()
        home.prompt("now")
        assert [(event.line, event.data["text"]) for event in prompts(watch, 1)] == [(2, "now")]


def test_a_session_that_ended_a_day_ago_is_forgotten_and_comes_back_with_its_log(home: LiveHome) -> None:
    skipped_ms = 0
    process = a_process()
    home.prompt("one")
    home.reply("Done.")
    home.register(process.pid, "idle")
    with closing(Watch(home.roots, now_ms=lambda: now_ms() + skipped_ms)) as watch:
        watch.begin()
        process.kill()
        process.wait()
        deadline = time.monotonic() + LIMIT_S
        while watch.sessions["claude", ONE].state.state != "ended" and time.monotonic() < deadline:
            watch.wait(0.05)
        watch._forget_past()
        assert list(watch.sessions) == [("claude", ONE)]
        skipped_ms = DAY_MS + 60_000
        watch._forget_past()
        for _ in range(3):
            watch._processes.refresh_soon("claude")
            watch.wait(0.05)
        assert watch.sessions == {}  # though its file is still in the registry
        home.prompt("two")
        assert [event.data["text"] for event in prompts(watch, 1)] == ["two"]
        assert list(watch.sessions) == [("claude", ONE)]


def test_a_session_that_still_lives_is_never_forgotten(home: LiveHome) -> None:
    skipped_ms = 0
    home.prompt("one")
    home.reply("Done.")
    home.register(os.getpid(), "idle")
    home.prompt("two", session=TWO)
    with closing(Watch(home.roots, now_ms=lambda: now_ms() + skipped_ms)) as watch:
        watch.begin()
        skipped_ms = 30 * DAY_MS
        for _ in range(3):
            watch.wait(0.05)
        watch._forget_past()
        assert list(watch.sessions) == [("claude", ONE)]


def test_a_state_that_time_alone_changes_is_told_when_its_time_has_come(home: LiveHome) -> None:
    """Nobody can say whether the process of this session lives: after ten minutes of silence its state is unknown."""
    skipped_ms = 0
    home.prompt("one")
    with closing(Watch(home.roots, now_ms=lambda: now_ms() + skipped_ms)) as watch:
        watch.begin()
        assert watch.sessions["claude", ONE].state.state == "working"
        skipped_ms = 599_000
        assert watch.wait(0.05) == []
        skipped_ms = 602_000
        (told,) = [event for event in watch.wait(0.05) if event.event == "state_changed"]
        assert (told.data["before"], told.data["state"]) == ("working", "unknown")
