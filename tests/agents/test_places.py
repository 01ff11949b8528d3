from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sources.tree import ONE, TWO, files_in, plant, skipped_in
from tracklog.agents.discovery import find_all, find_at, places, resolve_session, roots_at
from tracklog.agents.roots import default_roots
from tracklog.errors import UserError
from tracklog.sources.log_file import FileKind, LogFile, LogFolder, Root

ROLLOUT = f"rollout-2026-03-01T17-24-42-{TWO}.jsonl"


def logs_at(path: Path) -> list[LogFile]:
    return [file for file in find_at(path) if isinstance(file, LogFile)]


def ids(n: int) -> list[str]:
    return [f"{number:08x}-0000-4000-8000-000000000000" for number in range(n)]


def test_the_default_roots_are_the_homes_of_both_agents(tmp_path: Path) -> None:
    for name in (".claude", ".config/claude", ".codex"):
        (tmp_path / name).mkdir(parents=True)
    assert default_roots({"HOME": str(tmp_path)}) == [
        Root(tmp_path / ".claude", "claude"),
        Root(tmp_path / ".config/claude", "claude"),
        Root(tmp_path / ".codex", "codex"),
    ]


def test_all_roots_are_searched_and_each_file_knows_its_root_and_agent(tmp_path: Path) -> None:
    plant(tmp_path, f"c/projects/-a/{ONE}.jsonl", f"x/sessions/2026/03/01/{ROLLOUT}", "plain/log.jsonl")
    roots = [root for name in "cx" for root in roots_at(tmp_path / name)] + roots_at(tmp_path / "plain")
    found = [file for file in find_all(roots) if isinstance(file, LogFile)]
    assert [(file.agent, file.root.name, file.session) for file in found] == [
        ("claude", "c", ONE),
        ("codex", "x", TWO),
        (None, "plain", None),
    ]


def test_roots_that_overlap_give_each_file_and_each_oddity_once(tmp_path: Path) -> None:
    plant(tmp_path, "a/b/log.jsonl")
    os.mkfifo(tmp_path / "a/b/pipe")
    (tmp_path / "link").symlink_to("a")
    roots = [Root(tmp_path / name, None) for name in ("a", "a", "a/b")]
    found = list(find_all(roots))
    assert (files_in(found, tmp_path), skipped_in(found, tmp_path)) == (
        [("transcript", "a/b/log.jsonl", None)],
        [("a/b/pipe", "FIFO")],
    )
    through_link = find_all([Root(tmp_path / "a", None), Root(tmp_path / "link", None)])
    assert files_in(through_link, tmp_path) == [("transcript", "a/b/log.jsonl", None)]


