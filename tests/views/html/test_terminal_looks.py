"""What the codes of a terminal say about the look of letters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.views.html.terminal import PLAIN, AnsiNames, all_classes, changed

RED = AnsiNames("red", "", frozenset({1}))


@pytest.mark.parametrize(
    ("codes", "look"),
    [
        ("", PLAIN),
        ("0", PLAIN),
        ("32", AnsiNames("green", "", frozenset({1}))),
        ("94;41", AnsiNames("blue", "red", frozenset({1}))),
        ("39", AnsiNames("", "", frozenset({1}))),
        ("22", AnsiNames("red")),
        ("4;9", AnsiNames("red", "", frozenset({1, 4, 9}))),
        ("4:3", AnsiNames("red", "", frozenset({1, 4}))),
        ("38;5;21", AnsiNames("blue", "", frozenset({1}))),
        ("38;5;250", AnsiNames("", "", frozenset({1}))),
        ("38;2;250;240;10", AnsiNames("yellow", "", frozenset({1}))),
        ("38:2::10:200:220", AnsiNames("cyan", "", frozenset({1}))),
        ("48;5;2", AnsiNames("red", "green", frozenset({1}))),
        ("38", AnsiNames("", "", frozenset({1}))),
        ("8", RED),
        ("12345", RED),
        ("38;7;35", AnsiNames("magenta", "", frozenset({1}))),
    ],
)
def test_a_code_changes_the_look(codes: str, look: AnsiNames) -> None:
    assert changed(RED, codes) == look


@given(st.text(alphabet="0123456789;:", max_size=200))
@settings(deadline=None)
def test_any_codes_give_a_look_that_has_classes(codes: str) -> None:
    assert set(changed(RED, codes).classes.split()) <= set(all_classes())
