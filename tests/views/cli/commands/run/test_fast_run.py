"""`run` in its plainest form is read without click, and means the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.views.cli.commands.run.test_run import Place
from tests.views.cli.test_fast_path import loaded_by
from tracklog.views.cli.commands.run.fast_run import plain_run
from tracklog.views.cli.fast_path import quick_work


def test_plain_words_are_read_each_for_what_it_means() -> None:
    words = (
        "do it",
        "--json",
        "--agent",
        "codex",
        "--timeout",
        "15m",
        "--max-cost",
        "$0.50",
        "--no-persistence",
    )
    plain = plain_run(words)
    assert plain is not None
    assert plain.options == {
        "prompt": "do it",
        "as_json": True,
        "agent": "codex",
        "timeout_s": 900.0,
        "max_cost_micro_usd": 500_000,
        "persists": False,
    }


@pytest.mark.parametrize(
    "words",
    [
        ("two", "prompts"),
        ("x", "--json", "--json"),
        ("x", "--model"),
        ("x", "--model", "--json"),
        ("x", "--timeout", "soon"),
        ("x", "--timeout", "0"),
        ("x", "--agent", "cursor"),
        ("x", "--max-cost", "0"),
        ("x", "--", "--odd"),
        ("x", "--help"),
        ("x", "--worktree"),
        ("x", "--many", "list"),
        ("x", "--timeout=5"),
        ("x", "--home", "there"),
    ],
    ids=" ".join,
)
def test_everything_else_is_for_click(words: tuple[str, ...]) -> None:
    assert quick_work(["run", *words]) is None


def test_both_ways_give_the_same_result(tmp_path: Path) -> None:
    place = Place(tmp_path)
    words = ("run", "say forty-two", "--json", "--timeout", "30s", "--permission-mode", "plan", "--cwd", ".")
    quick = place.tracklog(*words).json
    through_click = place.tracklog(*words, "--home", str(tmp_path / "ours")).json
    of_each_run = {"session_id", "uuid", "run", "transcript_path", "duration_ms", "duration_api_ms"}
    assert {name for name in quick if quick[name] != through_click[name]} <= of_each_run
    assert set(quick) == set(through_click)
    assert (quick["result"], quick["ended_by"]) == ("forty-two", "completed")


def test_click_is_not_loaded(tmp_path: Path) -> None:
    program = tmp_path / "client"
    program.write_text(f"#!/bin/sh\necho '{json.dumps({'type': 'result', 'result': 'done'})}'\n")
    program.chmod(0o755)
    loaded = loaded_by("run", "x", "--client", str(program), home=tmp_path)
    assert "tracklog.run.result" in loaded
    assert {"click", "rich", "asyncio"} & loaded == set()
    assert "tracklog.agents.claude_code.client" in loaded
    assert "tracklog.agents.codex.client" not in loaded
