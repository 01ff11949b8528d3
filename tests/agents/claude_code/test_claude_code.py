from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sources.tree import ONE, TWO, files_in, locked, plant, skipped_in
from tracklog.agents.claude_code.places import find, slug, transcript_path
from tracklog.agents.roots import claude_homes
from tracklog.errors import UserError
from tracklog.sources.log_file import LogFile

APP = "projects/-srv-app"


def test_every_kind_of_file_in_a_home_is_found_with_its_session(tmp_path: Path) -> None:
    side = f"{APP}/{ONE}"
    plant(
        tmp_path,
        f"{APP}/{ONE}.jsonl",
        f"{APP}/agent-7f3a9c1b.jsonl",
        f"{APP}/sessions-index.json",
        f"{side}/custom-title.json",
        f"{side}/subagents/agent-a1b2c3d4e5f60718.jsonl",
        f"{side}/subagents/agent-a1b2c3d4e5f60718.meta.json",
        f"{side}/subagents/workflows/wf_0123abcd-e1f/agent-a2.jsonl",
        f"{side}/subagents/workflows/wf_0123abcd-e1f/agent-a2.meta.json",
        f"{side}/subagents/workflows/wf_0123abcd-e1f/journal.jsonl",
        f"{side}/tool-results/spilled.txt",
        f"{side}/tool-results/deeper/agent-output.jsonl",
        f"{side}/workflows/wf_0123abcd-e1f.json",
        "history.jsonl",
        "sessions/4410.json",
    )
    assert files_in(find(tmp_path), tmp_path) == [
        ("history", "history.jsonl", None),
        ("transcript", f"{APP}/{ONE}.jsonl", ONE),
        ("subagent", f"{APP}/agent-7f3a9c1b.jsonl", None),
        ("project_index", f"{APP}/sessions-index.json", None),
        ("title", f"{side}/custom-title.json", ONE),
        ("subagent", f"{side}/subagents/agent-a1b2c3d4e5f60718.jsonl", ONE),
        ("meta", f"{side}/subagents/agent-a1b2c3d4e5f60718.meta.json", ONE),
        ("subagent", f"{side}/subagents/workflows/wf_0123abcd-e1f/agent-a2.jsonl", ONE),
        ("meta", f"{side}/subagents/workflows/wf_0123abcd-e1f/agent-a2.meta.json", ONE),
        ("journal", f"{side}/subagents/workflows/wf_0123abcd-e1f/journal.jsonl", ONE),
        ("tool_result", f"{side}/tool-results/spilled.txt", ONE),
        ("tool_result", f"{side}/tool-results/deeper/agent-output.jsonl", ONE),
        ("workflow", f"{side}/workflows/wf_0123abcd-e1f.json", ONE),
        ("registry", "sessions/4410.json", None),
    ]


def test_memory_secrets_scripts_and_settings_are_not_logs(tmp_path: Path) -> None:
    plant(
        tmp_path,
        f"{APP}/memory/MEMORY.md",
        f"{APP}/memory/{TWO}.jsonl",
        f"{APP}/{ONE}/workflows/scripts/name-wf_1.js",
        f"{APP}/{ONE}/auto-mode-classifier-error.txt",
        f"sessions/4410.{'a' * 64}.key",
        "sessions/notes.json",
        "settings.json",
        "todos/x.json",
    )
    assert list(find(tmp_path)) == []


def test_an_empty_transcript_is_found_with_size_zero(tmp_path: Path) -> None:
    plant(tmp_path, f"{APP}/{ONE}.jsonl", content=b"")
    sizes = [(file.path.name, file.size) for file in find(tmp_path) if isinstance(file, LogFile)]
    assert sizes == [(f"{ONE}.jsonl", 0)]


def test_a_log_at_a_place_nobody_described_is_found_as_other(tmp_path: Path) -> None:
    plant(tmp_path, f"{APP}/{ONE}/runtime/new.jsonl", "projects/loose.jsonl", f"{APP}/renamed by hand.jsonl")
    assert files_in(find(tmp_path), tmp_path) == [
        ("other", "projects/loose.jsonl", None),
        ("transcript", f"{APP}/renamed by hand.jsonl", None),
        ("other", f"{APP}/{ONE}/runtime/new.jsonl", ONE),
    ]


def test_the_root_and_its_well_known_folders_may_be_links(tmp_path: Path) -> None:
    plant(tmp_path / "disk", f"p/-srv-app/{ONE}.jsonl", "s/77.json")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "projects").symlink_to(tmp_path / "disk" / "p")
    (tmp_path / "real" / "sessions").symlink_to(tmp_path / "disk" / "s")
    home = tmp_path / ".claude"
    home.symlink_to("real")
    assert files_in(find(home), home) == [
        ("transcript", f"{APP}/{ONE}.jsonl", ONE),
        ("registry", "sessions/77.json", None),
    ]


