"""What stands in an address, and the addresses beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.views.web.addresses import NotMeant, PageUrl, moment_in, order_in, packed, unpacked

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_another_filter_begins_at_the_first_page_and_an_empty_one_is_none() -> None:
    address = PageUrl("/sessions", {"q": "a b", "after": "xyz", "sort": "-cost"})
    assert address(agent="codex") == "/sessions?q=a%20b&sort=-cost&agent=codex"
    assert address.without("q", "sort") == "/sessions"
    assert address(q=None, project="") == "/sessions?sort=-cost"
    assert address.go_on("next") == "/sessions?q=a%20b&after=next&sort=-cost"


@given(st.text())
def test_any_text_comes_back_from_an_address(text: str) -> None:
    sent = PageUrl("/calls", {})(tool=text)
    found = parse_qs(urlsplit(sent).query, keep_blank_values=True)
    assert found == ({"tool": [text]} if text else {})


@settings(max_examples=50)
@given(st.lists(st.none() | st.integers() | st.floats(allow_nan=False) | st.text()))
def test_a_place_to_go_on_from_comes_back_as_it_was(values: list[object]) -> None:
    assert unpacked({"after": packed(values)}) == values


@pytest.mark.parametrize("after", ["!", "a", "bnVsbA", "eyJhIjoxfQ", "W1tb" * 90, "é"])
def test_what_is_no_place_is_refused(after: str) -> None:
    with pytest.raises(NotMeant, match="does not say where"):
        unpacked({"after": after})


def test_moments_are_those_of_the_command_line() -> None:
    day = {"since": "2026-03-01", "until": "2026-03-01"}
    since, until = (moment_in(day, name, now=NOW) for name in ("since", "until"))
    assert since == datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000
    assert until == datetime(2026, 3, 2, tzinfo=UTC).timestamp() * 1000
    assert (
        moment_in({"since": "2d"}, "since", now=NOW)
        == datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp() * 1000
    )
    assert moment_in({}, "since", now=NOW) is None


def test_an_order_descends_by_a_minus() -> None:
    assert order_in({"sort": "cost"}, ["cost", "last"], default="-last") == ("cost", False)
    assert order_in({}, ["cost", "last"], default="-last") == ("last", True)
    with pytest.raises(NotMeant, match="one can sort by cost, last"):
        order_in({"sort": "--cost"}, ["cost", "last"], default="-last")
