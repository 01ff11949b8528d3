from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.cli.command import tracklog
from tracklog.errors import UserError
from tracklog.views.web.api_questions import query_of


@pytest.mark.parametrize(
    ("question", "option", "value"),
    [
        ("sessions", "limit", "0"),
        ("search", "limit", "1001"),
        ("sessions", "since", "never"),
        ("sessions", "until", "2026-02-30"),
        ("sessions", "agent", "cursor"),
        ("calls", "verdict", "bad"),
        ("usage", "cost", "none"),
        ("usage", "count", "none"),
        ("usage", "by", "none"),
        ("usage", "zone", "Mars/Crater"),
        ("search", "by", "none"),
    ],
)
def test_a_wrong_value_is_refused_in_the_words_of_the_command_line(
    question: str, option: str, value: str, tmp_path: Path
) -> None:
    what = "hi" if question == "search" else None
    with pytest.raises(UserError) as refused:
        query_of(question, what, [(option, value)])
    words = [question, f"--{option}={value}", *([what] if what else [])]
    assert tracklog(*words, home=tmp_path).err == f"tracklog: {refused.value}\n"


def test_of_several_values_the_last_counts_and_of_those_that_add_up_all_do() -> None:
    given = [("limit", "2"), ("tool", "Read"), ("limit", "3"), ("tool", "Bash")]
    assert query_of("calls", None, given).values == {"limit": 3, "tool": ["Read", "Bash"]}


def test_a_parameter_may_be_written_with_an_underscore() -> None:
    assert query_of("usage", None, [("as_of", "2026-01-01")]).values == {"as-of": "2026-01-01"}


def test_the_first_wrong_value_is_named() -> None:
    with pytest.raises(UserError, match="'--limit': 0"):
        query_of("calls", None, [("limit", "0"), ("agent", "cursor")])
