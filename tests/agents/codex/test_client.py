"""Codex's arguments and stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.agents.codex.client import CodexClient, CodexStream
from tracklog.errors import UserError
from tracklog.model.run_request import RunRequest
from tracklog.run.request import checked

PLAIN = ["exec", "--json", "--skip-git-repo-check", "--color", "never"]


def arguments(request: RunRequest, *, schema: Path | None) -> list[str]:
    return CodexClient().arguments(request, session=None, settings=None, schema=schema)


def test_the_prompt_comes_on_stdin_whatever_is_asked_for(tmp_path: Path) -> None:
    asked = RunRequest(
        agent="codex",
        prompt="--help",
        cwd=tmp_path,
        model="gpt-5.1-codex",
        permission_mode="read-only",
        add_dirs=(tmp_path,),
        persists=False,
        client_arguments=("-c", "x=1"),
    )
    assert arguments(asked, schema=Path("/s.json")) == [
        *PLAIN,
        *("--model", "gpt-5.1-codex", "--sandbox", "read-only", "--add-dir", str(tmp_path)),
        *("--output-schema", "/s.json", "--ephemeral", "-c", "x=1", "-"),
    ]


def test_resume_and_fork_are_commands_below_exec(tmp_path: Path) -> None:
    resumed = RunRequest(
        agent="codex", prompt="x", cwd=tmp_path, resume="t", permission_mode="bypassPermissions"
    )
    assert arguments(resumed, schema=None) == [
        *PLAIN,
        *("--dangerously-bypass-approvals-and-sandbox", "resume", "t", "-"),
    ]
    forked = RunRequest(agent="codex", prompt="x", cwd=tmp_path, resume="t", is_fork=True)
    assert arguments(forked, schema=None) == [*PLAIN, "fork", "t", "-"]


def test_what_codex_does_not_have_is_refused_not_left_out(tmp_path: Path) -> None:
    for asked in ({"max_turns": 2}, {"allowed_tools": ("Bash",)}, {"name": "n"}, {"ask_here_s": 1.0}):
        with pytest.raises(UserError, match="Codex has no such thing"):
            checked(RunRequest(agent="codex", prompt="x", cwd=tmp_path, **asked))


def test_the_stream_tells_the_thread_the_words_the_usage_and_the_end() -> None:
    stream = CodexStream()
    for line in (
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "hello"}},
        {"type": "item.completed", "item": {"type": "command_execution"}},
    ):
        stream.add(line)
    assert (stream.session, stream.text, stream.is_finished) == ("t", "hello", False)
    stream.add({"type": "turn.completed", "usage": {"input_tokens": 3}})
    assert (stream.is_finished, stream.error, stream.usage, stream.n_turns) == (
        True,
        None,
        {"input_tokens": 3},
        1,
    )


def test_a_failed_turn_is_told_in_the_client_s_words() -> None:
    stream = CodexStream()
    stream.add({"type": "error", "message": "stream disconnected"})
    assert (stream.is_finished, stream.error) == (False, "stream disconnected")
    stream.add({"type": "turn.failed", "error": {"message": "overloaded"}})
    assert (stream.is_finished, stream.error) == (True, "overloaded")


def test_lines_of_any_shape_are_taken() -> None:
    stream = CodexStream()
    for odd in (
        {},
        {"type": None},
        {"type": "item.completed", "item": 5},
        {"type": "turn.completed", "usage": []},
    ):
        stream.add(odd)
    assert (stream.text, stream.usage) == (None, None)
