"""The real clients run our hook: all that they tell arrives in the spool and joins the calls of their logs."""

from __future__ import annotations

import dataclasses
import json
import shlex
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.lab.clients import CURRENT, PLAYS_ALL, PROJECT, installed_or_skip, skipping_unobtainable
from tests.lab.run import LabRun, play
from tests.lab.scenarios.claude_agents import agent as subagent
from tests.lab.scenarios.claude_sittings import ASKED
from tests.lab.scenarios.claude_tools import HELLO
from tests.lab.test_restore import tracklog
from tests.lab.words import Interrupt, Json, Say, Scenario, Step, call, reply
from tracklog import hook
from tracklog.agents.hooks.records import READER, HookInput, Spooled
from tracklog.sources.lines import cut

OURS = f"{{{{python}}}} -I -S {shlex.quote(hook.__file__)} --home {{{{home}}}}/ours --agent claude"
EVENTS = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)
GUARD = """\
from tracklog.hooking import PreToolUse, deny, run

def guard(event):
    print("a word that must not spoil the answer")
    match event:
        case PreToolUse(tool_name="Write"):
            return deny("no writes in this house")

run(guard)
"""
BY_TOOLKIT = f"PYTHONPATH={shlex.quote(str(PROJECT / 'src'))} {{{{python}}}} {{{{cwd}}}}/guard.py"


def on(*commands: str) -> list[Json]:
    return [{"hooks": [{"type": "command", "command": command} for command in commands]}]


HOOKS = {**{event: on(OURS) for event in EVENTS}, "PreToolUse": on(OURS, BY_TOOLKIT)}
TOLD = Scenario(
    name="hooks_spooled",
    steps=(Step("please work, and tell us"),),
    files={**HELLO, "guard.py": GUARD},
    settings={"hooks": HOOKS},
    threads={
        "main": [
            reply(call("Bash", command="sleep 0.3; echo one", description="One")),
            reply(call("Bash", command="echo bad; exit 3", description="Bad")),
            reply(call("Write", file_path="{{cwd}}/new.txt", content="x\n")),
            reply(subagent("helper", run_in_background=False)),
        ],
        "helper": [reply(call("Read", file_path="{{cwd}}/hello.txt")), reply(Say("Helped."))],
    },
)
KILLED = Scenario(
    name="hooks_spooled_killed",
    steps=(
        Step("please work until you are killed", interrupt=Interrupt(signal.SIGKILL, when_file="started")),
    ),
    settings={"hooks": HOOKS},
    files={"guard.py": GUARD},
    threads={"main": [reply(call("Bash", command="touch started; sleep 20", description="Long"))]},
    ends=(-9, 137),
)
SAT = dataclasses.replace(
    ASKED,
    name="hooks_spooled_sitting",
    files={**ASKED.files, "guard.py": GUARD},
    settings={"hooks": {event: on(OURS) for event in EVENTS}},
)


def played(scenario: Scenario, folder: Path, *, agent: str = "claude") -> LabRun:
    version = CURRENT[agent]
    with skipping_unobtainable():
        return play(agent, installed_or_skip(agent, version), version, scenario, root=folder)


def heard(run: LabRun) -> list[HookInput]:
    """What was spooled, all of it read."""
    lines = (run.home.root / "ours/spool/hooks.jsonl").read_bytes()
    records = [piece.record for piece in READER.read(cut([lines]))]
    assert all(isinstance(one, Spooled) and isinstance(one.payload, HookInput) for one in records)
    return [one.payload for one in records if isinstance(one, Spooled) and isinstance(one.payload, HookInput)]


def calls(run: LabRun) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(tracklog(run, "calls", "--json"))["calls"]
    return found


def moments(one: dict[str, Any]) -> list[str]:
    """The moments of a call that the spool knows, in their order."""
    return [phase["what"] for phase in one["phases"] if phase["path"].endswith("hooks.jsonl")]


shares_a_play = pytest.mark.xdist_group("hooks-spooled")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> LabRun:
    return played(TOLD, tmp_path_factory.mktemp("told"))


