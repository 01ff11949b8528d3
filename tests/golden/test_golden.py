"""Golden files are reviewed as text; `make golden` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.cases import HERE, ROOT, cases

CASES = cases()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_the_golden_file_is_fresh(path: Path) -> None:
    assert path.exists(), f"{path.relative_to(ROOT)} is missing: run make golden"
    assert path.read_text("utf-8") == CASES[path], "stale: run make golden and review the difference"


def test_no_golden_file_is_left_over() -> None:
    assert set(HERE.glob("*.txt")) <= set(CASES)
