"""Calls in a few words."""

from __future__ import annotations

import pytest

from tracklog.model.states import asked_by, told_call


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "npm test", "description": "Run tests"}, "Bash: npm test"),
        ("Bash", {"command": "cat <<E\na\nE"}, "Bash: cat <<E a E"),
        ("Write", {"file_path": "/home/dev/project/a.py", "content": "x"}, "Write: a.py"),
        ("Task", {}, "Task"),
        (None, None, "a tool"),
        ("Bash", {"command": "x" * 500}, "Bash: " + "x" * 193 + "…"),
    ],
)
def test_a_call_is_told_on_one_line(tool: str | None, given: object, expected: str) -> None:
    assert told_call(tool, given, "/home/dev/project") == expected


def test_some_tools_do_nothing_but_ask() -> None:
    tools = ("AskUserQuestion", "ExitPlanMode", "request_user_input", "Bash", None)
    assert [asked_by(tool) for tool in tools] == ["answer", "plan", "answer", None, None]
