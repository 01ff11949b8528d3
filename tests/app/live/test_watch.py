from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, TWO, LiveHome
from tracklog.app.live.watch import LiveEvent, WatchQuery, verdict_of, watched_events
from tracklog.errors import NotThere


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def query(home: LiveHome, **more: Any) -> WatchQuery:
    return WatchQuery(roots=[home.path], home=home.ours)._replace(**more)


def test_events_behind_a_number_come_as_values(home: LiveHome) -> None:
    home.prompt("one")
    home.register(os.getpid(), "busy")
    with watched_events(query(home)) as seen:
        home.reply("A.")
        first = next(event for event in seen.events if event.event == "model_replied")
    home.prompt("two")
    later = query(home, after=first.n, names=("prompt_given",))
    with watched_events(later) as seen:
        event = next(event for event in seen.events if later.wants(event, seen.name))
    assert (event.session, event.data["text"], event.n > first.n) == (ONE, "two", True)


def test_a_session_is_meant_by_the_start_of_its_id(home: LiveHome) -> None:
    home.prompt("one")
    with watched_events(query(home, session=ONE[:4])) as seen:
        assert seen.name == ("claude", ONE)
    with pytest.raises(NotThere, match="no session 2222"), watched_events(query(home, session="2222")):
        pass


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, True),
        ({"names": ("turn_ended",)}, False),
        ({"names": ("tool_called", "turn_ended")}, True),
        ({"project": "app"}, True),
        ({"project": "other"}, False),
    ],
)
def test_an_event_is_wanted_by_its_name_and_project(
    home: LiveHome, more: dict[str, Any], wanted: bool
) -> None:
    event = LiveEvent(n=1, at="", event="tool_called", agent="claude", session=ONE, cwd="/work/app")
    assert query(home, **more).wants(event, None) is wanted


def test_of_other_sessions_only_a_gap_is_wanted(home: LiveHome) -> None:
    event = LiveEvent(n=1, at="", event="tool_called", agent="claude", session=TWO)
    gap = LiveEvent(n=2, at="", event="gap")
    assert [query(home).wants(one, ("claude", ONE)) for one in (event, gap)] == [False, True]


@pytest.mark.parametrize(
    ("state", "until", "verdict"),
    [
        ("idle", "idle", "reached"),
        ("working", "idle", None),
        ("crashed", "idle", "missed"),
        ("ended", "waiting", "missed"),
        ("crashed", "ended", "reached"),
    ],
)
def test_a_session_that_is_over_never_becomes_what_was_wanted(
    state: str, until: str, verdict: str | None
) -> None:
    assert verdict_of(state, until) == verdict
