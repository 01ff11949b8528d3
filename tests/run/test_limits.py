"""What ends a child before its time, and how."""

from __future__ import annotations

import pytest

from tracklog.model.run_request import Limits
from tracklog.model.usage import UsageRow
from tracklog.run import limits
from tracklog.run.limits import GentleEnd, LimitWatch
from tracklog.run.log_facts import RunUsage


class Clock:
    """Both clocks, as the test sets them."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def cost(micro: int, *, unpriced: int = 0) -> RunUsage:
    row = UsageRow(key="s", cost_pico_usd=micro * 1_000_000, unpriced_requests=unpriced)
    return RunUsage(row, {"m": row})


def test_a_child_has_so_much_time_and_no_more(clock: Clock) -> None:
    watch = LimitWatch(Limits(timeout_s=10), spent=lambda: None, grown_ms=lambda: 0)
    clock.now += 9.9
    assert watch.passed() is None
    clock.now += 0.2
    assert watch.passed() == ("timeout", "not done after 10 s")


def test_silence_counts_from_the_last_line_or_the_last_byte_in_a_log(clock: Clock) -> None:
    grown = [0.0]
    watch = LimitWatch(Limits(idle_s=5), spent=lambda: None, grown_ms=lambda: int(grown[0] * 1000))
    clock.now += 4
    watch.sign()
    clock.now += 4
    assert watch.passed() is None
    grown[0] = clock.now
    clock.now += 2
    assert watch.passed() is None
    clock.now += 3.1
    assert watch.passed() == ("timeout", "no sign of life for 5 s")


def test_money_is_counted_when_there_is_news_and_not_all_the_time(clock: Clock) -> None:
    asked: list[float] = []

    def spent() -> RunUsage:
        asked.append(clock.now)
        return cost(10 * len(asked))

    watch = LimitWatch(Limits(max_cost_micro_usd=15), spent=spent, grown_ms=lambda: 0)
    assert watch.passed() is None
    watch.sign()
    clock.now += 0.5
    assert (watch.passed(), watch.passed()) == (None, None)
    clock.now += 10
    assert watch.passed() is None
    watch.sign()
    stop = watch.passed()
    assert stop is not None
    assert stop.by == "budget"
    assert "more than $1.5e-05" in stop.words
    assert asked == [1000.5, 1010.5]


def test_what_the_log_tells_a_moment_after_the_stream_is_counted_without_another_word(clock: Clock) -> None:
    written = [cost(0)]
    watch = LimitWatch(Limits(max_cost_micro_usd=15), spent=lambda: written[-1], grown_ms=lambda: 0)
    watch.sign()
    assert watch.passed() is None
    written.append(cost(20))
    clock.now += 0.6
    stop = watch.passed()
    assert stop is not None
    assert stop.by == "budget"


def test_a_model_without_a_price_cannot_be_kept_under_a_limit(clock: Clock) -> None:
    watch = LimitWatch(Limits(max_cost_micro_usd=15), spent=lambda: cost(0, unpriced=1), grown_ms=lambda: 0)
    watch.sign()
    assert watch.passed() == ("budget", "m has no price, so that no limit of cost can be kept")


class Deeds(list[str]):
    """A client that notes what is done to it."""

    def interrupt(self) -> None:
        self.append("interrupt")

    def terminate(self) -> None:
        self.append("terminate")

    def kill(self) -> None:
        self.append("kill")


def test_it_is_asked_first_told_then_and_killed_last(clock: Clock) -> None:
    client = Deeds()
    end = GentleEnd(client, 5)
    end.tick()
    assert (list(client), end.has_begun) == ([], False)
    end.begin()
    clock.now += 4
    end.tick()
    assert (list(client), end.has_begun) == (["interrupt"], True)
    for _ in range(4):
        clock.now += 5
        end.tick()
    assert list(client) == ["interrupt", "terminate", "kill"]


def test_after_the_last_step_it_is_waited_for_a_while_and_then_given_up(clock: Clock) -> None:
    end = GentleEnd(Deeds(), 1)
    end.begin()
    end.hurry()
    assert not end.is_in_vain
    clock.now += 20
    assert end.is_in_vain


def test_who_is_in_a_hurry_kills_it_at_once(clock: Clock) -> None:
    client = Deeds()
    end = GentleEnd(client, 60)
    end.begin()
    end.hurry()
    clock.now += 1000
    end.tick()
    assert list(client) == ["interrupt", "kill"]
