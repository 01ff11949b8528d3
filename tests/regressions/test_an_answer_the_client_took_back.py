"""A known answer was thrown away when the client's own result had an empty text.

A user ran `tracklog run --idle-timeout 3s` in a folder with a Stop hook that hangs. At the limit Claude Code 2.1.325 was
interrupted in its hook and said `"result": ""`, as its last message was then the notice of the interruption. The log and the
payload of the Stop hook held the answer. The document had `result: ""` and claimed that it came from `stop_payload`: the
answer was only filled in where the client's text was None.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracklog import run

ANSWER = "The answer is 42."
CLIENT = """#!{python} -IS
import json, os, signal, subprocess, sys, time
sys.stdin.read()
given = dict(zip(sys.argv, sys.argv[1:]))
session = given["--session-id"]
def say(**line): os.write(1, json.dumps(line | {{"session_id": session}}).encode() + b"\\n")
def give_up(*_):
    say(type="result", subtype="success", is_error=False, result="")
    sys.exit(0)
signal.signal(signal.SIGINT, give_up)
text = [{{"type": "text", "text": {answer!r}}}]
say(type="system", subtype="init", model="m")
say(type="assistant", message={{"id": "m1", "content": text}}, parent_tool_use_id=None)
payload = dict(hook_event_name="Stop", session_id=session, last_assistant_message={answer!r})
if {has_hooks}:
    settings = json.load(open(given["--settings"]))
    (hook,) = settings["hooks"]["Stop"][0]["hooks"]
    subprocess.run(hook["command"], shell=True, input=json.dumps(payload).encode())
say(type="system", subtype="hook_started")
time.sleep(600)
"""


def _started(tmp_path: Path, *, has_hooks: bool, idle_s: float | None = None) -> run.Child:
    program = tmp_path / "client"
    program.write_text(CLIENT.format(python=sys.executable, answer=ANSWER, has_hooks=has_hooks))
    program.chmod(0o755)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    given: dict[str, Any] = {"limits": run.Limits(idle_s=idle_s), "client": str(program)}
    return run.start(
        run.RunRequest(agent="claude", prompt="x", cwd=tmp_path, **given), home=tmp_path / "ours", env=env
    )


def _is_in_its_hook(child: run.Child) -> bool:
    return any(one.what == "system/hook_started" for one in child.events())


def _cancelled(child: run.Child) -> None:
    assert _is_in_its_hook(child)
    child.cancel()


def _killed(child: run.Child) -> None:
    assert _is_in_its_hook(child)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)


@pytest.mark.parametrize("end", [_cancelled, _killed], ids=lambda end: end.__name__[1:])
@pytest.mark.parametrize(("has_hooks", "source"), [(True, "stop_payload"), (False, "stream")])
def test_the_answer_is_given_with_its_true_source_however_it_ends(
    tmp_path: Path, end: Callable[[run.Child], None], has_hooks: bool, source: str
) -> None:
    with _started(tmp_path, has_hooks=has_hooks) as child:
        end(child)
        result = child.result()
    assert (result.ended_by, result.text) == (end.__name__[1:], ANSWER)
    assert result.document["sources"]["result"] == source


def test_the_answer_is_given_when_the_run_has_been_silent_too_long(tmp_path: Path) -> None:
    for idle_s in (2.0, 10.0, 60.0):  # the client must have answered before the limit, on a busy machine too
        with _started(tmp_path, has_hooks=True, idle_s=idle_s) as child:
            has_answered = _is_in_its_hook(child)
            result = child.result()
        assert result.ended_by == "timeout"
        if has_answered:
            break
    assert (result.text, result.document["sources"]["result"]) == (ANSWER, "stop_payload")
