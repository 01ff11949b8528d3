from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.ledger.blocks import BLOCK_MS, Burn, block_starts, burn
from tracklog.model.usage import Tokens, UsageRow

HOUR = 3_600_000
MINUTE = 60_000


def block(
    *, key: str = "2026-11-15T20:00:00.000Z", first_at: str | None = "2026-11-15T20:30:00.000Z"
) -> UsageRow:
    tokens = Tokens(input=100, output=200, cache_write=300, cache_read=5_400)
    return UsageRow(key=key, requests=3, tokens=tokens, cost_pico_usd=6_000_000_000_000, first_at=first_at)


@pytest.mark.parametrize(
    ("times", "starts"),
    [
        ([], []),
        ([10 * HOUR + 1], [10 * HOUR]),
        ([10 * HOUR, 10 * HOUR], [10 * HOUR, 10 * HOUR]),
        ([10 * HOUR + 59 * MINUTE, 15 * HOUR - 1], [10 * HOUR, 10 * HOUR]),  # five hours from the full hour
        ([10 * HOUR + 59 * MINUTE, 15 * HOUR], [10 * HOUR, 15 * HOUR]),
        ([10 * HOUR + 59 * MINUTE, 15 * HOUR + 40 * MINUTE], [10 * HOUR, 15 * HOUR]),
        ([10 * HOUR, 31 * HOUR + 1], [10 * HOUR, 31 * HOUR]),  # the gap belongs to nobody
        ([HOUR, 4 * HOUR, 6 * HOUR, 10 * HOUR, 11 * HOUR], [HOUR, HOUR, 6 * HOUR, 6 * HOUR, 11 * HOUR]),
    ],
)
def test_a_block_begins_at_the_full_hour_of_its_first_request_and_lasts_five(
    times: list[int], starts: list[int]
) -> None:
    assert block_starts(times) == starts


@given(st.lists(st.integers(0, 100 * HOUR)).map(sorted))
def test_every_request_lies_in_its_block_and_blocks_never_overlap(times: list[int]) -> None:
    starts = block_starts(times)
    assert all(start <= time < start + BLOCK_MS for start, time in zip(starts, times, strict=True))
    begun = [start for start, _ in groupby(starts)]
    assert all(later - earlier >= BLOCK_MS for earlier, later in pairwise(begun))
    assert {start % HOUR for start in begun} <= {0}


def test_a_block_burns_as_fast_as_since_its_first_request() -> None:
    now = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)
    assert burn(block(), now) == Burn(
        ends_at=datetime(2026, 11, 16, 1, 0, tzinfo=UTC),
        left_ms=150 * MINUTE,
        tokens_per_minute=50,
        cost_pico_usd_per_hour=3_000_000_000_000,
        projected_tokens=6_000 + 7_500,
        projected_cost_pico_usd=13_500_000_000_000,
    )


def test_the_first_minute_is_not_taken_for_less_than_a_minute() -> None:
    now = datetime(2026, 11, 15, 20, 30, tzinfo=UTC) + timedelta(milliseconds=1)
    burning = burn(block(), now)
    assert burning
    assert burning.tokens_per_minute == 6_000


@pytest.mark.parametrize(
    ("now", "is_running"),
    [
        (datetime(2026, 11, 15, 19, 59, 59, tzinfo=UTC), False),
        (datetime(2026, 11, 15, 20, 0, tzinfo=UTC), True),
        (datetime(2026, 11, 16, 0, 59, 59, tzinfo=UTC), True),
        (datetime(2026, 11, 16, 1, 0, tzinfo=UTC), False),
    ],
)
def test_only_a_running_block_burns(now: datetime, is_running: bool) -> None:
    assert (burn(block(), now) is not None) == is_running


def test_a_row_that_is_no_block_is_dated_by_its_first_request_or_not_at_all() -> None:
    now = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)
    assert burn(block(key="(no time)"), now) == burn(block(), now)
    assert burn(block(key="(no time)", first_at=None), now) is None
