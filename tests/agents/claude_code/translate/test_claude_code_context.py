"""What attachments and progress tell: hooks, tasks, signs of life, a subagent's work in its parent's log."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from tests.model.lines import LOG, Line, attachment, block, facts, only, record, said, told, use
from tracklog.model.events import (
    CallProgressed,
    HookRan,
    ModelReplied,
    NodeSeen,
    Place,
    PromptGiven,
    TaskSeen,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId, NodeId

HERE = Place(LOG, 1)
H, P, C1 = NodeId("h"), NodeId("p"), CallId("c1")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("hook_success", "success"),
        ("hook_additional_context", "context"),
        ("hook_system_message", "message"),
        ("hook_non_blocking_error", "error"),
        ("hook_blocking_error", "blocked"),
        ("hook_error_during_execution", "failed"),
        ("hook_cancelled", "cancelled"),
        ("hook_permission_decision", "decided"),
        ("hook_stopped_continuation", "stopped"),
        ("async_hook_response", "success"),
        ("hook_deferred_tool", "deferred"),
    ],
)
def test_each_kind_of_hook_record_has_its_outcome(kind: str, outcome: str) -> None:
    line = attachment(
        "h", "p", kind, hookEvent="PreToolUse", hookName="PreToolUse:Bash", toolUseID="c1", command="x.sh",
        exitCode=0, durationMs=12, stdout="out",
    )  # fmt: skip
    assert said(line) == [
        HookRan(
            place=HERE, node=H, parent=P, hook_event="PreToolUse", name="PreToolUse:Bash", outcome=outcome, call=C1,
            command="x.sh", text="out", exit_code=0, took_ms=12,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        ("hook_blocking_error", {"blockingError": {"blockingError": "no rm", "command": "x.sh"}}, "no rm"),
        ("hook_stopped_continuation", {"message": "enough", "stdout": "out"}, "enough"),
        ("hook_non_blocking_error", {"stderr": "bad", "stdout": "out"}, "bad"),
        ("hook_success", {"content": "said"}, "said"),
        ("hook_additional_context", {"content": ["a", "b"]}, ""),
        ("hook_success", {}, ""),
    ],
)
def test_a_hook_s_words_are_found_where_its_kind_keeps_them(
    kind: str, fields: dict[str, Any], text: str
) -> None:
    [event] = only(said(attachment("h", "p", kind, hookEvent="PreToolUse", **fields)), HookRan)
    assert event.text == text


def test_the_command_of_a_blocking_hook_stands_in_its_error() -> None:
    error = {"blockingError": "no rm", "command": "x.sh"}
    [event] = only(said(attachment("h", "p", "hook_blocking_error", blockingError=error)), HookRan)
    assert event.command == "x.sh"


@pytest.mark.parametrize(
    ("stdout", "decision", "ran_input"),
    [
        ('{"hookSpecificOutput":{"permissionDecision":"deny"}}', "deny", b""),
        ('{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}\n', "allow", b'{"command":"ls -l"}'),
        ('{"hookSpecificOutput":{"permissionDecision":7}}', None, b""),
        ('{"hookSpecificOutput":[]}', None, b""),
        ("my hookSpecificOutput is not JSON", None, b""),
        ("plain", None, b""),
    ],
)  # fmt: skip
def test_a_hook_s_own_words_tell_its_decision_and_the_input_it_changed(
    stdout: str, decision: str | None, ran_input: bytes
) -> None:
    [event] = only(said(attachment("h", "p", "hook_success", hookEvent="PreToolUse", stdout=stdout)), HookRan)
    assert facts(event, "decision", "ran_input") == (decision, Raw(ran_input) if ran_input else Raw())


def test_a_permission_decision_is_stated() -> None:
    line = attachment(
        "h", "p", "hook_permission_decision", hookEvent="PermissionRequest", decision="deny", toolUseID="c1"
    )
    [event] = only(said(line), HookRan)
    assert facts(event, "hook_event", "outcome", "decision", "call") == (
        "PermissionRequest",
        "decided",
        "deny",
        "c1",
    )


@pytest.mark.parametrize(
    ("status", "end"), [("completed", "ok"), ("running", "running"), ("killed", "killed")]
)
def test_the_status_of_a_task_is_told(status: str, end: str) -> None:
    line = attachment("t", "p", "task_status", taskId="b1", status=status, description="build")
    [event] = said(line)
    assert isinstance(event, TaskSeen)
    assert facts(event, "task", "end", "description", "node") == ("b1", end, "build", "t")


def test_a_status_that_says_nothing_holds_its_place() -> None:
    [event] = said(attachment("t", "p", "task_status", taskId="b1", status="dancing"))
    assert isinstance(event, NodeSeen)


def progress(kind: str, **fields: Any) -> Line:
    data = {"type": kind, **fields}
    return record("progress", "x", "p", data=data, toolUseID="c1-x", parentToolUseID="c1")


@pytest.mark.parametrize(
    "kind", ["bash_progress", "mcp_progress", "waiting_for_task", "query_update", "search_results_received"]
)
def test_a_sign_of_life_names_its_call(kind: str) -> None:
    [event] = said(progress(kind))
    assert isinstance(event, CallProgressed)
    assert facts(event, "call", "what", "agent", "node") == ("c1", kind, None, "x")


def test_progress_without_a_parent_names_the_call_itself() -> None:
    line = record("progress", "x", "p", data={"type": "bash_progress"}, toolUseID="c1")
    [event] = said(line)
    assert isinstance(event, CallProgressed)
    assert event.call == "c1"


def test_a_running_hook_is_told() -> None:
    [event] = said(
        progress("hook_progress", hookEvent="PreToolUse", hookName="PreToolUse:Bash", command="x.sh")
    )
    assert isinstance(event, HookRan)
    assert facts(event, "hook_event", "outcome", "call", "command") == (
        "PreToolUse",
        "progress",
        "c1",
        "x.sh",
    )


def copied(kind: str, content: Any, **fields: Any) -> Line:
    message = {"type": kind, "timestamp": "2026-11-15T10:00:01.000Z", "uuid": "y", **fields}
    message["message"] = {"role": kind, "id": "m9", "model": "claude-x", "content": content}
    return progress("agent_progress", agentId="a1", prompt="work", message=message)


def test_an_answer_of_a_subagent_in_its_parent_s_log_is_a_copy() -> None:
    seen, answer, called = said(copied("assistant", [use("c9")]))
    assert isinstance(seen, CallProgressed)
    assert facts(seen, "call", "agent", "is_copy", "thread") == ("c1", "a1", False, None)
    assert isinstance(answer, ModelReplied)
    assert isinstance(called, ToolCalled)
    for event in (answer, called):
        assert facts(event, "thread", "is_copy", "is_sidechain", "at", "request") == (
            "a1", True, True, "2026-11-15T10:00:01.000Z", "m9",
        )  # fmt: skip


@pytest.mark.parametrize(("content", "kind"), [([block("c9")], ToolReturned), ("work", PromptGiven)])
def test_a_result_or_prompt_of_a_subagent_in_its_parent_s_log_is_a_copy(
    content: Any, kind: type[Any]
) -> None:
    _, event = said(copied("user", content))
    assert type(event) is kind
    assert facts(event, "thread", "is_copy") == ("a1", True)


def test_progress_of_an_agent_without_a_message_is_a_sign_of_life() -> None:
    assert [type(event) for event in said(progress("agent_progress", agentId="a1"))] == [CallProgressed]
    assert [type(event) for event in said(copied("other", "x"))] == [CallProgressed]


def test_a_malformed_attachment_keeps_its_place() -> None:
    events = told(record("attachment", "x", "p"))
    assert [(event.node, event.parent) for event in events] == [("x", "p")]
