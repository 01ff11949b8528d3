"""Numbers and times in words, with what is exact behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.numbers import (
    ago,
    duration,
    missing,
    money,
    number,
    tokens,
    when,
)

NOW = datetime(2026, 11, 1, 12, 0, 3, tzinfo=UTC)
NOTHING = Markup('<span class="none" title="the log does not say">–</span>')


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (tokens(12_345), '<span title="12,345">12.3k</span>'),
        (number(12_345), "12,345"),
        (money(1_234_567), '<span title="$1.234567">$1.23</span>'),
        (money(12), '<span title="$0.000012">&lt;$0.0001</span>'),
        (money(0), '<span title="$0.000000">$0.00</span>'),
        (
            money(1_234_567, lower_bound=True),
            '<span title="at least $1.234567: not all of it is known">≥ $1.23</span>',
        ),
        (duration(125_000), '<span title="125,000 ms">2 min 5 s</span>'),
        (
            duration(1_250, by="log_times"),
            '<span class="inferred" title="1,250 ms between lines of the log">≥ 1.2 s</span>',
        ),
        (
            when("2026-11-01T09:00:00Z", NOW),
            '<time datetime="2026-11-01T09:00:00.000Z" title="2026-11-01 09:00:00 UTC" data-rel>3 h ago</time>',
        ),
        (when("yesterday", NOW), '<span class="none" title="not a time: yesterday">–</span>'),
        (money(None), '<span class="none" title="no price is known">–</span>'),
        (tokens(None, why="<why>"), '<span class="none" title="&lt;why&gt;">–</span>'),
    ],
)
def test_a_value_is_told_in_words_with_the_exact_one_behind(html: Markup, expected: str) -> None:
    assert html == Markup(expected)


def test_what_is_missing_is_never_a_zero() -> None:
    nothing = [
        tokens(None),
        number(None),
        duration(None),
        when(None, NOW),
        when("", NOW),
        missing(),
    ]
    assert nothing == [NOTHING] * 6


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-3_600, "2026-11-01"), (-3, "just now"), (4, "just now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"),
     (3_599, "59 min ago"), (3_600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 d ago"), (86_400 * 30, "2026-10-02")],
)  # fmt: skip
def test_a_moment_is_told_from_now(seconds: int, words: str) -> None:
    assert ago(NOW - timedelta(seconds=seconds), NOW) == words


@given(st.text(st.characters()) | st.sampled_from(HOSTILE) | st.datetimes().map(str))
@settings(deadline=None)
def test_any_text_in_the_place_of_a_time_is_safe(text: str) -> None:
    for html in (when(text, NOW), missing(text)):
        found = held(html)
        assert set(found.tags) <= {"time", "span"}
        assert {name for _, name, _ in found.attributes} <= {
            "class",
            "title",
            "datetime",
            "data-rel",
            "data-local",
        }


@given(st.integers() | st.just(10**5_000), st.floats())
@settings(deadline=None)
def test_any_number_is_told_in_few_letters(n: int, ms: float) -> None:
    for html in (tokens(n), number(n), money(n), duration(ms), duration(ms, by="log_times")):
        assert len(held(html).text) < 40
