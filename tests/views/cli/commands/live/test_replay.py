"""`tracklog replay` plays sessions into a home of their own, and stops cleanly when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from tests.views.cli.command import (
    ONE,
    TIME_LIMIT_S,
    TWO,
    both_agents,
    codex_lines,
    command,
    environment,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)

OTHER = "33333333-cccc-4ccc-8ccc-333333333333"


def logs_in(home: Path) -> dict[str, bytes]:
    found = (path for path in home.rglob("*.jsonl") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def test_sessions_of_both_agents_are_played_into_one_home(tmp_path: Path) -> None:
    both_agents(tmp_path)
    done = tracklog("replay", ONE[:8], TWO, "fake", "--speed", "max", "--keep-times", home=tmp_path)
    assert (done.code, done.out) == (
        0,
        "replayed 2 sessions into ~/fake: 3 writes, 0 hook calls, 0 changes of the registry\n",
    )
    assert done.err == "replaying 2 sessions into ~/fake; Ctrl-C stops\n"
    assert logs_in(tmp_path / "fake") == {
        str(transcript_in(tmp_path).relative_to(tmp_path / ".claude")): user_line(),
        str(rollout_in(tmp_path).relative_to(tmp_path / ".codex")): codex_lines(),
    }


def test_what_was_replayed_is_found_like_any_home(tmp_path: Path) -> None:
    both_agents(tmp_path)
    tracklog("replay", ONE, TWO, "fake", "--speed", "max", "--torn", home=tmp_path)
    listed = tracklog("sessions", "--root", tmp_path / "fake", "--json", home=tmp_path).json["sessions"]
    assert sorted(row["id"] for row in listed) == [ONE, TWO]


def test_each_step_is_a_line_of_json(tmp_path: Path) -> None:
    both_agents(tmp_path)
    options = ["--registry", "--hooks", "--speed", "max", "--as", OTHER, "--json"]
    rows = tracklog("replay", ONE, "fake", *options, home=tmp_path).rows
    log = tmp_path / "fake/projects/-home-dev-project" / f"{OTHER}.jsonl"
    assert [(row["step"], row["detail"]) for row in rows] == [
        ("registry", "no status"),
        ("registry", "idle"),
        ("hook", "SessionStart"),
        ("registry", "busy"),
        ("hook", "UserPromptSubmit"),
        ("wrote", None),
        ("hook", "SessionEnd"),
        ("registry", "removed"),
        ("ended", None),
    ]
    wrote = next(row for row in rows if row["step"] == "wrote")
    assert (wrote["session"], wrote["path"], wrote["bytes"]) == (OTHER, str(log), len(user_line()))
    spool = (tmp_path / "fake/tracklog/spool/hooks.jsonl").read_text().splitlines()
    assert {json.loads(line)["payload"]["session_id"] for line in spool} == {OTHER}


def test_hook_calls_go_to_the_home_that_is_named_but_not_to_ones_own(tmp_path: Path) -> None:
    both_agents(tmp_path)
    done = tracklog("replay", ONE, "fake", "--speed", "max", "--spool", "spooled", home=tmp_path)
    assert done.out.splitlines()[1] == "  the hook calls are in ~/spooled"
    assert (tmp_path / "spooled/spool/hooks.jsonl").exists()
    own = tmp_path / ".local/share/tracklog"
    refused = tracklog("replay", ONE, "fake", "--spool", own, home=tmp_path)
    assert refused.code == 2
    assert "your own tracklog home" in refused.err
    assert not (own / "spool").exists()


def test_the_homes_of_the_agents_are_refused(tmp_path: Path) -> None:
    both_agents(tmp_path)
    for target in (".claude", ".codex", ".claude/projects/x"):
        refused = tracklog("replay", ONE, target, "--speed", "max", home=tmp_path)
        assert refused.code == 2
        assert "is in the home of an agent" in refused.err
    assert logs_in(tmp_path) == {
        str(transcript_in(tmp_path).relative_to(tmp_path)): user_line(),
        str(rollout_in(tmp_path).relative_to(tmp_path)): codex_lines(),
    }


def test_wrong_use_is_told_in_one_line(tmp_path: Path) -> None:
    both_agents(tmp_path)
    assert tracklog("replay", "nobody", "fake", home=tmp_path).code == 1
    for arguments in (
        [ONE],
        [ONE, "fake", "--speed", "fast"],
        [ONE, "fake", "--speed", "0"],
        [ONE, TWO, "fake", "--as", OTHER],
        [ONE, "fake", "--as", "me"],
    ):
        refused = tracklog("replay", *arguments, home=tmp_path)
        assert (refused.code, refused.out) == (2, "")
    assert not (tmp_path / "fake").exists()


def test_ctrl_c_leaves_whole_lines_and_no_registry(tmp_path: Path) -> None:
    lines = [
        user_line("x" * 100_000, uuid=f"u-{n}", timestamp=f"2026-03-01T17:{n:02}:42.000Z") for n in range(30)
    ]
    write(transcript_in(tmp_path), b"".join(lines))
    arguments = command("replay", ONE, "fake", "--registry", "--torn", "--speed", "300", "--json")
    with subprocess.Popen(
        arguments, env=environment(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        written = 0
        while written < 5:
            written += json.loads(started.stdout.readline())["step"] == "wrote"
        assert (tmp_path / "fake/sessions" / f"{started.pid}.json").exists()
        os.kill(started.pid, signal.SIGINT)
        _, err = started.communicate(timeout=TIME_LIMIT_S)
    assert (started.returncode, err.decode()) == (130, "tracklog: interrupted\n")
    (data,) = logs_in(tmp_path / "fake").values()
    assert data.endswith(b"}\n")
    assert 0 < data.count(b"\n") < 30
    assert list((tmp_path / "fake/sessions").iterdir()) == []
