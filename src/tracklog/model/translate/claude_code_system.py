"""What the system records of Claude Code tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracklog.model.events import (
    CommandPrinted,
    ContextCompacted,
    Event,
    HookRan,
    MessagesRetracted,
    ModeChanged,
    RequestFailed,
    TextInjected,
)
from tracklog.model.ids import NodeId
from tracklog.model.translate.claude_code_user import command_markup
from tracklog.records.base import opened
from tracklog.records.claude_code import system

Where = dict[str, Any]
Translate = Callable[[Any, Where], list[Event]]
_ENVELOPES = 4  # that an error is looked for in


def compacted(record: system.CompactBoundary, where: Where) -> list[Event]:
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


def stop_hooks_ran(record: system.StopHookSummary, where: Where) -> list[Event]:
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


def local_command(record: system.LocalCommand, where: Where) -> list[Event]:
    text = record.content or ""
    return command_markup(text, where) or ([CommandPrinted(**where, text=text)] if text else [])


def api_failed(record: system.ErrorLine, where: Where) -> list[Event]:
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
    """What an error says; that of the API stands in the `error` of its envelope, which may be that of another one."""
    for _ in range(_ENVELOPES):
        if not isinstance(error, dict):
            break
        words = error.get("message") or error.get("formatted")
        error = words if words else error.get("error")
    return error if isinstance(error, str) else ""


def informed(record: system.Informational, where: Where) -> list[Event]:
    text = record.content or ""
    if "operation blocked by hook" in text[:100]:
        event = text.partition(" ")[0]
        return [HookRan(**where, hook_event=event, name=event, outcome="blocked", text=text)]
    return [TextInjected(**where, why="notice", text=text)]


def refused(record: system.Refusal, where: Where) -> list[Event]:
    found: list[Event] = []
    if record.retracted_message_uuids:
        nodes = [NodeId(uuid) for uuid in record.retracted_message_uuids]
        found.append(MessagesRetracted(**where, nodes=nodes, why=record.kind))
    if record.fallback_model:
        found.append(ModeChanged(**where, what="model", value=record.fallback_model))
    return found


def system_said(record: system.SystemText, where: Where) -> list[Event]:
    text = record.content or ""
    return command_markup(text, where) or [TextInjected(**where, why="notice", text=text)]


def noted(why: str) -> Translate:
    return lambda record, where: [TextInjected(**where, why=why, text=record.content or "")]
