"""What a tool's result says happened: by the client's fields, and by its words only where those are an error."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.lines import REJECTED, STOPPED, Line, facts, only, result, said, user
from tracklog.model.events import LogEvent, TaskSeen, ToolReturned

ASK = {"decision": "accept", "source": "user_temporary", "grantScope": "once"}


def returned(content: Any = "done", *, is_error: bool = False, **fields: Any) -> ToolReturned:
    [event] = only(said(result("r", "a", "c1", content, is_error=is_error, **fields)), ToolReturned)
    return event


def verdict(content: Any = "done", *, is_error: bool = False, **fields: Any) -> tuple[str, str]:
    event = returned(content, is_error=is_error, **fields)
    return event.said, event.why


WORDS = [
    (
        "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.]",
        ("outcome_unknown", "session ended before its result"),
    ),
    (
        REJECTED.partition(" STOP")[0] + " To tell you how to proceed, the user said:\nuse rg",
        ("denied", "rejected, with the person's words"),
    ),
    (REJECTED, ("rejected", "rejected or interrupted")),
    (
        "The user doesn't want to take this action right now. STOP what you are doing and wait for the user.",
        ("cancelled", "cancelled with the call beside it"),
    ),
    (STOPPED, ("interrupted", "interrupted")),
    (f"Exit code 137\n{STOPPED}\nsome output", ("interrupted", "interrupted")),
    (
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        ("sibling_error", "a parallel call failed"),
    ),
    ("Sibling tool call errored", ("sibling_error", "a parallel call failed")),
    (
        "<tool_use_error>Cancelled: parallel tool call Bash(ls nosuch) errored</tool_use_error>",
        ("sibling_error", "a parallel call failed"),
    ),
    ("PreToolUse:Bash hook error: [guard.sh]: no rm here", ("blocked", "hook")),
    ("Bash operation blocked by hook:\n- [guard.sh]: no rm here", ("blocked", "hook")),
    ("Hook PreToolUse:Write denied this tool", ("blocked", "hook")),
    (
        "Hook PreToolUse:Write asked for confirmation for this tool",
        ("denied", "hook asked, nobody answered"),
    ),
    ("Permission to use Bash with command rm -f x has been denied.", ("denied", "permission rule")),
    ("Permission to use Bash with command cat <<E\na\nE has been denied.", ("denied", "permission rule")),
    ("Permission to read /w/secret has been denied.", ("denied", "permission rule")),
    ("Permission for this tool use was denied.", ("denied", "permission rule")),
    (
        "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>",
        ("denied", "permission rule"),
    ),
    (
        "Permission to use Bash has been denied because Claude Code is running in don't ask mode. IMPORTANT: …",
        ("denied", "permission rule"),
    ),
    (
        "Claude requested permissions to write to /w/a, but you haven't granted it yet.",
        ("denied", "nobody could be asked"),
    ),
    (
        "Claude requested permissions to use mcp__x__y, but you haven't granted it yet.",
        ("denied", "nobody could be asked"),
    ),
    ("This command requires approval", ("denied", "nobody could be asked")),
    (
        "touch in '/w' needs approval. The path is inside the working directories but writing is not allowed.",
        ("denied", "nobody could be asked"),
    ),
    (
        "touch in '/etc' was blocked. For security, Claude Code may only create or modify files in the allowed …",
        ("denied", "nobody could be asked"),
    ),
    ("Cannot write to /w/a while in plan mode.", ("denied", "plan mode")),
    ("Exit plan mode?", ("denied", "plan mode")),
    ("Answer questions?", ("denied", "nobody could be asked")),
    (
        "Auto mode is unavailable: its safety check does not run for this session, so Bash was not run.",
        ("denied", "auto mode"),
    ),
    ("Denied by the auto mode classifier", ("denied", "auto mode")),
    ("Command timed out after 1.5s\nout", ("timed_out", "time limit")),
    ("Exit code 143\nCommand timed out after 2m 0.0s out", ("timed_out", "time limit")),
    ('MCP server "life" tool "slow" timed out after 2s', ("timed_out", "time limit")),
    ("MCP error -32001: Request timed out", ("timed_out", "time limit")),
    ("Request timed out", ("timed_out", "time limit")),
    ("Exit code 137", ("cut_off", "killed with the client, or by itself")),
    ("Exit code 137\nsome output", ("cut_off", "killed with the client, or by itself")),
]


@pytest.mark.parametrize(("text", "expected"), WORDS, ids=[text[:50] for text, _ in WORDS])
def test_the_words_of_an_error_say_what_happened(text: str, expected: tuple[str, str]) -> None:
    assert verdict(text, is_error=True) == expected
    assert verdict([{"type": "text", "text": text}], is_error=True) == expected


@pytest.mark.parametrize("text", [text for text, _ in WORDS], ids=[text[:50] for text, _ in WORDS])
def test_the_same_words_in_a_good_result_mean_nothing(text: str) -> None:
    assert verdict(text) == ("ok", "came back")
    assert verdict(text, toolUseResult={"stdout": text}) == ("ok", "came back")


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 3\nout\nbad",
        "Exit code 1",
        "Exit code 1370",
        "Exit code 1\nCommand timed out after 2m 0.0s, says the test",
        f"Exit code 1\n{STOPPED}",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "<tool_use_error>InputValidationError: Bash failed due to the following issue:</tool_use_error>",
        "<tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>",
        "<tool_use_error>Blocked: standalone sleep 41. To wait for a condition, use Monitor</tool_use_error>",
        "mcp says no",
        "Agent type 'no-such-agent' not found. Available agents: a",
        "Exit code 1\nThis change needs approval. Ask the owners.",
        "Exit code 1\nlogin was blocked. For security, Claude Code was not told.",
        f"Exit code 1\nthe log says: {REJECTED}",
        f"the log says: {STOPPED}",
        "Exit code 1\nPermission to use this printer has been denied",
        "Exit code 1\nRequest timed out",
        "",
    ],
)
def test_an_error_is_an_error_whatever_a_command_printed(text: str) -> None:
    assert verdict(text, is_error=True) == ("error", "error")


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"decision": "reject", "source": "hook", "reasonType": "hook", "reasonCode": "hook:PreToolUse"}, ("blocked", "hook")),
        ({"decision": "reject", "source": "user_reject"}, ("denied", "reject user_reject")),
        ({"decision": "reject", "source": "config", "reasonCode": "mode:plan"}, ("denied", "reject mode:plan")),
        (ASK, ("error", "error")),
    ],
)  # fmt: skip
def test_the_stated_decision_counts_before_words(decision: Line, expected: tuple[str, str]) -> None:
    assert verdict("no writes to main", is_error=True, permissionDecision=decision) == expected


def test_a_decision_to_accept_leaves_the_words_their_say() -> None:
    assert verdict(REJECTED, is_error=True, permissionDecision=ASK)[0] == "rejected"


def test_who_decided_is_kept() -> None:
    assert returned(permissionDecision=ASK).decision == "accept user_temporary"
    assert returned().decision is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("interrupted", ("outcome_unknown", "session ended before its result")),
        ("cancelled", ("sibling_error", "a parallel call failed")),
        ("automode-blocked", ("denied", "auto mode")),
        ("automode-unavailable", ("denied", "auto mode")),
        ("permission-rule", ("denied", "permission rule")),
        ("user-rejected", ("denied", "nobody could be asked")),
        ("new-kind", ("error", "error")),
    ],
)
def test_the_kind_of_denial_counts_where_the_words_say_nothing(kind: str, expected: tuple[str, str]) -> None:
    assert verdict("please confirm", is_error=True, toolDenialKind=kind) == expected


def test_the_kind_of_denial_is_too_coarse_to_beat_the_words() -> None:
    assert verdict(REJECTED, is_error=True, toolDenialKind="user-rejected")[0] == "rejected"
    blocked = verdict("PreToolUse:Bash hook error: [x]: no", is_error=True, toolDenialKind="permission-rule")
    assert blocked == ("blocked", "hook")


@pytest.mark.parametrize("report", [{"interrupted": True, "stdout": ""}, {"wasInterrupted": True}])
def test_a_report_may_say_interrupted(report: Line) -> None:
    assert verdict("", toolUseResult=report) == ("interrupted", "interrupted")


@pytest.mark.parametrize("is_error", [None, False])
def test_a_result_without_an_error_came_back(is_error: bool | None) -> None:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "fine", "is_error": is_error}
    [event] = said(user("r", "a", [block]))
    assert isinstance(event, ToolReturned)
    assert facts(event, "said", "why", "is_error") == ("ok", "came back", is_error)


@pytest.mark.parametrize(
    ("text", "code"),
    [("Exit code 3\nbad", 3), ("Exit code -1", -1), ("bad\n[Exit code: 2]", 2), ("bad", None)],
)
def test_the_exit_code_of_an_error_is_read(text: str, code: int | None) -> None:
    assert returned(text, is_error=True).exit_code == code
    assert returned(text).exit_code == (code if text.endswith("]") else None)  # whose tool is a shell's


@pytest.mark.parametrize(
    ("text", "feedback"),
    [(f"{REJECTED} To tell you how to proceed, the user said:\nuse rg ", "use rg"), (REJECTED, None)],
)
def test_the_person_s_words_with_a_refusal_are_kept(text: str, feedback: str | None) -> None:
    assert returned(text, is_error=True).feedback == feedback
    assert returned(text, is_error=True, userFeedback="stated").feedback == "stated"


@pytest.mark.parametrize(
    ("text", "report", "expected"),
    [
        ("Command running in background with ID: b1", {"backgroundTaskId": "b1"}, ("backgrounded", "b1", None, True)),
        ("Command did not complete within its 2s timeout and was moved", {"backgroundTaskId": "b1", "timedOutAfterMs": 2000}, ("backgrounded", "b1", True, True)),
        ("Command was manually backgrounded by user with ID: b1", {"backgroundTaskId": "b1", "backgroundedByUser": True}, ("backgrounded", "b1", False, True)),
        ("x", {"backgroundTaskId": "b1", "assistantAutoBackgrounded": True}, ("backgrounded", "b1", False, True)),
        ("Async agent launched successfully.", {"status": "async_launched", "agentId": "a1"}, ("backgrounded", "a1", False, True)),
        ("x", {"status": "remote_launched", "taskId": "t1"}, ("backgrounded", "t1", False, True)),
        ("x", {"status": "teammate_spawned", "agentId": "b@t"}, ("backgrounded", "b@t", False, True)),
        ("x", {"taskId": "w1", "workflowName": "review", "runId": "wf_1"}, ("backgrounded", "w1", None, True)),
        ("Monitor started", {"taskId": "m1", "timeoutMs": 5000}, ("backgrounded", "m1", None, True)),
        ("Command running in background with ID: b1", None, ("backgrounded", "b1", None, False)),
        ("Async agent launched successfully.\nagentId: a1 (internal)", None, ("backgrounded", "a1", None, False)),
        ("Command running in background with ID: b1", {"stdout": "Command running in background with ID: b1"}, ("ok", None, None, True)),
        ("see: Command running in background with ID: b1", None, ("ok", None, None, True)),
        ("x", {"status": "completed", "agentId": "a1"}, ("ok", None, None, True)),
        ("x", {"taskId": "3", "success": True}, ("ok", None, None, True)),
        ("x", {"backgroundTaskId": "b1", "error": "no shell"}, ("ok", None, None, True)),
    ],
)  # fmt: skip
def test_what_goes_on_in_the_background_is_told_by_fields_then_by_words(
    text: str, report: Line | None, expected: tuple[Any, ...]
) -> None:
    event = returned(text, toolUseResult=report)
    assert facts(event, "said", "task", "timed_out", "is_sure") == expected


def test_an_error_is_never_in_the_background() -> None:
    text = "Command running in background with ID: b1"
    assert verdict(text, is_error=True, toolUseResult={"backgroundTaskId": "b1"}) == ("error", "error")


@pytest.mark.parametrize(
    ("text", "report", "agent"),
    [
        ("done\nagentId: a1 (for resuming)", None, "a1"),
        ("done", {"status": "completed", "agentId": "a1"}, "a1"),
        ("the agentId: of a2 is a1", None, None),
        ("done", None, None),
    ],
)
def test_the_agent_that_did_the_work_is_named(text: str, report: Line | None, agent: str | None) -> None:
    assert returned(text, toolUseResult=report).agent == agent


@pytest.mark.parametrize(
    ("report", "took_ms"),
    [
        ({"totalDurationMs": 900, "durationMs": 1}, 900),
        ({"durationMs": 12.5}, 12.5),
        ({"durationSeconds": 2}, 2000),
        ({"durationMs": "12"}, None),
        ({"durationMs": {"a": 1}, "durationSeconds": 1}, 1000),
        ("Error: x", None),
        ([1], None),
        (None, None),
    ],
)
def test_the_time_that_a_tool_states_is_taken_where_it_is_a_time(report: Any, took_ms: float | None) -> None:
    assert returned(toolUseResult=report).took_ms == took_ms


@pytest.mark.parametrize(
    ("text", "report", "side_file"),
    [
        ("cut", {"persistedOutputPath": "/h/s1/tool-results/b1.txt"}, "/h/s1/tool-results/b1.txt"),
        (
            "<persisted-output>\nOutput too large (60KB). Full output saved to: /h/s1/tool-results/b1.txt\n\nPreview",
            None,
            "/h/s1/tool-results/b1.txt",
        ),
        ("I read: <persisted-output>\nFull output saved to: /etc/passwd", None, None),
        ("done", {}, None),
    ],
)
def test_the_file_with_the_whole_output_is_named(
    text: str, report: Line | None, side_file: str | None
) -> None:
    assert returned(text, toolUseResult=report).side_file == side_file


def test_pictures_in_a_result_are_counted() -> None:
    content = [
        {"type": "image", "source": {}},
        {"type": "document", "source": {}},
        {"type": "text", "text": "t"},
    ]
    assert facts(returned(content), "n_images", "text") == (2, "t")


def test_nobody_can_be_asked_in_a_headless_run() -> None:
    assert [returned(entrypoint=entry).is_headless for entry in ("sdk-cli", "cli", None)] == [
        True,
        False,
        False,
    ]


def test_a_result_for_no_call_has_none() -> None:
    [event] = said(result("r", "a", None, "done"))
    assert isinstance(event, ToolReturned)
    assert event.call is None


def seen(text: str, report: Any = None, *, is_error: bool = False) -> list[LogEvent]:
    return [
        event
        for event in said(result("r", "a", "c2", text, is_error=is_error, toolUseResult=report))
        if isinstance(event, TaskSeen)
    ]


ASKED = [
    (  # TaskOutput
        "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<status>completed</status>\n\n<exit_code>0</exit_code>",
        {"retrieval_status": "success", "task": {"task_id": "b1", "status": "completed", "exitCode": 0}},
        ("b1", "ok", 0),
    ),
    ("x", {"retrieval_status": "success", "task": {"task_id": "b1", "status": "completed", "exitCode": 2}}, ("b1", "error", 2)),
    ("x", {"retrieval_status": "not_ready", "task": {"task_id": "b1", "status": "running", "exitCode": None}}, ("b1", "running", None)),
    ("x", {"retrieval_status": "timeout", "task": {"task_id": "a1", "status": "running"}}, ("a1", "running", None)),
    ("x", {"retrieval_status": "success", "task": {"task_id": "b1", "status": "failed", "exitCode": 7}}, ("b1", "error", 7)),
    ("x", {"retrieval_status": "success", "task": {"task_id": "b1", "status": "killed"}}, ("b1", "killed", None)),
    # BashOutput
    ("x", {"shellId": "b1", "command": "x", "status": "completed", "exitCode": 0}, ("b1", "ok", 0)),
    ("x", {"shellId": "b1", "status": "completed", "exitCode": 1}, ("b1", "error", 1)),
    ("x", {"shellId": "b1", "status": "running", "exitCode": None}, ("b1", "running", None)),
    ("x", {"shellId": "b1", "status": "killed", "exitCode": 137}, ("b1", "killed", 137)),
    # their words alone, as in subagents' logs
    ("<status>completed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nx\n</stdout>", None, (None, "error", 3)),
    ("<status>running</status>", None, (None, "running", None)),
    ("<retrieval_status>success</retrieval_status>\n<task_id>b1</task_id>\n<status>completed</status>", None, ("b1", "ok", None)),
    # TaskStop and KillShell
    ("x", {"message": "Successfully stopped task: b1 (sleep 60)", "task_id": "b1"}, ("b1", "killed", None)),
    ("x", {"message": "Successfully killed shell: b1 (sleep 60)", "shell_id": "b1"}, ("b1", "killed", None)),
    ('{"message":"Successfully stopped task: b1 (sleep 60)","task_id":"b1"}', None, ("b1", "killed", None)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "report", "expected"), ASKED)
def test_who_asks_for_a_task_or_stops_it_learns_how_it_is(
    text: str, report: Any, expected: tuple[Any, ...]
) -> None:
    [event] = seen(text, report)
    assert facts(event, "asked_by", "task", "end", "exit_code") == ("c2", *expected)


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("No task found with ID: b1", None),
        ("x", {"retrieval_status": "success", "task": {"task_id": "b1", "status": "dancing"}}),
        ("x", {"retrieval_status": "success", "task": None}),
        ("<status>dancing</status>", None),
        ("it says <status>killed</status>", None),
        ("Successfully stopped task: b1", {"stdout": "Successfully stopped task: b1"}),
    ],
)
def test_what_tells_no_end_tells_nothing(text: str, report: Any) -> None:
    assert seen(text, report) == []


def test_a_stop_that_failed_stops_nothing() -> None:
    assert seen("x", {"message": "Successfully stopped task: b1 (x)"}, is_error=True) == []
