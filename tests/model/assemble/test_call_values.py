"""A call as it is shown: its times, phases, result, and what the client states."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.model.lines import (
    LOG,
    REJECTED,
    Line,
    at,
    attachment,
    notice,
    record,
    reply,
    result,
    session,
    use,
    user,
)
from tracklog.model.assemble.times import between_ms
from tracklog.model.events import Place
from tracklog.model.session import Call, HookRun, Stated

ASK = user("u", None, "go", timestamp=at(1))


def call(*lines: Line, name: str = "Bash", **input: Any) -> Call:
    """The one call of a log that asks for it at 10:00:02."""
    [made] = session(ASK, reply("a", "u", "m1", use("c1", name, **input), timestamp=at(2)), *lines).calls
    return made


def back(content: Any = "done", second: float = 5, **fields: Any) -> Line:
    return result("r", "a", "c1", content, timestamp=at(second), **fields)


def test_the_time_of_a_call_is_that_between_its_lines() -> None:
    made = call(back(second=4.5))
    assert (made.called_at, made.returned_at, made.took_ms, made.took_by) == (
        at(2),
        at(4.5),
        2500,
        "log_times",
    )


def test_the_time_that_the_client_states_wins() -> None:
    made = call(back(toolUseResult={"durationMs": 7}))
    assert (made.took_ms, made.took_by) == (7, "stated")


def test_a_call_without_a_result_took_no_known_time() -> None:
    made = call()
    assert (made.returned_at, made.took_ms, made.took_by) == (None, None, None)


@pytest.mark.parametrize(
    ("start", "end", "ms"),
    [
        ("2026-11-15T10:00:00Z", "2026-11-15T10:00:00.5Z", 500),
        ("2026-11-15T10:00:01Z", "2026-11-15T10:00:00Z", None),
        (None, "2026-11-15T10:00:00Z", None),
        ("2026-11-15T10:00:00Z", None, None),
        ("2026-11-15T10:00:00", "2026-11-15T10:00:00Z", None),
        ("a", "b", None),
    ],
)
def test_time_between_two_moments_is_never_negative_or_guessed(
    start: str | None, end: str | None, ms: float | None
) -> None:
    assert between_ms(start, end) == ms


@pytest.mark.parametrize(
    ("name", "input", "report", "text", "timed_out"),
    [
        ("Bash", {"command": "x", "timeout": 500}, {"backgroundTaskId": "b1"}, "Command running in background", True),
        ("Bash", {"command": "x"}, {"backgroundTaskId": "b1"}, "Command running in background with ID: b1", False),
        ("Bash", {"command": "x", "run_in_background": True}, {"backgroundTaskId": "b1"}, "Command running …", False),
        ("Bash", {"command": "x"}, {"backgroundTaskId": "b1", "backgroundedByUser": True}, "Command was …", False),
        ("Bash", {"command": "x"}, {"backgroundTaskId": "b1"}, "Command was manually backgrounded by user with ID: b1", False),
        ("Bash", {"command": "x", "run_in_background": True}, {"backgroundTaskId": "b1", "timedOutAfterMs": 5}, "moved", True),
        ("Agent", {"prompt": "x"}, {"status": "async_launched", "agentId": "a1"}, "launched", False),
        ("Monitor", {"command": "x"}, {"taskId": "m1", "timeoutMs": 5}, "started", False),
        ("Bash", {"command": "x"}, {"stdout": "x"}, "x", False),
    ],
)  # fmt: skip
def test_a_command_that_nobody_sent_to_the_background_was_moved_by_its_time_limit(
    name: str, input: Line, report: Line, text: str, timed_out: bool
) -> None:
    assert call(back(text, toolUseResult=report), name=name, **input).timed_out is timed_out


def test_the_input_that_a_hook_put_in_place_is_kept_beside_the_model_s() -> None:
    said = json.dumps({"hookSpecificOutput": {"updatedInput": {"command": "ls -l"}}})
    hook = attachment("h", "a", "hook_success", hookEvent="PreToolUse", toolUseID="c1", stdout=said)
    made = call(hook, back(), command="ls")
    assert (made.arguments, made.ran_input) == ({"command": "ls"}, Raw(b'{"command":"ls -l"}'))
    assert call(back(), command="ls").ran_input == Raw()


def test_the_phases_of_a_call_stand_in_the_order_of_the_log() -> None:
    made = call(
        attachment("h1", "a", "hook_success", hookEvent="PreToolUse", toolUseID="c1"),
        attachment("h2", "a", "hook_success", hookEvent="PermissionRequest", toolUseID="c1"),
        *[
            record("progress", f"p{n}", "a", data={"type": "bash_progress"}, toolUseID="c1", timestamp=at(3))
            for n in range(3)
        ],
        back(),
        attachment("h3", "r", "hook_success", hookEvent="PostToolUse", toolUseID="c1"),
        reply("b", "r", "m2", "fine", timestamp=at(6)),
        user("n", "b", notice("b1", "completed", tool_use_id="c1"), timestamp=at(9)),
    )
    assert [(phase.what, phase.place.line) for phase in made.phases] == [
        ("asked", 2),
        ("hook_before", 3),
        ("permission", 4),
        ("progress", 5),
        ("progress", 7),
        ("returned", 8),
        ("hook_after", 9),
        ("read", 10),
        ("notified", 11),
    ]
    assert [phase.at for phase in made.phases if phase.what in ("asked", "returned", "read")] == [
        at(2),
        at(5),
        at(6),
    ]


def test_a_result_is_read_by_the_next_answer_and_not_by_the_rest_of_its_own() -> None:
    lines = [back(), reply("b", "a", "m1", "more of the same"), reply("c", "r", "m2", "I see")]
    assert [phase.place.line for phase in call(*lines).phases if phase.what == "read"] == [5]


def test_the_hooks_of_a_call_are_values() -> None:
    hook = attachment(
        "h", "a", "hook_success", hookEvent="PreToolUse", hookName="PreToolUse:Bash", toolUseID="c1", command="x.sh",
        stdout="fine", exitCode=0, durationMs=3,
    )  # fmt: skip
    assert call(hook, back()).hooks == [
        HookRun(
            event="PreToolUse", name="PreToolUse:Bash", outcome="success", command="x.sh", text="fine", exit_code=0, took_ms=3,
            at=None, place=Place(LOG, 3),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/h/projects/p/s1/tool-results/b1.txt", "b1.txt"),
        ("C:\\h\\s1\\tool-results\\b1.txt", "b1.txt"),
        ("/etc/passwd", None),
        ("/h/s1/tool-results/../../secret", None),
        ("/h/s1/tool-results/..", None),
        ("/h/s1/tool-results/", None),
        ("/h/s1/my-tool-results/b1.txt", None),
        ("tool-results", None),
        ("", None),
    ],
)
def test_a_side_file_is_known_only_inside_the_folder_of_results(path: str, name: str | None) -> None:
    made = call(back("cut", toolUseResult={"persistedOutputPath": path}))
    assert made.result is not None
    assert made.result.side_file == name


def test_a_result_keeps_what_the_tool_reported() -> None:
    made = call(back("x", toolUseResult={"stdout": "x", "deep": [1, {"a": None}]}))
    assert made.result is not None
    assert made.result.structured == {"stdout": "x", "deep": [1, {"a": None}]}
    bare = call(back("x"))
    assert bare.result is not None
    assert bare.result.structured is None


def test_what_the_client_states_of_a_subagent_is_kept_apart() -> None:
    report = {
        "status": "completed",
        "totalDurationMs": 900,
        "totalTokens": 50,
        "totalToolUseCount": 2,
        "usage": {"input_tokens": 3},
    }
    made = call(back("answer", toolUseResult=report), name="Agent")
    assert made.stated == Stated(took_ms=900, tokens=50, tool_uses=2, usage={"input_tokens": 3})
    assert made.took_ms == 900


@pytest.mark.parametrize(
    "report", [{"stdout": "otalT"}, "Error: totalTokens", None, {"totalTokens": True, "totalDurationMs": "x"}]
)
def test_what_states_nothing_gives_no_numbers(report: Any) -> None:
    stated = call(back(toolUseResult=report)).stated
    assert stated is None or stated == Stated()


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([back("Exit code 3\nbad", is_error=True)], 3),
        ([back("Exit code 3\nbad")], None),
        ([back("bg", toolUseResult={"backgroundTaskId": "b1"}), user("n", "r", notice("b1", "failed", summary="exit code 7"))], 7),
    ],
)  # fmt: skip
def test_the_exit_code_is_that_of_the_result_or_of_the_notice(lines: list[Line], code: int | None) -> None:
    assert call(*lines).exit_code == code


def test_the_error_of_a_call_is_its_result_s_text_cut_short() -> None:
    assert call(back("x" * 3000, is_error=True)).error == "x" * 2000
    assert call(back("fine")).error is None
    assert call(back("", is_error=True)).error is None
    assert call().error is None


def test_a_refusal_keeps_the_decision_and_the_person_s_words() -> None:
    refused = back(
        REJECTED, is_error=True, permissionDecision={"decision": "reject", "source": "user_reject"}, userFeedback="use rg"
    )  # fmt: skip
    made = call(refused)
    assert (made.verdict, made.decision, made.feedback) == ("denied", "reject user_reject", "use rg")


def test_a_call_knows_where_it_stands() -> None:
    made = call(back(), name="mcp__life__echo", text="hi")
    assert (made.session, made.agent, made.thread, made.turn, made.request, made.node, made.server, made.name) == (
        "s1", "claude", "main", 1, "m1", "a", "life", "mcp__life__echo",
    )  # fmt: skip
    assert (made.is_server_side, made.is_inherited, made.spawned, made.parent_call) == (
        False,
        False,
        None,
        None,
    )


def test_a_tool_of_the_api_ends_where_it_begins() -> None:
    search = {"type": "server_tool_use", "id": "c1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "c1", "content": []}
    [made] = session(ASK, reply("a", "u", "m1", search, found)).calls
    assert (made.verdict, made.is_server_side, made.evidence) == ("ok", True, [Place(LOG, 2)])
