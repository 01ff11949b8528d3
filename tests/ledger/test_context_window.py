from __future__ import annotations

import sys
from dataclasses import astuple
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracklog.ledger.context_window import Load, PricedUsage, PromptRates, PromptWindow, shared
from tracklog.model.usage import Tokens

RATES = PromptRates(input=5, cache_read=1, cache_write_5m=7, cache_write_1h=11)


def used(
    read: int = 0, write: int = 0, input: int = 0, *, output: int = 0, hour: int = 0, is_final: bool = True
) -> PricedUsage:
    tokens = Tokens(input=input, output=output, cache_read=read, cache_write=write, cache_write_1h=hour)
    return PricedUsage(tokens, is_final, RATES)


def window() -> PromptWindow:
    return PromptWindow(Load(), Load())


def paid(load: Load) -> tuple[int, int, int]:
    return load.n_reads, load.first_pico_usd, load.again_pico_usd


def test_growth_less_the_answer_is_the_size_of_what_came_in() -> None:
    at, small, large = window(), Load(n_bytes=100), Load(n_bytes=300)
    at.ask(used(write=1000, output=50), Load())
    at.enter(small)
    at.enter(large)
    at.ask(used(read=1000, write=50 + 80), Load())
    assert [(load.tokens, load.is_measured) for load in (small, large)] == [(20, True), (60, True)]


def test_what_comes_in_is_written_to_the_cache_once_and_read_from_it_ever_after() -> None:
    at, result = window(), Load(n_bytes=300)
    at.ask(used(write=1000, output=50), Load())
    at.enter(result)
    at.ask(used(read=1000, write=150, output=10), Load())
    at.ask(used(read=1150, write=10, output=10), Load())
    at.ask(used(read=1160, write=10), Load())
    at.settle()
    assert paid(result) == (3, 100 * RATES.cache_write_5m, 2 * 100 * RATES.cache_read)
    assert result.read_tokens == 300


def test_when_the_cache_is_missed_everything_is_paid_as_the_request_paid_it() -> None:
    at, result = window(), Load(n_bytes=300)
    at.ask(used(write=1000, output=50), Load())
    at.enter(result)
    at.ask(used(read=1000, input=150, output=10), Load())
    at.ask(used(write=1160, hour=1160), Load())
    at.settle()
    assert paid(result) == (2, 100 * RATES.input, 100 * RATES.cache_write_1h)


def test_an_hour_s_writes_stand_before_those_of_five_minutes() -> None:
    at, old, new = window(), Load(n_bytes=400), Load(n_bytes=400)
    at.ask(used(write=1000), Load())
    at.enter(old)
    at.ask(used(read=1000, input=100), Load())
    at.enter(new)
    at.ask(used(read=1000, write=200, hour=150), Load())
    at.settle()
    assert old.again_pico_usd == 100 * RATES.cache_write_1h
    assert new.first_pico_usd == 50 * RATES.cache_write_1h + 50 * RATES.cache_write_5m


def test_what_stands_in_the_first_prompt_is_estimated_from_its_bytes() -> None:
    at, prompt = window(), Load(n_bytes=401)
    at.enter(prompt)
    at.ask(used(write=1000), Load())
    assert (prompt.tokens, prompt.is_measured, prompt.first_pico_usd) == (101, False, 101 * 7)


def test_a_first_prompt_smaller_than_its_bytes_make_likely_is_divided() -> None:
    at, one, two = window(), Load(n_bytes=400), Load(n_bytes=1200)
    at.enter(one)
    at.enter(two)
    at.ask(used(input=40), Load())
    assert (one.tokens, two.tokens) == (10, 30)


def test_with_an_answer_whose_end_was_never_written_growth_is_shared_by_bytes_too() -> None:
    at, words, result = window(), Load(n_bytes=600), Load(n_bytes=300)
    at.ask(used(write=1000, output=1, is_final=False), words)
    at.enter(result)
    at.ask(used(read=1000, write=300), Load())
    assert [(load.tokens, load.is_measured) for load in (words, result)] == [(200, False), (100, False)]


def test_growth_too_small_for_what_came_in_measures_nothing() -> None:
    """The thoughts of the last turn left the prompt at the same time."""
    at, result = window(), Load(n_bytes=4000)
    at.ask(used(write=5000, output=900), Load())
    at.enter(result)
    at.ask(used(write=6100), Load())
    assert (result.tokens, result.is_measured) == (1000, False)


def test_growth_that_nothing_explains_belongs_to_nothing() -> None:
    unseen, ok = Load(), Load(n_bytes=2)
    at = PromptWindow(Load(), unseen)
    at.ask(used(write=1000, output=50), Load())
    at.enter(ok)
    at.ask(used(read=1000, write=5051), Load())
    assert (ok.tokens, unseen.tokens) == (1, 5000)


def test_a_prompt_that_shrank_takes_from_all_parts_alike() -> None:
    at, one, two = window(), Load(n_bytes=400), Load(n_bytes=800)
    at.ask(used(input=100), Load())
    at.enter(one)
    at.enter(two)
    at.ask(used(input=400), Load())
    at.ask(used(input=250), Load())
    at.settle()
    assert [load.read_tokens for load in (one, two)] == [100 + 50, 200 + 100]


