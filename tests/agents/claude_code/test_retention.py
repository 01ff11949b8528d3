from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracklog.agents.base import Retention
from tracklog.agents.claude_code.retention import managed_settings, retention


def settings(path: Path, **values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
    return path


def test_claude_code_keeps_sessions_for_thirty_days_unless_told_otherwise(tmp_path: Path) -> None:
    assert retention(tmp_path, managed=[]) == Retention(30)
    said = settings(tmp_path / "settings.json", cleanupPeriodDays=90)
    assert retention(tmp_path, managed=[]) == Retention(90, said)


def test_the_shortest_time_of_any_project_counts(tmp_path: Path) -> None:
    settings(tmp_path / "settings.json", cleanupPeriodDays=90)
    short = settings(tmp_path / "one/.claude/settings.json", cleanupPeriodDays=5)
    settings(tmp_path / "two/.claude/settings.json", cleanupPeriodDays=1)
    settings(tmp_path / "two/.claude/settings.local.json", cleanupPeriodDays=365)
    projects = [tmp_path / "one", tmp_path / "two", tmp_path / "gone"]
    assert retention(tmp_path, projects=projects, managed=[]) == Retention(5, short)


def test_what_the_organisation_sets_holds_everywhere(tmp_path: Path) -> None:
    settings(tmp_path / "settings.json", cleanupPeriodDays=5)
    settings(tmp_path / "one/.claude/settings.json", cleanupPeriodDays=1)
    managed = settings(tmp_path / "managed.json", cleanupPeriodDays=400)
    said = retention(tmp_path, projects=[tmp_path / "one"], managed=[tmp_path / "none.json", managed])
    assert said == Retention(400, managed)


@pytest.mark.parametrize("value", [-1, 2.5, "30", True, [], 0])
def test_a_value_that_no_client_takes_pauses_the_deletion(tmp_path: Path, value: Any) -> None:
    said = settings(tmp_path / "settings.json", cleanupPeriodDays=value)
    found = retention(tmp_path, managed=[])
    assert (found.said_by, bool(found.why_paused)) == (said, True)


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"cleanupPeriodDays": null}', "[" * 100_000])
def test_settings_that_say_nothing_leave_the_default(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    assert retention(tmp_path, managed=[]) == Retention(30)


def test_an_organisation_keeps_its_settings_where_the_system_wants_them() -> None:
    assert managed_settings("darwin")[-1] == Path(
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    )
    assert managed_settings("linux")[-1] == Path("/etc/claude-code/managed-settings.json")
