from __future__ import annotations

from typing import Any

import pytest

from tracklog.model.telling import Step, listed_steps, told

TODO = [{"content": "Look", "status": "completed"}, {"content": "Mend", "status": "in_progress"}]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"command": "make", "description": "Build"}, "make"),
        ({"file_path": "/home/dev/project/src/a.py"}, "src/a.py"),
        ({"pattern": "x", "path": "/home/dev/project/src"}, "x in src"),
        ({"command": ["bash", "-lc", "make"]}, "make"),
        ({"questions": [{"question": "Why?"}]}, "Why?"),
        ({"todos": TODO}, "1 of 2 done: Mend"),
        ({"plan": [{"step": "Look", "status": "completed"}]}, "1 of 1 done"),
        ({"plan": "First look."}, "First look."),
        ({"todos": [{"what": "Look"}]}, '[{"what": "Look"}]'),
        ("*** Begin Patch\n*** Update File: src/a.py", "src/a.py"),
        (None, ""),
        ({}, ""),
        ([1], "[1]"),
    ],
)
def test_a_call_is_told_by_the_most_telling_part_of_its_input(given: Any, words: str) -> None:
    assert told(given, "/home/dev/project") == words


def test_a_list_of_things_to_do_is_one_only_as_a_whole() -> None:
    assert listed_steps(TODO) == [Step("Look", "completed"), Step("Mend", "in_progress")]
    for value in ([], [*TODO, None], [*TODO, {"content": "x"}], [{**TODO[0], "owner": "me"}], "x", None):
        assert listed_steps(value) is None
