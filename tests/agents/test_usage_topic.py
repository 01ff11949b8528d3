"""What differs between agents in counting usage, asked of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.agents.base import AgentUsage, LogContents
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.sources.files import buffer_of
from tracklog.sources.log_file import Agent, FileKind, LogFile

LATE, EARLY = "2026-05-02T10:00:00.000Z", "2026-05-01T10:00:00.000Z"


def log_file(path: Path, text: str, agent: Agent = "claude") -> LogFile:
    path.write_text(text)
    return LogFile(agent, FileKind.TRANSCRIPT, path, path.parent, "s", len(text), 0, 0, 0)


def usage(agent: str | None) -> AgentUsage:
    return support_for(agent).usage


def test_an_agent_that_we_do_not_know_has_nothing_special(tmp_path: Path) -> None:
    file, contents = log_file(tmp_path / "a.jsonl", '{"cwd": "/p", "uuid": "u"}\n'), LogContents({}, [])
    unknown = usage(None)
    unknown.add_contents(file, contents, set())
    assert (unknown.first_folder([file]), unknown.context_window(1), contents) == (None, None, ({}, []))
    assert (unknown.request_id("s:1", "s"), unknown.may_repeat_usage(file, buffer_of(4096))) == ("s:1", False)
    assert not unknown.counts_in_blocks


def test_every_supported_agent_has_a_scan() -> None:
    assert all(callable(agent.usage.scan) for agent in SUPPORTED.values())


def test_a_session_began_in_the_folder_of_its_earliest_log(tmp_path: Path) -> None:
    logs = [
        log_file(tmp_path / "a.jsonl", f'{{"type": "x"}}\n{{"timestamp": "{LATE}", "cwd": "/late"}}\n'),
        log_file(tmp_path / "b.jsonl", f'{{"timestamp": "{EARLY}", "cwd": "/early"}}\n{{"cwd": "/next"}}\n'),
        log_file(tmp_path / "c.jsonl", '{"cwd": 7}\nnot JSON "cwd"\n'),
    ]
    assert usage("claude").first_folder(logs) == "/early"
    assert usage("claude").first_folder(logs[2:]) is None


def test_a_log_that_is_gone_names_no_folder(tmp_path: Path) -> None:
    file = log_file(tmp_path / "a.jsonl", '{"cwd": "/p"}\n')
    file.path.unlink()
    assert usage("claude").first_folder([file]) is None
    assert not usage("codex").may_repeat_usage(file, buffer_of(4096))


@pytest.mark.parametrize(("largest", "window"), [(0, 200_000), (200_000, 200_000), (200_001, 1_000_000)])
def test_a_prompt_beyond_the_usual_window_had_the_long_one(largest: int, window: int) -> None:
    assert usage("claude").context_window(largest) == window


@pytest.mark.parametrize(
    ("head", "may"),
    [
        ('{"type":"session_meta","payload":{"id":"a"}}\n', False),
        ('{"type":"session_meta"}\n{"type":"session_meta"}\n', True),
        ('{"type":"session_meta","payload":{"forked_from_id":"b"}}\n', True),
        ('{"type":"session_meta","payload":{"forked_from_id":null}}\n', False),
        ('{"type":"session_meta","payload":{"subagent_history_start_ordinal": 3}}\n', True),
        ("", False),
    ],
)
def test_the_head_of_a_log_says_whether_it_may_repeat_usage(tmp_path: Path, head: str, may: bool) -> None:
    file = log_file(tmp_path / "rollout.jsonl", head, "codex")
    assert usage("codex").may_repeat_usage(file, buffer_of(1 << 16)) is may


def test_a_request_without_a_count_loses_the_name_of_its_session() -> None:
    assert usage("codex").request_id("s:r", "s") == "r"
    assert usage("claude").request_id("s:r", "s") == "s:r"
