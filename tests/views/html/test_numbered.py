from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.code import code, numbered
from tracklog.views.html.terminal import terminal


@pytest.mark.parametrize("mark", ["→", "\t"])
def test_the_numbers_stand_beside_the_code(mark: str) -> None:
    shown = numbered(f"     9{mark}def f():\n    10{mark}    pass\n    11{mark}", path="/a/b.py")
    numbers = '<pre class="numbers" aria-hidden="true">9\n10\n11</pre>'
    block = code("def f():\n    pass\n", path="b.py")
    assert shown == f'<div class="numbered">{numbers}{block}</div>'


def test_what_stands_behind_the_lines_is_shown_as_it_came() -> None:
    shown = numbered("1→x = 1\n\n<system-reminder>be careful</system-reminder>", path="a.py")
    assert shown is not None
    assert shown.endswith(terminal("<system-reminder>be careful</system-reminder>"))


@pytest.mark.parametrize("text", ["", "plain words", "a→b", "→b", "12345678→b", "\n1→x", "x 1→b"])
def test_what_has_no_numbers_is_no_file(text: str) -> None:
    assert numbered(text, path="a.py") is None


def test_a_gap_in_the_numbers_ends_the_file() -> None:
    shown = numbered("1→a\n2→b\n4→d", path="a.txt")
    assert shown is not None
    assert shown.endswith(terminal("4→d"))


@for_each("text", HOSTILE)
def test_a_hostile_line_is_harmless(text: str) -> None:
    shown = numbered(f"1→{text}\n2→{text}", path=text)
    assert shown is not None
    assert set(held(shown).tags) <= {"div", "pre", "code", "span"}
