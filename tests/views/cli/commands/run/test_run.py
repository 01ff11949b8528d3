"""`run`, `resume` and `fork` as commands, with a small program in the client's place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import fork_server
from tests.run.fake_client import COST_MICRO_USD, install
from tests.views.cli.command import Answer, environment

ENDS_S = 60.0


class Place:
    """A home, a folder to work in, and a client on PATH."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.cwd = top / "project"
        self.cwd.mkdir()
        state = top / "state"
        state.mkdir()
        install(top / "bin")
        self.env = environment(
            top,
            {
                "PATH": f"{top / 'bin'}:{os.environ['PATH']}",
                "TRACKLOG_HOME": str(top / "ours"),
                "CLAUDE_CONFIG_DIR": str(top / "claude"),
                "FAKE_CLIENT_STATE": str(state),
            },
        )

    def tracklog(self, *arguments: str, given: bytes = b"") -> Answer:
        done = fork_server.run(arguments, env=self.env, cwd=self.cwd, stdin=given, timeout_s=ENDS_S)
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def result(self, *arguments: str) -> Any:
        return self.tracklog(*arguments, "--json").json

    def git(self, *arguments: str) -> None:
        author = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
        subprocess.run(
            ["git", *author, *arguments], cwd=self.cwd, env=self.env, check=True, capture_output=True
        )

    def left(self) -> list[Path]:
        return list((self.top / "ours/runs/now").glob("*"))

    def living(self) -> list[psutil.Process]:
        def is_ours(process: psutil.Process) -> bool:
            try:
                return process.environ().get("TRACKLOG_HOME") == self.env["TRACKLOG_HOME"]
            except (psutil.Error, OSError):
                return False

        return [one for one in psutil.process_iter() if is_ours(one) and one.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_final_text_stands_alone_on_stdout(place: Place) -> None:
    assert place.tracklog("run", "say forty-two") == Answer(0, "forty-two\n", "")
    assert (place.left(), place.living()) == ([], [])


def test_the_prompt_may_come_by_stdin_or_from_a_file_and_only_by_one_of_them(place: Place) -> None:
    (place.cwd / "prompt.txt").write_text("say from a file")
    assert place.tracklog("run", given=b"say from stdin").out == "from stdin\n"
    assert place.tracklog("run", "--prompt-file", "-", given=b"say from stdin").out == "from stdin\n"
    assert place.tracklog("run", "--prompt-file", "prompt.txt").out == "from a file\n"
    assert place.tracklog("run", "x", "--prompt-file", "prompt.txt").code == 2
    assert place.tracklog("run", given=b"").code == 2


def test_what_stands_behind_two_dashes_reaches_the_client_as_it_is(place: Place) -> None:
    client = place.top / "client"
    client.write_text('#!/bin/sh\nfor word; do echo "$word"; done > words\n')
    client.chmod(0o755)
    place.tracklog("run", "x", "--client", str(client), "--", "--odd", "$(touch pwned)", "--json")
    assert (place.cwd / "words").read_text().splitlines()[-3:] == ["--odd", "$(touch pwned)", "--json"]
    assert not (place.cwd / "pwned").exists()


def test_every_end_has_its_exit_code(place: Place) -> None:
    assert place.tracklog("run", "fail").code == 1
    assert place.tracklog("run", "sleep 60", "--timeout", "1.5s").code == 124
    assert place.tracklog("run", "spend 5 sleep 60", "--max-cost", "0.01").code == 124
    assert place.tracklog("run", "die late").code == 1
    assert (place.left(), place.living()) == ([], [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_child_and_then_us_with_a_result(place: Place, number: signal.Signals) -> None:
    ours = fork_server.start(["run", "sleep 60", "--json"], env=place.env, cwd=place.cwd)
    requests = place.top / "state/requests"
    until = time.monotonic() + ENDS_S
    while not requests.exists() and time.monotonic() < until:
        time.sleep(0.05)
    for _ in range(3):  # a key that is held down
        ours.send_signal(number)
    out, _ = ours.communicate(timeout=ENDS_S)
    assert (ours.returncode, json.loads(out)["ended_by"]) == (130, "cancelled")
    assert (place.left(), place.living()) == ([], [])


def test_a_session_goes_on_and_only_what_came_since_is_counted(place: Place) -> None:
    first = place.result("run", "say one")
    second = place.result("run", "say two", "--continue")
    third = place.result("resume", first["session_id"][:8], "say three")
    assert {one["session_id"] for one in (first, second, third)} == {first["session_id"]}
    assert [one["cost_micro_usd"] for one in (first, second, third)] == [COST_MICRO_USD] * 3
    shown = place.result("show", "@last")
    assert [run["how"] for run in shown["continued_by"]] == ["resume", "resume"]


def test_a_fork_has_a_new_id(place: Place) -> None:
    first = place.result("run", "say one")
    forked = place.result("fork", "@last", "say two")
    assert forked["session_id"] != first["session_id"]
    assert (forked["result"], forked["ended_by"]) == ("two", "completed")


def test_without_a_prompt_and_a_terminal_resume_says_what_to_type(place: Place) -> None:
    session = place.result("run", "say one")["session_id"]
    told = place.tracklog("resume", session)
    assert told.code == 2
    assert f"--resume {session}" in told.err


def test_another_session_s_words_can_be_put_before_the_prompt(place: Place) -> None:
    place.tracklog("run", "say the secret word is heron")
    assert "heron" in place.tracklog("run", "what was it?", "--context-from", "@last").out


def test_a_folder_with_hooks_of_its_own_is_asked_about_once(place: Place) -> None:
    (place.cwd / ".claude").mkdir()
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch pwned"}]}]}}
    (place.cwd / ".claude/settings.json").write_text(json.dumps(hook))
    refused = place.tracklog("run", "say x")
    assert refused.code == 2
    assert "touch pwned" in refused.err
    assert "--trust" in refused.err
    assert not (place.top / "state/starts").exists()
    assert place.tracklog("run", "say x", "--trust").code == 0
    assert place.tracklog("run", "say x").code == 0
    hook["hooks"]["Stop"][0]["hooks"][0]["command"] = "touch worse"
    (place.cwd / ".claude/settings.json").write_text(json.dumps(hook))
    assert place.tracklog("run", "say x").code == 2


def test_work_in_a_worktree_stays_there_if_something_changed(place: Place) -> None:
    place.git("init", "--quiet")
    place.git("commit", "--quiet", "--allow-empty", "--message", "Begin")
    untouched = place.result("run", "say x", "--worktree")["worktree"]
    assert (untouched["kept"], Path(untouched["path"]).exists()) == (False, False)
    changed = place.result("run", "write a.txt", "--worktree")["worktree"]
    assert (changed["kept"], changed["why"], (place.cwd / "a.txt").exists()) == (True, "untracked", False)


def test_what_is_committed_is_asked_about_apart_from_what_lies_there(place: Place) -> None:
    """The working copy was trusted; what stands in the last commit is something else."""
    (place.cwd / ".claude").mkdir()
    settings = place.cwd / ".claude/settings.json"
    settings.write_text('{"apiKeyHelper": "committed"}')
    place.git("init", "--quiet")
    place.git("add", ".")
    place.git("commit", "--quiet", "--message", "Begin")
    settings.write_text('{"apiKeyHelper": "lying there"}')
    assert place.tracklog("run", "say x", "--trust").code == 0
    refused = place.tracklog("run", "say x", "--worktree")
    assert refused.code == 2
    assert "committed" in refused.err
    assert list((place.top / "ours/runs/worktrees").iterdir()) == []


def test_a_detached_run_goes_on_and_is_found_again(place: Place) -> None:
    told = place.result("run", "sleep 1 say later", "--detach")
    assert psutil.pid_exists(told["pid"])
    assert place.tracklog("wait", told["session_id"]).out == "later\n"
    until = time.monotonic() + ENDS_S
    while not (path := Path(told["result_path"])).exists() and time.monotonic() < until:
        time.sleep(0.05)
    result = json.loads(path.read_bytes())
    assert (result["ended_by"], result["result"], result["run"]) == ("completed", "later", told["run"])
    assert (place.top / "ours/runs").stat().st_mode & 0o777 == 0o700
    while place.living() and time.monotonic() < until:
        time.sleep(0.05)
    assert (place.left(), place.living()) == ([], [])


def test_what_cannot_be_detached_is_said_at_once(place: Place) -> None:
    broken = place.top / "broken"
    broken.write_bytes(b"")
    broken.chmod(0o755)
    assert place.tracklog("run", "x", "--detach", "--client", str(broken)).code == 2
    assert place.tracklog("run", "x", "--detach", "--worktree").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "x", "--jobs", "3"),
        ("run", "x", "--results", "r"),
        ("run", "x", "--repeat", "2", "--many", "l"),
        ("run", "x", "--repeat", "2", "--detach"),
        ("run", "x", "--timeout", "0"),
        ("run", "x", "--timeout", "soon"),
        ("run", "x", "--max-cost", "-1"),
        ("run", "x", "--cwd", "nowhere"),
        ("run", "x", "--json-schema", "no json"),
        ("run", "x", "--client", "no-such-program"),
        ("run", "x", "--session-id", "7"),
        ("run", "x", "--continue"),
        ("run", "  "),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_wrong_use_and_starts_nothing(
    place: Place, arguments: tuple[str, ...]
) -> None:
    told = place.tracklog(*arguments)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert not (place.top / "state/starts").exists()
