"""Texts made legible: nothing hides, nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.views.html.legible import gist, legible, shown, spelled


def test_controls_and_half_characters_are_spelled_out_in_a_text() -> None:
    assert legible("a\0b\x1b[31m\x7f\x85\ud83d\u202ec\r\nd\re\tf") == (
        "a␀b␛[31m␡⟨U+0085⟩⟨U+D83D⟩⟨U+202E⟩c\nd␍e\tf"
    )


def test_what_people_write_stays_as_it_is() -> None:
    text = "naïve 漢字 שלום 👩‍👩‍👧 e\u0301 \u200f\n\ttab"
    assert legible(text) == text


def test_what_nobody_can_see_is_spelled_out() -> None:
    assert legible("a\u200bb\u2060\u00ad\u3164\U000e0041") == "a⟨U+200B⟩b⟨U+2060⟩⟨U+00AD⟩⟨U+3164⟩⟨U+E0041⟩"
    assert shown("a\u3164b\uffa0") == "a⟨U+3164⟩b⟨U+FFA0⟩"


def test_of_a_command_every_letter_is_seen() -> None:
    assert spelled("rm\u200f \u200d\ufe0f\r\n\tx") == "rm⟨U+200F⟩ ⟨U+200D⟩⟨U+FE0F⟩␍\n\tx"
    assert spelled("a\U000e0100\u034f\u2800\u00a0\U0001d173é 数") == (
        "a⟨U+E0100⟩⟨U+034F⟩⟨U+2800⟩⟨U+00A0⟩⟨U+1D173⟩é 数"
    )


def test_a_name_stands_on_one_line() -> None:
    assert shown("a\nb\tc\u200bd\u202ee\ufeff\0") == "a↵b→c⟨U+200B⟩d⟨U+202E⟩e⟨U+FEFF⟩␀"


def test_pictures_of_many_parts_stay_whole_in_a_name() -> None:
    assert shown("family 👩‍👧 and e\u0301\n") == "family 👩‍👧 and e\u0301↵"
    assert shown("a\u200db") == "a⟨U+200D⟩b"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("/home/someone/project/src/main.py", 20, "/home/…t/src/main.py"),
        ("abc", 1, "…"),
        ("abc", 0, "…"),
        ("", 5, ""),
        ("a\u202eb", 20, "a⟨U+202E⟩b"),
    ],
)
def test_a_gist_keeps_the_beginning_and_the_end(text: str, width: int, expected: str) -> None:
    assert gist(text, width) == expected


@given(st.text(st.characters()))
@settings(deadline=None)
def test_whatever_comes_out_can_be_sent_and_stands_still(text: str) -> None:
    for made in (legible(text), shown(text), gist(text, 20)):
        made.encode("utf-8")
        assert not set(made) & set("\0\x1b\r\u202e\u2066")
    assert "\n" not in shown(text)
    assert len(gist(text, 20)) <= 20
    assert legible(legible(text)) == legible(text)


def test_a_name_of_megabytes_is_cut() -> None:
    assert len(shown("x" * 5_000_000)) == 2_000
    assert shown("x" * 5_000_000, most=9) == "xx…xxxxxx"
