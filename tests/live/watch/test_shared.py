from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.live_home import LiveHome
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.journal import LiveEvent
from tracklog.live.watch.shared import journal_of, live_events

LIMIT_S = 10.0
Stream = Generator[list[LiveEvent], None, None]


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


@pytest.fixture
def streams(home: LiveHome) -> Iterator[Callable[..., Stream]]:
    made: list[Stream] = []

    def make(after: int | None = None) -> Stream:
        """A stream that has begun: from now on it misses nothing."""
        made.append(begun(live_events(home.roots, Home(home.ours), after=after)))
        return made[-1]

    yield make
    for stream in made:
        stream.close()


def begun(stream: Stream) -> Stream:
    first = next(stream)

    def again() -> Stream:
        with closing(stream):
            yield first
            yield from stream

    return again()


def prompts(stream: Stream, n: int) -> list[str]:
    """The texts of the next prompts."""
    found: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    while len(found) < n and time.monotonic() < deadline:
        found += [event for event in next(stream) if event.event == "prompt_given"]
    assert [event.n for event in found] == sorted({event.n for event in found})
    return [event.data["text"] for event in found]


def told_until(stream: Stream, is_all: Callable[[list[LiveEvent]], bool]) -> list[LiveEvent]:
    """All events up to those that are waited for."""
    told: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    while not is_all(told):
        assert time.monotonic() < deadline, told
        told += next(stream)
    return told


def test_events_have_numbers_that_grow(home: LiveHome, streams: Callable[..., Stream]) -> None:
    stream = streams()
    home.prompt("one")
    home.prompt("two")
    assert prompts(stream, 2) == ["one", "two"]


def test_a_second_one_follows_the_journal_of_the_first(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    first, second = streams(), streams()
    home.prompt("one")
    assert prompts(first, 1) == ["one"]
    assert prompts(second, 1) == ["one"]


def test_when_the_watcher_ends_the_follower_takes_over_and_nothing_is_lost_or_doubled(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    first, second = streams(), streams()
    home.prompt("one")
    assert prompts(first, 1) == ["one"]
    first.close()
    home.prompt("two")
    assert prompts(second, 2) == ["one", "two"]
    home.prompt("three")
    assert prompts(second, 1) == ["three"]


def test_who_was_away_goes_on_behind_the_number_that_it_knew(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    stream = streams()
    home.prompt("one")
    events: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    while not events and time.monotonic() < deadline:
        events = [event for event in next(stream) if event.event == "prompt_given"]
    stream.close()
    home.prompt("while nobody watched")
    later = streams(after=events[0].n)
    assert prompts(later, 1) == ["while nobody watched"]


def test_a_session_that_came_while_nobody_watched_is_told_from_its_first_line(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    with closing(live_events(home.roots, Home(home.ours))) as first:
        next(first)
    home.prompt("new")
    assert prompts(streams(after=0), 1) == ["new"]


def test_what_a_killed_watcher_had_told_is_not_told_again(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    """It leaves its journal behind, and an older note of how far it came."""
    stream = streams()
    home.prompt("one")
    assert prompts(stream, 1) == ["one"]
    stream.close()
    note = journal_of(Home(home.ours), home.roots) / "before.json"
    note.write_text("{}")
    home.prompt("two")
    again = live_events(home.roots, Home(home.ours), after=0)
    with closing(again):
        assert prompts(again, 2) == ["one", "two"]
        home.prompt("three")
        assert prompts(again, 1) == ["three"]


def test_hook_calls_are_told_once_by_whoever_watches(home: LiveHome, streams: Callable[..., Stream]) -> None:
    stream = streams()
    home.prompt("one")
    home.hook("UserPromptSubmit", prompt="one")
    told_until(stream, lambda told: {"prompt_given", "hook_called"} <= {one.event for one in told})
    stream.close()
    again = streams(after=0)
    home.prompt("two")
    told = told_until(again, lambda told: "two" in [one.data.get("text") for one in told])
    assert [one.event for one in told].count("hook_called") == 1


def test_a_state_that_changed_while_nobody_watched_is_told(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    stream = streams()
    home.prompt("one")
    assert prompts(stream, 1) == ["one"]
    stream.close()
    home.reply("Done.")
    again = live_events(home.roots, Home(home.ours))
    told: list[LiveEvent] = []
    deadline = time.monotonic() + LIMIT_S
    with closing(again):
        while not told and time.monotonic() < deadline:
            told += [one for one in next(again) if one.event == "state_changed"]
    assert [(one.data["before"], one.data["state"]) for one in told] == [("working", "idle")]


def test_a_consumer_that_sleeps_keeps_no_other_waiting(
    home: LiveHome, streams: Callable[..., Stream]
) -> None:
    """The first one watches, and is never asked again."""
    streams()
    second = streams()
    home.prompt("one")
    assert prompts(second, 1) == ["one"]


def test_a_number_that_was_never_given_is_said(home: LiveHome) -> None:
    with pytest.raises(UserError, match="there is no event 99 yet: the last one of these folders is 0"):
        next(live_events(home.roots, Home(home.ours), after=99))


def test_of_what_a_late_one_has_missed_a_part_is_given_at_a_time(
    home: LiveHome, streams: Callable[..., Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracklog.live.watch.shared._MOST_AT_ONCE", 3)
    first = streams()
    texts = [f"prompt {n}" for n in range(10)]
    for text in texts:
        home.prompt(text)
    assert prompts(first, 10) == texts
    parts: list[list[LiveEvent]] = []
    with closing(live_events(home.roots, Home(home.ours), after=0)) as late:
        while sum(event.event == "prompt_given" for part in parts for event in part) < 10:
            parts.append(next(late))
    assert max(map(len, parts)) == 3
    told = [event.data["text"] for part in parts for event in part if event.event == "prompt_given"]
    assert told == texts
