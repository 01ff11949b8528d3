from __future__ import annotations

from typing import Any

import pytest

from tracklog.model.call_summary import ChecklistItem, listed_steps, told

TODO = [{"content": "Look", "status": "completed"}, {"content": "Mend", "status": "in_progress"}]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"todos": TODO}, "1 of 2 done: Mend"),
        ({"plan": [{"step": "Look", "status": "completed"}]}, "1 of 1 done"),
        ({"plan": "First look."}, "First look."),
        ({"todos": [{"what": "Look"}]}, '[{"what": "Look"}]'),
    ],
)
def test_a_list_of_things_to_do_is_told_by_how_far_it_is(given: Any, words: str) -> None:
    assert told(given, None) == words


def test_a_list_of_things_to_do_is_one_only_as_a_whole() -> None:
    assert listed_steps(TODO) == [ChecklistItem("Look", "completed"), ChecklistItem("Mend", "in_progress")]
    for value in (
        [],
        [*TODO, None],
        [*TODO, {"content": "x"}],
        [{**TODO[0], "owner": "me"}],
        [{**TODO[0], "step": "y"}],
        "x",
        None,
    ):
        assert listed_steps(value) is None
