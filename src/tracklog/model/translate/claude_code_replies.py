"""What the assistant records of Claude Code tell: answers, calls, and the results of tools that the API ran itself."""

from __future__ import annotations

from typing import Any

from tracklog.model.events import (
    Event,
    MessagesRetracted,
    ModelReplied,
    RequestFailed,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId, NodeId, RequestId
from tracklog.model.translate.claude_code_user import text_of
from tracklog.records.base import opened
from tracklog.records.claude_code import blocks, progress
from tracklog.records.claude_code.messages import AssistantLine

_SYNTHETIC = "<synthetic>"

Where = dict[str, Any]


def assistant_replied(record: AssistantLine, where: Where) -> list[Event]:
    events = replied(record, where)
    if record.supersedes_uuids:
        nodes = [NodeId(uuid) for uuid in record.supersedes_uuids]
        events.append(MessagesRetracted(**where, nodes=nodes, why="superseded"))
    return events


def replied(record: AssistantLine | progress.AgentMessage, where: Where) -> list[Event]:
    """The events of a message of the API, or of the block of it that a record holds."""
    message = record.message
    if message is None:
        return []
    content = message.content if isinstance(message.content, list) else []
    request = RequestId(message.id) if message.id else None
    failed = text_of(message.content) if record.is_api_error_message else None
    reply = ModelReplied(
        **where,
        request=request,
        model=message.model,
        text="" if failed is not None else text_of(message.content),
        thinking="".join([block.thinking for block in content if type(block) is blocks.Thinking]),
        has_hidden_thought=any(_is_hidden(block) for block in content),
        stop_reason=message.stop_reason,
        is_synthetic=message.model == _SYNTHETIC,
        api_error=failed,
        effort=getattr(record, "effort", None),
    )
    events: list[Event] = [reply]
    if failed is not None:
        status = str(getattr(record, "api_error_status", None))
        code = int(status) if status.isdecimal() and len(status) < 6 else None
        events.append(RequestFailed(**where, text=failed, status=code, is_final=True))
    for block in content:
        if not isinstance(block, (str, blocks.Text, blocks.Thinking)):
            events += _called(block, request, where)
    return events


def _is_hidden(block: Any) -> bool:
    return type(block) is blocks.RedactedThinking or (
        type(block) is blocks.Thinking and not block.thinking and bool(block.signature)
    )


def _called(block: Any, request: RequestId | None, where: Where) -> list[Event]:
    match block:
        case blocks.ToolUse():
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
        case blocks.ServerToolUse() | blocks.McpToolUse():
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
        case blocks.ServerToolResult() | blocks.McpToolResult():
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


def _is_server_error(block: blocks.ServerToolResult | blocks.McpToolResult) -> bool:
    if isinstance(block, blocks.McpToolResult):
        return bool(block.is_error)
    content = opened(block.content) if bytes(memoryview(block.content)[:1]) == b"{" else None
    return isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
