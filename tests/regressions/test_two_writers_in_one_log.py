"""A session that was open in one process was resumed in another, and both wrote into its log.

A user had Claude Code open in a terminal and called `tracklog resume @last "now the tests"`, or `tracklog run --continue`, in
another one. Nothing was said, and the lines of both processes were mixed in one file. Codex behaved the same.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import fork_server
from tests.run.fake_client import install
from tests.views.cli.command import Answer, environment
from tracklog import run
from tracklog.agents.codex.processes import running_codex
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.live.run_entries import Ended, Started
from tracklog.live.run_register import note_ended, note_started, now_text, start_mark
from tracklog.sources.process_start import start_ticks

SESSION = "00000000-0000-4000-8000-000000000012"
ROLLOUT = f"sessions/2026/11/18/rollout-2026-11-18T10-00-00-{SESSION}.jsonl"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
Write = dict[str, Any]


class Place:
    """A home with one session of each agent, and clients that note that they were started."""

    def __init__(self, top: Path) -> None:
        self.top, self.cwd = top, top / "project"
        self.cwd.mkdir()
        (top / "state").mkdir()
        install(top / "bin")
        own = {
            "PATH": f"{top / 'bin'}:{os.environ['PATH']}",
            "TRACKLOG_HOME": str(top / "ours"),
            "CLAUDE_CONFIG_DIR": str(top / "claude"),
            "CODEX_HOME": str(top / "codex"),
            "FAKE_CLIENT_STATE": str(top / "state"),
        }
        self.env = environment(top, own)

    def tracklog(self, *arguments: str) -> Answer:
        done = fork_server.run(arguments, env=self.env, cwd=self.cwd, stdin=b"", timeout_s=120)
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def begun(self) -> str:
        """A session of Claude Code that is over."""
        return str(self.tracklog("run", "say one", "--json").json["session_id"])

    def n_starts(self) -> int:
        return len((self.top / "state/starts").read_text().splitlines())

    def register(self, session: str, pid: int, start: object) -> None:
        """What Claude Code writes while it has a session open."""
        path = self.top / "claude/sessions" / f"{pid}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = {
            "pid": pid,
            "sessionId": session,
            "procStart": str(start),
            "startedAt": 1,
            "cwd": str(self.cwd),
        }
        path.write_text(json.dumps(said | {"status": "idle"}))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def running(*words: str, **options: Any) -> Iterator[int]:
    with subprocess.Popen(words, **options) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@on_linux
@pytest.mark.parametrize(
    "words", [("resume", "{}", "say two"), ("resume", "{}"), ("run", "--continue", "say two")]
)
def test_a_session_that_is_open_elsewhere_is_refused_and_the_process_named(
    place: Place, words: tuple[str, ...]
) -> None:
    session = place.begun()
    with running("sleep", "600") as pid:
        place.register(session, pid, start_ticks(pid))
        refused = place.tracklog(*(word.format(session) for word in words))
    assert (refused.code, refused.out, place.n_starts()) == (2, "", 1)
    assert f"{session} is open in process {pid}, which runs since 20" in refused.err
    assert f"`tracklog fork {session}`" in refused.err
    assert "--force" in refused.err


@on_linux
def test_it_can_be_forked_and_it_can_be_forced(place: Place) -> None:
    session = place.begun()
    with running("sleep", "600") as pid:
        place.register(session, pid, start_ticks(pid))
        assert place.tracklog("fork", session, "say two").out == "two\n"
        assert place.tracklog("resume", session, "say three", "--force").out == "three\n"
        assert place.tracklog("run", "--continue", "--force", "say four").out == "four\n"
        without_a_terminal = place.tracklog("resume", session, "--force")
    assert f"--resume {session}" in without_a_terminal.err


def _dead(place: Place, session: str) -> None:
    with running("sleep", "600") as pid:
        ticks = start_ticks(pid)
    place.register(session, pid, ticks)


def _reused(place: Place, session: str) -> None:
    place.register(session, os.getpid(), (start_ticks(os.getpid()) or 0) - 1)


def _elsewhere(place: Place, session: str) -> None:
    """The living process has gone on with another session."""
    place.register("00000000-0000-4000-8000-000000000099", os.getpid(), start_ticks(os.getpid()))


def _lost_run(place: Place, session: str) -> None:
    """A run of ours that was killed, and whose pid is another process's now."""
    _note_run(place, session, start=str((start_ticks(os.getpid()) or 0) - 1))


