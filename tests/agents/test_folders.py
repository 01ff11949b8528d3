from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sources.tree import ONE, TWO, files_in, locked, plant, skipped_in
from tracklog.agents.discovery import MAX_DEPTH, file_at, find_at, find_in_folders, roots_at
from tracklog.sources.log_file import Agent, LogFile, Root, Skipped

ROLLOUT = f"rollout-2026-03-01T17-24-42-{ONE}.jsonl"


@pytest.mark.parametrize(
    ("inside", "agents"),
    [
        ("projects/-srv-app/x.jsonl", ["claude"]),
        ("sessions/4410.json", ["claude"]),
        (f"sessions/2026/03/01/{ROLLOUT}", ["codex"]),
        (f"sessions/rollout-2025-05-01-{ONE}.json", ["codex"]),
        (f"archived_sessions/{ROLLOUT}", ["codex"]),
        ("logs/x.jsonl", [None]),
        ("sessions/whatever/x.jsonl", [None]),
        ("x/projects/-srv-app/x.jsonl", [None]),
    ],
)
def test_a_folder_is_the_home_its_contents_say(
    tmp_path: Path, inside: str, agents: list[Agent | None]
) -> None:
    plant(tmp_path, inside)
    assert roots_at(tmp_path) == [Root(tmp_path, agent) for agent in agents]


def test_a_folder_can_be_the_home_of_both_agents(tmp_path: Path) -> None:
    plant(tmp_path, "projects/-a/x.jsonl", "sessions/1.json", f"sessions/2026/03/01/{ROLLOUT}")
    assert roots_at(tmp_path) == [Root(tmp_path, "claude"), Root(tmp_path, "codex")]


def test_claude_codes_registry_does_not_make_its_home_one_of_codex(tmp_path: Path) -> None:
    plant(tmp_path, "projects/-a/x.jsonl", "sessions/2026.json")
    assert roots_at(tmp_path) == [Root(tmp_path, "claude")]


def test_a_home_is_recognised_through_links(tmp_path: Path) -> None:
    plant(tmp_path / "disk", "-a/x.jsonl")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "projects").symlink_to(tmp_path / "disk")
    (tmp_path / "home").symlink_to("real")
    assert roots_at(tmp_path / "home") == [Root(tmp_path / "home", "claude")]


def test_a_plain_folder_is_searched_to_the_bottom_and_kinds_come_from_names(tmp_path: Path) -> None:
    side = f"y/projects/-a/{TWO}"
    plant(
        tmp_path,
        "full.jsonl",
        "cold.jsonl.zst",
        "export.json",
        f"{ONE}.jsonl",
        f"{TWO}.json",
        f"x/.codex/sessions/2026/03/01/{ROLLOUT}",
        f"x/.codex/sessions/rollout-2025-05-01-{ONE}.json",
        "x/.codex/history.jsonl",
        "x/.codex/session_index.jsonl",
        f"{side}/subagents/agent-a.jsonl",
        f"{side}/subagents/agent-a.meta.json",
        f"{side}/subagents/workflows/wf_1/journal.jsonl",
        f"{side}/workflows/wf_1.json",
        f"{side}/tool-results/out.json",
        f"{side}/custom-title.json",
        "y/projects/-a/sessions-index.json",
        "y/sessions/99.json",
    )
    plant(tmp_path, "README.md", "MANIFEST.tsv", "x.jsonl.tmp", "y.txt", "jsonl", "z.zst")
    assert sorted(files_in(find_in_folders(tmp_path), tmp_path), key=lambda row: row[1]) == [
        ("transcript", f"{ONE}.jsonl", ONE),
        ("document", f"{TWO}.json", TWO),
        ("transcript", "cold.jsonl.zst", None),
        ("document", "export.json", None),
        ("transcript", "full.jsonl", None),
        ("history", "x/.codex/history.jsonl", None),
        ("session_index", "x/.codex/session_index.jsonl", None),
        ("transcript", f"x/.codex/sessions/2026/03/01/{ROLLOUT}", ONE),
        ("document", f"x/.codex/sessions/rollout-2025-05-01-{ONE}.json", ONE),
        ("title", f"{side}/custom-title.json", TWO),
        ("subagent", f"{side}/subagents/agent-a.jsonl", TWO),
        ("meta", f"{side}/subagents/agent-a.meta.json", TWO),
        ("journal", f"{side}/subagents/workflows/wf_1/journal.jsonl", TWO),
        ("tool_result", f"{side}/tool-results/out.json", TWO),
        ("workflow", f"{side}/workflows/wf_1.json", TWO),
        ("project_index", "y/projects/-a/sessions-index.json", None),
        ("registry", "y/sessions/99.json", None),
    ]
    assert {file.agent for file in find_in_folders(tmp_path) if isinstance(file, LogFile)} == {None}


