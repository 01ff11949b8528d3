"""The lines of logs as they stand on disk."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from tests.cases import for_each
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.json_lines import MOST_LETTERS, json_lines

TAGS = {"div", "details", "summary", "span", "p", "pre", "mark"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
)


def test_an_object_is_one_key_on_a_line_and_can_be_folded() -> None:
    assert json_lines(b'{"a":1,"b":["x\\n",null],"c":{}}\n') == Markup(
        '<div class="json"><details open><summary>{</summary><div>'
        '<span class="j-key">&#34;a&#34;</span>: <span class="j-number">1</span>,\n'
        '<details open><summary><span class="j-key">&#34;b&#34;</span>: [</summary><div>'
        '<span class="j-string">&#34;x\\n&#34;</span>,\n<span class="j-word">null</span></div></details>],\n'
        '<span class="j-key">&#34;c&#34;</span>: {}</div></details>}</div>'
    )


@given(VALUES, st.booleans())
@settings(deadline=None)
def test_every_letter_but_the_space_is_that_of_the_file(value: object, is_ascii: bool) -> None:
    raw = json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":"))
    assert _unspelled(held(json_lines(raw.encode())).text) == _unspelled(raw)


def _unspelled(text: str) -> str:
    """Without space, and with the letters that are spelled out as they were; a name may also be a letter of the file."""
    named = re.sub("⟨U\\+([0-9A-F]{4,6})⟩", lambda code: chr(int(code[1], 16)), text)
    return re.sub(r"\s", "", named.replace("␡", "\x7f"))


def test_a_line_of_too_many_values_is_laid_out_without_making_objects_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = b"[" + b"{}," * 600_000 + b"{}]"
    monkeypatch.setattr(json, "loads", lambda _: pytest.fail("made objects"))
    assert held(json_lines(raw)).text.startswith("[{},\n{},\n")


def test_keys_that_stand_twice_and_long_numbers_stay() -> None:
    raw = '{"a":1.00,"a":12345678901234567890123456789}'
    assert "".join(held(json_lines(raw.encode())).text.split()) == raw


@pytest.mark.parametrize(
    ("raw", "text", "marked"),
    [
        (b'{"a":1} {"b":2}', "not JSON from letter 9 on: Extra data", "{"),
        (b'{"a":tru}', "not JSON from letter 6 on: Expecting value", "t"),
        (b"[1,2", "not JSON from letter 5 on: Expecting ',' delimiter", "␣"),
        (b"", "not JSON from letter 1 on: Expecting value", "␣"),
        (b"\0\0", "not JSON from letter 1 on: Expecting value", "␀"),
    ],
)
def test_a_line_that_breaks_is_text_with_the_place_marked(raw: bytes, text: str, marked: str) -> None:
    html = json_lines(raw)
    assert held(html).text.startswith(text)
    assert f">{marked}</mark>" in html


def test_bytes_that_are_no_text_are_spelled_out() -> None:
    assert "a\\xff\\xfeb" in held(json_lines(b'{"x":"a\xff\xfeb"}')).text


def test_what_hides_in_a_string_is_spelled_out() -> None:
    assert '"⟨U+202E⟩\\u202e"' in held(json_lines('["\u202e\\u202e"]'.encode())).text


def test_a_long_string_is_cut_and_what_follows_it_is_there() -> None:
    text = held(json_lines(b'{"a":"' + b"x" * 1_000_000 + b'","b":"behind"}')).text
    assert "… 980,002 letters more" in text
    assert '"behind"' in text


def test_much_is_cut_and_says_how_much() -> None:
    raw = json.dumps(["word " * 100] * 1_000).encode()
    text = held(json_lines(raw)).text
    assert len(text) < MOST_LETTERS * 1.2
    assert re.search(r"… [\d,]+ letters more $", text)


@for_each("text", HOSTILE)
def test_a_hostile_text_stays_text_in_json(text: str) -> None:
    for raw in (json.dumps({text: text}, ensure_ascii=False), json.dumps([text]), text):
        found = held(json_lines(raw.encode("utf-8", "surrogatepass")))
        assert set(found.tags) <= TAGS
        assert {name for _, name, _ in found.attributes} <= {"class", "title", "open"}


@given(st.binary())
@settings(deadline=None)
def test_any_bytes_are_shown(raw: bytes) -> None:
    assert set(held(json_lines(raw)).tags) <= TAGS


@pytest.mark.parametrize(
    "raw",
    [b"[" * 1_000_000, b"[" * 3_000 + b"]" * 3_000, b'{"a":' * 100_000, b"[" + b"1," * 100_000 + b"1]", b'"' * 1_000_000, b"\\" * 1_000_000,
     b'"' + b"\\u0000" * 200_000 + b'"', b"1" * 1_000_000, b"[" + b"{}," * 50_000 + b"{}]", b'{"a":[' * 10_000 + b"]}" * 10_000, b"x" * 2_000_000],
    ids=range(11),
)  # fmt: skip
def test_lines_made_to_hurt_take_bounded_time_and_space(raw: bytes) -> None:
    before = time.thread_time()
    html = json_lines(raw)
    assert time.thread_time() - before < 5
    assert len(html) < 2_000_000
    assert html.count("<") < 14_000
