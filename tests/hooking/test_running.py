"""A hook of one's own, run as an agent runs it: what it decided arrives, whatever happens to its pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracklog

PAYLOAD = json.dumps(
    {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
)
SOURCE = Path(tracklog.__file__).parents[1]


def ran(handler: str, redirects: str = "", payload: str = PAYLOAD) -> subprocess.CompletedProcess[str]:
    code = f"import subprocess\nfrom tracklog.hooking import *\n{handler}"
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {redirects}', sys.executable, code],
        input=payload,
        capture_output=True,
        text=True,
        env={"PATH": os.defpath, "PYTHONPATH": str(SOURCE)},
        timeout=60,
    )


@pytest.mark.parametrize("redirects", ["", "2>&-", "2>/dev/full", ">&-", ">/dev/full", ">&- 2>&-"])
def test_block_blocks_whatever_happens_to_its_pipes(redirects: str) -> None:
    assert ran('run(lambda event: block("no"))', redirects).returncode == 2


@pytest.mark.parametrize("redirects", ["", "2>&-", "2>/dev/full"])
def test_a_decision_is_all_that_stands_on_stdout(redirects: str) -> None:
    handler = 'def guard(event):\n    print("looking")\n    subprocess.run(["echo", "checking"])\n    return deny("no")\nrun(guard)'
    done = ran(handler, redirects)
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_guard_that_must_not_fail_open_blocks_when_it_fails() -> None:
    for failing in ('raise RuntimeError("x")', "raise SystemExit(0)", "raise KeyboardInterrupt"):
        done = ran(f"def guard(event):\n    {failing}\nrun(guard, fails_closed=True)")
        assert done.returncode == 2, failing


def test_without_a_payload_it_fails_and_a_guard_blocks() -> None:
    assert ran("run(lambda event: None)", "<&-").returncode == 1
    assert ran("run(lambda event: None, fails_closed=True)", "<&-").returncode == 2


def test_a_permission_that_is_decided_twice_is_a_mistake() -> None:
    done = ran('run(lambda event: [deny("no"), allow()], fails_closed=True)')
    assert (done.returncode, done.stdout) == (2, "")
    assert "decided once, not as deny and allow" in done.stderr
