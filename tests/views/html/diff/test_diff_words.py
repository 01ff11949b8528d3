"""Which words changed inside a line."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.views.html.diff.views import of_texts
from tracklog.views.html.diffs import DiffSegment, changed_words


def same(text: str) -> DiffSegment:
    return DiffSegment(text, is_changed=False)


def other(text: str) -> DiffSegment:
    return DiffSegment(text, is_changed=True)


def test_only_the_words_that_changed_are_marked() -> None:
    assert changed_words("return old(x, 1)", "return new(x, 2)") == (
        [same("return "), other("old"), same("(x, "), other("1"), same(")")],
        [same("return "), other("new"), same("(x, "), other("2"), same(")")],
    )


def test_lines_with_little_in_common_have_no_marks() -> None:
    assert changed_words("return old", "import everything") == (
        [same("return old")],
        [same("import everything")],
    )


def test_a_very_long_line_has_no_marks() -> None:
    long = "word " * 200
    assert changed_words(long, long + "x") == ([same(long)], [same(long + "x")])


def test_lines_are_paired_in_the_order_in_which_they_replace_one_another() -> None:
    view = of_texts("one = 1\ntwo = 2\nthree\n", "one = 10\ntwo = 20\nthree\n")
    assert [[(line.kind, part.text) for part in line.parts if part.is_changed] for line in view.hunks[0].lines] == [
        [("-", "1")], [("-", "2")], [("+", "10")], [("+", "20")], [],
    ]  # fmt: skip


@given(st.text(st.characters()), st.text(st.characters()))
@settings(deadline=None)
def test_the_parts_are_the_whole_line(old: str, new: str) -> None:
    before, after = changed_words(old, new)
    assert ("".join(part.text for part in before), "".join(part.text for part in after)) == (old, new)
