"""Who started us, from the environment and from real processes above us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, TWO, LiveHome, start_ticks
from tests.views.cli.command import SOURCE
from tracklog.home import Home
from tracklog.live.run_entries import Ended, Parent, SessionNamed, Started
from tracklog.live.run_register import note_ended, note_named, note_started, start_mark
from tracklog.run.parent import parent_of_us, parent_run_of_us

RUN = "00000000000000aa"
ASKING = """
import json, os
from pathlib import Path
from tracklog.run.parent import parent_of_us
from tracklog.home import Home
parent = parent_of_us(os.environ, home=Home(Path(os.environ["TRACKLOG_HOME"])))
print(json.dumps([parent.agent, parent.session] if parent else None))
"""
STARTING = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', sys.argv[1], *sys.argv[2:]]).returncode)"


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path / "claude")


def env_of(home: LiveHome, **more: str) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(home.path), "HOME": str(home.path), **more}


def asked_from_below(home: LiveHome, **more: str) -> Parent | None:
    """What a process says that another one started, which we have started."""
    env = env_of(home, TRACKLOG_HOME=str(home.ours), PYTHONPATH=str(SOURCE), PATH=os.defpath, **more)
    words = [sys.executable, "-c", STARTING, ASKING]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=True)
    told = json.loads(done.stdout)
    return Parent(*told) if told else None


def begun(home: LiveHome, **more: Any) -> None:
    note_started(Home(home.ours), Started(run=RUN, **{"agent": "claude", "session": TWO, **more}))


def asked(home: LiveHome, **more: str) -> Parent | None:
    return parent_of_us(env_of(home, **more), home=Home(home.ours))


def test_nobody_started_who_was_started_by_a_person(home: LiveHome) -> None:
    assert asked_from_below(home) is None


def test_a_registered_ancestor_is_the_parent(home: LiveHome) -> None:
    home.register(os.getpid(), "busy")
    assert asked_from_below(home) == Parent("claude", ONE)


def test_an_ancestor_whose_start_does_not_fit_is_nobody(home: LiveHome) -> None:
    home.register(os.getpid(), "busy", procStart="1")
    assert asked_from_below(home) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid":1,"sessionId":"x"}', b"\xff" * 100])
def test_a_registry_file_that_says_nothing_is_nobody(home: LiveHome, content: bytes) -> None:
    (home.path / "sessions" / f"{os.getppid()}.json").write_bytes(content)
    assert asked(home) is None


def test_a_pipe_in_the_registry_is_nobody(home: LiveHome) -> None:
    os.mkfifo(home.path / "sessions" / f"{os.getppid()}.json")
    assert asked(home) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(RUN, RUN), ("", None), ("../../etc", None), (RUN.upper(), None), (f"{RUN}0", None), (f"{RUN}\n", None)],
)
def test_the_variable_names_a_run_only_if_it_is_one(value: str, expected: str | None) -> None:
    assert parent_run_of_us({"TRACKLOG_RUN": value}) == expected


def test_the_variable_names_the_run_and_the_register_its_session(home: LiveHome) -> None:
    begun(home)
    assert asked(home, TRACKLOG_RUN=RUN) == Parent("claude", TWO)
    assert asked(home, TRACKLOG_RUN="f" * 16) is None


def test_a_session_that_was_named_later_counts(home: LiveHome) -> None:
    begun(home, agent="codex", session=None)
    assert asked(home, TRACKLOG_RUN=RUN) is None
    note_named(Home(home.ours), SessionNamed(run=RUN, session="t-1"))
    assert asked(home, TRACKLOG_RUN=RUN) == Parent("codex", "t-1")
    note_ended(Home(home.ours), Ended(run=RUN, ended_by="completed"))
    assert asked(home, TRACKLOG_RUN=RUN) == Parent("codex", "t-1")


def test_a_client_between_us_and_the_run_is_nearer(home: LiveHome) -> None:
    above = os.getppid()
    begun(home, pid=above, pid_start=start_mark(above))
    home.register(os.getpid(), "busy")
    assert asked_from_below(home, TRACKLOG_RUN=RUN) == Parent("claude", ONE)


def test_a_client_above_the_run_is_not_nearer(home: LiveHome) -> None:
    begun(home, pid=os.getpid(), pid_start=start_mark(os.getpid()))
    home.register(os.getppid(), "busy", procStart=start_ticks(os.getppid()))
    assert asked_from_below(home, TRACKLOG_RUN=RUN) == Parent("claude", TWO)


def test_the_run_counts_where_its_process_is_not_above_us(home: LiveHome) -> None:
    begun(home, pid=1 << 22, pid_start="1")
    home.register(os.getpid(), "busy")
    assert asked_from_below(home, TRACKLOG_RUN=RUN) == Parent("claude", TWO)


def test_a_codex_with_its_log_open_is_the_parent(home: LiveHome, tmp_path: Path) -> None:
    thread = "01990000-0000-7000-8000-000000000001"
    rollout = (
        tmp_path / "codex" / "sessions" / "2026" / "11" / "16" / f"rollout-2026-11-16T12-00-00-{thread}.jsonl"
    )
    rollout.parent.mkdir(parents=True)
    meta = {"id": thread, "timestamp": "2026-11-16T12:00:00Z", "cwd": "/work", "cli_version": "0.166.0"}
    rollout.write_text(
        json.dumps({"timestamp": "2026-11-16T12:00:00Z", "type": "session_meta", "payload": meta}) + "\n"
    )
    program = tmp_path / "codex-like"
    named = "import ctypes; ctypes.CDLL(None).prctl(15, b'codex'); "  # PR_SET_NAME, linux/prctl.h
    program.write_text(f"import sys; log = open(sys.argv.pop(), 'a'); {named}{STARTING}")
    env = env_of(home, TRACKLOG_HOME=str(home.ours), PYTHONPATH=str(SOURCE), PATH=os.defpath)
    words = [sys.executable, str(program), ASKING, str(rollout)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
    assert (done.stderr, json.loads(done.stdout)) == ("", ["codex", thread])


def test_a_process_that_is_gone_has_no_parent(home: LiveHome) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert parent_of_us(env_of(home), home=Home(home.ours), pid=process.pid) is None


def test_who_is_forked_and_left_alone_knows_what_was_remembered_before(home: LiveHome) -> None:
    home.register(os.getpid(), "busy")
    leaving = (
        "import os, time\nfrom pathlib import Path\nfrom tracklog.home import Home\n"
        "from tracklog.run.parent import remember_our_parent\n"
        "remember_our_parent(os.environ, home=Home(Path(os.environ['TRACKLOG_HOME'])))\n"
        "if os.fork():\n    os._exit(0)\n"
        "time.sleep(0.5)\n"
    )
    env = env_of(home, TRACKLOG_HOME=str(home.ours), PYTHONPATH=str(SOURCE), PATH=os.defpath)
    words = [sys.executable, "-c", leaving + ASKING]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == ["claude", ONE]