def test_links_below_the_well_known_folders_are_skipped_and_said_so(tmp_path: Path) -> None:
    plant(tmp_path / "secret", f"{TWO}.jsonl")
    home = tmp_path / "home"
    plant(home, f"{APP}/{ONE}.jsonl", f"{APP}/{ONE}/subagents/agent-a.jsonl", "sessions/1.json")
    for link in (
        "history.jsonl",
        "projects/-linked",
        f"{APP}/{TWO}.jsonl",
        f"{APP}/{TWO}",
        f"{APP}/{ONE}/tool-results",
        f"{APP}/{ONE}/subagents/agent-b.jsonl",
        "sessions/2.json",
    ):
        (home / link).symlink_to(tmp_path / "secret")
    (home / "cache").symlink_to(tmp_path / "secret")  # not a place of logs: none of our business
    assert skipped_in(find(home), home) == [
        ("history.jsonl", "symbolic link"),
        ("projects/-linked", "symbolic link"),
        (f"{APP}/{TWO}", "symbolic link"),
        (f"{APP}/{TWO}.jsonl", "symbolic link"),
        (f"{APP}/{ONE}/tool-results", "symbolic link"),
        (f"{APP}/{ONE}/subagents/agent-b.jsonl", "symbolic link"),
        ("sessions/2.json", "symbolic link"),
    ]
    assert [path for _, path, _ in files_in(find(home), home)] == [
        f"{APP}/{ONE}.jsonl",
        f"{APP}/{ONE}/subagents/agent-a.jsonl",
        "sessions/1.json",
    ]


def test_links_that_lead_back_to_the_root_end(tmp_path: Path) -> None:
    plant(tmp_path, f"-app/{ONE}.jsonl")
    (tmp_path / "projects").symlink_to(".")
    (tmp_path / "-app" / "up").symlink_to("..")
    (tmp_path / "sessions").symlink_to("sessions")
    assert files_in(find(tmp_path), tmp_path) == [("transcript", f"projects/-app/{ONE}.jsonl", ONE)]
    assert skipped_in(find(tmp_path), tmp_path) == [
        ("projects/projects", "symbolic link"),
        ("projects/sessions", "symbolic link"),
        ("projects/-app/up", "symbolic link"),
        ("sessions", "symbolic link"),
    ]


def test_a_fifo_in_the_root_is_skipped_and_said_so(tmp_path: Path) -> None:
    plant(tmp_path, f"{APP}/{ONE}.jsonl")
    for name in ("history.jsonl", f"{APP}/{TWO}.jsonl", "projects/pipe"):
        os.mkfifo(tmp_path / name)
    assert skipped_in(find(tmp_path), tmp_path) == [
        ("history.jsonl", "FIFO"),
        ("projects/pipe", "FIFO"),
        (f"{APP}/{TWO}.jsonl", "FIFO"),
    ]
    assert files_in(find(tmp_path), tmp_path) == [("transcript", f"{APP}/{ONE}.jsonl", ONE)]


def test_a_missing_home_is_skipped_with_the_reason(tmp_path: Path) -> None:
    assert skipped_in(find(tmp_path / "none"), tmp_path) == [("none", "does not exist")]


def test_a_home_that_may_not_be_read_is_skipped_with_the_reason() -> None:
    with locked(f"{APP}/{ONE}.jsonl") as top:
        assert skipped_in(find(top / "locked"), top) == [("locked", "permission denied")]


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J\x1b]0;x\x07", os.fsdecode(b"caf\xe9"), " ", "-rf"])
def test_odd_names_are_found_like_any_other(tmp_path: Path, name: str) -> None:
    plant(tmp_path, f"projects/{name}/{ONE}.jsonl", f"{APP}/{name}.jsonl")
    found = {row[1] for row in files_in(find(tmp_path), tmp_path)}
    assert found == {f"projects/{name}/{ONE}.jsonl", f"{APP}/{name}.jsonl"}


