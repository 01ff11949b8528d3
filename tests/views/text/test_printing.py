from __future__ import annotations

import io
from pathlib import Path

import pytest

from tracklog.home import tilde
from tracklog.views.text.printing import count, in_colour, percent, safe, short, size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ümläuts, 日本語, 👍", "plain text, ümläuts, 日本語, 👍"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("two\nlines\r\tand a tab", r"two\nlines\r\tand a tab"),
        ("c1 \x9b31m", r"c1 \x9b31m"),
        ("\u202etfel ot thgir\u2066", r"\u202etfel ot thgir\u2066"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028separator", r"line\u2028separator"),
        (b"name \xff\xc3".decode(errors="surrogateescape"), r"name \xff\xc3"),
        ("lone \ud800", r"lone \ud800"),
        ("tag \U000e0041", r"tag \ue0041"),
        ("wide\u3000space", "wide\u3000space"),
        ("", ""),
    ],
)
def test_safe_text_spells_out_whatever_a_terminal_would_obey_or_hide(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_long_text_is_cut_in_the_middle_after_it_was_made_safe() -> None:
    assert short("abcdefghij", 10) == "abcdefghij"
    assert short("abcdefghijk", 10) == "abcd…ghijk"
    assert short("\x1b" * 1_000_000, 10) == r"\x1b…\x1b\x1b"[:5] + r"b\x1b"
    assert len(short("x" * 1_000_000, 40)) == 40


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000, "3.4 MB"),
        (2 * 10**15, "2000.0 TB"),
    ],
)
def test_sizes_are_said_as_people_say_them(n: int, said: str) -> None:
    assert size(n) == said


def test_a_share_is_100_percent_only_when_nothing_is_missing_and_0_only_when_nothing_is_there() -> None:
    cases = [(1, 1), (99_999, 100_000), (1, 3), (1, 1_000_000), (0, 5), (0, 0)]
    assert [percent(*case) for case in cases] == ["100 %", "99.99 %", "33.33 %", "< 0.01 %", "0 %", "100 %"]


def test_nouns_agree_with_their_numbers() -> None:
    assert [count(n, "file") for n in (0, 1, 2310)] == ["0 files", "1 file", "2,310 files"]


def test_a_path_in_the_home_directory_is_written_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [tilde(tmp_path / "a"), tilde(tmp_path), tilde(f"{tmp_path}x")] == ["~/a", "~", f"{tmp_path}x"]
    monkeypatch.setenv("HOME", "")
    assert tilde("/a") == "/a"


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert [in_colour(Terminal()), in_colour(io.StringIO())] == [True, False]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not in_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not in_colour(Terminal())