def test_a_compaction_ends_what_it_does_not_keep() -> None:
    at, gone, kept = window(), Load(n_bytes=400), Load(n_bytes=400)
    at.ask(used(write=1000), Load())
    at.enter(gone)
    at.enter(kept)
    at.ask(used(read=1000, write=200), Load())
    at.compact(lambda load: load is kept)
    at.ask(used(write=600), Load())
    at.settle()
    assert (gone.n_reads, kept.n_reads) == (1, 2)
    assert kept.again_pico_usd == 100 * RATES.cache_write_5m


def test_each_branch_reads_what_came_before_it_and_its_own() -> None:
    at, common, left, living = window(), Load(n_bytes=40), Load(n_bytes=40), Load(n_bytes=40)
    at.enter(common)
    at.ask(used(input=100), Load())
    other = at.branch()
    other.enter(left)
    other.ask(used(input=110), Load())
    at.enter(living)
    at.ask(used(input=120), Load())
    at.settle()
    other.settle()
    assert [load.n_reads for load in (common, left, living)] == [3, 1, 1]


def test_a_request_of_which_nothing_is_known_reads_nothing_and_its_words_come_in() -> None:
    at, words, result = window(), Load(n_bytes=100), Load(n_bytes=300)
    at.ask(used(write=1000), Load())
    at.ask(None, words)
    at.enter(result)
    at.ask(used(read=1000, write=100), Load())
    assert [(load.n_reads, load.tokens) for load in (words, result)] == [(1, 25), (1, 75)]


def test_without_prices_reads_are_counted_and_cost_nothing() -> None:
    at, result = window(), Load(n_bytes=300)
    at.enter(result)
    for _ in range(3):
        at.ask(PricedUsage(Tokens(cache_read=1000)), Load())
    at.settle()
    assert (paid(result), result.n_unpriced_reads) == ((3, 0, 0), 3)


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**6)))
def test_what_is_shared_adds_up(total: int, weights: list[int]) -> None:
    parts = shared(total, weights)
    assert len(parts) == len(weights)
    assert sum(parts) == (total if sum(weights) else 0)
    assert min(parts, default=0) >= 0


FIGURE = st.integers(0, 300)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.integers(0, 2000)),
        st.tuples(st.just("ask"), st.tuples(FIGURE, FIGURE, FIGURE, FIGURE, FIGURE, st.booleans())),
        st.tuples(st.just("ask"), st.none()),
        st.tuples(st.just("compact"), st.integers(1, 3)),
        st.tuples(st.just("branch"), st.integers(0, 3)),
    ),
    max_size=30,
)


@given(STEPS)
def test_all_parts_together_cost_what_the_prompts_cost_whatever_happens(
    steps: list[tuple[str, Any]],
) -> None:
    loads = [Load(), Load()]
    windows, total, n_tokens = [PromptWindow(*loads)], 0, 0
    for what, how in steps:
        at = windows[-1]
        if what == "enter":
            loads.append(Load(n_bytes=how))
            at.enter(loads[-1])
        elif what == "ask":
            loads.append(Load(n_bytes=30))
            read, write, input, output, hour, is_final = how or (0, 0, 0, 0, 0, True)
            spent = used(read, write, input, output=output, hour=hour, is_final=is_final)
            at.ask(spent if how else None, loads[-1])
            total += 5 * input + read + 11 * min(hour, write) + 7 * (write - min(hour, write))
            n_tokens += spent.tokens.prompt
        elif what == "compact":
            at.compact(set(loads[::how]).__contains__)
        else:
            windows.append(windows[how % len(windows)].branch())
    for at in windows:
        at.settle()
    assert sum(load.first_pico_usd + load.again_pico_usd for load in loads) == total
    assert sum(load.read_tokens for load in loads) == n_tokens


@given(STEPS)
def test_counting_reads_of_the_cache_together_changes_nothing(steps: list[tuple[str, Any]]) -> None:
    """The same steps, settled after each of them."""

    def walked(*, at_once: bool) -> list[object]:
        loads = [Load(), Load()]
        at = PromptWindow(*loads)
        for what, how in steps:
            if what == "enter":
                loads.append(Load(n_bytes=how))
                at.enter(loads[-1])
            elif what == "ask" and how:
                loads.append(Load(n_bytes=30))
                read, write, input, output, hour, is_final = how
                at.ask(used(read, write, input, output=output, hour=hour, is_final=is_final), loads[-1])
            if not at_once:
                at.settle()
        at.settle()
        return [astuple(load) for load in loads]

    assert walked(at_once=True) == walked(at_once=False)


def test_the_work_for_a_long_line_of_requests_grows_with_their_number_alone() -> None:
    def n_calls(n_requests: int) -> int:
        at, size, calls = window(), 1000, 0

        def count(_frame: object, event: str, _what: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            for _ in range(n_requests):
                at.enter(Load(n_bytes=40))
                at.ask(used(read=size, write=20, output=10), Load())
                size += 20
            at.settle()
        finally:
            sys.setprofile(None)
        return calls

    assert n_calls(4_000) < 6 * n_calls(1_000)