def test_without_variables_the_usual_and_the_old_home_are_used_if_they_exist(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert claude_homes(env) == []
    (tmp_path / ".config/claude").mkdir(parents=True)
    assert claude_homes(env) == [tmp_path / ".config/claude"]
    (tmp_path / ".claude").mkdir()
    assert claude_homes(env) == [tmp_path / ".claude", tmp_path / ".config/claude"]
    (tmp_path / "xdg/claude").mkdir(parents=True)
    moved = env | {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert claude_homes(moved) == [tmp_path / ".claude", tmp_path / "xdg/claude"]


def test_claude_config_dir_replaces_both_homes_even_if_it_does_not_exist_yet(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "other")}
    assert claude_homes(env) == [tmp_path / "other"]
    assert claude_homes(env | {"CLAUDE_CONFIG_DIR": ""}) == [tmp_path / ".claude"]


def test_claude_config_dir_may_list_several_and_may_end_in_projects(tmp_path: Path) -> None:
    value = f"{tmp_path}/a, {tmp_path}/b/projects,,{tmp_path}/a"
    assert claude_homes({"CLAUDE_CONFIG_DIR": value}) == [tmp_path / "a", tmp_path / "b"]


def test_an_existing_directory_with_a_comma_in_its_name_is_one_home(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    assert claude_homes({"CLAUDE_CONFIG_DIR": str(tmp_path / "a,b")}) == [tmp_path / "a,b"]


def test_a_home_that_is_itself_called_projects_stays_one(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/{APP}/{ONE}.jsonl")
    assert claude_homes({"CLAUDE_CONFIG_DIR": str(tmp_path / "projects")}) == [tmp_path / "projects"]


def test_the_transcript_of_a_session_to_come_is_where_claude_code_will_write_it(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert transcript_path(ONE, "/nowhere/my_app", env=env) == (
        tmp_path / ".claude/projects/-nowhere-my-app" / f"{ONE}.jsonl"
    )
    assert transcript_path(ONE, "/nowhere/my_app", root=tmp_path / "r", env={}) == (
        tmp_path / "r/projects/-nowhere-my-app" / f"{ONE}.jsonl"
    )


def test_the_working_directory_is_resolved_before_it_names_the_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    computed = transcript_path(ONE, tmp_path / "link", root=tmp_path, env={})
    assert computed == tmp_path / "projects" / slug(os.path.realpath(tmp_path / "real")) / f"{ONE}.jsonl"


def test_a_session_that_moved_is_found_where_it_is(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-elsewhere/{ONE}.jsonl")
    assert transcript_path(ONE, "/srv/app", root=tmp_path, env={}) == (
        tmp_path / "projects/-elsewhere" / f"{ONE}.jsonl"
    )


def test_a_session_is_found_in_the_second_home_too(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    plant(tmp_path, f".config/claude/{APP}/{ONE}.jsonl")
    assert transcript_path(ONE, "/srv/app", env={"HOME": str(tmp_path)}) == (
        tmp_path / ".config/claude" / APP / f"{ONE}.jsonl"
    )


def test_the_stub_left_behind_by_a_move_does_not_win(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-elsewhere/{ONE}.jsonl")
    plant(tmp_path, f"{APP}/{ONE}.jsonl", content=b"")
    assert transcript_path(ONE, "/srv/app", root=tmp_path, env={}).parent.name == "-elsewhere"


def test_of_two_full_transcripts_the_one_of_the_directory_wins_then_the_newest(tmp_path: Path) -> None:
    for age, name in enumerate(("-srv-app", "-a", "-b")):
        plant(tmp_path, f"projects/{name}/{ONE}.jsonl")
        os.utime(tmp_path / "projects" / name / f"{ONE}.jsonl", (1000 + age, 1000 + age))
    assert transcript_path(ONE, "/srv/app", root=tmp_path, env={}).parent.name == "-srv-app"
    assert transcript_path(ONE, "/srv/other", root=tmp_path, env={}).parent.name == "-b"


def test_the_hosts_project_name_counts_only_together_with_its_config_dir(tmp_path: Path) -> None:
    named = {"HOME": str(tmp_path), "CLAUDE_CODE_PROJECT_DIR_NAME": "job_7-x"}
    with_dir = named | {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    bad_name = with_dir | {"CLAUDE_CODE_PROJECT_DIR_NAME": "../up"}
    names = [transcript_path(ONE, "/srv/app", env=env).parent.name for env in (named, with_dir, bad_name)]
    assert names == ["-srv-app", "job_7-x", "-srv-app"]


@pytest.mark.parametrize("session_id", ["", "../../etc/passwd", "a/b", "/etc/passwd", "a\0b"])
def test_what_cannot_be_a_session_id_is_refused(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(UserError, match="not a session id"):
        transcript_path(session_id, "/srv/app", root=tmp_path, env={})


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        (r"C:\Users\Ann\src", "C--Users-Ann-src"),
        ("d:/work", "d--work"),
        (r"\\server\share\src", "--server-share-src"),
    ],
)
def test_a_working_directory_of_windows_is_absolute_as_it_stands(tmp_path: Path, cwd: str, name: str) -> None:
    expected = tmp_path / "projects" / name / f"{ONE}.jsonl"
    assert transcript_path(ONE, cwd, root=tmp_path, env={}) == expected


def test_the_root_may_be_text(tmp_path: Path) -> None:
    assert transcript_path(ONE, "/", root=str(tmp_path), env={}) == tmp_path / "projects/-" / f"{ONE}.jsonl"


def test_a_working_directory_that_no_system_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not a directory: '/a\\x00b'"):
        transcript_path(ONE, "/a\0b", root=tmp_path, env={})
