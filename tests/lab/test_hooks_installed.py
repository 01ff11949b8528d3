"""What `tracklog hooks install` puts into settings is run by the real clients, and steers nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab.clients import CURRENT, installed_or_skip
from tests.lab.run import LabRun, play
from tests.lab.words import CLOSING, Scenario, Step, call, reply
from tests.views.cli.command import tracklog
from tracklog.agents.codex.hooks import with_notify
from tracklog.agents.hooks.command import notify_words, recorder_for

pytestmark = pytest.mark.lab
TOLD = {
    "claude": ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    "codex": ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
}


def story(agent: str, ours: Path) -> Scenario:
    """One command; Codex is told to trust its hooks, as its user would."""
    tool = (
        call("Bash", command="echo hi", description="Say hi")
        if agent == "claude"
        else call("exec_command", cmd="echo hi")
    )
    is_codex = agent == "codex"
    return Scenario(
        name="hooks_installed",
        steps=(Step("please say hi", args=("--dangerously-bypass-hook-trust",) if is_codex else ()),),
        threads={"main": [reply(tool), CLOSING]},
        config=with_notify("", notify_words(recorder_for(ours), "codex")) if is_codex else "",
    )


def played(agent: str, root: Path) -> LabRun:
    """Installs our hooks into a home, then lets the client work in it."""
    version = CURRENT[agent]
    program = installed_or_skip(agent, version)
    (root / f".{agent}").mkdir(parents=True)
    done = tracklog("hooks", "install", "--no-notify", "--home", root / "ours", home=root)
    assert done.code == 0
    return play(agent, program, version, story(agent, root / "ours"), root=root)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_client_runs_what_we_installed(agent: str, tmp_path: Path) -> None:
    run = played(agent, tmp_path.resolve() / "it's a home")
    assert run.as_told
    spool = run.home.root / "ours" / "spool" / "hooks.jsonl"
    lines = [json.loads(line) for line in spool.read_text().splitlines()]
    told = [line["payload"]["hook_event_name"] for line in lines if "via" not in line]
    assert told == TOLD[agent]
    notices = [line["payload"]["type"] for line in lines if line.get("via") == "notify"]
    assert notices == (["agent-turn-complete"] if agent == "codex" else [])
    assert {line["agent"] for line in lines} == {agent}
    assert {line["payload"]["session_id"] for line in lines if "via" not in line} == set(run.session_ids)
    (agent_pid,) = {line["ppid"] for line in lines}
    if agent == "claude":
        assert {glimpse.name for glimpse in run.glimpses} == {f"{agent_pid}.json"}
