from __future__ import annotations

from tracklog.live.watch.states import Timers


def test_whoever_has_news_is_ready_once() -> None:
    timers: Timers[str] = Timers()
    timers.wake("a")
    timers.wake("a")
    assert timers.due(0) == {"a"}
    assert timers.due(0) == set()


def test_whose_time_has_come_is_ready_once_and_nobody_before() -> None:
    timers: Timers[str] = Timers()
    timers.set("a", 100)
    timers.set("b", 200)
    assert [timers.due(now) for now in (99, 100, 101, 250, 251)] == [set(), {"a"}, set(), {"b"}, set()]


def test_a_later_word_replaces_an_earlier_one() -> None:
    timers: Timers[str] = Timers()
    timers.set("a", 100)
    timers.set("a", 300)
    timers.set("b", 100)
    timers.set("b", None)
    assert [timers.due(now) for now in (150, 299, 300)] == [set(), set(), {"a"}]


def test_an_earlier_time_that_is_set_later_is_not_missed() -> None:
    timers: Timers[str] = Timers()
    timers.set("a", 1000)
    assert timers.due(10) == set()
    timers.set("b", 20)
    assert timers.due(20) == {"b"}
