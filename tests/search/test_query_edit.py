from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.test_query import moment, read
from tracklog.errors import UserError
from tracklog.search.query import Filter, Query, parse
from tracklog.search.query_edit import QueryPart, parts_of, plain_query, with_filters, without, wrong_part

TYPED = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "foo",
                "OR",
                "NOT",
                "AND",
                "-bar",
                "- baz",
                "->",
                '"two words"',
                '"open',
                '-"no"',
                "time*",
                "tool:Bash",
                '-tool:"a b"',
                "role:prompt",
                "ROLE:Prompt",
                "since:7d",
                "re:/a b/",
                "re:x",
                "project:app",
                "tool:",
                "a:b",
                '"p"*',
                "\t",
                "\x00",
            ]
        ),
        st.text(max_size=6),
    ),
    max_size=8,
).map(" ".join)


def meaning(text: str) -> Query | str:
    try:
        return read(text)
    except UserError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rate limit", [QueryPart(0, 4, None, "rate"), QueryPart(5, 10, None, "limit")]),
        ('"rate limit" x', [QueryPart(0, 12, None, "rate limit"), QueryPart(13, 14, None, "x")]),
        ('"never closed', [QueryPart(0, 13, None, "never closed", is_open=True)]),
        ("-tool:Bash", [QueryPart(0, 10, "tool", "Bash", is_not=True)]),
        ('project:"my app" x', [QueryPart(0, 16, "project", "my app"), QueryPart(17, 18, None, "x")]),
        ("re:/a b/ x", [QueryPart(0, 8, "re", "/a b/"), QueryPart(9, 10, None, "x")]),
        ("re:/a b", [QueryPart(0, 7, "re", "/a b", is_open=True)]),
        ("foo NOT", [QueryPart(0, 3, None, "foo"), QueryPart(4, 7, None, "NOT", is_open=True)]),
        ("tool: x", [QueryPart(0, 5, None, "tool:"), QueryPart(6, 7, None, "x")]),
        ("a\n\tb", [QueryPart(0, 1, None, "a"), QueryPart(2, 3, None, "b")]),
        ("", []),
    ],
)
def test_the_parts_of_a_query_are_cut_as_it_is_read(text: str, parts: list[QueryPart]) -> None:
    assert parts_of(text) == parts


@given(TYPED)
def test_the_filters_among_the_parts_are_those_of_the_query(text: str) -> None:
    if not isinstance(query := meaning(text), Query):
        return
    named = [part for part in parts_of(text) if part.key not in (None, "re", "since", "until")]
    assert [(part.key, part.value.lower()) for part in named] == [
        (one.key, one.value.lower()) for one in query.filters
    ]


@given(TYPED)
def test_between_two_parts_there_are_only_spaces(text: str) -> None:
    plain, at = plain_query(text), 0
    for part in parts_of(text):
        assert plain[at : part.start].strip(" ") == ""
        at = part.end
    assert plain[at:].strip(" ") == ""


@given(TYPED)
def test_a_filter_that_is_added_means_what_it_says_and_changes_nothing_else(text: str) -> None:
    before = meaning(text)
    added = with_filters(text, ("project", "my app"))
    assert added is not None
    if isinstance(before, Query):
        after = read(added)
        assert sorted(after.filters) == sorted([*before.filters, Filter("project", "my app")])
        assert after._replace(filters=()) == before._replace(filters=())


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("rate limit", "rate limit tool:Bash"),
        ("", "tool:Bash"),
        ('"rate lim', 'tool:Bash "rate lim'),
        ("foo NOT", "tool:Bash foo NOT"),
        ("re:/a b", "tool:Bash re:/a b"),
    ],
)
def test_a_filter_is_put_where_nothing_swallows_it(text: str, added: str) -> None:
    assert with_filters(text, ("tool", "Bash")) == added


@pytest.mark.parametrize("value", ['a"b', "", "a\nb", " a", "\ud800"])
def test_what_the_language_cannot_say_is_not_added(value: str) -> None:
    assert with_filters("x", ("tool", value)) is None


def test_a_part_is_taken_away_where_it_stands() -> None:
    text = 'one tool:Bash "two three" -role:prompt'
    parts = parts_of(text)
    assert without(text, [parts[1]]) == 'one "two three" -role:prompt'
    assert without(text, [parts[0], parts[3]]) == 'tool:Bash "two three"'
    assert without(text, parts) == ""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("timeout role:promt", "role:promt"),
        ("agent:zzz since:soon", "agent:zzz"),
        ("x since:soon", "since:soon"),
        ("re:/(/ x", "re:/(/"),
        ("re:a re:b", "re:b"),
        ('tool:"" x', 'tool:""'),
        ("-foo", None),
        ("fine tool:Bash", None),
    ],
)
def test_the_filter_that_is_wrong_is_named(text: str, wrong: str | None) -> None:
    part = wrong_part(text, moment)
    assert (None if part is None else text[part.start : part.end]) == wrong


@given(TYPED)
def test_without_its_wrong_filters_a_query_has_no_wrong_filter(text: str) -> None:
    for _ in range(20):
        part = wrong_part(text, moment)
        if part is None:
            break
        text = without(text, [part])
    assert wrong_part(text, moment) is None
    if any(part.key is None for part in parts_of(text)):
        return
    filters = parts_of(text)
    assert not filters or parse(text, moment) is not None