def test_a_second_name_of_a_file_is_skipped_and_said_so(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl")
    os.link(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    found = list(find_all([Root(tmp_path, None)]))
    assert files_in(found, tmp_path) == [("transcript", "a.jsonl", None)]
    assert skipped_in(found, tmp_path) == [("b.jsonl", "another name of a file already found")]


def test_a_home_of_both_agents_gives_the_files_of_both(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-a/{ONE}.jsonl", "sessions/7.json", f"sessions/2026/03/01/{ROLLOUT}")
    assert files_in(find_at(tmp_path), tmp_path) == [
        ("transcript", f"projects/-a/{ONE}.jsonl", ONE),
        ("registry", "sessions/7.json", None),
        ("transcript", f"sessions/2026/03/01/{ROLLOUT}", TWO),
    ]


def test_a_path_to_one_file_gives_that_file(tmp_path: Path) -> None:
    plant(tmp_path, "a.jsonl", "b.jsonl")
    assert files_in(find_at(tmp_path / "b.jsonl"), tmp_path) == [("transcript", "b.jsonl", None)]
    assert skipped_in(find_at(tmp_path / "c.jsonl"), tmp_path) == [("c.jsonl", "does not exist")]


def test_places_sum_files_and_bytes_by_root_agent_and_kind(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-a/{ONE}.jsonl", f"projects/-b/{TWO}.jsonl", content=b"12345")
    plant(tmp_path, f"projects/-a/{ONE}/subagents/agent-a.jsonl", content=b"123")
    os.mkfifo(tmp_path / "projects/pipe")
    assert places(find_at(tmp_path)) == [
        LogFolder("claude", tmp_path, FileKind.TRANSCRIPT, 2, 10),
        LogFolder("claude", tmp_path, FileKind.SUBAGENT, 1, 3),
    ]


def test_a_session_is_found_by_its_id_or_the_start_of_it_in_any_case(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-a/{ONE}.jsonl", f"projects/-a/{TWO}.jsonl")
    plant(tmp_path, f"projects/-a/{ONE}/subagents/agent-a.jsonl")
    files = logs_at(tmp_path)
    for text in (ONE, ONE[:3], ONE.upper()):
        assert files_in(resolve_session(text, files), tmp_path) == [
            ("transcript", f"projects/-a/{ONE}.jsonl", ONE)
        ]


def test_a_session_nobody_has_is_an_empty_answer(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-a/{ONE}.jsonl")
    files = logs_at(tmp_path)
    texts = ("", "ffff", f"{tmp_path}/none.jsonl", "none.jsonl", "a\0/b", "agent-a")
    assert [resolve_session(text, files) for text in texts] == [[]] * len(texts)
    assert resolve_session("@last", []) == []


def test_an_ambiguous_start_is_refused_with_up_to_five_candidates(tmp_path: Path) -> None:
    plant(tmp_path, *(f"projects/-a/{session}.jsonl" for session in ids(7)))
    with pytest.raises(UserError) as raised:
        resolve_session("0000000", logs_at(tmp_path))
    shown = ", ".join(ids(5))
    assert str(raised.value) == f"'0000000' is the start of 7 sessions ({shown}, …): give more of the id"


def test_a_refusal_stays_on_one_line_whatever_the_files_are_called(tmp_path: Path) -> None:
    plant(tmp_path, "log\n\x1b[2J.jsonl", "log.jsonl")
    with pytest.raises(UserError) as raised:
        resolve_session("lo", logs_at(tmp_path))
    assert str(raised.value) == (
        r"'lo' is the start of 2 sessions (log, 'log\n\x1b[2j'): give more of the id"
    )


def test_an_id_that_is_also_the_start_of_another_is_taken_exactly(tmp_path: Path) -> None:
    plant(tmp_path, "log.jsonl", "log2.jsonl")
    assert files_in(resolve_session("log", logs_at(tmp_path)), tmp_path) == [
        ("transcript", "log.jsonl", None)
    ]


def test_one_session_in_several_files_is_no_ambiguity_and_the_newest_full_one_comes_first(
    tmp_path: Path,
) -> None:
    for age, name in enumerate(("-old", "-new", "-stub")):
        plant(tmp_path, f"projects/{name}/{ONE}.jsonl", content=b"" if name == "-stub" else b"{}\n")
        os.utime(tmp_path / "projects" / name / f"{ONE}.jsonl", (1000 + age, 1000 + age))
    found = resolve_session(ONE[:6], logs_at(tmp_path))
    assert [file.path.parent.name for file in found] == ["-new", "-old", "-stub"]


def test_the_file_that_is_named_like_the_session_comes_before_others_of_it(tmp_path: Path) -> None:
    plant(
        tmp_path, f"{ONE}.jsonl", f"{ONE}/other.jsonl", f"rollout-2026-03-01T17-24-42-{TWO}.jsonl", "x.jsonl"
    )
    told = {"other.jsonl": ONE, "x.jsonl": TWO}  # as their records would tell
    files = [file._replace(session=told.get(file.path.name, file.session)) for file in logs_at(tmp_path)]
    os.utime(tmp_path / f"{ONE}.jsonl", (1000, 1000))
    found = [[file.path.name for file in resolve_session(session, files)] for session in (ONE, TWO)]
    assert found == [
        [f"{ONE}.jsonl", "other.jsonl"],
        [f"rollout-2026-03-01T17-24-42-{TWO}.jsonl", "x.jsonl"],
    ]


def test_a_session_whose_transcript_is_gone_is_found_by_what_is_left(tmp_path: Path) -> None:
    plant(tmp_path, f"projects/-a/{ONE}/subagents/agent-a.jsonl")
    assert files_in(resolve_session(ONE, logs_at(tmp_path)), tmp_path) == [
        ("subagent", f"projects/-a/{ONE}/subagents/agent-a.jsonl", ONE)
    ]


def test_a_file_path_is_a_session_inside_the_roots_and_outside(tmp_path: Path) -> None:
    plant(tmp_path, f"home/projects/-a/{ONE}.jsonl", "outside.jsonl")
    files = logs_at(tmp_path / "home")
    inside = resolve_session(f"{tmp_path}/home/projects/../projects/-a/{ONE}.jsonl", files)
    assert inside == files
    outside = resolve_session(f"{tmp_path}/outside.jsonl", files)
    assert files_in(outside, tmp_path) == [("transcript", "outside.jsonl", None)]


def test_a_path_that_is_no_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(UserError, match=r"cannot read .*pipe\.jsonl: FIFO"):
        resolve_session(str(tmp_path / "pipe.jsonl"), [])


def test_last_is_the_newest_session_with_something_in_it(tmp_path: Path) -> None:
    names = [
        f"projects/-a/{ONE}.jsonl",
        f"projects/-a/{TWO}.jsonl",
        f"projects/-a/{ids(1)[0]}.jsonl",
        f"projects/-a/{TWO}/subagents/agent-a.jsonl",
        "history.jsonl",
    ]
    for age, name in enumerate(names):
        plant(tmp_path, name, content=b"" if age == 2 else b"{}\n")
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    assert files_in(resolve_session("@last", logs_at(tmp_path)), tmp_path) == [("transcript", names[1], TWO)]
