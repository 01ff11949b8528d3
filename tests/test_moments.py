"""Moments as numbers: the same moment, whatever words a log has for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.clock import NO_TIME, moment_ms, moment_text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MILLISECONDS = st.integers(0, 7_258_118_400_000)  # until the year 2200


@given(MILLISECONDS)
def test_a_moment_comes_back_from_its_text(ms: int) -> None:
    text = moment_text(ms)
    assert text is not None
    assert (moment_ms(text), len(text), text[-1]) == (ms, len("2026-11-15T23:11:23.969Z"), "Z")


@given(MILLISECONDS, MILLISECONDS)
def test_texts_sort_as_their_moments_do(one: int, other: int) -> None:
    assert (str(moment_text(one)) < str(moment_text(other))) is (one < other)


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)), ZONES)
def test_an_offset_is_taken_off(moment: datetime, zone: timezone) -> None:
    exact = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=zone)
    assert moment_ms(exact.isoformat()) == (exact - EPOCH) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01", 1000),  # without a zone it is UTC
        ("1970-01-01 00:00:01", 1000),
        ("1970-01-01T00:00:00.0006Z", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59Z", NO_TIME),
        ("0001-01-01T00:00:00+14:00", NO_TIME),
        ("2026-13-01T00:00:00Z", NO_TIME),
        ("yesterday", NO_TIME),
        ("\ud800", NO_TIME),
        ("1234567890", NO_TIME),
        ("", NO_TIME),
        (None, NO_TIME),
    ],
)
def test_what_a_log_states_is_a_moment_or_none(text: str | None, ms: int) -> None:
    assert moment_ms(text) == ms


def test_no_time_has_no_text() -> None:
    assert moment_text(NO_TIME) is None


@given(st.datetimes(), ZONES)
def test_every_moment_that_a_log_can_state_can_be_said_again(moment: datetime, zone: timezone) -> None:
    ms = moment_ms(moment.replace(tzinfo=zone).isoformat())
    assert (moment_text(ms) is None) is (ms == NO_TIME)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59.9999Z"])
def test_a_moment_behind_the_last_year_is_none_or_can_be_said(text: str) -> None:
    assert moment_text(moment_ms(text)) in (None, "9999-12-31T23:59:59.999Z")


@given(st.text(max_size=30))
def test_any_text_is_a_moment_or_none(text: str) -> None:
    assert moment_ms(text) >= NO_TIME
