from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import Answer, tracklog, transcript_in, user_line, write

SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\r\n}'
DEFAULT = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionEnd",
]


def settings_in(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def both_homes(home: Path) -> Path:
    """Settings of Claude Code with a hook of somebody else, and a Codex with a config."""
    write(settings_in(home), SETTINGS)
    write(home / ".codex" / "config.toml", b'model = "gpt"\n')
    return home


def ours(answer: Answer) -> list[tuple[str, str, str]]:
    return [(hook["agent"], hook["level"], hook["event"]) for hook in answer.json["hooks"] if hook["ours"]]


def everything_below(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and ".local" not in path.parts
    }


def test_install_puts_hooks_into_both_agents_and_uninstall_leaves_no_trace(tmp_path: Path) -> None:
    before = everything_below(both_homes(tmp_path))
    answer = tracklog("hooks", "install", home=tmp_path)
    assert (answer.code, answer.out.splitlines()) == (
        0,
        [
            "installed: ~/.claude/settings.json (13 events)",
            "installed: ~/.codex/hooks.json (10 events)",
            "installed: ~/.codex/config.toml",
        ],
    )
    assert answer.err == (
        "tracklog: Codex runs new hooks when you have reviewed them: it asks at its next start, or say /hooks there\n"
    )
    assert tracklog("hooks", "install", home=tmp_path).out.splitlines() == [
        "already there: ~/.claude/settings.json (13 events)",
        "already there: ~/.codex/hooks.json (10 events)",
        "already there: ~/.codex/config.toml",
    ]
    assert tracklog("hooks", "uninstall", home=tmp_path).out.splitlines() == [
        "taken out: ~/.claude/settings.json",
        "taken out: ~/.codex/hooks.json",
        "taken out: ~/.codex/config.toml",
    ]
    assert everything_below(tmp_path) == before


def test_status_is_one_document_as_the_contract_says(tmp_path: Path) -> None:
    both_homes(tmp_path)
    tracklog("hooks", "install", "--agent", "claude", "--events", "Stop,SessionEnd", home=tmp_path)
    answer = tracklog("hooks", "status", "--json", home=tmp_path)
    (command,) = {hook["command"] for hook in answer.json["hooks"] if hook["ours"]}
    path = str(settings_in(tmp_path))
    common = {"agent": "claude", "level": "user", "path": path, "matcher": None, "why_not": None}
    assert answer.json == {
        "schema_version": 1,
        "hooks": [
            {**common, "event": "Stop", "command": "true", "ours": False},
            {**common, "event": "Stop", "command": command, "ours": True},
            {**common, "event": "SessionEnd", "command": command, "ours": True},
        ],
        "problems": [],
    }


def test_the_default_events_are_those_that_states_and_calls_need(tmp_path: Path) -> None:
    write(settings_in(tmp_path), b"{}")
    tracklog("hooks", "install", home=tmp_path)
    assert [event for _, _, event in ours(tracklog("hooks", "status", "--json", home=tmp_path))] == DEFAULT


@pytest.mark.parametrize(
    ("version", "n_events"), [("1.0.60", 6), ("2.0.30", 6), ("2.1.100", 13), ("2.1.325", 13), ("x", 13)]
)
def test_an_old_client_is_told_only_of_events_that_it_knows(
    version: str, n_events: int, tmp_path: Path
) -> None:
    write(settings_in(tmp_path), b"{}")
    write(transcript_in(tmp_path, "old.jsonl"), user_line(version="1.0.1").replace(b'": "', b'":"'))
    os.utime(transcript_in(tmp_path, "old.jsonl"), (1, 1))
    write(transcript_in(tmp_path), user_line(version=version).replace(b'": "', b'":"'))
    answer = tracklog("hooks", "install", "--json", home=tmp_path)
    assert len(answer.json["files"][0]["events"]) == n_events
    assert ("knows few events" in answer.err) == (n_events == 6)
    chosen = tracklog("hooks", "install", "--events", "default", "--json", home=tmp_path)
    assert len(chosen.json["files"][0]["events"]) == 13


@pytest.mark.parametrize(
    ("level", "name"),
    [
        ("--user", "~/.claude/settings.json"),
        ("--project", "p/.claude/settings.json"),
        ("--local", "p/.claude/settings.local.json"),
    ],
)
def test_each_level_has_its_file(level: str, name: str, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "p").mkdir()
    before = sorted(tmp_path.rglob("*"))
    tracklog("hooks", "install", level, home=tmp_path, cwd=tmp_path / "p")
    path = tmp_path / name.removeprefix("~/")
    assert list(json.loads(path.read_text())["hooks"]) == DEFAULT
    status = tracklog("hooks", "status", "--json", home=tmp_path, cwd=tmp_path / "p")
    assert {one[1] for one in ours(status)} == {level.removeprefix("--")}
    tracklog("hooks", "uninstall", level, home=tmp_path, cwd=tmp_path / "p")
    assert [one for one in sorted(tmp_path.rglob("*")) if ".local" not in one.parts] == before


def test_uninstall_finds_what_was_put_into_other_projects(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        tracklog("hooks", "install", "--project", home=tmp_path, cwd=tmp_path / name)
    answer = tracklog("hooks", "uninstall", "--json", home=tmp_path, cwd=tmp_path / "one")
    assert [(row["path"], row["outcome"]) for row in answer.json["files"]] == [
        (str(tmp_path / "one/.claude/settings.json"), "taken out"),
        (str(tmp_path / "two/.claude/settings.json"), "taken out"),
    ]
    assert not (tmp_path / "one/.claude").exists()
    assert not (tmp_path / "two/.claude").exists()


def run_hook(command: str, payload: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, cwd="/", env={}
    )


def test_the_installed_command_spools_what_it_is_told_from_anywhere(tmp_path: Path) -> None:
    home = tmp_path / 'it\'s a "home"'
    write(settings_in(home), b"{}")
    tracklog("hooks", "install", "--events", "Stop", "--home", home / "our own", home=home)
    (found,) = tracklog("hooks", "status", "--json", home=home).json["hooks"]
    assert "tracklog" in found["command"]
    payload = {"hook_event_name": "Stop", "session_id": "s"}
    done = run_hook(found["command"], payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = (home / "our own/spool/hooks.jsonl").read_text().splitlines()
    assert json.loads(line)["payload"] == payload
    assert json.loads(line)["agent"] == "claude"


def test_notify_spools_what_codex_puts_behind_it(tmp_path: Path) -> None:
    both_homes(tmp_path)
    tracklog("hooks", "install", "--agent", "codex", "--home", tmp_path / "own", home=tmp_path)
    words = tomllib.loads((tmp_path / ".codex/config.toml").read_text())["notify"]
    told = {"type": "agent-turn-complete", "thread-id": "t"}
    done = subprocess.run([*words, json.dumps(told)], capture_output=True, env={}, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = (tmp_path / "own/spool/hooks.jsonl").read_text().splitlines()
    assert {key: json.loads(line)[key] for key in ("agent", "via", "payload")} == {
        "agent": "codex",
        "via": "notify",
        "payload": told,
    }


def test_somebody_elses_notify_is_left_and_said(tmp_path: Path) -> None:
    both_homes(tmp_path)
    config = write(tmp_path / ".codex/config.toml", b'notify = ["say", "done"]\n')
    answer = tracklog("hooks", "install", "--agent", "codex", home=tmp_path)
    assert answer.out.splitlines()[1] == (
        "not free: ~/.codex/config.toml: `notify` runs another program, which was left alone"
    )
    assert config.read_bytes() == b'notify = ["say", "done"]\n'


def test_notify_is_left_alone_when_that_is_asked_for(tmp_path: Path) -> None:
    both_homes(tmp_path)
    tracklog("hooks", "install", "--agent", "codex", "--no-notify", home=tmp_path)
    assert (tmp_path / ".codex/config.toml").read_bytes() == b'model = "gpt"\n'


def test_a_malformed_file_is_refused_with_its_place_and_the_others_are_done(tmp_path: Path) -> None:
    both_homes(tmp_path)
    broken = write(settings_in(tmp_path), b'{\n  "a": 1,\n}\n')
    answer = tracklog("hooks", "install", home=tmp_path)
    assert (answer.code, answer.out.splitlines()) == (
        2,
        ["installed: ~/.codex/hooks.json (10 events)", "installed: ~/.codex/config.toml"],
    )
    assert answer.err.splitlines()[-1] == (
        f"tracklog: cannot change {broken}: line 3, column 1: expected a key in double quotes; correct it and try again"
    )
    assert broken.read_bytes() == b'{\n  "a": 1,\n}\n'
    status = tracklog("hooks", "status", home=tmp_path)
    assert status.code == 1
    assert status.err == (
        "tracklog: cannot read ~/.claude/settings.json: line 3, column 1: expected a key in double quotes\n"
    )


def test_a_read_only_folder_is_said_plainly(tmp_path: Path) -> None:
    path = write(settings_in(tmp_path), SETTINGS)
    path.parent.chmod(0o555)
    try:
        answer = tracklog("hooks", "install", home=tmp_path, is_mighty=False)
    finally:
        path.parent.chmod(0o755)
    assert (answer.code, answer.err) == (
        2,
        f"tracklog: the folder {path.parent} is read-only: nothing was changed\n",
    )
    assert path.read_bytes() == SETTINGS


def test_a_folder_that_may_not_be_entered_is_said_plainly(tmp_path: Path) -> None:
    path = write(settings_in(tmp_path), SETTINGS)
    path.parent.chmod(0)
    try:
        answers = [
            tracklog("hooks", what, "--agent", "claude", home=tmp_path, is_mighty=False)
            for what in ("install", "uninstall", "status")
        ]
    finally:
        path.parent.chmod(0o755)
    assert [answer.code for answer in answers] == [2, 2, 1]
    assert all("permission denied" in answer.err and "Traceback" not in answer.err for answer in answers)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--events", "Nonsense"], "no such event: 'Nonsense'; `tracklog hooks install --help` names them"),
        (
            ["--events", "WorktreeCreate"],
            "WorktreeCreate is not for listening: the client waits for an answer of its hook",
        ),
        (["--agent", "codex", "--local"], "Codex has no local level: say --user or --project"),
        ([], "neither Claude Code nor Codex has a home here: say which one with --agent"),
    ],
)
def test_what_cannot_be_meant_is_said(arguments: list[str], said: str, tmp_path: Path) -> None:
    answer = tracklog("hooks", "install", *arguments, home=tmp_path)
    assert (answer.code, answer.err) == (2, f"tracklog: {said}\n")
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_is_named_need_not_have_a_home_yet(tmp_path: Path) -> None:
    tracklog("hooks", "install", "--agent", "claude", home=tmp_path)
    assert settings_in(tmp_path).exists()
    tracklog("hooks", "uninstall", home=tmp_path)
    assert not settings_in(tmp_path).parent.exists()


def test_the_homes_are_those_that_the_environment_names(tmp_path: Path) -> None:
    write(tmp_path / "c/settings.json", b"{}")
    (tmp_path / "x").mkdir()
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    answer = tracklog("hooks", "install", "--json", home=tmp_path, env=env)
    assert [row["path"] for row in answer.json["files"]] == [
        str(tmp_path / "c/settings.json"),
        str(tmp_path / "x/hooks.json"),
        str(tmp_path / "x/config.toml"),
    ]


def test_options_given_before_the_command_are_its_defaults(tmp_path: Path) -> None:
    write(settings_in(tmp_path), b"{}")
    answer = tracklog("--json", "--home", tmp_path / "own", "hooks", "install", home=tmp_path)
    assert answer.json["files"][0]["outcome"] == "installed"
    (found,) = {
        hook["command"] for hook in tracklog("--json", "hooks", "status", home=tmp_path).json["hooks"]
    }
    assert shlex.split(found)[5:] == [
        os.path.abspath(sys.executable),
        "-I",
        "-S",
        shlex.split(found)[8],
        "--home",
        str(tmp_path / "own"),
        "--agent",
        "claude",
    ]


def test_people_see_what_runs_and_what_does_not(tmp_path: Path) -> None:
    both_homes(tmp_path)
    tracklog("hooks", "install", "--events", "Stop", home=tmp_path)
    shown = tracklog("hooks", "status", home=tmp_path).out
    assert [" ".join(line.split()) for line in shown.splitlines()] == [
        "claude 2 hooks",
        "user + Stop * true",
        "user + Stop * tracklog",
        "codex 2 hooks",
        "user - Stop * tracklog",
        "user + notify * tracklog",
        "do not run: ~/.codex/hooks.json: Codex has not been told to trust it: start `codex` and agree, or look at /hooks there",
    ]


def test_without_hooks_it_is_said_how_to_get_them(tmp_path: Path) -> None:
    answer = tracklog("hooks", "status", home=tmp_path)
    assert (answer.code, answer.out) == (0, "No hooks. `tracklog hooks install` puts ours in.\n")
    assert tracklog("hooks", "uninstall", home=tmp_path).out == "nothing was there\n"
    assert list(tmp_path.iterdir()) == []