def test_links_fifos_and_what_may_not_be_read_are_named_and_the_rest_is_found() -> None:
    with locked("hidden.jsonl") as top:
        found = list(find_in_folders(top))
    assert files_in(found, top) == [("transcript", "open.jsonl", None)]
    assert skipped_in(found, top) == [("locked", "permission denied")]


def test_a_tangle_of_links_and_fifos_ends_and_is_told(tmp_path: Path) -> None:
    plant(tmp_path, "a/b/log.jsonl")
    (tmp_path / "a/b/up").symlink_to("../..")
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "a/zero.jsonl").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "a/pipe.jsonl")
    assert files_in(find_in_folders(tmp_path), tmp_path) == [("transcript", "a/b/log.jsonl", None)]
    assert skipped_in(find_in_folders(tmp_path), tmp_path) == [
        ("a/pipe.jsonl", "FIFO"),
        ("a/self", "symbolic link"),
        ("a/zero.jsonl", "symbolic link"),
        ("a/b/up", "symbolic link"),
    ]


def test_folders_nested_too_deep_are_skipped_and_said_so(tmp_path: Path) -> None:
    deep = "/".join(["d"] * (MAX_DEPTH + 1))
    plant(tmp_path, f"{deep}/too-deep.jsonl", f"{deep[:-2]}/deepest.jsonl")
    assert [path for _, path, _ in files_in(find_in_folders(tmp_path), tmp_path)] == [
        f"{deep[:-2]}/deepest.jsonl"
    ]
    assert skipped_in(find_in_folders(tmp_path), tmp_path) == [(deep, f"more than {MAX_DEPTH} folders deep")]


def test_a_root_that_is_not_there_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (root,) = roots_at(tmp_path / "none")
    assert skipped_in(find_in_folders(root.path), tmp_path) == [("none", "does not exist")]


def test_a_single_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    plant(tmp_path, f"{ONE}/subagents/agent-a.jsonl", "log", "session.json", ROLLOUT)
    names = (f"{ONE}/subagents/agent-a.jsonl", "log", "session.json", ROLLOUT)
    assert files_in((file_at(tmp_path / name) for name in names), tmp_path) == [
        ("subagent", f"{ONE}/subagents/agent-a.jsonl", ONE),
        ("transcript", "log", None),
        ("document", "session.json", None),
        ("transcript", ROLLOUT, ONE),
    ]


def test_a_single_file_named_through_a_link_is_read_where_it_points(tmp_path: Path) -> None:
    plant(tmp_path, f"real/{ROLLOUT}")
    (tmp_path / "task.output").symlink_to(f"real/{ROLLOUT}")
    assert files_in([file_at(tmp_path / "task.output")], tmp_path) == [("transcript", f"real/{ROLLOUT}", ONE)]


def test_a_single_path_that_is_no_file_is_skipped_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "ring").symlink_to("ring")
    paths = [tmp_path / name for name in ("pipe", "ring", "none", "")] + [Path("a\0b")]
    assert [file_at(path) for path in paths] == [
        Skipped(tmp_path / "pipe", "FIFO"),
        Skipped(tmp_path / "ring", "symbolic link"),
        Skipped(tmp_path / "none", "does not exist"),
        Skipped(tmp_path, "directory"),
        Skipped(Path("a\0b"), "no file can have this name"),
    ]


