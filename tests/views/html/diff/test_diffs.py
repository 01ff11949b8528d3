"""Changes of files as lines with their numbers."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.views.html.diff.views import of_deleted_file, of_edits, of_new_file, of_patch, of_texts
from tracklog.model.diff.hunks import first_lines
from tracklog.views.html.diffs import LONGEST_LINE, MOST_LINES, DiffView

PATCH = [
    {
        "oldStart": 10,
        "oldLines": 3,
        "newStart": 12,
        "newLines": 4,
        "lines": [" a", "-b", "+B", "+C", " d", "\\ No newline at end of file"],
    }
]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["oldStart", "newStart", "lines", "x"]), inner)
    ),
)


def told(view: DiffView) -> list[tuple[str, int | None, int | None, str]]:
    return [(line.kind, line.old_n, line.new_n, line.text) for hunk in view.hunks for line in hunk.lines]


def test_a_patch_is_shown_with_its_own_numbers() -> None:
    view = of_patch(PATCH)
    assert told(view) == [
        (" ", 10, 12, "a"),
        ("-", 11, None, "b"),
        ("+", None, 13, "B"),
        ("+", None, 14, "C"),
        (" ", 12, 15, "d"),
    ]
    assert [line.lacks_newline for line in view.hunks[0].lines] == [False] * 4 + [True]
    assert (view.added, view.removed, view.has_places, view.n_left) == (2, 1, True, 0)


def test_two_texts_are_compared_and_their_place_is_unknown() -> None:
    view = of_texts("a\nb\nc\n", "a\nx\nc\n")
    assert told(view) == [
        (" ", None, None, "a"),
        ("-", None, None, "b"),
        ("+", None, None, "x"),
        (" ", None, None, "c"),
    ]
    assert (view.added, view.removed, view.has_places) == (1, 1, False)


def test_each_edit_is_a_hunk() -> None:
    view = of_edits([("a", "b"), ("c", "c\nd"), ("same", "same")])
    assert [(hunk.added, hunk.removed) for hunk in view.hunks] == [(1, 1), (1, 0)]


def test_a_new_file_comes_from_its_first_line_on() -> None:
    assert told(of_new_file("a\nb\n")) == [("+", None, 1, "a"), ("+", None, 2, "b")]
    assert told(of_deleted_file("a\n\n")) == [("-", 1, None, "a"), ("-", 2, None, "")]
    assert of_new_file("").hunks == []


def test_lines_far_from_any_change_are_left_out_of_long_texts() -> None:
    lines = [f"line {n}" for n in range(1_000)]
    changed = [*lines[:300], "other", *lines[301:800], *lines[801:]]
    view = of_texts("\n".join(lines), "\n".join(changed))
    assert [[line.text for line in hunk.lines] for hunk in view.hunks] == [
        ["line 297", "line 298", "line 299", "line 300", "other", "line 301", "line 302", "line 303"],
        ["line 797", "line 798", "line 799", "line 800", "line 801", "line 802", "line 803"],
    ]


def test_what_is_shown_at_once_is_bounded_and_the_rest_counted() -> None:
    view = of_new_file("x\n" * 20_000)
    assert (view.added, view.n_lines, view.n_left, view.n_more(400)) == (20_000, MOST_LINES, 15_000, 19_600)
    assert [(len(fold.lines), fold.n_more) for fold in view.folds(400)] == [(400, MOST_LINES - 400)]
    several = of_edits([("", "x\n" * 300), ("", "y\n" * 300), ("", "z\n" * 300)])
    assert [(len(fold.lines), fold.n_more) for fold in several.folds(400)] == [(300, 0), (100, 200), (0, 300)]


def test_a_very_long_line_is_cut_and_says_so() -> None:
    (line,) = of_new_file("x" * 5_000_000).hunks[0].lines
    assert (len(line.text), line.n_cut) == (LONGEST_LINE, 5_000_000 - LONGEST_LINE)


def test_what_hides_in_a_line_is_spelled_out() -> None:
    assert told(of_new_file("a\u202eb\0\r\n")) == [("+", None, 1, "a⟨U+202E⟩b␀␍")]


def test_lines_are_counted_as_editors_do() -> None:
    texts = ["", "a", "a\n", "a\nb", "a\nb\nc\n", "a\nb\nc", "\n\n\n\n"]
    assert [first_lines(text, 2) for text in texts] == [
        ([], 0), (["a"], 0), (["a"], 0), (["a", "b"], 0), (["a", "b"], 1), (["a", "b"], 1), (["", ""], 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "patch",
    [None, 1, "x", {}, [None], [{}], [{"lines": 1}], [{"lines": [1, None]}], [{"oldStart": "1", "newStart": [], "lines": [" a"]}],
     [{"oldStart": -1, "newStart": 10**30, "lines": ["+a"]}], [{"oldStart": True, "newStart": 1.5, "lines": [""]}]],
)  # fmt: skip
def test_what_is_no_patch_has_no_places(patch: object) -> None:
    assert of_patch(patch).has_places is False


@given(JSON)
@settings(deadline=None)
def test_a_patch_of_anything_raises_nothing(patch: object) -> None:
    assert isinstance(of_patch(patch), DiffView)


@given(st.text(alphabet="ab\n"), st.text(alphabet="ab\n"))
@settings(deadline=None)
def test_both_texts_can_be_read_off_their_comparison(old: str, new: str) -> None:
    lines = [line for hunk in of_texts(old, new).hunks for line in hunk.lines]
    if old != new:
        assert [line.text for line in lines if line.kind != "+"] == first_lines(old, 10**6)[0]
        assert [line.text for line in lines if line.kind != "-"] == first_lines(new, 10**6)[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [("\n" * 3_000_000, "\n" * 2_999_999 + "a"), ("x" * 5_000_000, "y" * 5_000_000), ("a\nb\n" * 9_000, "b\nc\na\n" * 6_000),
     ("\n".join(map(str, range(20_000))), "\n".join(map(str, range(20_000, 0, -1))))],
    ids=["many lines", "one line", "much alike", "turned round"],
)  # fmt: skip
def test_huge_texts_are_compared_in_bounded_time(old: str, new: str) -> None:
    before = time.thread_time()
    assert of_texts(old, new).n_lines <= MOST_LINES
    assert time.thread_time() - before < 3
