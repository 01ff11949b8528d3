"""An agent whose log was deleted was in no list, although the result of its call names it.

`agents` listed the subagents whose logs are there, so a session of ten agents showed nine, and nothing said that the
work of one is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.conversation.test_thread_page import ID, write_home
from tests.model.lines import Line, reply, result, session, use, user
from tests.views.cli.command import tracklog

SPAWNED = [
    user("u", None, "go"),
    reply("a", "u", "m1", use("c1", "Task", prompt="look", description="look around", subagent_type="scout")),
    result("b", "a", "c1", toolUseResult={"status": "completed", "agentId": "a1"}),
]


def of_agent(*lines: Line) -> list[Line]:
    return [line | {"agentId": "a1", "isSidechain": True} for line in lines]


def test_an_agent_that_only_a_result_names_is_a_thread_without_a_log() -> None:
    made = session(*SPAWNED)
    (missing,) = made.main.children
    assert (missing.id, missing.parent_call, missing.type, missing.description) == (
        "a1",
        "c1",
        "scout",
        "look around",
    )
    assert (missing.paths, missing.calls, missing.requests, missing.turns) == ([], [], [], [])
    assert missing.state == "ended"
    assert made.calls[0].spawned == "a1"


def test_an_agent_whose_work_is_there_is_one_thread() -> None:
    made = session(*SPAWNED, *of_agent(user("w", None, "look"), reply("x", "w", "m2", "nothing there")))
    assert [thread.id for thread in made.threads] == ["main", "a1"]
    assert made.threads[1].paths != []


def test_a_call_whose_result_names_nobody_has_no_thread() -> None:
    made = session(*SPAWNED[:2], result("b", "a", "c1"))
    assert [thread.id for thread in made.threads] == ["main"]


def test_agents_says_that_its_log_is_missing(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *SPAWNED)
    asked = ("agents", ID, "--root", str(tmp_path / "logs"))
    told = tracklog(*asked, home=tmp_path)
    assert told.code == 0, told.err
    assert "a1" in told.out
    assert "log missing" in told.out
    (main,) = json.loads(tracklog(*asked, "--json", home=tmp_path).out)["threads"]
    assert [(one["id"], one["paths"], one["parent_call"]) for one in main["children"]] == [("a1", [], "c1")]


def test_the_reference_says_what_empty_paths_mean() -> None:
    reference = (Path(__file__).parents[2] / "docs/cli.md").read_text("utf-8")
    assert "An empty `paths` in `agents` means that the log of this thread is missing" in reference
