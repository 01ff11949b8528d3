"""The figures that users are told are those that are measured, and good enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.secrets.figures import LABELLED, Figures, Snippet, measured, snippets, table
from tracklog.secrets.find import find

PAGE = Path(__file__).parents[2] / "docs" / "redaction.md"
_HEX = "".join(format(n * 7 % 16, "x") for n in range(3, 43))


def test_what_the_page_says_is_what_is_measured() -> None:
    assert table(measured(snippets())) in PAGE.read_text("utf-8")


def test_hardly_anything_is_missed_and_hardly_anything_taken_for_a_secret() -> None:
    figures = measured(snippets())["all"]
    assert figures.precision >= 0.98, figures.misses
    assert figures.recall >= 0.98, figures.misses


def test_the_set_is_large_and_half_of_it_is_harmless() -> None:
    labelled = snippets()
    harmless = sum(not snippet.values for snippet in labelled)
    assert len(labelled) >= 300
    assert 0.4 <= harmless / len(labelled) <= 0.6
    assert len({snippet.text for snippet in labelled}) == len(labelled)


def test_the_file_of_the_set_holds_no_secret_itself() -> None:
    assert find(LABELLED.read_bytes()).found == []


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (Snippet("f", b"nothing", ()), Figures(n_snippets=1)),
        (Snippet("f", b"nothing", (b"thing",)), Figures(n_snippets=1, n_secrets=1)),
        (Snippet("f", f"commit glpat-{_HEX[:20]}".encode(), ()), Figures(n_snippets=1, n_false=1)),
        (
            Snippet("f", f"it is glpat-{_HEX[:20]}".encode(), (f"glpat-{_HEX[:20]}".encode(),)),
            Figures(n_snippets=1, n_secrets=1, n_found=1),
        ),
    ],
    ids=["harmless", "missed", "false alarm", "found"],
)
def test_a_snippet_is_counted_by_what_is_covered(snippet: Snippet, expected: Figures) -> None:
    counted = measured([snippet])["all"]
    assert (counted.n_snippets, counted.n_secrets, counted.n_found, counted.n_false) == (
        expected.n_snippets,
        expected.n_secrets,
        expected.n_found,
        expected.n_false,
    )
