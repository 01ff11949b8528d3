from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.store.text import CJK, MOST_PARTS, camel_parts, parts_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("nothing but words, snake_case and /a/path.py", ""),
        ("call getValue() now", "get Value"),
        ("HTTPServer", "HTTP Server"),
        ("parseXMLDocument", "parse XML Document"),
        ("utf8Decoder", "utf8 Decoder"),
        ("naïveCase", "naïve Case"),
        ("toolu_01AbCd9eFg2HiJkL", ""),
        ("日本語", "日本 本語 語"),
        ("猫", "猫"),
        ("日本語text", "日本 本語 語 text"),
        ("done 🚀", "u1f680"),
        ("✅ ok", "u2705"),
        ("", ""),
    ],
)
def test_a_text_is_found_by_these_parts_too(text: str, parts: str) -> None:
    assert parts_of(text.encode()) == parts


def test_an_identifier_that_is_repeated_gives_its_parts_once() -> None:
    assert parts_of(b"getValue " * 50) == "get Value"


def test_runs_of_letters_without_spaces_do_not_run_into_one_another() -> None:
    assert "日本 本語" not in parts_of("日本 本語".encode())


def test_each_letter_of_writing_without_spaces_is_found() -> None:
    letters = re.findall(
        f"[{CJK}]", "".join(map(chr, range(0x1000, 0x40000))).encode("utf-8", "ignore").decode()
    )
    for first in range(0, len(letters), MOST_PARTS):
        some = letters[first : first + MOST_PARTS]
        assert parts_of(" ".join(some).encode()).split(" ") == some


@pytest.mark.parametrize("word", ["word", "WORD", "Word", "word2", "01AbC9dE"])
def test_a_word_without_parts_has_none(word: str) -> None:
    assert camel_parts(word) == []


@given(st.text())
def test_parts_of_anything_can_be_stored(text: str) -> None:
    assert parts_of(text.encode("utf-8", "replace")).encode() is not None


@pytest.mark.parametrize(
    "text",
    ["aB" * 500_000, "aB " * 300_000, "日" * 300_000, "A" * 1_000_000, "🚀" * 300_000, "é日 " * 200_000],
)
def test_a_text_made_to_be_hard_is_not(text: str) -> None:
    began = time.process_time()
    parts = parts_of(text.encode())
    assert time.process_time() - began < 20  # a fraction of a second, unless the time grows with the square
    assert len(parts.split()) <= 2 * MOST_PARTS
