"""Translate what the client records besides the conversation: turn items, and the events that end a tool's work.

Rules
  1. Reports name a call by its id and say what the output does not: exit codes, refusals, durations, changes.
  2. A call inside a script of code mode (`exec-…`) is no response item: its report is call and result in one, and
     its parent is the last script, by order (docs/formats/codex.md).
  3. What another thread did (a review, also in the main file) is in that thread's own file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from tracklog.agents.codex.records import tool_events, turn_items
from tracklog.agents.codex.records.parts import Duration, ParsedCommand
from tracklog.agents.codex.translate.state import Memory, Where
from tracklog.model.events import (
    CallProgressed,
    CallReported,
    End,
    HookRan,
    LogEvent,
    TaskSeen,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.ids import CallId, TaskId, ThreadId

_ENDED_BY_CLIENT = -1
_ENDED_BY_SIGNAL = 137
_BY_PERSON = "user_shell"
_ENDS: dict[str, End] = {"completed": "ok", "in_progress": "running", "inProgress": "running"}
_REFUSED = ("user rejected MCP tool call", "user cancelled MCP tool call")


class CallEnd(NamedTuple):
    """How a call ended, from any kind of record; `name` and `input` serve for calls that only a report shows."""

    what: str
    end: End
    name: str
    exit_code: int | None = None
    took_ms: float | None = None
    text: str = ""
    is_denied: bool = False
    report: Raw = Raw()
    input: Raw = Raw()
    server: str | None = None


def reported(call: str, told: CallEnd, where: Where, memory: Memory) -> list[LogEvent]:
    """The events of a report, with the call itself where a script made it."""
    ident = CallId(call)
    note = CallReported(
        **where,
        call=ident,
        end=told.end,
        what=told.what,
        exit_code=told.exit_code,
        took_ms=told.took_ms,
        text=told.text,
        is_denied=told.is_denied,
        report=told.report,
    )
    if not call.startswith("exec-") or ident in memory.nested or memory.script is None:
        return [note]
    memory.nested.add(ident)
    return [*_nested(ident, told, where, memory.script), note]


def _nested(call: CallId, told: CallEnd, where: Where, script: CallId) -> list[LogEvent]:
    called = ToolCalled(
        **where, call=call, name=told.name, input=told.input, server=told.server, parent_call=script
    )
    said = "denied" if told.is_denied else "ok" if told.end == "ok" else "error"
    returned = ToolReturned(
        **where,
        call=call,
        said=said,  # type: ignore[arg-type]
        why="report",
        text=told.text,
        exit_code=told.exit_code,
        took_ms=told.took_ms,
    )
    return [called, returned]


def _command(item: turn_items.CommandExecutionItem | tool_events.ExecCommandEnd) -> CallEnd | None:
    if item.source == _BY_PERSON:
        return None  # a line with `!`: the message in the user's name tells it
    is_denied = item.status == "declined"
    end = _end(item.status)
    if item.exit_code is not None and not is_denied:
        end = "ok" if item.exit_code == 0 else "killed" if item.exit_code == _ENDED_BY_CLIENT else "error"
    return CallEnd(
        "command",
        end,
        "exec_command",
        exit_code=item.exit_code,
        took_ms=_ms(item.duration),
        text=item.aggregated_output or item.stdout or "",
        is_denied=is_denied,
        report=_read_by(item.parsed_cmd),
        input=_raw({"command": item.command, "workdir": item.cwd}),
    )


def _read_by(commands: list[ParsedCommand] | None) -> Raw:
    """The files that a command read, as the client parsed it."""
    paths = [one.path or one.name for one in commands or () if one.type == "read" and (one.path or one.name)]
    return _raw({"read": paths}) if paths else Raw()


def _patch(item: turn_items.FileChangeItem | tool_events.PatchApplyEnd) -> CallEnd:
    success = getattr(item, "success", None)
    changes = _raw({"changes": item.changes})
    return CallEnd(
        "patch",
        _end(item.status) if success is None else "ok" if success else "error",
        "apply_patch",
        text=item.stdout or item.stderr or "",
        is_denied=item.status == "declined",
        report=changes,
        input=changes,
    )


def _mcp_item(item: turn_items.McpToolCallItem) -> CallEnd:
    is_error = item.error is not None or bool(item.result and item.result.is_error)
    text = item.error.message if item.error else ""
    return CallEnd(
        "mcp",
        "error" if is_error else _end(item.status),
        f"mcp__{item.server}__{item.tool}",
        took_ms=_ms(item.duration),
        text=text,
        is_denied=item.status == "declined" or text in _REFUSED,
        report=_raw(item.result) if item.result else Raw(),
        input=item.arguments,
        server=item.server,
    )


def _mcp_end(item: tool_events.McpToolCallEnd) -> CallEnd:
    made, result = item.invocation, item.result
    is_error = result.err is not None or bool(result.ok and result.ok.is_error)
    return CallEnd(
        "mcp",
        "error" if is_error else "ok",
        f"mcp__{made.server}__{made.tool}",
        took_ms=_ms(item.duration),
        text=result.err or "",
        is_denied=result.err in _REFUSED,
        report=_raw(result.ok) if result.ok else Raw(),
        input=made.arguments,
        server=made.server,
    )


def _dynamic(item: turn_items.DynamicToolCallItem | tool_events.DynamicToolCallResponse) -> CallEnd:
    status = getattr(item, "status", None)
    end = _end(status) if item.success is None else "ok" if item.success else "error"
    return CallEnd(
        "dynamic",
        end,
        item.tool,
        took_ms=_ms(item.duration),
        text=item.error or "",
        report=_raw(item.content_items) if item.content_items else Raw(),
        input=item.arguments,
    )


def _agents(item: turn_items.CollabAgentToolCallItem) -> CallEnd:
    asked = _raw({"prompt": item.prompt, "receiver_thread_ids": item.receiver_thread_ids})
    states = _raw(item.agents_states) if item.agents_states else Raw()
    return CallEnd("agent", _end(item.status), item.tool, report=states, input=asked)


def _search(item: turn_items.WebSearchItem | tool_events.WebSearchEnd) -> CallEnd:
    return CallEnd("search", "ok", "web_search", report=item.results, input=_raw(item.action))


def _extension(item: turn_items.ExtensionItem) -> CallEnd:
    took = float(item.duration_ms) if item.duration_ms is not None else None
    end: End = "error" if item.failure is not None or item.status == "failed" else "ok"
    asked = _raw({"query": item.query, "action": item.action, "revised_prompt": item.revised_prompt})
    return CallEnd(item.kind, end, item.kind, took_ms=took, report=item.results, input=asked)


def _picture(item: Any) -> CallEnd:
    failed = item.status == "failed" or getattr(item, "failure", None) is not None
    asked = _raw({"revised_prompt": item.revised_prompt})
    return CallEnd("image", "error" if failed else "ok", "image_generation", input=asked)


def _viewed(item: turn_items.ImageViewItem | tool_events.ViewImageToolCall) -> CallEnd:
    return CallEnd("image", "ok", "view_image", input=_raw({"path": item.path}))


def _slept(item: turn_items.SleepItem) -> CallEnd:
    return CallEnd("sleep", "ok", "sleep", took_ms=float(item.duration_ms))


def spawned(item: tool_events.CollabAgentSpawnEnd, where: Where, memory: Memory) -> list[LogEvent]:
    """A subagent was started (multi-agent v1)."""
    told = CallEnd("agent", "ok" if item.new_thread_id else "error", "spawn_agent")
    return [*reported(item.call_id, told, where, memory), *_started(item.call_id, item.new_thread_id, where)]


def spoken_to(item: tool_events.CollabEnd, where: Where, memory: Memory) -> list[LogEvent]:
    """Something was done with a subagent (multi-agent v1)."""
    return reported(item.call_id, CallEnd("agent", "ok", item.name), where, memory)


def activity(ident: str | None, item: Any, where: Where, memory: Memory) -> list[LogEvent]:
    """Multi-agent v2: what a subagent came to, or what was done with it by a call."""
    if item.kind in ("completed", "errored"):
        end: End = "ok" if item.kind == "completed" else "error"
        return [TaskSeen(**where, task=TaskId(item.agent_thread_id), end=end, description=item.agent_path)]
    if ident is None:
        return []
    note = reported(ident, CallEnd("agent", "ok", item.kind), where, memory)
    started = _started(ident, item.agent_thread_id, where, path=item.agent_path)
    return note + started if item.kind == "started" else note


def guardian(item: tool_events.GuardianAssessment, where: Where, memory: Memory) -> list[LogEvent]:
    """The automatic reviewer is heard of only where it said no."""
    if item.status != "denied" or item.target_item_id is None:
        return []
    told = CallEnd("reviewer", "error", "", text=item.rationale or "", is_denied=True)
    return reported(item.target_item_id, told, where, memory)


def hook_prompt(item: turn_items.HookPromptItem, where: Where) -> list[LogEvent]:
    """What hooks put into the conversation."""
    return [
        HookRan(**where, hook_event=None, name=fragment.hook_run_id, outcome="message", text=fragment.text)
        for fragment in item.fragments
    ]


def search_end(item: tool_events.WebSearchEnd, where: Where, memory: Memory) -> list[LogEvent]:
    """A search of the server ended; its call is the next line, perhaps without an id."""
    memory.searches.append((CallId(item.call_id), item.action))
    return reported(item.call_id, _search(item), where, memory)


def act(done: Any, where: Where, memory: Memory) -> list[LogEvent]:
    """The events of an `item_completed` about a tool's work."""
    item = done.item
    if memory.is_foreign(done.thread_id):
        return []
    if isinstance(item, turn_items.SubAgentActivityItem):
        return activity(item.id, item, where, memory)
    if isinstance(item, turn_items.HookPromptItem):
        return hook_prompt(item, where)
    told = REPORTS[type(item)](item)
    if told is None:
        return []
    if told.what == "command" and told.exit_code == _ENDED_BY_SIGNAL and memory.is_turn_over:
        told = told._replace(end="killed")  # the client takes its processes along when it quits
    if told.took_ms is None and None not in (done.started_at_ms, done.completed_at_ms):
        told = told._replace(took_ms=float(done.completed_at_ms - done.started_at_ms))
    events = reported(item.id, told, where, memory)
    if isinstance(item, turn_items.CollabAgentToolCallItem) and item.tool == "spawn_agent":
        events += _started(item.id, next(iter(item.receiver_thread_ids or []), None), where)
    return events


