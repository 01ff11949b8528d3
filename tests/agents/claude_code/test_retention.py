from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.index.archived_home import DAY_NS
from tracklog.agents.claude_code.retention import Deletion, Retention, deletions, managed_settings, retention
from tracklog.sources.log_file import FileKind, LogFile

NOW_NS = 1_800_000_000 * 10**9


def settings(path: Path, **values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
    return path


def log(
    root: Path, name: str, *, age_days: float, agent: Any = "claude", kind: FileKind = FileKind.TRANSCRIPT
) -> LogFile:
    mtime_ns = NOW_NS - int(age_days * DAY_NS)
    return LogFile(agent, kind, root / f"{name}.jsonl", root, name, 1, mtime_ns, 1, 1)


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
    assert deletions([log(tmp_path, "a", age_days=99)], {tmp_path: found}, now_ns=NOW_NS, within_days=7) == []


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"cleanupPeriodDays": null}', "[" * 100_000])
def test_settings_that_say_nothing_leave_the_default(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    assert retention(tmp_path, managed=[]) == Retention(30)


def test_sessions_that_go_soon_are_listed_the_next_one_first(tmp_path: Path) -> None:
    files = [
        log(tmp_path, "young", age_days=2),
        log(tmp_path, "soon", age_days=24),
        log(tmp_path, "overdue", age_days=31),
        log(tmp_path, "later", age_days=22.9),
        log(tmp_path, "of codex", age_days=300, agent="codex"),
        log(tmp_path, "side", age_days=300, kind=FileKind.META),
        log(tmp_path / "another home", "unknown", age_days=300),
    ]
    found = deletions(files, {tmp_path: Retention(30)}, now_ns=NOW_NS, within_days=7)
    assert found == [
        Deletion("overdue", tmp_path / "overdue.jsonl", NOW_NS - DAY_NS),
        Deletion("soon", tmp_path / "soon.jsonl", NOW_NS + 6 * DAY_NS),
    ]


def test_an_organisation_keeps_its_settings_where_the_system_wants_them() -> None:
    assert managed_settings("darwin")[-1] == Path(
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    )
    assert managed_settings("linux")[-1] == Path("/etc/claude-code/managed-settings.json")
