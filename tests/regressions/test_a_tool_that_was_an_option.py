"""A value for the client was read by the client as an option.

A user ran `tracklog run --allow Read --allow=--dangerously-skip-permissions`. Claude Code's `--allowedTools` takes words up to the
next one with a dash, so the second value switched every permission off. The same words went through `--deny`, `--model`,
`--name`, `--permission-mode`, `--add-dir`, lists of `--many`, and `tracklog.run.RunRequest`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import tracklog
from tracklog import run
from tracklog.errors import UserError

OPTION = "--dangerously-skip-permissions"
SAYS = f"{OPTION}: a value must not start with a dash, the client would take it for an option"
NAMES = ("--allow", "--deny", "--model", "--name", "--permission-mode")
SESSION = "00000000-0000-4000-8000-000000000001"


def _client(tmp_path: Path) -> Path:
    """A client that notes that it was started."""
    program = tmp_path / "client"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'was-started'}\n")
    program.chmod(0o755)
    return program


def _refused(tmp_path: Path, *words: str) -> str:
    done = tracklog(*words, home=tmp_path)
    assert done.code == 2
    assert not (tmp_path / "was-started").exists()
    return str(done.err)


@pytest.mark.parametrize("name", NAMES)
def test_run_refuses_a_value_that_the_client_would_read_as_an_option(tmp_path: Path, name: str) -> None:
    err = _refused(
        tmp_path, "run", "x", "--client", str(_client(tmp_path)), "--allow", "Read", f"{name}={OPTION}"
    )
    assert f"{name} {SAYS}" in err


@pytest.mark.parametrize("verb", ["resume", "fork"])
def test_resume_and_fork_refuse_it_too(tmp_path: Path, verb: str) -> None:
    log = tmp_path / ".claude/projects/-x" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    line = {"type": "user", "uuid": SESSION, "sessionId": SESSION, "cwd": str(tmp_path)}
    log.write_text(json.dumps(line | {"message": {"role": "user", "content": "x"}}) + "\n")
    client = str(_client(tmp_path))
    err = _refused(tmp_path, verb, SESSION, "go on", "--client", client, f"--allow={OPTION}")
    assert f"--allow {SAYS}" in err


@pytest.mark.parametrize(
    "asked",
    [
        {"allow": ["Read", OPTION]},
        {"deny": [OPTION]},
        *({one: OPTION} for one in ("model", "name", "permission_mode")),
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_a_line_of_a_list_is_refused_before_anything_is_started(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"prompt": "fine"}) + "\n" + json.dumps({"prompt": "x", **asked}) + "\n")
    err = _refused(tmp_path, "run", "--many", str(tasks), "--client", str(_client(tmp_path)))
    assert "tasks.jsonl:2: " in err
    assert SAYS in err


@pytest.mark.parametrize(
    "asked",
    [
        {"allowed_tools": ("Read", OPTION)},
        {"disallowed_tools": (OPTION,)},
        {"model": OPTION},
        {"name": OPTION},
        {"permission_mode": OPTION},
        {"add_dirs": (Path(OPTION),)},
        {"agent": "codex", "model": OPTION},
        {"agent": "codex", "permission_mode": OPTION},
        {"agent": "codex", "add_dirs": (Path(OPTION),)},
    ],
    ids=str,
)
def test_the_python_interface_refuses_it_too(tmp_path: Path, asked: dict[str, Any]) -> None:
    given: dict[str, Any] = {"agent": "claude", "client": str(_client(tmp_path)), **asked}
    with pytest.raises(UserError, match="must not start with a dash"):
        run.start(run.RunRequest(prompt="x", cwd=tmp_path, **given), home=tmp_path / "ours", env={})
    assert not (tmp_path / "was-started").exists()
