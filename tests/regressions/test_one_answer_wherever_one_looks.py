"""The board and the other commands disagreed where a home was not given as such, and where clocks or clients left gaps.

`top --root ~/.claude/projects` called every running session crashed: the board looked for the registry only in roots that
are homes, `sessions` also in the home in which a root stands. A session of which only a subagent's log is left was unknown
on the board and ended elsewhere. Of two homes `sessions` asked only the one that had the log. Codex writes `task_complete`
last: a client that ended right after its final answer counted as crashed. A Codex that was resumed after a kill was
"working" in the call of the process that was killed, which `calls` said was lost. And with a clock that was ahead a session
had crashed at whatever moment somebody asked for it, while the verdict of its call was that of an old log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, LiveHome, append, now_ms, start_ticks
from tests.regressions.test_one_answer_about_a_process import AGES, MINUTE_MS, Made, moment
from tests.views.cli.command import tracklog
from tracklog import read
from tracklog.agents.discovery import roots_at
from tracklog.live.watch.watcher import Watch
from tracklog.model.states import LiveState
from tracklog.sources.log_file import Root

THREAD = "019f0001-aaaa-7aaa-8aaa-000000000001"


def by_board(roots: list[Root], agent: str, session: str, spool: Path | None = None) -> LiveState:
    with closing(Watch(roots, spool=spool)) as watch:
        watch.begin()
        return watch.sessions[agent, session].state


def by_sessions(home: Path, *words: str | Path) -> dict[str, Any]:
    env = {"CLAUDE_CONFIG_DIR": str(home / "none"), "CODEX_HOME": str(home / "none")}
    told = tracklog("sessions", "--json", *words, "--home", home / "ours", home=home, env=env)
    (row,) = told.json["sessions"]
    return dict(row)


@pytest.mark.parametrize("folder", ["projects", "projects/-p", ".."])
def test_the_board_finds_the_registry_of_the_home_that_a_folder_belongs_to(
    tmp_path: Path, folder: str
) -> None:
    made = Made(tmp_path / "home", "lives", AGES["long ago"], "a call", has_hooks=False)
    root = (made.home.path / folder).resolve()
    board = by_board(list(roots_at(root)), "claude", ONE)
    assert board.state == "working"
    row = by_sessions(tmp_path, "--root", root)
    assert (row["state"], row["evidence"]) == (board.state, board.evidence)


def test_a_registry_in_another_home_names_the_session_too(tmp_path: Path) -> None:
    made = Made(tmp_path / "one", "unnamed", AGES["long ago"], "a call", has_hooks=False)
    other = LiveHome(tmp_path / "two")
    other.register(os.getpid(), "busy", procStart=start_ticks(os.getpid()), startedAt=made.at_ms - 90_000)
    roots: list[str | Path] = ["--root", made.home.path, "--root", other.path]
    board = by_board([*made.home.roots, *other.roots], "claude", ONE)
    row = by_sessions(tmp_path, *roots)
    assert board.state == "working"
    assert (row["state"], row["evidence"]) == (board.state, board.evidence)


@pytest.mark.parametrize("lives", [True, False])
def test_a_session_of_which_only_a_subagent_is_left_has_one_state(tmp_path: Path, *, lives: bool) -> None:
    home = LiveHome(tmp_path)
    log = home.path / "projects" / "-p" / ONE / "subagents" / "agent-abc123.jsonl"
    log.parent.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": "u1",
        "sessionId": ONE,
        "agentId": "abc123",
        "isSidechain": True,
        "timestamp": moment(now_ms() - 40 * MINUTE_MS),
        "message": {"role": "user", "content": "go"},
    }
    append(log, json.dumps(line).encode() + b"\n")
    if lives:
        started = now_ms() - 60 * MINUTE_MS
        home.register(os.getpid(), "busy", procStart=start_ticks(os.getpid()), startedAt=started)
    board = by_board(home.roots, "claude", ONE)
    session = read(log)
    assert board.state == ("working" if lives else "ended")
    assert (session.state, list(session.life.evidence)) == (board.state, board.evidence)


@pytest.mark.parametrize("process", ["dead", "unnamed"])
def test_the_last_sign_of_life_does_not_move_when_a_clock_was_ahead(tmp_path: Path, process: str) -> None:
    made = Made(tmp_path, process, -60 * MINUTE_MS, "a call", has_hooks=False)
    written = time.time() - 40 * 60
    for file in (made.home.log(), *(tmp_path / "sessions").iterdir()):
        os.utime(file, (written, written))
    state, since_ms, evidence = made.by_board()
    assert state == ("crashed" if process == "dead" else "ended")
    assert since_ms == int(written * 1000)
    session = read(made.home.log(), home=made.home.ours)
    assert (session.state, session.life.since_ms) == (state, since_ms)
    assert list(session.life.evidence) == evidence
    assert session.calls[0].verdict == "lost"


def test_a_call_of_a_clock_that_is_ahead_runs_where_its_session_works(tmp_path: Path) -> None:
    made = Made(tmp_path, "unnamed", -60 * MINUTE_MS, "a call", has_hooks=False)
    state, _, _ = made.by_board()
    session = read(made.home.log(), home=made.home.ours)
    assert (state, session.state, session.calls[0].verdict) == ("working", "working", "running")


def rollout(home: Path, *last: dict[str, Any]) -> Path:
    path = home / "sessions/2026/11/18" / f"rollout-2026-11-18T10-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True)
    at = moment(now_ms() - 40 * MINUTE_MS)
    begins = {"type": "task_started", "turn_id": "1"}
    lines = [
        ("session_meta", {"id": THREAD, "timestamp": at, "cwd": "/work/app", "cli_version": "0.142.0"}),
        ("event_msg", begins),
        ("event_msg", {"type": "user_message", "message": "go"}),
        *(("response_item" if "role" in one or "call_id" in one else "event_msg", one) for one in last),
    ]
    for kind, payload in lines:
        append(path, json.dumps({"timestamp": at, "type": kind, "payload": payload}).encode() + b"\n")
    return path


FINAL = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Done."}],
    "phase": "final_answer",
}
COUNT = {"type": "token_count", "info": None}
CALL = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "make"}', "call_id": "c1"}


@pytest.mark.parametrize(("phase", "state"), [("final_answer", "ended"), ("commentary", "crashed")])
def test_a_codex_that_ended_behind_its_final_answer_has_ended(tmp_path: Path, phase: str, state: str) -> None:
    path = rollout(tmp_path, {**FINAL, "phase": phase}, COUNT)
    assert by_board([Root(tmp_path, "codex")], "codex", THREAD).state == state
    assert read(path).state == state


@pytest.fixture
def resumed(tmp_path: Path) -> Iterator[Path]:
    """A log with an open call, held by a Codex that was started since."""
    path = rollout(tmp_path, CALL)
    program = tmp_path / "codex"
    program.symlink_to(sys.executable)
    holds = "import sys, time; file = open(sys.argv[1], 'a'); print('here', flush=True); time.sleep(600)"
    with subprocess.Popen([program, "-c", holds, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield path
        process.kill()


def test_a_codex_that_was_resumed_does_not_work_in_the_call_of_the_one_before(
    tmp_path: Path, resumed: Path
) -> None:
    board = by_board([Root(tmp_path, "codex")], "codex", THREAD)
    session = read(resumed)
    assert board.state == "idle"
    assert (session.state, list(session.life.evidence)) == (board.state, board.evidence)
    assert session.calls[0].verdict == "lost"


def test_nothing_is_loaded_for_processes_where_none_runs() -> None:
    code = "import sys, tracklog.liveness.sessions as it; sys.exit('psutil' in sys.modules or any('claude_code.reader' in one for one in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
