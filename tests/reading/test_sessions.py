"""Which files make one session; logs are written as their clients write them, cut to what tells."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import zstandard

from tests.sources.tree import ONE, TWO, plant
from tracklog.agents.discovery import find_at
from tracklog.reading.session_files import SessionFiles, group

THREE = "33333333-cccc-4ccc-8ccc-333333333333"
DAY = ".codex/sessions/2026/11/15"
PROJECT = ".claude/projects/-home-dev-project"


def user(session: str) -> bytes:
    line = {"type": "user", "sessionId": session, "uuid": "u", "message": {"role": "user", "content": "hi"}}
    return json.dumps(line).encode() + b"\n"


def meta(thread: str, **more: object) -> bytes:
    payload = {"id": thread, "cwd": "/w", "timestamp": "2026-11-15T10:00:00.000Z", **more}
    line = {"timestamp": "2026-11-15T10:00:00.000Z", "type": "session_meta", "payload": payload}
    return json.dumps(line).encode() + b"\n"


def rollout(thread: str, *, second: int = 0) -> str:
    return f"rollout-2026-11-15T10-00-{second:02d}-{thread}.jsonl"


def sessions_in(folder: Path, top: Path) -> dict[str, list[str]]:
    return {s.id: [file.path.relative_to(top).as_posix() for file in s.files] for s in group(find_at(folder))}


def test_a_transcript_and_all_that_lies_beside_it_are_one_session(tmp_path: Path) -> None:
    beside = f"{PROJECT}/{ONE}"
    names = [
        f"{PROJECT}/{ONE}.jsonl",
        f"{beside}/subagents/agent-1.jsonl",
        f"{beside}/subagents/workflows/wf_1/agent-2.jsonl",
        f"{beside}/subagents/agent-1.meta.json",
        f"{beside}/subagents/workflows/wf_1/journal.jsonl",
        f"{beside}/workflows/wf_1.json",
        f"{beside}/tool-results/b1.txt",
    ]
    plant(tmp_path, *reversed(names), content=user(ONE))
    assert sessions_in(tmp_path / ".claude", tmp_path) == {ONE: names}


def test_no_file_is_opened_where_the_path_states_the_session(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", f"{PROJECT}/{ONE}/subagents/agent-1.jsonl", content=user(TWO))
    found = list(find_at(tmp_path / ".claude"))
    for path in tmp_path.rglob("*.jsonl"):
        path.unlink()
    assert [session.id for session in group(found)] == [ONE]


def test_a_subagent_of_2_0_beside_the_transcript_is_known_by_its_records(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", f"{PROJECT}/agent-1.jsonl", content=user(ONE))
    plant(tmp_path, f"{PROJECT}/agent-1.meta.json")
    assert sessions_in(tmp_path / ".claude", tmp_path) == {
        ONE: [f"{PROJECT}/{ONE}.jsonl", f"{PROJECT}/agent-1.jsonl", f"{PROJECT}/agent-1.meta.json"]
    }


def test_a_subagent_that_first_names_a_session_that_never_was_belongs_to_the_real_one(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", content=user(ONE))
    plant(tmp_path, f"{PROJECT}/{TWO}.jsonl", content=b"")
    plant(tmp_path, f"{PROJECT}/agent-1.jsonl", content=user(TWO) + user(ONE))
    assert sessions_in(tmp_path / ".claude", tmp_path) == {
        ONE: [f"{PROJECT}/{ONE}.jsonl", f"{PROJECT}/agent-1.jsonl"]
    }


def test_the_same_id_in_two_projects_is_one_session(tmp_path: Path) -> None:
    names = [f".claude/projects/-a/{ONE}.jsonl", f".claude/projects/-b/{ONE}.jsonl"]
    plant(tmp_path, *names, content=user(ONE))
    assert sessions_in(tmp_path / ".claude", tmp_path) == {ONE: names}


def test_what_a_deleted_session_left_is_no_session_but_its_subagents_are(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}/tool-results/b1.txt", f"{PROJECT}/{TWO}/subagents/agent-1.jsonl")
    assert list(sessions_in(tmp_path / ".claude", tmp_path)) == [TWO]


def test_the_newest_session_comes_first(tmp_path: Path) -> None:
    plant(tmp_path, f"{PROJECT}/{ONE}.jsonl", f"{PROJECT}/{TWO}.jsonl", content=user(ONE))
    os.utime(tmp_path / f"{PROJECT}/{ONE}.jsonl", ns=(5, 5))
    assert list(sessions_in(tmp_path / ".claude", tmp_path)) == [TWO, ONE]


def test_files_about_many_sessions_belong_to_none(tmp_path: Path) -> None:
    plant(tmp_path, ".claude/history.jsonl", ".claude/sessions/12.json", f"{PROJECT}/sessions-index.json")
    assert sessions_in(tmp_path / ".claude", tmp_path) == {}


def test_in_a_plain_folder_the_records_tell_agent_and_session(tmp_path: Path) -> None:
    plant(tmp_path, "logs/a.jsonl", "logs/b.jsonl", content=user(ONE))
    plant(tmp_path, "logs/c.jsonl", content=meta(TWO))
    plant(tmp_path, "logs/stranger.jsonl", content=b'{"hello": 1}\n')
    assert sessions_in(tmp_path / "logs", tmp_path) == {
        TWO: ["logs/c.jsonl"],
        ONE: ["logs/a.jsonl", "logs/b.jsonl"],
    }


@pytest.mark.parametrize(
    "link",
    [
        {"parent_thread_id": ONE},
        {"session_id": ONE},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}},
        {"source": {"subagent": "review"}, "parent_thread_id": ONE},
        {"source": {"internal": "guardian"}, "forked_from_id": ONE},
    ],
)
def test_a_thread_below_another_is_of_its_session(tmp_path: Path, link: dict[str, object]) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE, second=9)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, **link))
    assert sessions_in(tmp_path / ".codex", tmp_path) == {
        ONE: [f"{DAY}/{rollout(ONE, second=9)}", f"{DAY}/{rollout(TWO)}"]
    }


def test_threads_of_threads_are_of_the_root_also_when_its_file_is_gone(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, parent_thread_id=ONE))
    plant(tmp_path, f"{DAY}/{rollout(THREE)}", content=meta(THREE, parent_thread_id=TWO))
    assert sessions_in(tmp_path / ".codex", tmp_path) == {
        ONE: [f"{DAY}/{rollout(TWO)}", f"{DAY}/{rollout(THREE)}"]
    }


def test_threads_that_name_each_other_as_parents_do_not_hang(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE, parent_thread_id=TWO))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, parent_thread_id=ONE))
    files = [name for names in sessions_in(tmp_path / ".codex", tmp_path).values() for name in names]
    assert sorted(files) == [f"{DAY}/{rollout(ONE)}", f"{DAY}/{rollout(TWO)}"]


def test_a_rolled_back_thread_is_one_session_the_first_file_first(tmp_path: Path) -> None:
    base = {"thread_id": ONE, "end_ordinal_exclusive": 3, "end_byte_offset": 99}
    second = f"rollout-2026-11-15T10-00-07-{ONE}_{TWO}.jsonl"
    third = f"rollout-2026-11-15T10-00-08-{ONE}_{THREE}.jsonl"
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{second}", content=meta(ONE, history_base=base))
    plant(tmp_path, f"{DAY}/{third}", content=meta(ONE, history_base={**base, "thread_id": TWO}))
    found = group(find_at(tmp_path / ".codex"))
    assert [(s.id, [file.path.name for file in s.mains], s.sources) for s in found] == [
        (ONE, [rollout(ONE), second, third], ())
    ]


def test_a_fork_is_a_session_that_names_its_source(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, forked_from_id=ONE))
    plant(tmp_path, f"{DAY}/{rollout(THREE)}", content=meta(THREE) + meta(TWO))
    assert {s.id: s.sources for s in group(find_at(tmp_path / ".codex"))} == {
        ONE: (),
        TWO: (ONE,),
        THREE: (TWO,),
    }


def test_of_a_rollout_that_stands_twice_the_longer_one_is_read(tmp_path: Path) -> None:
    name = rollout(ONE)
    packed = zstandard.compress(meta(ONE) * 3)
    plant(tmp_path, f"{DAY}/{name}", content=meta(ONE) * 2)
    plant(tmp_path, f".codex/archived_sessions/{name}.zst", content=packed)
    assert len(packed) < len(meta(ONE) * 2)
    assert sessions_in(tmp_path / ".codex", tmp_path) == {ONE: [f".codex/archived_sessions/{name}.zst"]}


REVIEW = {"source": {"subagent": "review"}, "timestamp": "2026-11-15T10:00:05.000Z"}
ENTERED = (
    b'{"timestamp":"2026-11-15T10:00:04.000Z","type":"event_msg","payload":{"type":"entered_review_mode"}}\n'
)


def test_an_early_review_that_names_nobody_joins_the_only_thread_that_asked_for_one(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE) + ENTERED)
    plant(tmp_path, f"{DAY}/{rollout(THREE)}", content=meta(THREE))
    plant(tmp_path, f"{DAY}/{rollout(TWO, second=5)}", content=meta(TWO, **REVIEW))
    assert sorted(sessions_in(tmp_path / ".codex", tmp_path).items()) == [
        (ONE, [f"{DAY}/{rollout(ONE)}", f"{DAY}/{rollout(TWO, second=5)}"]),
        (THREE, [f"{DAY}/{rollout(THREE)}"]),
    ]


def test_an_early_review_that_two_threads_may_have_asked_for_stays_alone(tmp_path: Path) -> None:
    for thread in (ONE, THREE):
        plant(tmp_path, f"{DAY}/{rollout(thread)}", content=meta(thread) + ENTERED)
    plant(tmp_path, f"{DAY}/{rollout(TWO, second=5)}", content=meta(TWO, **REVIEW))
    assert sorted(sessions_in(tmp_path / ".codex", tmp_path)) == [ONE, TWO, THREE]


def test_a_rollout_that_cannot_be_read_is_known_by_its_name(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}.zst", content=b"no frame")
    assert sessions_in(tmp_path / ".codex", tmp_path) == {ONE: [f"{DAY}/{rollout(ONE)}.zst"]}


def test_the_main_files_of_a_session_are_those_of_its_own_thread(tmp_path: Path) -> None:
    plant(tmp_path, f"{DAY}/{rollout(ONE)}", content=meta(ONE))
    plant(tmp_path, f"{DAY}/{rollout(TWO)}", content=meta(TWO, parent_thread_id=ONE))
    [session] = group(find_at(tmp_path / ".codex"))
    assert isinstance(session, SessionFiles)
    assert [file.path.name for file in session.mains] == [rollout(ONE)]
