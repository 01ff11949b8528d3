"""JSON text edited in place: what is added comes out again, and nothing else moves."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given

from tests.live.odd_json import odd_objects
from tracklog.sources.settings_text import (
    Addition,
    Edit,
    Malformed,
    appended,
    applied,
    cut,
    line_indent,
    object_at,
    root_of,
    style_of,
    value_at,
)


def added(text: str, *additions: Addition) -> str:
    return applied(text, [appended(text, root_of(text), additions, style_of(text))])


A = Addition("a", {"b": [1]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ('{"x":1}', '{"x":1,"a":{"b":[1]}}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": [1]}}'),
        (
            '{\n\t"x": 1\n}',
            '{\n\t"x": 1,\n\t"a": {\n\t\t"b": [\n\t\t\t1\n\t\t]\n\t}\n}',
        ),
        (
            '{\r\n    "x": 1e5\r\n}\r\n',
            '{\r\n    "x": 1e5,\r\n    "a": {\r\n        "b": [\r\n            1\r\n        ]\r\n    }\r\n}\r\n',
        ),
        ('{\n"x": 1\n}', '{\n"x": 1,\n"a": {\n"b": [\n1\n]\n}\n}'),
        ('\ufeff{"x" : 1 } ', '\ufeff{"x" : 1, "a": {"b": [1]} } '),
        (
            '{ "y": 0,\n  "x": 1 }',
            '{ "y": 0,\n  "x": 1,\n  "a": {\n    "b": [\n      1\n    ]\n  } }',
        ),
    ],
)
def test_what_is_added_follows_the_style_around_it(text: str, expected: str) -> None:
    assert added(text, A) == expected


@given(odd_objects())
@example("{}")
@example("{ \t}")
@example('{"a":{}, "a":1.50}')
def test_what_was_added_at_the_end_is_cut_out_to_the_very_same_text(text: str) -> None:
    before = root_of(text)
    inner = text[before.open + 1 : before.close]
    new = added(text, A, Addition("z", None))
    assert json.loads(new.removeprefix("\ufeff"))["z"] is None
    root = root_of(new)
    n = len(root.parts)
    assert applied(new, cut(root, {n - 2, n - 1}, "" if before.parts else inner)) == text


@given(odd_objects())
def test_members_are_found_where_they_stand(text: str) -> None:
    pairs = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=tuple)
    found = [
        (part.key, json.loads(text[part.value : part.end], object_pairs_hook=tuple))
        for part in root_of(text).parts
    ]
    assert found == list(pairs)


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ({0}, '{"b": 2, "c": 3}'),
        ({1}, '{"a": 1, "c": 3}'),
        ({2}, '{"a": 1, "b": 2}'),
        ({0, 1}, '{"c": 3}'),
        ({0, 2}, '{"b": 2}'),
        ({1, 2}, '{"a": 1}'),
        ({0, 1, 2}, "{}"),
        (set(), '{"a": 1, "b": 2, "c": 3}'),
    ],
)
def test_any_members_can_be_cut_out(gone: set[int], expected: str) -> None:
    text = '{"a": 1, "b": 2, "c": 3}'
    assert applied(text, cut(root_of(text), gone)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "line 1, column 1: the whole is not an object"),
        ("null", "line 1, column 1: the whole is not an object"),
        ("nul", "line 1, column 1: there is no JSON value here"),
        ('{"a": 1,}', "line 1, column 9: expected a key in double quotes"),
        ('{"a": 1\n "b": 2}', "line 2, column 2: expected a comma or }"),
        ('{\n  // why\n  "a": 1\n}', "line 2, column 3: expected a key in double quotes"),
        ('{"a": 1} {}', "line 1, column 10: there is more behind the end"),
        ('{"a" 1}', "line 1, column 6: expected a colon"),
        ('{"a": NaN}', "line 1, column 7: NaN is not JSON"),
        ('{"a": "x\ny"}', "line 1, column 9: Invalid control character at"),
        ('\ufeff{"a"}', "line 1, column 5: expected a colon"),
        ('{\r\n"a": [1,\r\n2}', "line 3, column 2: Expecting ',' delimiter"),
        ('{"a": "x', "line 1, column 7: Unterminated string starting at"),
        ('{"a": 1', "line 1, column 8: expected a comma or }"),
        ("{", "line 1, column 2: expected a key in double quotes"),
    ],
)
def test_what_is_no_json_object_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(Malformed) as caught:
        root_of(text)
    assert str(caught.value) == said


def test_a_text_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(Malformed, match="nested too deeply"):
        root_of('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}")


def test_a_number_of_any_length_is_passed_over() -> None:
    text = '{"n": ' + "9" * 10_000 + ', "f": 1.' + "0" * 9_999 + "}"
    assert [part.key for part in root_of(text).parts] == ["n", "f"]
    assert value_at(text, 6)[0] == "9" * 10_000


def test_of_several_members_of_one_name_the_last_counts() -> None:
    text = '{"a": {}, "b": 1, "a": {"c": 2}}'
    last = root_of(text).last("a")
    assert last is not None
    assert text[last.value : last.end] == '{"c": 2}'


def test_an_inner_object_is_found_by_its_place() -> None:
    text = '{"a": {"b": {"c": 2}}}'
    outer = object_at(text, root_of(text).parts[0].value, "a")
    assert [part.key for part in outer.parts] == ["b"]


def test_the_indentation_is_that_of_the_line() -> None:
    text = '{\n\t "a": {}\n}'
    assert line_indent(text, text.index("{}")) == "\t "


def test_edits_are_made_at_their_places_whatever_their_order() -> None:
    assert applied("abcdef", [Edit(1, 2, "X"), Edit(4, 4, "-"), Edit(5, 6, "")]) == "aXcd-e"
