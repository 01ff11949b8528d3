"""Every surface decides alike whether a session's process lives, and what the session does.

`calls`, `show` and `agents` did not look at processes. A build ran for 40 minutes without a line: `top` said working,
`calls` said `lost (inferred)`. A client was killed: `top` said crashed, `calls` said `running (inferred)`. And a crash
had happened at whatever moment somebody asked for it. The table: registry entry and process × age of the log × last line
× hooks; the board, Python, the index, and (for some of them) every command say the same.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, LiveHome, append, start_ticks
from tests.views.cli.command import Answer, tracklog
from tracklog import read
from tracklog.home import Home
from tracklog.live.watch.watcher import Watch

MINUTE_MS = 60_000
PROCESSES = ("lives", "dead", "reused", "unnamed", "no registry")
AGES = {"just now": 20_000, "long ago": 40 * MINUTE_MS}
LINES = ("a call", "an answer", "an answer and progress")
STATES = {
    ("lives", "a call"): "working",
    ("lives", "an answer"): "idle",
    ("dead", "a call"): "crashed",
    ("dead", "an answer"): "ended",
    ("reused", "a call"): "crashed",
    ("reused", "an answer"): "ended",
    ("unnamed", "a call"): "ended",
    ("unnamed", "an answer"): "ended",
    ("no registry", "an answer"): "ended",
}


def moment(ms: int) -> str:
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


class Made:
    """A home with one session, as it stands in one row of the table."""

    def __init__(self, folder: Path, process: str, age_ms: int, last: str, *, has_hooks: bool) -> None:
        self.home = LiveHome(folder)
        self.at_ms = time.time_ns() // 1_000_000 - age_ms
        self.pid = os.getpid() if process in ("lives", "reused") else dead_pid()
        self._write(last, has_hooks=has_hooks)
        if process == "no registry":
            (folder / "sessions").rmdir()
        elif process != "unnamed":
            self._register(process, is_busy=last == "a call")

    def _write(self, last: str, *, has_hooks: bool) -> None:
        home, at_ms = self.home, self.at_ms
        home.line(type="user", message={"role": "user", "content": "go"}, timestamp=moment(at_ms - 60_000))
        call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
        text = {"type": "text", "text": "Done."}
        home.line(
            type="assistant",
            timestamp=moment(at_ms),
            message={
                "id": "msg_1",
                "role": "assistant",
                "model": "claude-opus-4-5",
                "content": [call if last == "a call" else text],
                "stop_reason": "tool_use" if last == "a call" else "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 5},
            },
        )
        if last == "an answer and progress":
            data = {"type": "hook_progress", "hookEvent": "Stop", "hookName": "Stop", "command": "true"}
            home.line(type="progress", data=data, timestamp=moment(at_ms))
        if has_hooks:
            is_call = last == "a call"
            self._hook("PreToolUse" if is_call else "Stop", is_call=is_call)

    def _hook(self, event: str, *, is_call: bool) -> None:
        tool = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
        payload = {
            "session_id": ONE,
            "hook_event_name": event,
            "cwd": "/work/app",
            "transcript_path": str(self.home.log()),
            **(tool if is_call else {}),
        }
        line = {"v": 1, "at": self.at_ms, "agent": "claude", "pid": 1, "ppid": 1, "payload": payload}
        append(self.home.ours / "spool" / "hooks.jsonl", json.dumps(line).encode() + b"\n")

    def _register(self, process: str, *, is_busy: bool) -> None:
        ticks = start_ticks(self.pid)
        self.home.register(
            self.pid,
            "busy" if is_busy else "idle",
            procStart="1" if process == "reused" else ticks,
            startedAt=self.at_ms - 90_000,
            statusUpdatedAt=self.at_ms,
            updatedAt=self.at_ms,
        )

    def ask(self, *words: str) -> Answer:
        env = {"CLAUDE_CONFIG_DIR": str(self.home.path), "CODEX_HOME": str(self.home.path / "none")}
        return tracklog(*words, "--home", self.home.ours, home=self.home.path, env=env)

    def by_board(self) -> tuple[str, int | None, list[str]]:
        with closing(Watch(self.home.roots, spool=self.home.ours / "spool")) as watch:
            watch.begin()
            state = watch.sessions["claude", ONE].state
            return state.state, state.since_ms, state.evidence


def expected(process: str, age: str, last: str) -> str:
    if process == "no registry" and last == "a call":
        return "working" if age == "just now" else "crashed"
    return STATES[process, "a call" if last == "a call" else "an answer"]


@pytest.mark.parametrize(
    ("process", "age", "last", "has_hooks"), list(itertools.product(PROCESSES, AGES, LINES, (False, True)))
)
def test_the_board_and_python_say_what_the_table_says(
    tmp_path: Path, process: str, age: str, last: str, has_hooks: bool
) -> None:
    made = Made(tmp_path, process, AGES[age], last, has_hooks=has_hooks)
    state, since_ms, evidence = made.by_board()
    assert state == expected(process, age, last)
    assert evidence
    session = read(made.home.log(), home=made.home.ours)
    assert (session.state, session.life.since_ms) == (state, since_ms)
    assert list(session.life.evidence) == evidence
    if state == "crashed":
        assert since_ms == made.at_ms
    if last == "a call":
        assert session.calls[0].verdict == ("running" if state in ("working", "waiting") else "lost")


def asked(made: Made, *, syncs: bool) -> dict[str, Any]:
    """What every command says of the state of the session, of its main thread, and of its open call."""
    more = [] if syncs else ["--no-sync"]
    (row,) = made.ask("sessions", "--json", *more).json["sessions"]
    (board,) = made.ask("top", "--once", "--all", "--json").json["sessions"]
    calls = made.ask("calls", "--json", *more).json["calls"]
    ours = made.ask("calls", ONE, "--json").json["calls"]
    shown = made.ask("show", ONE, "--json").json["session"]
    main = made.ask("agents", ONE, "--json").json["threads"][0]
    assert [(one["verdict"], one["why"]) for one in calls] == [(one["verdict"], one["why"]) for one in ours]
    return {
        "states": {row["state"], board["state"], shown["state"]},
        "evidence": {tuple(row["evidence"]), tuple(board["evidence"]), tuple(shown["evidence"])},
        "main": main["state"],
        "verdicts": [one["verdict"] for one in calls],
    }


@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize(
    ("process", "state", "main", "verdict"),
    [
        ("lives", "working", "running", "running"),
        ("dead", "crashed", "crashed", "lost"),
        ("reused", "crashed", "crashed", "lost"),
    ],
)
def test_every_command_says_what_the_board_says(
    tmp_path: Path, process: str, state: str, main: str, verdict: str, is_indexed: bool
) -> None:
    made = Made(tmp_path, process, AGES["long ago"], "a call", has_hooks=False)
    if is_indexed:
        assert made.ask("index").code == 0
    said = asked(made, syncs=True)
    assert said["states"] == {state}
    assert len(said["evidence"]) == 1
    assert said["main"] == main
    assert said["verdicts"] == [verdict]


@pytest.fixture
def living(tmp_path: Path) -> Iterator[tuple[Made, subprocess.Popen[bytes]]]:
    """An indexed session in which a call runs, and its process."""
    made = Made(tmp_path, "unnamed", AGES["long ago"], "a call", has_hooks=False)
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.defpath}) as process:
        made.pid = process.pid
        made._register("lives", is_busy=True)
        assert made.ask("index").code == 0
        yield made, process
        process.kill()


@pytest.mark.parametrize("syncs", [True, False])
def test_a_client_that_is_killed_has_crashed_at_once_and_everywhere(
    living: tuple[Made, subprocess.Popen[bytes]], syncs: bool
) -> None:
    made, process = living
    before = asked(made, syncs=syncs)
    assert (before["states"], before["verdicts"]) == ({"working"}, ["running"])
    process.kill()
    process.wait()
    after = asked(made, syncs=syncs)
    assert (after["states"], after["main"], after["verdicts"]) == ({"crashed"}, "crashed", ["lost"])
    assert len(after["evidence"]) == 1


def test_a_call_that_is_older_than_the_process_is_lost_when_its_session_is_resumed(tmp_path: Path) -> None:
    made = Made(tmp_path, "unnamed", AGES["long ago"], "a call", has_hooks=False)
    made.home.register(os.getpid(), "idle")
    assert made.by_board()[0] == "idle"
    call = read(made.home.log()).calls[0]
    why = "no result: the process is gone (it was made before the process that now has the session)"
    assert (call.verdict, call.why) == ("lost", why)


def test_the_index_stores_what_the_board_says(living: tuple[Made, subprocess.Popen[bytes]]) -> None:
    made, process = living
    question = "select s.state, c.verdict from sessions s join calls c on c.session = s.id"
    assert made.ask("sql", question, "--json").json["rows"] == [["working", "running"]]
    process.kill()
    process.wait()
    assert made.ask("sql", question, "--json").json["rows"] == [["crashed", "lost"]]


def test_where_no_call_is_open_and_nothing_lives_the_index_is_only_read(tmp_path: Path) -> None:
    made = Made(tmp_path, "unnamed", AGES["long ago"], "an answer", has_hooks=False)
    for folder in {path.parent for path in tmp_path.rglob("*")}:
        os.utime(
            folder, (made.at_ms / 1000, made.at_ms / 1000)
        )  # a folder that changed just now is listed again
    made.ask("index")
    made.ask("sessions", "--json")  # it counts what was spent
    with closing(sqlite3.connect(Home(made.home.ours).index)) as db:
        before = db.execute("pragma data_version").fetchone()
        made.ask("sessions", "--json")
        assert db.execute("pragma data_version").fetchone() == before
