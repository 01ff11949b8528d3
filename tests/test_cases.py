from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import for_each


@for_each("number, square", [(2, 4), (3, 9)])
def test_each_case_is_tried_beside_the_fixtures_of_the_test(number: int, square: int, tmp_path: Path) -> None:
    assert tmp_path.is_dir()
    assert number**2 == square


def test_every_case_that_fails_is_shown() -> None:
    tried = []

    @for_each("number", [1, 2, 3])
    def odd(number: int) -> None:
        tried.append(number)
        assert number == 2, "not two"

    with pytest.raises(ExceptionGroup, match="2 of 3 cases failed") as failure:
        odd()
    assert tried == [1, 2, 3]
    assert [(str(one), one.__notes__) for one in failure.value.exceptions] == [
        ("not two\nassert 1 == 2", ["case: 1"]),
        ("not two\nassert 3 == 2", ["case: 3"]),
    ]
