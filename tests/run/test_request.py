"""What can be asked of a child, and what makes no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tracklog.errors import UserError
from tracklog.model.run_request import Limits, RunRequest
from tracklog.run.request import checked

ID = "0b7c2c1e-0000-4000-8000-000000000001"


def test_a_plain_request_is_fine(tmp_path: Path) -> None:
    request = RunRequest(agent="claude", prompt="--help", cwd=tmp_path, resume=ID, is_fork=True)
    assert checked(request) is request


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"agent": "cursor"}, "no agent cursor"),
        ({"prompt": "  \n"}, "empty prompt"),
        ({"cwd": Path("/nowhere")}, "no folder"),
        ({"session": "abc"}, "no session id"),
        ({"resume": "--dangerously-skip-permissions"}, "no session id"),
        ({"resume": ""}, "no session id"),
        ({"is_fork": True}, "a fork needs a session"),
        ({"limits": Limits(max_cost_micro_usd=1), "persists": False}, "--no-persistence"),
        ({"append_system_prompt": "a\0b"}, "NUL"),
        ({"client_arguments": ("x\0",)}, "NUL"),
        ({"max_turns": -1}, "at least 1"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(tmp_path: Path, asked: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"agent": "claude", "prompt": "x", "cwd": tmp_path}
    with pytest.raises(UserError, match=words):
        checked(RunRequest(**(given | asked)))
