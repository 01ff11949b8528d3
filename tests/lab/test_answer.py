"""The real client asks, and `tracklog answer` decides from elsewhere: allowed, denied, too late, and never asked at all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import fork_server
from tests.lab.anthropic_api import AnthropicApi
from tests.lab.clients import CURRENT, PLAYS_ALL, PROJECT, installed_or_skip
from tests.lab.homes import Home, claude_environment, make_home, write_claude_files
from tests.lab.run import CLAUDE_MODEL
from tests.lab.scenarios.claude_agents import agent as subagent
from tests.lab.script import Script
from tests.lab.words import Json, Reply, Say, Scenario, Step, call, reply
from tracklog.model.states import SETTLES_MS

PATIENCE_S = 60.0
GLANCE_S = 0.1
TOUCH = call("Bash", command="touch made.txt", description="Make a file")
SILENT_RELEASE = "2.1.197"  # runs no PermissionRequest hook without a terminal


class Asked:
    """A `tracklog run --ask-here` of a real client, and what can be asked about it meanwhile."""

    def __init__(self, home: Home, api: AnthropicApi, client: Path, *, ask_timeout: str) -> None:
        self.home = home
        self.api = api
        ours = {"TRACKLOG_HOME": str(home.root / "ours"), "PYTHONPATH": str(PROJECT / "src")}
        self._env = claude_environment(home, api.url) | ours
        given = [
            "--client",
            str(client),
            "--model",
            CLAUDE_MODEL,
            "--ask-here",
            "--ask-timeout",
            ask_timeout,
            "--json",
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tracklog", "run", "please touch", *given],
            cwd=home.cwd,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tracklog(self, *arguments: str) -> Any:
        """The document that another tracklog prints now."""
        done = fork_server.run(
            [*arguments, "--json"], env=self._env, cwd=self.home.root, timeout_s=PATIENCE_S
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def question(self) -> Json:
        """The open question, once there is one."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self.process.poll() is None:
            if asks := self.tracklog("answer")["asks"]:
                found: Json = asks[0]
                return found
            time.sleep(GLANCE_S)
        raise AssertionError(f"nobody asked: {self.process.communicate()}")

    def result(self) -> Json:
        """What `run` says of it, when it is over."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert out, err
        document: Json = json.loads(out)
        return document

    def call(self) -> Json:
        """The one call of the story, as `tracklog calls` judges it."""
        (one,) = [one for one in self.tracklog("calls")["calls"] if one["name"] == "Bash"]
        return dict(one)

    def left(self) -> list[Path]:
        """What is left in the private folders of runs."""
        return list((self.home.root / "ours/runs/now").rglob("*"))


def story(*first: Reply, **threads: list[Reply]) -> Scenario:
    steps = (Step("please touch"),)
    return Scenario("answer", steps=steps, threads={"main": list(first or (reply(TOUCH),)), **threads})


@contextmanager
def asked(
    root: Path,
    scenario: Scenario | None = None,
    *,
    version: str = CURRENT["claude"],
    ask_timeout: str = "60s",
) -> Iterator[Asked]:
    """A run whose model wants to touch a file; it is over when the test is."""
    told = scenario or story()
    program = installed_or_skip("claude", version)
    home = make_home(root, told)
    write_claude_files(home, told)
    with AnthropicApi(Script("claude answer", told.threads), home.holes()) as api:
        run = Asked(home, api, program, ask_timeout=ask_timeout)
        try:
            yield run
        finally:
            if run.process.poll() is None:
                run.process.send_signal(signal.SIGINT)
            run.process.communicate(timeout=PATIENCE_S)


def read_by_the_model(run: Asked) -> str:
    """The last result that the model was sent."""
    return json.dumps(run.api.requests[-1]["messages"][-1]["content"])


@pytest.mark.lab
def test_what_is_allowed_from_elsewhere_is_done(tmp_path: Path) -> None:
    with asked(tmp_path) as run:
        question = run.question()
        assert (question["tool"], question["input"]) == ("Bash", TOUCH.args)
        assert not (run.home.cwd / "made.txt").exists()
        (line,) = (run.home.root / "ours/spool/hooks.jsonl").read_bytes().splitlines()
        told = json.loads(line)["payload"]
        assert (told["hook_event_name"], told["session_id"]) == ("PermissionRequest", question["session"])
        assert run.tracklog("answer", question["session"], "allow")["taken"] is True
        result = run.result()
    assert (result["ended_by"], result["session_id"], result["denials"]) == (
        "completed",
        question["session"],
        [],
    )
    assert (run.home.cwd / "made.txt").exists()
    assert (run.call()["verdict"], run.left()) == ("ok", [])


@pytest.mark.lab
def test_the_model_is_told_why_it_was_denied(tmp_path: Path) -> None:
    with asked(tmp_path) as run:
        run.question()
        run.tracklog("answer", "@last", "deny", "--reason", "not in this house")
        result = run.result()
    one = run.call()
    assert (one["verdict"], one["sureness"], one["error"]) == ("blocked", "stated", "not in this house")
    assert [denial["reason"] for denial in result["denials"]] == ["not in this house"]
    assert "not in this house" in read_by_the_model(run)
    assert (result["ended_by"], (run.home.cwd / "made.txt").exists(), run.left()) == ("completed", False, [])


@pytest.mark.lab
def test_when_nobody_answers_in_time_the_client_goes_its_own_way(tmp_path: Path) -> None:
    with asked(tmp_path, ask_timeout="1s") as run:
        result = run.result()
    assert (result["ended_by"], (run.home.cwd / "made.txt").exists(), run.left()) == ("completed", False, [])
    one = run.call()
    assert (one["verdict"], one["sureness"]) == ("denied", "stated")
    assert "needs approval" in one["error"]
    assert one["called_at"] < one["returned_at"]
    assert one["took_ms"] >= 1000


@pytest.mark.lab
def test_a_run_that_is_interrupted_asks_no_more(tmp_path: Path) -> None:
    with asked(tmp_path) as run:
        run.question()
        run.process.send_signal(signal.SIGINT)
        assert run.result()["ended_by"] == "cancelled"
    assert (run.process.returncode, run.left(), run.tracklog("answer")["asks"]) == (130, [], [])
    assert not (run.home.cwd / "made.txt").exists()


@pytest.mark.lab
def test_a_subagent_asks_as_itself(tmp_path: Path) -> None:
    helped = story(
        reply(subagent("helper", run_in_background=False)), helper=[reply(TOUCH), reply(Say("Helped."))]
    )
    with asked(tmp_path, helped) as run:
        thread = run.question()["thread"]
        run.tracklog("answer", "@last", "allow")
        assert run.result()["ended_by"] == "completed"
    one = run.call()
    assert (one["thread"], one["verdict"]) == (thread, "ok")
    assert thread != "main"


@pytest.mark.lab
@pytest.mark.skipif(not PLAYS_ALL, reason="an older release: make lab")
def test_an_older_release_denies_without_asking_anybody(tmp_path: Path) -> None:
    with asked(tmp_path, version=SILENT_RELEASE) as run:
        result = run.result()
    assert (result["ended_by"], (run.home.cwd / "made.txt").exists()) == ("completed", False)
    assert (run.call()["verdict"], run.call()["hooks"]) == ("denied", [])
    assert any("denies without asking" in problem for problem in result["problems"])


@pytest.mark.lab
def test_the_board_shows_who_waits_for_an_answer_for_as_long_as_it_waits(tmp_path: Path) -> None:
    with asked(tmp_path) as run:
        question = run.question()
        time.sleep(SETTLES_MS / 1000 + 0.2)  # after this, `busy` in the registry is no lag
        (row,) = run.tracklog("top", "--once")["sessions"]
        assert (row["id"], row["state"], row["waiting_for"]) == (question["session"], "waiting", "permission")
        assert row["doing"] == "Bash: touch made.txt"
        run.tracklog("answer", question["session"], "deny")
        run.result()