HOME_OF_BOTH = (
    "history.jsonl",
    f"projects/-srv-app/{ONE}.jsonl",
    "projects/-srv-app/named-by-hand.jsonl",
    f"projects/-srv-app/{TWO}.jsonl.zst",
    "projects/-srv-app/agent-a1.jsonl",
    "projects/-srv-app/sessions-index.json",
    f"projects/-srv-app/{ONE}/custom-title.json",
    f"projects/-srv-app/{ONE}/news.jsonl",
    f"projects/-srv-app/{ONE}/subagents/agent-b2.jsonl",
    f"projects/-srv-app/{ONE}/subagents/agent-b2.meta.json",
    f"projects/-srv-app/{ONE}/subagents/workflows/wf_1/journal.jsonl",
    f"projects/-srv-app/{ONE}/tool-results/out.txt",
    f"projects/-srv-app/{ONE}/workflows/wf_1.json",
    f"projects/chosen-by-the-host/{ONE}.jsonl",
    "sessions/4410.json",
    f"sessions/2026/03/01/{ROLLOUT}",
    "sessions/2026/03/01/news.jsonl",
    f"sessions/rollout-2025-05-01-{TWO}.json",
    f"archived_sessions/{ROLLOUT}.zst",
    "session_index.jsonl",
)


def test_a_file_named_by_itself_is_what_its_home_says_of_it(tmp_path: Path) -> None:
    plant(tmp_path, *HOME_OF_BOTH)
    found = [file for file in find_at(tmp_path) if isinstance(file, LogFile)]
    assert {file.path.relative_to(tmp_path).as_posix() for file in found} == set(HOME_OF_BOTH)
    assert [file_at(file.path) for file in found] == found


def test_a_file_named_from_inside_its_home_is_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, *HOME_OF_BOTH)
    whole = file_at(tmp_path / "projects/-srv-app" / f"{ONE}.jsonl")
    monkeypatch.chdir(tmp_path / "projects/-srv-app")
    inside = file_at(Path(f"{ONE}.jsonl"))
    assert isinstance(inside, LogFile)
    assert inside._replace(path=inside.path.absolute()) == whole


@pytest.mark.parametrize(
    "name", ["projects/notes/log.jsonl", "projects/notes/deep/log.jsonl", "projects/x.jsonl"]
)
def test_a_folder_called_projects_does_not_make_every_file_in_it_one_of_claude_code(
    tmp_path: Path, name: str
) -> None:
    plant(tmp_path, name)
    found = file_at(tmp_path / name)
    assert isinstance(found, LogFile)
    assert (found.agent, found.kind.value, found.root) == (None, "transcript", (tmp_path / name).parent)


@pytest.mark.parametrize(
    ("part", "agents"),
    [("projects", ["claude"]), ("sessions", ["claude", "codex"]), ("archived_sessions", ["codex"])],
)
def test_a_folder_of_a_home_named_by_itself_is_that_part_of_the_home(
    tmp_path: Path, part: str, agents: list[Agent]
) -> None:
    plant(tmp_path, *HOME_OF_BOTH)
    assert roots_at(tmp_path / part) == [Root(tmp_path, agent, part) for agent in agents]
    of_home = [file for file in find_at(tmp_path) if isinstance(file, LogFile)]
    assert list(find_at(tmp_path / part)) == [
        file for file in of_home if file.path.is_relative_to(tmp_path / part)
    ]


def test_a_folder_that_is_only_called_like_a_part_of_a_home_is_a_plain_one(tmp_path: Path) -> None:
    plant(tmp_path, "projects/notes/log.jsonl", "sessions/morning/log.jsonl")
    for name in ("projects", "sessions"):
        assert roots_at(tmp_path / name) == [Root(tmp_path / name, None)]


def test_a_root_may_be_a_single_file(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl", "b.jsonl")
    assert list(find_in_folders(tmp_path / "a.jsonl")) == [file_at(tmp_path / "a.jsonl")]