def end_event(event: Any, where: Where, memory: Memory) -> list[LogEvent]:
    """The events of a `…_end` with the shape of a turn item."""
    told = REPORTS[type(event)](event)
    return reported(event.call_id, told, where, memory) if told is not None else []


def _started(call: str, agent: str | None, where: Where, path: str | None = None) -> list[LogEvent]:
    if agent is None:
        return []
    what = "agent_started"
    return [CallProgressed(**where, call=CallId(call), what=what, agent=ThreadId(agent), description=path)]


def _end(status: str | None) -> End:
    return _ENDS.get(status or "completed", "error")


def _ms(duration: Duration | None) -> float | None:
    return duration.secs * 1000 + duration.nanos / 1_000_000 if duration is not None else None


def _raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


REPORTS: Mapping[type, Callable[[Any], CallEnd | None]] = {
    turn_items.CommandExecutionItem: _command,
    turn_items.FileChangeItem: _patch,
    turn_items.McpToolCallItem: _mcp_item,
    turn_items.DynamicToolCallItem: _dynamic,
    turn_items.CollabAgentToolCallItem: _agents,
    turn_items.WebSearchItem: _search,
    turn_items.ImageViewItem: _viewed,
    turn_items.ImageGenerationItem: _picture,
    turn_items.SleepItem: _slept,
    turn_items.ExtensionItem: _extension,
    tool_events.ExecCommandEnd: _command,
    tool_events.PatchApplyEnd: _patch,
    tool_events.McpToolCallEnd: _mcp_end,
    tool_events.DynamicToolCallResponse: _dynamic,
    tool_events.ImageGenerationEnd: _picture,
    tool_events.ViewImageToolCall: _viewed,
}
