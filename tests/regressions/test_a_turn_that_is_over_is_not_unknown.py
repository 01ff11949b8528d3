"""What a session does is only unknown where nothing can be said.

On a day with 65 sessions of a client that keeps no registry, 45 were `unknown`: the turn was over, a line of progress came
behind it, and nobody could say whether the process lived. A Codex session whose last line (`task_complete`) lacked its
newline was `crashed`: half a line waits, and this one was whole. A headless run that had just ended was `idle` for ten
seconds: a new session is written before it is registered, so an unregistered one was given that long.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.live_home import ONE, LiveHome, append, now
from tracklog import read
from tracklog.live.watch.watcher import Watch
from tracklog.model.states import LiveState
from tracklog.reading.session_files import Name
from tracklog.sources.log_file import Root


def state_in(roots: list[Root], name: Name) -> LiveState:
    with closing(Watch(roots)) as watch:
        watch.begin()
        return watch.sessions[name].state


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def test_a_turn_that_is_over_has_ended_where_no_process_could_be_its(home: LiveHome) -> None:
    (home.path / "sessions").rmdir()
    home.prompt("go")
    home.reply("Done.")
    home.line(type="progress", data={"type": "hook_progress", "hookEvent": "Stop", "command": "true"})
    state = state_in(home.roots, ("claude", ONE))
    assert state.state == "ended"
    assert state.evidence == ["log line 2", "no process of Claude Code works in its folder"]
    assert read(home.log()).state == "ended"


@pytest.mark.parametrize("entrypoint", ["sdk-cli", "sdk-py"])
def test_a_headless_run_that_is_over_has_ended_at_once(home: LiveHome, entrypoint: str) -> None:
    home.line(type="user", message={"role": "user", "content": "go"}, entrypoint=entrypoint)
    home.reply("Done.")
    assert state_in(home.roots, ("claude", ONE)).state == "ended"
    assert read(home.log()).state == "ended"


def test_a_headless_run_that_is_not_registered_yet_works(home: LiveHome) -> None:
    home.line(type="user", message={"role": "user", "content": "go"}, entrypoint="sdk-cli")
    assert state_in(home.roots, ("claude", ONE)).state == "working"


THREAD = "019cabb7-e893-7e40-ad43-9853b24907f6"


class Codex:
    """A rollout that nobody writes any more, without its last newline."""

    def __init__(self, folder: Path) -> None:
        self.roots = [Root(folder, "codex")]
        self.log = folder / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T17-24-42-{THREAD}.jsonl"
        self.log.parent.mkdir(parents=True)
        self._write("session_meta", id=THREAD, timestamp=now(), cwd="/work/app", originator="codex_exec")
        self._write("event_msg", type="task_started", turn_id="t1")
        self._write("event_msg", type="user_message", message="go")
        self._write("event_msg", type="task_complete", turn_id="t1", last_agent_message="Done.")
        self.log.write_bytes(self.log.read_bytes().rstrip(b"\n"))

    def _write(self, kind: str, **payload: str) -> None:
        line = {"timestamp": now(), "type": kind, "payload": payload}
        with self.log.open("ab") as stream:
            stream.write(json.dumps(line).encode() + b"\n")


def test_a_whole_last_line_counts_without_its_newline(tmp_path: Path) -> None:
    codex = Codex(tmp_path)
    assert state_in(codex.roots, ("codex", THREAD)).state == "ended"
    assert read(codex.log).state == "ended"


def test_a_line_that_counted_without_its_newline_is_told_once(tmp_path: Path) -> None:
    codex = Codex(tmp_path)
    whole = codex.log.read_bytes()
    last = whole.rindex(b"\n") + 1
    codex.log.write_bytes(whole[:last])
    with closing(Watch(codex.roots)) as watch:
        watch.begin()
        told = []
        for part in (whole[last : last + 20], whole[last + 20 :], b"\n"):
            append(codex.log, part)
            told += [event.event for event in watch.wait(0.0) + watch.wait(0.3)]
    assert told.count("turn_ended") == 1