def _ended_run(place: Place, session: str) -> None:
    _note_run(place, session, start=start_mark(os.getpid()))
    note_ended(Home(place.top / "ours"), Ended(run="a" * 16, at=now_text(), ended_by="completed"))


def _note_run(place: Place, session: str, *, start: str | None) -> None:
    said = Started(
        run="a" * 16, at=now_text(), agent="claude", session=session, pid=os.getpid(), pid_start=start
    )
    note_started(Home(place.top / "ours"), said)


@on_linux
@pytest.mark.parametrize(
    "leave", [_dead, _reused, _elsewhere, _lost_run, _ended_run], ids=lambda leave: leave.__name__[1:]
)
def test_a_process_that_is_gone_or_another_does_not_block(
    place: Place, leave: Callable[[Place, str], None]
) -> None:
    session = place.begun()
    leave(place, session)
    assert place.tracklog("resume", session, "say two").out == "two\n"


@on_linux
def test_a_run_whose_client_has_not_registered_yet_blocks_too(place: Place) -> None:
    session = place.begun()
    _note_run(place, session, start=start_mark(os.getpid()))
    refused = place.tracklog("resume", session, "say two")
    assert (refused.code, place.n_starts()) == (2, 1)
    assert f"open in process {os.getpid()}" in refused.err


def _codex(place: Place) -> tuple[Path, Path]:
    """A rollout, and a program named codex that notes its start, or holds what it is given."""
    rollout = place.top / "codex" / ROLLOUT
    rollout.parent.mkdir(parents=True)
    meta = {
        "id": SESSION,
        "timestamp": "2026-11-18T10:00:00Z",
        "cwd": str(place.cwd),
        "originator": "codex_cli_rs",
    }
    lines = [
        {
            "timestamp": "2026-11-18T10:00:00Z",
            "type": "session_meta",
            "payload": meta | {"cli_version": "0.166.0"},
        },
        {
            "timestamp": "2026-11-18T10:00:01Z",
            "type": "event_msg",
            "payload": {"type": "user_message", "message": "x"},
        },
    ]
    rollout.write_text("".join(json.dumps(line) + "\n" for line in lines))
    program = place.top / "holding" / "codex"
    program.parent.mkdir()
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    client = place.top / "bin" / "codex"
    client.write_text(f"#!/bin/sh\necho started >> {place.top}/state/starts\n")
    client.chmod(0o755)
    return rollout, program


@on_linux
@pytest.mark.parametrize(
    "words", [("resume", SESSION, "go on"), ("run", "--continue", "--agent", "codex", "go on")]
)
def test_a_codex_that_has_the_log_open_blocks_until_it_is_gone(place: Place, words: tuple[str, ...]) -> None:
    rollout, program = _codex(place)
    with rollout.open("rb") as held, running(str(program), "600", stdin=held) as pid:
        wanted = os.path.realpath(rollout)
        while not any(wanted in (one.logs or ()) for one in running_codex()):
            assert psutil.pid_exists(pid)
        refused = place.tracklog(*words)
        assert (refused.code, (place.top / "state/starts").exists()) == (2, False)
        assert f"{SESSION} is open in process {pid}" in refused.err
    place.tracklog(*words)
    assert place.n_starts() == 1


@on_linux
def test_the_same_session_in_another_home_may_be_open(
    place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _codex(place)
    rollout, program = _codex(Place(tmp_path_factory.mktemp("other")))
    with rollout.open("rb") as held, running(str(program), "600", stdin=held) as pid:
        wanted = os.path.realpath(rollout)
        while not any(wanted in (one.logs or ()) for one in running_codex()):
            assert psutil.pid_exists(pid)
        place.tracklog("resume", SESSION, "go on")
    assert place.n_starts() == 1


@on_linux
def test_the_python_interface_refuses_it_too(place: Place) -> None:
    session = place.begun()
    request = run.RunRequest(agent="claude", prompt="say two", cwd=place.cwd, resume=session)
    with running("sleep", "600") as pid:
        place.register(session, pid, start_ticks(pid))
        with pytest.raises(UserError, match=f"open in process {pid}"):
            run.start(request, home=place.top / "ours", env=place.env)
        child = run.start(request._replace(is_forced=True), home=place.top / "ours", env=place.env)
        assert child.result().text == "two"
