"""What the records beside the conversation of Claude Code tell, and the files beside its logs."""

from __future__ import annotations

from typing import Any

from tracklog.model.events import (
    Event,
    LeafMarked,
    LinkMade,
    QueueChanged,
    SessionTitled,
    ThreadDescribed,
    TurnEnded,
)
from tracklog.model.ids import CallId, NodeId, ThreadId
from tracklog.model.translate.claude_code_user import noticed, text_of
from tracklog.records.claude_code import metadata, side_files

Where = dict[str, Any]


def queue_changed(record: metadata.QueueOperation, where: Where) -> list[Event]:
    text = text_of(record.content) if record.content is not None else ""
    changed = QueueChanged(**where, operation=record.operation, text=text, reason=record.reason)
    return [changed, *(noticed(text, where) if record.operation == "enqueue" else [])]


def leaf_marked(record: metadata.LastPrompt, where: Where) -> list[Event]:
    leaf = NodeId(record.leaf_uuid) if record.leaf_uuid else None
    found: list[Event] = [
        LeafMarked(**where, leaf=leaf, prompt=record.last_prompt, explicit=bool(record.explicit))
    ]
    if record.last_prompt:
        found.append(SessionTitled(**where, title=record.last_prompt, source="last_prompt"))
    return found


def worktree_changed(record: metadata.WorktreeState, where: Where) -> list[Event]:
    path = record.worktree_session.worktree_path if record.worktree_session else None
    return [LinkMade(**where, what="worktree", target=path or "")]


def thread_described(record: side_files.AgentMeta, where: Where) -> list[Event]:
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


def result_printed(record: side_files.ResultLine, where: Where) -> list[Event]:
    """The closing object of a headless run, in a log that somebody made of what the client printed."""
    error = (record.result or record.subtype) if record.is_error else None
    text = None if record.is_error else record.result
    return [TurnEnded(**where, took_ms=record.duration_ms, error=error, text=text, is_result=True)]


def workflow_agent_started(record: side_files.JournalStarted, where: Where) -> list[Event]:
    if not record.agent_id:
        return []
    where = {**where, "thread": ThreadId(record.agent_id)}
    return [ThreadDescribed(**where, description=record.label, type="workflow-subagent")]
