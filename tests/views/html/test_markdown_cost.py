"""How much of a text is formatted is told before the work is done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.views.html.markdown_cost import easy_part

PROSE = "A *sentence* of prose with `code` and [a link](https://a.example/).\n\n- one\n- two\n\n"


def test_prose_of_many_pages_is_formatted_whole() -> None:
    assert easy_part(PROSE * 200) == PROSE * 200


def test_code_in_a_fence_costs_little_and_does_not_use_up_the_work() -> None:
    text = "```\n" + "x = [1, 2, *3]  # [[[ *** ___\n" * 3_000 + "```\nend\n"
    assert easy_part(text) == text


@pytest.mark.parametrize(
    "disguise",
    [
        "- a\n  ```\n",
        "> ```\n",
        "```\n```\n",
        "``` `\n",
        "    ```\n",
        "   ```\n```\n",
        "```\n   ~~~\n```\n",
        "~~~\n```\n~~~\n",
    ],
)
def test_what_only_looks_like_code_is_not_taken_for_it(disguise: str) -> None:
    assert len(easy_part(disguise + "[a](b) *c* " * 20_000 + "\n" + "[\n" * 20_000)) < 20_000


def test_a_line_that_is_too_much_by_itself_is_not_begun() -> None:
    assert easy_part("fine\n" + "[" * 100_000) == "fine\n"


def test_the_cells_of_a_wide_table_are_counted_for_every_row() -> None:
    text = "|a" * 300 + "\n" + "|-" * 300 + "\n" + "|x\n" * 1_000
    assert len(easy_part(text)) < 1_500


def test_many_quotes_cost_more_each() -> None:
    assert len(easy_part("#!a\n===\n> > > > > \t" * 1_000)) < 2_500


@given(st.text(alphabet="a*[]|>-`~ \n\t\u2028", max_size=2_000))
@settings(deadline=None)
def test_the_easy_part_is_a_beginning_that_ends_a_line(text: str) -> None:
    part = easy_part(text)
    assert text.startswith(part)
    assert part in ("", text) or part.endswith("\n")
