"""Translate the assistant records of Claude Code: answers, calls, and the results of tools that the API ran itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tracklog.agents.claude_code.records import envelope, progress
from tracklog.agents.claude_code.records.envelope import Content
from tracklog.agents.claude_code.records.messages import AssistantLine
from tracklog.model.events import (
    LogEvent,
    MessagesRetracted,
    ModelReplied,
    RequestFailed,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId, NodeId, RequestId
from tracklog.model.records import opened

_SYNTHETIC = "<synthetic>"

Where = dict[str, Any]


def assistant_replied(record: AssistantLine, where: Where) -> list[LogEvent]:
    events = replied(record, where)
    if record.supersedes_uuids:
        nodes = [NodeId(uuid) for uuid in record.supersedes_uuids]
        events.append(MessagesRetracted(**where, nodes=nodes, why="superseded"))
    return events


def replied(record: AssistantLine | progress.AgentMessage, where: Where) -> list[LogEvent]:
    """The events of a message of the API, or of the block of it that a record holds."""
    message = record.message
    if message is None:
        return []
    named = message.id or record.request_id
    request = RequestId(named) if named else None
    said = _said(message.content)
    failed = said.text if record.is_api_error_message else None
    reply = ModelReplied(
        **where,
        request=request,
        is_by_request_id=bool(named and not message.id),
        model=message.model,
        text="" if failed is not None else said.text,
        last_text="" if failed is not None else said.last_text,
        thinking=said.thinking,
        has_hidden_thought=said.has_hidden_thought,
        stop_reason=message.stop_reason,
        is_synthetic=message.model == _SYNTHETIC,
        api_error=failed,
        effort=record.effort if isinstance(record, AssistantLine) else None,
    )
    events: list[LogEvent] = [reply]
    if failed is not None:
        status = str(getattr(record, "api_error_status", None))
        code = int(status) if status.isdecimal() and len(status) < 6 else None
        events.append(RequestFailed(**where, text=failed, status=code, is_final=True))
    for block in said.others:
        events += _called(block, request, where)
    return events


class _Said(NamedTuple):
    text: str
    thinking: str = ""
    has_hidden_thought: bool = False
    others: Sequence[Any] = ()  # blocks that are neither words nor thoughts
    last_text: str = ""  # of several texts


def _said(content: Content) -> _Said:
    if isinstance(content, str):
        return _Said(content)
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[Any] = []
    is_hidden = False
    for block in content:
        if isinstance(block, envelope.Text):
            texts.append(block.text)
        elif isinstance(block, envelope.Thinking):
            thoughts.append(block.thinking)
            is_hidden = is_hidden or (not block.thinking and bool(block.signature))
        elif isinstance(block, str):
            texts.append(block)
        else:
            others.append(block)
            is_hidden = is_hidden or isinstance(block, envelope.RedactedThinking)
    last_text = next((text for text in reversed(texts) if text.strip()), "") if len(texts) > 1 else ""
    return _Said("\n".join(texts), "".join(thoughts), is_hidden, others, last_text)


def _called(block: Any, request: RequestId | None, where: Where) -> list[LogEvent]:
    match block:
        case envelope.ToolUse():
            server, name = _mcp(block.name)
            return [
                ToolCalled(
                    **where,
                    call=CallId(block.id),
                    name=name,
                    input=block.input,
                    request=request,
                    server=server,
                )
            ]
        case envelope.ServerToolUse() | envelope.McpToolUse():
            return [
                ToolCalled(
                    **where,
                    call=CallId(block.id),
                    name=block.name,
                    input=block.input,
                    request=request,
                    is_server_side=True,
                    server=getattr(block, "server_name", None),
                )
            ]
        case envelope.ServerToolResult() | envelope.McpToolResult():
            is_error = _is_server_error(block)
            return [
                ToolReturned(
                    **where,
                    call=CallId(block.tool_use_id),
                    said="error" if is_error else "ok",
                    why="the API says so",
                    is_error=is_error,
                    report=block.content,
                )
            ]
    return []


def _mcp(name: str) -> tuple[str | None, str]:
    """The server of an MCP tool; the name stays whole, it is what people filter by."""
    parts = name.split("__", 2)
    return (parts[1], name) if parts[0] == "mcp" and len(parts) == 3 else (None, name)


def _is_server_error(block: envelope.ServerToolResult | envelope.McpToolResult) -> bool:
    if isinstance(block, envelope.McpToolResult):
        return bool(block.is_error)
    content = opened(block.content) if bytes(memoryview(block.content)[:1]) == b"{" else None
    return isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
