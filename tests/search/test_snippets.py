from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.test_query import read
from tracklog.search.query import Query, Term
from tracklog.search.snippets import WINDOW, Highlighter, Snippet


def shown(query: str, text: str) -> str:
    """The snippet with brackets around what is marked."""
    snippet = Highlighter(read(query)).snippet(text)
    made, at = "", 0
    for first, last in snippet.marks:
        made += f"{snippet.text[at:first]}[{snippet.text[first:last]}]"
        at = last
    return made + snippet.text[at:]


@pytest.mark.parametrize(
    ("query", "text", "snippet"),
    [
        ("error", "An Error, no errors.", "An [Error], no errors."),
        ("err*", "An Error, no errors.", "An [Error], no [errors]."),
        ("no error", "An Error, no errors.", "An [Error], [no] errors."),
        ('"no errors"', "An error, no\n   errors.", "An error, [no errors]."),
        ("value", "call getValue or get_value", "call get[Value] or get_[value]"),
        ("getValue", "getValue, get value, mygetValues", "[getValue], [get value], mygetValues"),
        ("get_value", "getValue get_value", "[getValue] [get_value]"),
        ("server", "HTTPServer", "HTTP[Server]"),
        ("app.py", "see src/app.py:3", "see src/[app.py]:3"),
        ("cafe", "Café au lait", "[Café] au lait"),
        ("CAFÉ", "cafe", "[cafe]"),
        ("解析", "構文解析器です", "構文[解析]器です"),
        ("器", "構文解析器です", "構文解析[器]です"),
        ("🚀", "go 🚀 now", "go [🚀] now"),
        ("3f9a2c1", "commit 3f9a2c1d8e0b", "commit [3f9a2c1d8e0b]"),
        ("text", "日本語text", "日本語[text]"),
        ("İ", "İstanbul İ", "İstanbul [İ]"),
        ("tool:Bash", "nothing to mark", "nothing to mark"),
        ("gone", "something else", "something else"),
    ],
)
def test_what_was_looked_for_is_marked(query: str, text: str, snippet: str) -> None:
    assert shown(query, text) == snippet


def test_of_a_long_text_the_place_is_shown_at_which_the_words_stand() -> None:
    text = f"{'before ' * 100}the needle here {'behind ' * 100}"
    made = shown("needle", text)
    assert made.startswith("…before")
    assert "the [needle] here" in made
    assert made.endswith("…")
    assert len(made) < WINDOW + 10


def test_the_place_is_chosen_at_which_most_words_stand_together() -> None:
    text = f"needle {'x ' * 200} needle and thread"
    assert "[needle]" in shown("needle thread", text)
    assert "and [thread]" in shown("thread needle", text)


@pytest.mark.parametrize(
    ("query", "text", "is_verified"),
    [
        ('"東京 大学"', "東京の大学", False),
        ('"東京 大学"', "東京 大学", True),
        ('"東京 大学" OR x', "大学 東京", True),
        ("東京 大学", "大学 東京", True),
        ('"plain words"', "words plain", True),  # the index knows
    ],
)
def test_a_phrase_that_the_index_knows_by_its_parts_is_looked_up(
    query: str, text: str, is_verified: bool
) -> None:
    assert Highlighter(read(query)).is_verified(text) is is_verified


@given(text=st.text(max_size=300), query=st.sampled_from(["a b*", '"a b"', "é", "aB", "日 a", "🚀", "0"]))
def test_marks_lie_in_the_snippet_in_order(text: str, query: str) -> None:
    snippet = Highlighter(read(query)).snippet(text)
    at = 0
    for first, last in snippet.marks:
        assert at <= first < last <= len(snippet.text)
        at = last
    assert "\n" not in snippet.text


@pytest.mark.parametrize(
    "text", ["errorx" * 150_000, "é" * 900_000, "error" * 190_000, "a_" * 400_000 + "error"]
)
def test_a_text_made_to_be_hard_is_not(text: str) -> None:
    began = time.process_time()
    assert isinstance(Highlighter(read('error "a error" err*')).snippet(text), Snippet)
    assert time.process_time() - began < 20  # a fraction of a second, unless the time grows with the square


@given(text=st.text("abXYzé0 9_-./:ßДжλΩ日本語한국어🚀✅", min_size=1, max_size=40))
def test_every_word_of_a_text_can_be_marked_in_it(text: str) -> None:
    for word in re.findall(r"[^\W_]+|[🚀✅]", text):
        assert Highlighter(Query(((Term(word),),))).fits(text), word
