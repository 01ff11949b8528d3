"""What the contract answers about logs, also for an agent that nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.agents.base import AgentLogs, Head, LogOwner, SharedIds
from tracklog.agents.supported import SUPPORTED, UNKNOWN, support_for
from tracklog.model.ids import MAIN, ThreadId
from tracklog.sources.log_file import AGENTS, FileKind, LogFile

SESSION = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def log(
    path: str, kind: FileKind = FileKind.TRANSCRIPT, *, root: str = "/home", session: str | None = SESSION
) -> LogFile:
    return LogFile(None, kind, Path(path), Path(root), session, 1, 0, 1, 1)


def test_each_agent_that_logs_may_name_is_supported_under_its_name() -> None:
    assert tuple(SUPPORTED) == AGENTS
    assert [one.name for one in SUPPORTED.values()] == list(AGENTS)


@pytest.mark.parametrize("agent", [None, "", "gemini"])
def test_an_agent_that_nobody_knows_has_nothing_special(agent: str | None) -> None:
    support, file = support_for(agent), log("/home/x/one.jsonl")
    assert (support, support.name, support.resume_words) == (UNKNOWN, None, ())
    logs = support.logs
    assert list(logs.sessions_in([file], lambda _: Head())) == []
    assert logs.owner_of(file, lambda _: False) == LogOwner(SESSION, MAIN)
    assert (logs.folder_around(file), logs.project_of(file)) == (file.path.parent, file.path.parent)
    assert (list(logs.elsewhere(file)), logs.shared_ids(file), list(logs.ids_inside(file))) == (
        [],
        SharedIds(),
        [],
    )
    assert (logs.side_folder(file), logs.output_path(file, "b1.txt")) == (None, None)
    assert (logs.transcript_path(SESSION, "/work"), logs.project_folders(Path("/home"), "/work")) == (
        None,
        [],
    )
    assert logs.retention(Path("/home")) is None


def test_a_topic_is_made_once() -> None:
    assert all(one.logs is one.logs for one in SUPPORTED.values())
    assert all(type(one.logs) is not AgentLogs for one in SUPPORTED.values())


@pytest.mark.parametrize(
    ("agent", "path", "kind", "thread"),
    [
        ("claude", f"/h/projects/-w/{SESSION}.jsonl", FileKind.TRANSCRIPT, MAIN),
        ("claude", f"/h/projects/-w/{SESSION}/subagents/agent-a1.jsonl", FileKind.SUBAGENT, ThreadId("a1")),
        ("claude", f"/h/projects/-w/{SESSION}/subagents/agent-a1.meta.json", FileKind.META, ThreadId("a1")),
        ("claude", f"/h/projects/-w/{SESSION}/wf_1/journal.jsonl", FileKind.JOURNAL, ThreadId("wf_1")),
        ("codex", "/h/sessions/2026/03/01/rollout-x.jsonl", FileKind.TRANSCRIPT, ThreadId(SESSION)),
    ],
)
def test_a_name_tells_the_thread(agent: str, path: str, kind: FileKind, thread: ThreadId) -> None:
    assert support_for(agent).logs.thread_of(log(path, kind)) == thread


@pytest.mark.parametrize(
    ("agent", "path", "around"),
    [
        ("claude", f"/h/projects/-w/{SESSION}.jsonl", "/h/projects/-w"),
        ("claude", f"/h/projects/-w/{SESSION}/subagents/agent-a1.jsonl", "/h/projects/-w"),
        ("codex", "/h/sessions/2026/03/01/rollout-x.jsonl", "/h"),
    ],
)
def test_the_rest_of_a_session_stands_in_its_project_or_anywhere_in_its_home(
    agent: str, path: str, around: str
) -> None:
    assert support_for(agent).logs.folder_around(log(path, root="/h")) == Path(around)
