from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.views.cli.usage_made import DOLLAR, row
from tracklog.model.usage import micro
from tracklog.views.text.numbers import CostRange, cost_of, difference, money, share, short_number


@given(st.integers(-(10**20), 10**20))
def test_micro_dollars_are_rounded_half_to_even(pico: int) -> None:
    assert micro(pico) == int((Decimal(pico) / 10**6).quantize(Decimal(1), ROUND_HALF_EVEN))


def test_a_half_goes_to_the_even_side_and_nothing_stays_nothing() -> None:
    assert [micro(n) for n in (500_000, 1_500_000, 500_001, -500_000, None)] == [0, 2, 1, 0, None]


@pytest.mark.parametrize(
    ("pico", "shown"),
    [
        (0, "$0.00"),
        (1, "<$0.0001"),
        (DOLLAR // 10_000, "$0.0001"),
        (DOLLAR * 42 // 10_000, "$0.0042"),
        (DOLLAR // 10, "$0.10"),
        (DOLLAR * 1_234_567 // 1_000, "$1,234.57"),
        (DOLLAR * 999_999 // 1_000_000, "$1.00"),
        (-DOLLAR, "-$1.00"),
        (10**30, "$1,000,000,000,000,000,000.00"),
        (None, "unpriced"),
    ],
)
def test_money_keeps_what_matters(pico: int | None, shown: str) -> None:
    assert money(pico) == shown


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10.0k"),
        (99_949, "99.9k"),
        (99_951, "100k"),
        (999_499, "999k"),
        (999_500, "1.00M"),
        (1_234_567, "1.23M"),
        (5_840_306_593, "5.84B"),
        (10**12, "1.00T"),
        (10**15, "1,000T"),
    ],
)
def test_a_short_number_has_three_digits_that_matter(n: int, shown: str) -> None:
    assert short_number(n) == shown


def test_a_share_is_whole_and_never_rounded_to_all_or_nothing() -> None:
    assert [share(*parts) for parts in ((0, 0), (0, 9), (1, 1_000), (999, 1_000), (9, 9))] == [
        "0 %",
        "0 %",
        "less than 1 %",
        "99 %",
        "100 %",
    ]


def test_a_row_without_a_price_has_no_cost_and_a_row_with_some_has_theirs() -> None:
    unpriced = row("a", 0, unpriced_requests=10)
    assert cost_of(unpriced, "ours") == CostRange(None, None)
    assert cost_of(row("a", 2, unpriced_requests=9), "ours") == CostRange(2 * DOLLAR, 2 * DOLLAR)
    assert cost_of(row("a", 0, requests=0), "ours") == CostRange(0, 0)
    assert cost_of(row("a", 0), "ours") == CostRange(0, 0)  # a model that is free


def test_the_stated_cost_is_none_where_no_log_states_it() -> None:
    assert cost_of(row("a"), "stated") == CostRange(None, None)
    assert cost_of(row("a", stated_requests=1, stated_pico_usd=7), "stated") == CostRange(7, 7)


def test_a_difference_needs_the_stated_cost_of_every_request() -> None:
    assert difference(row("a", 2, stated_requests=10, stated_pico_usd=DOLLAR)) == DOLLAR
    assert difference(row("a", 2, stated_requests=9, stated_pico_usd=DOLLAR)) is None
    assert difference(row("a", 0, unpriced_requests=10, stated_requests=10, stated_pico_usd=DOLLAR)) is None
