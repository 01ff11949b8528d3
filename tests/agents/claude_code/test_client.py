"""Claude Code's arguments and stream."""

from __future__ import annotations

from pathlib import Path

from tracklog.agents.claude_code.client import ClaudeCodeClient, ClaudeCodeStream
from tracklog.model.run_request import RunRequest

SESSION = "00000000-0000-4000-8000-000000000001"
PLAIN = ["-p", "--output-format", "stream-json", "--verbose"]


def arguments(request: RunRequest, *, session: str, settings: Path | None) -> list[str]:
    return ClaudeCodeClient().arguments(request, session=session, settings=settings, schema=None)


def request(tmp_path: Path, **others: object) -> RunRequest:
    return RunRequest(agent="claude", prompt="-rf $(evil)", cwd=tmp_path, **others)  # type: ignore[arg-type]


def test_the_prompt_is_no_argument(tmp_path: Path) -> None:
    given = arguments(request(tmp_path), session=SESSION, settings=None)
    assert given == [*PLAIN, "--session-id", SESSION]


def test_everything_asked_for_is_handed_over_and_the_user_s_own_words_come_last(tmp_path: Path) -> None:
    asked = request(
        tmp_path,
        model="opus",
        permission_mode="plan",
        allowed_tools=("Bash(git *)", "Read"),
        disallowed_tools=("WebFetch",),
        add_dirs=(tmp_path / "b",),
        name="n",
        append_system_prompt="be brief",
        json_schema={"type": "object"},
        max_turns=3,
        persists=False,
        client_arguments=("--debug", "x y"),
    )
    assert arguments(asked, session=SESSION, settings=Path("/o.json")) == [
        *PLAIN,
        *("--session-id", SESSION, "--settings", "/o.json", "--model", "opus", "--permission-mode", "plan"),
        *("--name", "n", "--append-system-prompt", "be brief", "--max-turns", "3"),
        *("--json-schema", '{"type":"object"}', "--allowedTools", "Bash(git *)", "Read"),
        *("--disallowedTools", "WebFetch", "--add-dir", str(tmp_path / "b"), "--no-session-persistence"),
        *("--debug", "x y"),
    ]


def test_a_system_prompt_that_begins_with_a_dash_is_no_option(tmp_path: Path) -> None:
    asked = request(tmp_path, append_system_prompt="- be brief")
    given = arguments(asked, session=SESSION, settings=None)
    assert given == [*PLAIN, "--session-id", SESSION, "--append-system-prompt=- be brief"]


def test_a_resumed_session_keeps_its_id_and_a_fork_gets_a_new_one(tmp_path: Path) -> None:
    resumed = request(tmp_path, resume=SESSION)
    assert arguments(resumed, session=SESSION, settings=None) == [*PLAIN, "--resume", SESSION]
    forked = request(tmp_path, resume=SESSION, is_fork=True)
    assert arguments(forked, session="new", settings=None) == [
        *PLAIN,
        *("--resume", SESSION, "--fork-session", "--session-id", "new"),
    ]


def test_what_another_claude_left_in_the_environment_does_not_reach_the_child() -> None:
    env = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CONFIG_DIR": "/c", "PATH": "/bin"}
    assert ClaudeCodeClient().environment(env) == {"CLAUDE_CONFIG_DIR": "/c", "PATH": "/bin"}


def test_the_stream_tells_the_session_the_model_the_last_words_and_the_result() -> None:
    stream = ClaudeCodeStream()
    said = [
        stream.add({"type": "system", "subtype": "init", "session_id": "s", "model": "m"}),
        stream.add({"type": "assistant", "message": {"content": [{"type": "text", "text": "one"}]}}),
        stream.add(
            {
                "type": "assistant",
                "parent_tool_use_id": "t",
                "message": {"content": [{"type": "text", "text": "of a subagent"}]},
            }
        ),
        stream.add({"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}),
    ]
    assert said == ["system/init", "assistant", "assistant", "assistant"]
    assert (stream.session, stream.model, stream.text, stream.is_finished) == ("s", "m", "one", False)
    assert stream.add({"type": "result", "subtype": "success", "result": "two"}) == "result/success"
    assert (stream.is_finished, stream.error) == (True, None)


def test_an_error_is_told_in_the_client_s_words() -> None:
    for result, words in (
        ({"subtype": "error_max_turns", "errors": ["too many"]}, "too many"),
        ({"subtype": "success", "result": "API Error: 529"}, "API Error: 529"),
        ({"subtype": "error_during_execution"}, "error_during_execution"),
    ):
        stream = ClaudeCodeStream()
        stream.add({"type": "result", "is_error": True, **result})
        assert stream.error == words


def test_lines_of_any_shape_are_taken() -> None:
    stream = ClaudeCodeStream()
    for odd in (
        {},
        {"type": 1},
        {"type": "assistant", "message": 5},
        {"type": "assistant", "message": {"content": 1}},
    ):
        stream.add(odd)
    assert (stream.text, stream.is_finished) == (None, False)
