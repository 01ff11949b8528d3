"""A session that was deleted, put back by `tracklog restore`, is resumed by the real client."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.lab.clients import CURRENT, installed_or_skip, releases
from tests.lab.run import LabRun, play
from tests.lab.words import Say, Scenario, Step, reply
from tests.views.cli import command

DAY_S = 86_400
BEGINNING = Scenario(
    name="restore_beginning",
    steps=(Step("please begin"),),
    files={"hello.txt": "hello\n"},
    threads={"main": [reply(Say("Begun."))]},
)
GOING_ON = dataclasses.replace(BEGINNING, name="restore_going_on", threads={"main": [reply(Say("Went on."))]})
RESUMED_WITH = {
    "claude": Step("please go on", args=("--resume", "{{session}}")),
    "codex": Step("please go on", command=("resume", "{{session}}")),
}


@pytest.fixture(params=[(agent, release) for agent in CURRENT for release in releases(agent)], ids="-".join)
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> LabRun:
    """A session of one turn."""
    agent, release = request.param
    return play(agent, installed_or_skip(agent, release), release, BEGINNING, root=tmp_path / "home")


def tracklog(run: LabRun, *arguments: str) -> str:
    """What a command prints in the home of a play."""
    root = run.home.root
    places = {
        "TRACKLOG_HOME": str(root / "ours"),
        "CLAUDE_CONFIG_DIR": str(run.home.claude),
        "CODEX_HOME": str(run.home.codex),
    }
    done = command.tracklog(*arguments, home=root, env=places)
    assert done.code == 0, done.err
    return done.out


def delete_logs(run: LabRun) -> None:
    for name in ("projects", "sessions", "archived_sessions"):
        shutil.rmtree(run.config_dir / name, ignore_errors=True)


def go_on(run: LabRun) -> LabRun:
    program = installed_or_skip(run.agent, run.version)
    scenario = dataclasses.replace(GOING_ON, steps=(RESUMED_WITH[run.agent],))
    return play(run.agent, program, run.version, scenario, root=run.home.root)


@pytest.mark.lab
@pytest.mark.parametrize("age_days", [0, 40], ids=lambda days: f"{days} days old")
def test_a_restored_session_is_resumed_with_all_that_was_said(begun: LabRun, age_days: int) -> None:
    then = time.time() - age_days * DAY_S
    for path in begun.logs:
        os.utime(path, (then, then))
    before = {path: path.read_bytes() for path in begun.logs}
    session = begun.session_ids[0]
    tracklog(begun, "index")
    delete_logs(begun)
    tracklog(begun, "restore", session)
    assert {path: path.read_bytes() for path in begun.logs} == before

    resumed = go_on(begun)

    assert (resumed.as_told, resumed.final_text) == (True, "Went on.")
    assert session in resumed.session_ids  # 1.0.x goes on in a new log
    told = json.dumps(resumed.requests)
    assert [words in told for words in ("please begin", "Begun.", "please go on")] == [True] * 3
    assert any(b"please go on" in path.read_bytes() for path in resumed.logs)
