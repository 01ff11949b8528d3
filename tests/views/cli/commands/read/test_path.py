from __future__ import annotations

import os
from pathlib import Path

from tests.views.cli.command import (
    ONE,
    TWO,
    both_agents,
    on_a_terminal,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)

NEW = "33333333-cccc-4ccc-8ccc-333333333333"


def test_a_session_is_found_by_id_by_the_start_of_it_by_file_and_as_the_last(tmp_path: Path) -> None:
    both_agents(tmp_path)
    os.utime(transcript_in(tmp_path), (1000, 1000))
    assert tracklog("path", ONE, home=tmp_path) == (0, f"{transcript_in(tmp_path)}\n", "")
    assert tracklog("path", "222", home=tmp_path).out == f"{rollout_in(tmp_path)}\n"
    assert tracklog("path", "@last", home=tmp_path).out == f"{rollout_in(tmp_path)}\n"
    inside = tracklog("path", f"{ONE}.jsonl", home=tmp_path, cwd=transcript_in(tmp_path).parent)
    assert inside.out == f"{transcript_in(tmp_path)}\n"


def test_json_says_path_agent_and_that_it_exists(tmp_path: Path) -> None:
    both_agents(tmp_path)
    assert tracklog("path", TWO, "--json", home=tmp_path).json == {
        "schema_version": 1,
        "path": str(rollout_in(tmp_path)),
        "agent": "codex",
        "exists": True,
    }


def test_the_id_of_a_log_outside_of_a_home_is_told_by_its_records(tmp_path: Path) -> None:
    write(tmp_path / "logs/a.jsonl", user_line())
    assert tracklog("path", ONE, "--json", "--root", tmp_path / "logs", home=tmp_path).json == {
        "schema_version": 1,
        "path": str(tmp_path / "logs/a.jsonl"),
        "agent": "claude",
        "exists": True,
    }


def test_a_log_outside_of_the_roots_has_its_agent_too(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", user_line())
    assert tracklog("path", log, "--json", home=tmp_path).json == {
        "schema_version": 1,
        "path": str(log),
        "agent": "claude",
        "exists": True,
    }


def test_of_loose_logs_of_one_session_the_one_with_its_name_is_meant(tmp_path: Path) -> None:
    named = write(tmp_path / "logs" / f"{ONE}.jsonl", user_line())
    write(tmp_path / "logs" / ONE / "other.jsonl", user_line())
    os.utime(named, (1000, 1000))
    assert tracklog("path", ONE, "--root", tmp_path / "logs", home=tmp_path).out == f"{named}\n"


def test_a_session_that_is_nowhere_is_exit_1_with_one_line(tmp_path: Path) -> None:
    both_agents(tmp_path)
    said = f"tracklog: no session {NEW}: `tracklog places` shows where logs are, --root looks elsewhere\n"
    assert tracklog("path", NEW, home=tmp_path) == (1, "", said)
    in_json = tracklog("path", NEW, "--json", home=tmp_path)
    assert (in_json.code, in_json.err) == (1, said)
    assert in_json.json == {"schema_version": 1, "path": None, "agent": None, "exists": False}
    assert tracklog("path", "no-id", "--cwd", tmp_path, home=tmp_path).code == 1


def test_with_a_working_directory_it_says_where_a_new_session_will_be_written(tmp_path: Path) -> None:
    both_agents(tmp_path)
    (tmp_path / "work").mkdir()
    folder = str((tmp_path / "work").resolve()).replace("/", "-").replace("_", "-")
    answer = tracklog("path", NEW, "--cwd", "work", "--json", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "schema_version": 1,
        "path": str(tmp_path / ".claude" / "projects" / folder / f"{NEW}.jsonl"),
        "agent": "claude",
        "exists": False,
    }


def test_the_place_of_a_new_session_is_in_the_root_that_was_given(tmp_path: Path) -> None:
    both_agents(tmp_path)
    (tmp_path / "other/projects").mkdir(parents=True)
    answer = tracklog("path", NEW, "--cwd", "/", "--root", tmp_path / "other", home=tmp_path)
    assert answer.out == f"{tmp_path}/other/projects/-/{NEW}.jsonl\n"
    assert tracklog("path", NEW, "--cwd", "/", "--agent", "codex", home=tmp_path).code == 1


def test_of_a_session_in_two_projects_the_one_of_the_working_directory_wins(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    own = write(
        projects / str(tmp_path.resolve()).replace("/", "-").replace("_", "-") / f"{ONE}.jsonl", user_line()
    )
    newer = write(projects / "-elsewhere" / f"{ONE}.jsonl", user_line())
    os.utime(own, (1000, 1000))
    assert tracklog("path", ONE, home=tmp_path).out == f"{newer}\n"
    assert tracklog("path", ONE, "--cwd", tmp_path, home=tmp_path).out == f"{own}\n"


def test_the_start_of_several_ids_is_refused(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), user_line())
    write(transcript_in(tmp_path, f"{NEW[:-1]}0.jsonl"), user_line())
    write(transcript_in(tmp_path, f"{NEW}.jsonl"), user_line())
    answer = tracklog("path", "333", home=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("tracklog: '333' is the start of 2 sessions (")


def test_scripts_get_the_bytes_of_a_path_and_terminals_a_safe_spelling(tmp_path: Path) -> None:
    name = b"log\x1b[31m\xff.jsonl".decode(errors="surrogateescape")
    log = write(transcript_in(tmp_path, name), user_line())
    assert tracklog("path", "@last", home=tmp_path).out == f"{log}\n"
    assert on_a_terminal("path", "@last", home=tmp_path).endswith("log\\x1b[31m\\xff.jsonl\n")
