from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tracklog.views.text.numbers import day_and_time, took, when

NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ms", "told"),
    [
        (None, ""),
        (0, "0 ms"),
        (12.4, "12 ms"),
        (1234, "1.2 s"),
        (65_000, "1 min 5 s"),
        (3_600_000 * 3 + 60_000 * 12, "3 h 12 min"),
    ],
)
def test_how_long_something_took_is_told_in_fitting_units(ms: float | None, told: str) -> None:
    assert took(ms) == told


def test_a_moment_of_this_year_has_its_time_and_an_older_one_its_year() -> None:
    assert when("2026-11-15T22:29:41.123Z", now=NOW) == "11-15 22:29"
    assert when("2025-11-15T22:29:41.123Z", now=NOW) == "2025-11-15"
    assert [when(None, now=NOW), when("x", now=NOW), day_and_time("x")] == ["", "", ""]
    assert day_and_time("2026-11-15T22:29:41.123Z") == "2026-11-15 22:29:41"
