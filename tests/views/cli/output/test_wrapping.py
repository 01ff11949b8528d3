from __future__ import annotations

import time

import pytest
from rich.cells import cell_len

from tracklog.views.cli.output.terminal import cut, wrapped


def test_lines_are_broken_between_words_and_keep_their_indentation() -> None:
    assert list(wrapped("one two three\n    four five six\n\nend\n", 10)) == [
        "one two",
        "three",
        "    four",
        "    five",
        "    six",
        "",
        "end",
    ]


def test_in_a_pipe_no_line_is_broken() -> None:
    assert list(wrapped("word " * 100 + "\r\n\tx", None)) == [("word " * 100).rstrip(), "    x"]


def test_no_line_is_wider_than_told_whatever_the_script() -> None:
    text = "日本語" * 50 + " " + "x" * 100 + " é " + "e\u0301" * 40 + " 👩‍👩‍👧 " * 20
    lines = list(wrapped(text, 20))
    assert max(map(cell_len, lines)) <= 20
    assert "".join(lines).replace(" ", "").count("日") == 50


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert list(wrapped("a\x1b[31m\x07\u202e\ud800b", 80)) == ["a\\x1b[31m\\x07\\u202e\\ud800b"]


def test_the_cost_of_one_endless_line_is_that_of_its_letters() -> None:
    started = time.monotonic()
    n_lines = sum(1 for text in ("x" * 2_000_000, "é" * 500_000, "a " * 500_000) for _ in wrapped(text, 80))
    assert n_lines > 30_000
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("abc", None, "abc"),
    ],
)
def test_a_line_that_is_cut_says_so(line: str, width: int | None, shown: str) -> None:
    assert cut(line, width) == shown
