"""Translate Claude Code's attachments, progress, system records and side files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from tracklog.agents.claude_code.records import metadata, progress, side_files, system
from tracklog.agents.claude_code.records.context import attachments, state
from tracklog.agents.claude_code.records.context.attachments import AttachmentLine, QueuedCommand
from tracklog.agents.claude_code.records.messages import UserLine
from tracklog.agents.claude_code.translate.replies import replied
from tracklog.agents.claude_code.translate.texts import end_of
from tracklog.agents.claude_code.translate.user import command_markup, noticed, queued, text_of, user_said
from tracklog.model.events import (
    CallProgressed,
    CommandPrinted,
    ContextCompacted,
    HookRan,
    LeafMarked,
    LinkMade,
    LogEvent,
    MessagesRetracted,
    ModeChanged,
    QueueChanged,
    RequestFailed,
    SessionTitled,
    TaskSeen,
    TextInjected,
    ThreadDescribed,
    TurnEnded,
)
from tracklog.model.ids import CallId, NodeId, TaskId, ThreadId
from tracklog.model.records import opened

Where = dict[str, Any]
Translate = Callable[[Any, Where], list[LogEvent]]


def hook_ran(outcome: str) -> Translate:
    return lambda record, where: [_hook_ran(record.attachment, outcome, where)]


def _hook_ran(hook: attachments.HookAttachment, outcome: str, where: Where) -> HookRan:
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


def _decided(hook: attachments.HookAttachment) -> tuple[str | None, Raw]:
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


def task_status(record: AttachmentLine, where: Where) -> list[LogEvent]:
    status = record.attachment
    assert isinstance(status, state.TaskStatus)
    end = end_of(status.status)
    if end is None or not status.task_id:
        return []
    return [TaskSeen(**where, task=TaskId(status.task_id), end=end, description=status.description)]


def prompt_queued(record: AttachmentLine, where: Where) -> list[LogEvent]:
    assert isinstance(record.attachment, QueuedCommand)
    return queued(record.attachment, where)


def hook_progressed(record: progress.ProgressLine, where: Where) -> list[LogEvent]:
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


def agent_progressed(record: progress.ProgressLine, where: Where) -> list[LogEvent]:
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


def progressed(record: progress.ProgressLine, where: Where) -> list[LogEvent]:
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


def queue_changed(record: metadata.QueueOperation, where: Where) -> list[LogEvent]:
    text = text_of(record.content) if record.content is not None else ""
    changed = QueueChanged(**where, operation=record.operation, text=text, reason=record.reason)
    return [changed, *(noticed(text, where) if record.operation == "enqueue" else [])]


def leaf_marked(record: metadata.LastPrompt, where: Where) -> list[LogEvent]:
    leaf = NodeId(record.leaf_uuid) if record.leaf_uuid else None
    found: list[LogEvent] = [
        LeafMarked(**where, leaf=leaf, prompt=record.last_prompt, explicit=bool(record.explicit))
    ]
    if record.last_prompt:
        found.append(SessionTitled(**where, title=record.last_prompt, source="last_prompt"))
    return found


def worktree_changed(record: metadata.WorktreeState, where: Where) -> list[LogEvent]:
    path = record.worktree_session.worktree_path if record.worktree_session else None
    return [LinkMade(**where, what="worktree", target=path or "")]


def thread_described(record: side_files.AgentMeta, where: Where) -> list[LogEvent]:
    return [
        ThreadDescribed(
            **where,
            parent_thread=ThreadId(record.parent_agent_id) if record.parent_agent_id else None,
            parent_call=CallId(record.tool_use_id) if record.tool_use_id else None,
            type=record.agent_type,
            description=record.description,
            name=record.name,
            model=record.model,
            depth=record.spawn_depth,
            is_fork=bool(record.is_fork),
            worktree=record.worktree_path,
            stopped_by_user=bool(record.stopped_by_user),
        )
    ]


def result_printed(record: side_files.ResultLine, where: Where) -> list[LogEvent]:
    """The closing object of a headless run, in a log that was made from what the client printed."""
    error = (record.result or record.subtype) if record.is_error else None
    text = None if record.is_error else record.result
    return [TurnEnded(**where, took_ms=record.duration_ms, error=error, text=text, is_result=True)]


def workflow_agent_started(record: side_files.JournalStarted, where: Where) -> list[LogEvent]:
    if not record.agent_id:
        return []
    where = {**where, "thread": ThreadId(record.agent_id)}
    return [ThreadDescribed(**where, description=record.label, type="workflow-subagent")]


_ENVELOPES = 4  # that an error is looked for in


def compacted(record: system.CompactBoundary, where: Where) -> list[LogEvent]:
    said = record.compact_metadata or system.CompactMetadata()
    segment = said.preserved_segment or system.PreservedSegment()
    kept = said.preserved_messages or system.PreservedMessages()
    return [
        ContextCompacted(
            **where,
            trigger=said.trigger,
            tokens_before=said.pre_tokens,
            tokens_after=said.post_tokens,
            took_ms=said.duration_ms,
            logical_parent=NodeId(record.logical_parent_uuid) if record.logical_parent_uuid else None,
            kept_head=NodeId(segment.head_uuid) if segment.head_uuid else None,
            kept_anchor=NodeId(segment.anchor_uuid) if segment.anchor_uuid else None,
            kept_tail=NodeId(segment.tail_uuid) if segment.tail_uuid else None,
            kept=[NodeId(uuid) for uuid in kept.uuids or []],
        )
    ]


def stop_hooks_ran(record: system.StopHookSummary, where: Where) -> list[LogEvent]:
    outcome = "stopped" if record.prevented_continuation else "success"
    return [
        HookRan(
            **where,
            hook_event=record.hook_label or "Stop",
            name=None,
            outcome=outcome,
            command=info.command,
            took_ms=info.duration_ms,
            text=record.stop_reason or "",
        )
        for info in record.hook_infos or []
    ]


def local_command(record: system.LocalCommand, where: Where) -> list[LogEvent]:
    text = record.content or ""
    return command_markup(text, where) or ([CommandPrinted(**where, text=text)] if text else [])


def api_failed(record: system.ErrorLine, where: Where) -> list[LogEvent]:
    error = opened(record.error)
    status = error.get("status") if isinstance(error, dict) else None
    return [
        RequestFailed(
            **where,
            text=record.content or _words_of(error),
            status=status if isinstance(status, int) else None,
            attempt=record.retry_attempt,
            of_attempts=record.max_retries,
        )
    ]


def _words_of(error: Any) -> str:
    """The text of an error; an API error has it in the `error` of its envelope, which may be that of another one."""
    for _ in range(_ENVELOPES):
        if not isinstance(error, dict):
            break
        words = error.get("message") or error.get("formatted")
        error = words if words else error.get("error")
    return error if isinstance(error, str) else ""


def informed(record: system.Informational, where: Where) -> list[LogEvent]:
    text = record.content or ""
    if "operation blocked by hook" in text[:100]:
        event = text.partition(" ")[0]
        return [HookRan(**where, hook_event=event, name=event, outcome="blocked", text=text)]
    return [TextInjected(**where, why="notice", text=text)]


def refused(record: system.Refusal, where: Where) -> list[LogEvent]:
    found: list[LogEvent] = []
    if record.retracted_message_uuids:
        nodes = [NodeId(uuid) for uuid in record.retracted_message_uuids]
        found.append(MessagesRetracted(**where, nodes=nodes, why=record.kind))
    if record.fallback_model:
        found.append(ModeChanged(**where, what="model", value=record.fallback_model))
    return found


def system_said(record: system.SystemText, where: Where) -> list[LogEvent]:
    text = record.content or ""
    return command_markup(text, where) or [TextInjected(**where, why="notice", text=text)]


def noted(why: str) -> Translate:
    return lambda record, where: [TextInjected(**where, why=why, text=record.content or "")]
