"""Terminals: what stood there in the end, in colours, and nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from tests.cases import for_each
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.terminal import PLAIN, Piece, _Overwritten, all_classes, last_lines, terminal

ESCAPES = ["\x1b[31m", "\x1b[0m", "\x1b[1;4m", "\x1b[38;5;200m", "\x1b[48;2;1;2;3m", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[2J", "\x1b]0;t\x07",
           "\x1b]8;;x\x1b\\", "\x1b", "\x1b[", "\x1b]", "\r", "\x08", "\n", "\r\n", "a", "<b>", "&", "漢", "\0", "\x9b", "\ud800", ";", "m"]  # fmt: skip


@for_each(
    "text, expected",
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[31mred\x1b[0m x", '<span class="t-red">red</span> x'),
        (
            "\x1b[1;4;92mok\x1b[22mx",
            '<span class="t-green t-bold t-under">ok</span><span class="t-green t-under">x</span>',
        ),
        ("\x1b[31mone\ntwo", '<span class="t-red">one</span>\n<span class="t-red">two</span>'),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("abcdef\rxy", "xycdef"),
        ("long line\r\x1b[Kshort", "short"),
        ("gone\x1b[2K\rnew", "new"),
        ("abc\x08\x08X", "aXc"),
        ("abcdef\rxyz\x1b[1K\x1b[1KX", "   Xef"),
        ("abc\rx\x1b[1K\ryz\x08\x1b[1K", " zc"),
        ("abc\x08\x1b[1K\x1b[Kd", "  d"),
        ("abc\x08\x1b[2K\ra\x1b[1Kb", " b"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\x1b]0;title\x07a\x1b]8;;https://evil.example\x1b\\b\x1b]8;;\x1b\\c", "abc"),
        ("\x1b[?25l\x1b[2J\x1b[10;5Hx\x1b(B\x1b7\x1bM", "x"),
        ("\x1b[8mconcealed", "concealed"),
        ("\x1b]never ends\nbut this is there", "␛]never ends\nbut this is there"),
        ("a\x07\0b\x1b", "ab␛"),
        ("\nfirst", "\n\nfirst"),
        ("", ""),
    ],
)
def test_a_text_is_shown_as_it_stood_in_the_end(text: str, expected: str) -> None:
    assert terminal(text) == Markup(f'<pre class="term">{expected}</pre>')


@for_each("text", HOSTILE)
def test_a_hostile_text_stays_text_in_a_terminal(text: str) -> None:
    found = held(terminal(text))
    assert set(found.tags) <= {"pre", "span"}
    assert {name for _, name, _ in found.attributes} == {"class"}


@given(st.lists(st.sampled_from(ESCAPES)).map("".join))
@settings(deadline=None)
def test_any_mixture_of_escapes_is_safe(text: str) -> None:
    found = held(terminal(text))
    classes = {one for _, _, value in found.attributes for one in value.split()}
    assert classes <= {"term", *all_classes()}
    assert not set(found.text) & set("\x1b\r\x08\0")


@given(st.text(st.characters(exclude_characters="\x1b\r\x08\0\x07\x0e\x0f", exclude_categories=["Cs", "Cc"])))
@settings(deadline=None)
def test_a_text_without_escapes_is_all_there(text: str) -> None:
    shown = held(terminal(f"\x1b[31m{text}")).text
    assert [char for char in text if char.isalnum() and char not in shown] == []


def test_the_last_lines_are_those_of_the_end() -> None:
    assert [last_lines(text, 2) for text in ("a\nb\nc\n", "a\nb\nc", "a\nb", "", "\n\n\n")] == [
        ("b\nc\n", 1), ("b\nc", 1), ("a\nb", 0), ("", 0), ("\n\n", 1),
    ]  # fmt: skip


def test_of_much_the_end_is_shown() -> None:
    found = held(terminal("a" * 300_000 + "the end"))
    assert found.text.startswith("… 100,007 letters before\na")
    assert found.text.endswith("the end")


def test_what_is_erased_again_and_again_is_erased_once() -> None:
    line = _Overwritten(PLAIN)
    line.put("a" * 1_000)
    line.erase("1")
    line._pieces = _Untouched(line._pieces)
    for _ in range(100):
        line.erase("1")
    assert line.pieces() == []


class _Untouched(list[Piece]):
    def __setitem__(self, *_: object) -> None:
        raise AssertionError("erased again")


@pytest.mark.parametrize(
    "unit",
    [
        "x\r",
        "\x1b[",
        "\x1b[31mx\x1b[0m",
        "\x1b]",
        "a\x08",
        "\n",
        "y" * 1_000 + "\r",
        "\x1b[1K",
        "\x1b[38;5;1m",
        "\x1b]a\x1b",
    ],
)
def test_megabytes_of_escapes_take_bounded_time_and_space(unit: str) -> None:
    text = unit * (5_000_000 // len(unit))
    before = time.thread_time()
    html = terminal(text)
    last_lines(text)
    assert time.thread_time() - before < 3
    assert len(html) < 1_000_000
