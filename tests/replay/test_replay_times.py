"""Times of a replay run as they should, and a line that tells them anew keeps its length."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.replay.plan import ReplayPace, with_times

MOMENTS = st.lists(st.integers(min_value=0, max_value=2_000_000_000_000), min_size=1, max_size=30)


@given(
    MOMENTS,
    st.none() | st.floats(min_value=0.01, max_value=1000),
    st.none() | st.integers(min_value=0, max_value=100_000),
)
def test_what_came_later_is_due_later(moments: list[int], speed: float | None, pause: int | None) -> None:
    pace = ReplayPace(moments, starts_ms=1_000, speed=speed, longest_pause_ms=pause)
    due = [pace.due_ms(moment) for moment in sorted(moments)]
    assert due == sorted(due)
    assert due[-1 if speed is None else 0] == 1_000


@given(MOMENTS, st.integers(min_value=0, max_value=100_000))
def test_no_pause_is_longer_than_the_longest(moments: list[int], pause: int) -> None:
    pace = ReplayPace(moments, starts_ms=0, longest_pause_ms=pause)
    due = [pace.due_ms(moment) for moment in sorted(moments)]
    assert all(after - before <= pause for before, after in pairwise(due))


def test_within_a_pause_that_is_cut_short_time_goes_on_and_then_stands_still() -> None:
    pace = ReplayPace([0, 100, 1100], starts_ms=0, longest_pause_ms=200)
    assert [pace.due_ms(moment) for moment in (50, 100, 150, 300, 900, 1100, 1200)] == [
        50, 100, 150, 300, 300, 300, 400
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"timestamp":"2026-03-01T12:00:00.250Z"}', '{"timestamp":"2026-03-01T12:00:01.250Z"}'),
        ('{"timestamp": "2026-03-01T12:00:00.25Z"}', '{"timestamp": "2026-03-01T12:00:01.25Z"}'),
        ('{"timestamp":"2026-03-01T12:00:00Z"}', '{"timestamp":"2026-03-01T12:00:01Z"}'),
        ('{"timestamp":"2026-03-01T12:00:00.123456+00:00"}', '{"timestamp":"2026-03-01T12:00:01.123456+00:00"}'),
        ('{"a":{"timestamp":"2026-12-31T23:59:59.999Z"}}', '{"a":{"timestamp":"2027-01-01T00:00:00.999Z"}}'),
        ('{"timestamp":"2026-13-01T12:00:00.250Z"}', None),
        ('{"timestamp":"9999-12-31T23:59:59.999Z"}', None),
        ('{"text":"2026-03-01T12:00:00.250Z"}', None),
        (r'{"text":"{\"timestamp\":\"2026-03-01T12:00:00.250Z\"}"}', None),
        ('{"timestamp":1772366400250}', None),
    ],
)  # fmt: skip
def test_only_the_values_of_timestamps_are_told_anew(line: str, told: str | None) -> None:
    assert with_times(line.encode(), lambda ms: ms + 1000).decode() == (told or line)


@given(
    st.lists(st.sampled_from([b'"timestamp":"', b"2026-03-01T12:00:00", b".5", b'Z"', b"\xff", b"0"])),
    st.integers(min_value=-(10**16), max_value=10**16),
)
def test_any_bytes_keep_their_length(parts: list[bytes], shift: int) -> None:
    line = b"".join(parts)
    assert len(with_times(line, lambda ms: ms + shift)) == len(line)
