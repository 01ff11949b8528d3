"""What the attachments and progress records of Claude Code tell: hooks, notices, signs of life."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from tracklog.model.events import CallProgressed, Event, HookRan, TaskSeen
from tracklog.model.ids import CallId, TaskId, ThreadId
from tracklog.model.translate.claude_code_replies import replied
from tracklog.model.translate.claude_code_texts import end_of
from tracklog.model.translate.claude_code_user import queued, user_said
from tracklog.records.base import opened
from tracklog.records.claude_code import context_hooks, context_state, progress
from tracklog.records.claude_code.attachments import AttachmentLine, QueuedCommand
from tracklog.records.claude_code.messages import UserLine

Where = dict[str, Any]
Translate = Callable[[Any, Where], list[Event]]


def hook_ran(outcome: str) -> Translate:
    return lambda record, where: [_hook_ran(record.attachment, outcome, where)]


def _hook_ran(hook: context_hooks.HookRun, outcome: str, where: Where) -> HookRan:
    decision, ran_input = _decided(hook)
    said = opened(hook.content)
    blocking = getattr(hook, "blocking_error", None)
    texts = (
        getattr(hook, "message", None),
        blocking.blocking_error if blocking else None,
        hook.stderr,
        hook.stdout,
    )
    return HookRan(
        **where,
        hook_event=hook.hook_event,
        name=hook.hook_name,
        outcome=outcome,
        call=CallId(hook.tool_use_id) if hook.tool_use_id else None,
        command=hook.command or (blocking.command if blocking else None),
        text=next((text for text in texts if text), said if isinstance(said, str) else ""),
        exit_code=hook.exit_code,
        took_ms=hook.duration_ms,
        decision=decision,
        ran_input=ran_input,
    )


def _decided(hook: context_hooks.HookRun) -> tuple[str | None, Raw]:
    """What a hook decided, in its own words, and the input that it put in place of the model's."""
    decision = getattr(hook, "decision", None)
    if not hook.stdout or "hookSpecificOutput" not in hook.stdout:
        return decision, Raw()
    said = opened(Raw(hook.stdout.strip().encode()))
    output = said.get("hookSpecificOutput") if isinstance(said, dict) else None
    if not isinstance(output, dict):
        return decision, Raw()
    decision = decision or _as_text(output.get("permissionDecision"))
    return decision, _encoded(output["updatedInput"]) if "updatedInput" in output else Raw()


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _encoded(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


def task_status(record: AttachmentLine, where: Where) -> list[Event]:
    status = record.attachment
    assert isinstance(status, context_state.TaskStatus)
    end = end_of(status.status)
    if end is None or not status.task_id:
        return []
    return [TaskSeen(**where, task=TaskId(status.task_id), end=end, description=status.description)]


def prompt_queued(record: AttachmentLine, where: Where) -> list[Event]:
    assert isinstance(record.attachment, QueuedCommand)
    return queued(record.attachment, where)


def hook_progressed(record: progress.ProgressLine, where: Where) -> list[Event]:
    data = record.data
    assert isinstance(data, progress.HookProgress)
    call = record.parent_tool_use_id or record.tool_use_id
    return [
        HookRan(
            **where,
            hook_event=data.hook_event,
            name=data.hook_name,
            outcome="progress",
            call=CallId(call) if call else None,
            command=data.command,
        )
    ]


def agent_progressed(record: progress.ProgressLine, where: Where) -> list[Event]:
    data = record.data
    assert isinstance(data, progress.AgentProgress)
    seen = progressed(record, where)
    if data.agent_id is None or data.message is None:
        return seen
    copied = {"place": where["place"], "at": data.message.timestamp or where["at"], "thread": data.agent_id}
    copied |= {"is_sidechain": True, "is_copy": True}
    if data.message.type == "assistant":
        return seen + replied(data.message, copied)
    if data.message.type == "user" and data.message.message is not None:
        user = UserLine(
            message=data.message.message, tool_use_result=data.message.tool_use_result, is_sidechain=True
        )
        return seen + user_said(user, copied)
    return seen


def progressed(record: progress.ProgressLine, where: Where) -> list[Event]:
    call = record.parent_tool_use_id or record.tool_use_id
    agent = getattr(record.data, "agent_id", None)
    return [
        CallProgressed(
            **where,
            call=CallId(call) if call else None,
            what=record.kind.partition("/")[2],
            agent=ThreadId(agent) if agent else None,
        )
    ]
