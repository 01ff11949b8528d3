from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.views.web.pages.search.query import Meant, SearchPageQuery, Wrong, meant_by, meant_while_typing

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


def test_an_address_says_what_is_asked_and_nothing_that_goes_without_saying() -> None:
    asked = SearchPageQuery("a b", page=3)
    assert asked.address() == "/search?q=a+b"
    assert asked.address(page=4) == "/search?q=a+b&page=4"
    assert asked.address(by="relevance", shows_secrets=True) == "/search?q=a+b&by=relevance&secrets=shown"
    assert asked.address(text='"é" &') == "/search?q=%22%C3%A9%22+%26"


@pytest.mark.parametrize(
    ("text", "place", "instead"),
    [
        ("role:promt timeout", "role:promt", "timeout"),
        ("timeout since:soon tool:Bash agent:zzz", "since:soon", "timeout tool:Bash"),
        ("role:promt", "role:promt", '"promt"'),
        ("-foo", "", None),
        ("role:promt -foo", "role:promt", '"promt"'),
        ("role:promt NOT foo", "role:promt", '"promt"'),
        ("re:/(/ word", "(", "word"),
        ("word re:/ab**c/", "*", "word"),
        ("word re:/a/ re:/b/", "re:/b/", "word re:/a/"),
        ("=> ...", "", None),
        (" ".join(["word"] * 61), "", " ".join(['"word"'] * 40)),
    ],
)
def test_of_a_query_that_means_nothing_the_rest_is_searched(
    text: str, place: str, instead: str | None
) -> None:
    meant = meant_by(text, NOW)
    assert meant.wrong is not None
    assert (meant.wrong.place, meant.wrong.instead) == (place, instead)
    assert (meant.query is None) == (instead is None)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("-foo", "foo"),
        ("NOT foo", "foo"),
        ('-"rate limit" -foo* role:prompt', '"rate limit" foo* role:prompt'),
        ("-foo -tool:Read", "foo -tool:Read"),
        ("re:/E\\d+/ -foo", "re:/E\\d+/ foo"),
        ("=> -foo", "=> foo"),
        (" ".join(["-foo"] * 61), None),
    ],
)
def test_what_is_to_be_left_out_is_never_searched_instead(text: str, offered: str | None) -> None:
    assert meant_by(text, NOW) == Meant(
        None,
        "",
        Wrong(
            "a search needs something to find: a word with a minus only leaves out, as in retry -test",
            "",
            "",
            "",
            None,
            offered,
        ),
    )


@pytest.mark.parametrize("text", ["*", "=> ...", "/\\", "-", "--", '"', '"?', "-- >", "\\ /", "|(", "OR"])
def test_for_signs_the_pattern_that_finds_them_is_offered(text: str) -> None:
    wrong = meant_by(text, NOW).wrong
    assert wrong is not None
    assert "signs are found by a regular expression" in wrong.why
    assert "--regex" not in wrong.why
    offered = meant_by(wrong.offered or "", NOW)
    assert offered.query is not None
    assert re.fullmatch(offered.query.pattern or "", text)


def test_a_query_that_means_something_is_left_as_it_is() -> None:
    meant = meant_by("timeout since:7d", NOW)
    assert (meant.text, meant.wrong) == ("timeout since:7d", None)


@given(st.text(st.characters(), max_size=60))
def test_whatever_is_typed_is_searched_or_said_to_be_wrong(text: str) -> None:
    meant = meant_by(text, NOW)
    assert meant.query is not None or meant.wrong is not None


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("tall", "tall*"),
        ("rate li", "rate li*"),
        ("tool:Bash tall", "tool:Bash tall*"),
        ("src/app.py", "src/app.py*"),
        ("panic OR cra", "panic OR cra*"),
        ("", None),
        ("t", None),
        ("tall*", None),
        ('"rate li', None),
        ('"rate" "li"', None),
        ("retry -tes", None),
        ("retry NOT tes", None),
        ("panic OR", None),
        ("tall tool:Ba", None),
        ("tool:", None),
        ("re:/tall", None),
        ("role:promt tall", None),
    ],
)
def test_a_bare_word_at_the_end_is_a_beginning_while_it_is_typed(text: str, searched: str | None) -> None:
    meant = meant_while_typing(text, NOW)
    assert (meant and meant.text) == searched