@pytest.mark.lab
@shares_a_play
def test_the_client_is_not_disturbed_and_every_event_arrives_once(told: LabRun) -> None:
    assert told.as_told, told.summary()
    events = heard(told)
    counted = Counter(event.hook_event_name for event in events)
    assert counted == {
        "SessionStart": 1,
        "UserPromptSubmit": 1,
        "PreToolUse": 5,
        "PostToolUse": 3,
        "PostToolUseFailure": 1,
        "PostToolBatch": 5,
        "SubagentStart": 1,
        "SubagentStop": 1,
        "Stop": 1,
        "SessionEnd": 1,
    }
    assert {event.session_id for event in events} == set(told.session_ids)
    assert not any(
        "hook error" in json.dumps(line) and OURS[-20:] in json.dumps(line) for line in told.lines()
    )


@pytest.mark.lab
@shares_a_play
def test_what_was_told_joins_the_calls(told: LabRun) -> None:
    tools = {(one["name"], one["verdict"]): one for one in calls(told)}
    assert set(tools) == {
        ("Bash", "ok"),
        ("Bash", "error"),
        ("Write", "blocked"),
        ("Agent", "ok"),
        ("Read", "ok"),
    }
    one = tools["Bash", "ok"]
    assert (one["took_by"], 250 < one["took_ms"] < 20_000) == ("stated", True)
    assert moments(one) == ["hook_before", "hook_after"]
    assert moments(tools["Write", "blocked"]) == ["hook_before"]
    assert tools["Read", "ok"]["thread"] != "main"
    (main,) = (log for log in told.logs if log.stem in told.session_ids)
    spool = told.home.root / "ours/spool/hooks.jsonl"
    assert {phase["path"] for phase in one["phases"]} == {str(main), str(spool)}


@pytest.mark.lab
@shares_a_play
def test_a_hook_of_the_toolkit_is_understood_by_the_client(told: LabRun) -> None:
    (refused,) = [one for one in calls(told) if one["name"] == "Write"]
    assert "no writes in this house" in refused["error"]
    assert not (told.home.cwd / "new.txt").exists()


@pytest.mark.lab
@shares_a_play
def test_the_index_says_the_same(told: LabRun) -> None:
    before = tracklog(told, "calls", "--json")
    tracklog(told, "index")
    assert tracklog(told, "calls", "--json") == before
    (told.home.root / "ours/index.db").unlink()


@pytest.mark.lab
def test_a_call_that_died_with_the_client_had_begun(tmp_path: Path) -> None:
    run = played(KILLED, tmp_path)
    (one,) = calls(run)
    assert (moments(one), one["hooks"][-1]["outcome"]) == (["hook_before"], "began")


CODEX = Scenario(
    name="hooks_spooled_codex",
    steps=(Step("please work, and tell us", args=("--dangerously-bypass-hook-trust",)),),
    files=HELLO,
    threads={
        "main": [
            reply(call("exec_command", cmd="sleep 0.3; echo one")),
            reply(call("exec_command", cmd="exit 3")),
            reply(call("exec_command", cmd="sleep 2; echo late", yield_time_ms=500)),
        ]
    },
)


@pytest.mark.lab
def test_what_codex_tells_joins_its_calls(tmp_path: Path) -> None:
    """Its user has trusted the hooks: the flag stands for that."""
    ours = OURS.replace("--agent claude", "--agent codex")
    holes = {"{{python}}": sys.executable, "{{home}}": str(tmp_path.resolve())}
    for hole, text in holes.items():
        ours = ours.replace(hole, text)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/hooks.json").write_text(json.dumps({"hooks": {event: on(ours) for event in EVENTS}}))
    run = played(CODEX, tmp_path, agent="codex")
    assert run.as_told, run.summary()
    assert {event.session_id for event in heard(run)} == set(run.session_ids)
    found = calls(run)
    assert [(one["verdict"], moments(one)[0]) for one in found] == [
        ("ok", "hook_before"),
        ("error", "hook_before"),
        ("backgrounded", "hook_before"),
    ]


@pytest.mark.lab
@pytest.mark.skipif(not PLAYS_ALL, reason="a sitting: make lab")
def test_who_was_asked_and_what_they_said_is_known(tmp_path: Path) -> None:
    run = played(SAT, tmp_path)
    assert run.as_told, run.summary()
    touched, written = calls(run)
    assert (touched["verdict"], moments(touched)) == (
        "ok",
        ["hook_before", "permission", "allowed", "hook_after"],
    )
    assert (written["verdict"], written["sureness"], moments(written)) == (
        "denied",
        "stated",
        ["hook_before", "permission"],
    )
    assert any(place["path"].endswith("hooks.jsonl") for place in written["evidence"])
