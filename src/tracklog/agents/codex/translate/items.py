"""Response items: what the model called, and what came back.

Rules
  1. A call gives `ModelReplied` and `ToolCalled`; both name the request.
  2. What the server runs itself (searches, pictures) is written when it is done, so its line is call and result.
  3. What an output means is read in translate/outputs.py; here it only meets its call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from tracklog.agents.codex.records import items
from tracklog.agents.codex.translate.messages import (
    agent_message,
    message,
    n_pictures,
    reasoning,
    reply,
    with_turn,
)
from tracklog.agents.codex.translate.outputs import Reading, Unpacked, read_output, unpacked
from tracklog.agents.codex.translate.state import Memory, OpenCall, Where
from tracklog.model.events import LogEvent, ModeChanged, TaskSeen, TextInjected, ToolCalled, ToolReturned
from tracklog.model.ids import CallId, TaskId, ThreadId
from tracklog.model.records import opened

_NAMELESS = "unknown"  # a tool whose name does not fit
_ASKING = {"write_stdin": ("session_id", ""), "wait": ("cell_id", "cell:")}
_NO_TEXT = Unpacked("")
_raw = msgspec.json.Decoder(Raw)
ANY_OUTPUT = (
    items.FunctionCallOutput
    | items.FunctionCallResult
    | items.CustomToolCallOutput
    | items.LocalShellCallOutput
)


def as_json(text: str) -> Raw:
    """The JSON in a text; a text that is no JSON as a JSON string."""
    raw = text.encode()
    try:
        return _raw.decode(raw).copy()
    except (msgspec.DecodeError, RecursionError):
        return Raw(msgspec.json.encode(text))


def mcp_name(name: str, namespace: str | None) -> tuple[str | None, str]:
    """The server of an MCP tool, and the whole name: it is what people filter by."""
    if namespace is not None and namespace.startswith("mcp__"):
        return namespace.removeprefix("mcp__").rstrip("_"), f"{namespace.rstrip('_')}__{name}"
    parts = name.split("__", 2)
    return (parts[1], name) if parts[0] == "mcp" and len(parts) == 3 else (None, name)


def function_call(item: items.FunctionCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A call whose arguments ought to be JSON."""
    server, name = mcp_name(item.name or _NAMELESS, item.namespace)
    call = CallId(item.call_id or memory.made_id("call"))
    memory.calls[call] = OpenCall(name, server, _asks_about(name, item), memory.epoch)
    arguments = as_json(item.arguments) if item.arguments is not None else Raw()
    return _called(item, where, memory, call=call, name=name, input=arguments, server=server)


def custom_tool_call(item: items.CustomToolCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A call whose input is a text: a patch, a script."""
    server, name = mcp_name(item.name or _NAMELESS, item.namespace)
    call = CallId(item.call_id or memory.made_id("call"))
    memory.calls[call] = OpenCall(name, server, epoch=memory.epoch)
    if name == "exec":
        memory.script = call
    text = Raw(msgspec.json.encode(item.input)) if item.input is not None else Raw()
    return _called(item, where, memory, call=call, name=name, input=text, server=server)


def local_shell_call(item: items.LocalShellCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A command that the model asked for in the way of the first clients."""
    call = CallId(item.call_id or item.id or memory.made_id("shell"))
    memory.calls[call] = OpenCall("local_shell", epoch=memory.epoch)
    action = Raw(msgspec.json.encode(item.action))
    return _called(item, where, memory, call=call, name="local_shell", input=action)


def tool_search_call(item: items.ToolSearchCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A search for tools, by the client or by the server."""
    call = CallId(item.call_id or item.id or memory.made_id("tool_search"))
    is_server_side = item.execution == "server"
    memory.calls[call] = OpenCall("tool_search", epoch=memory.epoch)
    return _called(
        item,
        where,
        memory,
        call=call,
        name="tool_search",
        input=item.arguments,
        is_server_side=is_server_side,
    )


def web_search_call(item: items.WebSearchCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A search that the server did."""
    call = _searched(item, memory)
    action = Raw(msgspec.json.encode(item.action)) if item.action is not None else Raw()
    return _done_by_server(item, where, memory, call=call, name="web_search", input=action)


def image_generation_call(item: items.ImageGenerationCall, where: Where, memory: Memory) -> list[LogEvent]:
    """A picture that the server made."""
    call = CallId(item.id or memory.made_id("image"))
    prompt = Raw(msgspec.json.encode({"revised_prompt": item.revised_prompt}))
    return _done_by_server(item, where, memory, call=call, name="image_generation", input=prompt)


def output(item: ANY_OUTPUT, where: Where, memory: Memory) -> list[LogEvent]:
    """The result of a call, and what it says about others."""
    settled = memory.prompts.settle()
    memory.end_request()
    where = with_turn(item, where)
    head, text, n_images = _output_text(item.output)
    if item.call_id is None:
        return [*settled, TextInjected(**where, why="context", text=text)]
    call = CallId(item.call_id)
    asked = memory.calls.pop(call, None)
    tool, server = (asked.name, asked.server) if asked else (None, None)
    if item.output is None:  # it does not fit, and says nothing of how the call went
        reading = Reading("ok", "came back", is_sure=False)
    else:
        reading = read_output(tool, text, head=head, server=server)
    memory.is_cut_in_tool |= reading.said in ("rejected", "interrupted")
    if asked and asked.name == "view_image" and not n_images and reading.said == "ok":
        memory.n_pictures_due += 1
    inside = unpacked(tool, text, head=head, server=server)
    returned = _returned(call, reading, where, inside=inside, n_images=n_images)
    returned.is_headless = memory.modes.get("permission") == "never"  # nobody is asked, so nobody refused
    return [*settled, returned, *_seen(call, asked, reading, where)]


def tool_search_output(item: items.ToolSearchOutputItem, where: Where, memory: Memory) -> list[LogEvent]:
    """The tools that were found."""
    memory.end_request()
    call = CallId(item.call_id) if item.call_id else None
    if call is not None:
        memory.calls.pop(call, None)
    said = Reading("error" if item.status in ("failed", "incomplete") else "ok", "status")
    returned = _returned(call, said, with_turn(item, where), inside=_NO_TEXT, n_images=0)
    returned.report = item.tools
    return [returned]


def configuration_update(item: items.ConfigurationUpdate, where: Where, memory: Memory) -> list[LogEvent]:
    """Another effort, from inside the conversation."""
    return changed_modes(where, memory, effort=item.reasoning.effort)


def changed_modes(where: Where, memory: Memory, **modes: str | None) -> list[LogEvent]:
    """What differs from the settings that were in force."""
    news: list[LogEvent] = []
    for what, value in modes.items():
        if value and memory.modes.get(what) != value:
            memory.modes[what] = value
            news.append(ModeChanged(**where, what=what, value=value))  # type: ignore[arg-type]
    memory.model = modes.get("model") or memory.model
    memory.effort = modes.get("effort") or memory.effort
    return news


def _called(item: items.Item, where: Where, memory: Memory, **facts: Any) -> list[LogEvent]:
    return [
        *reply(item, where, memory),
        ToolCalled(**with_turn(item, where), request=memory.request(), **facts),
    ]


def _done_by_server(item: Any, where: Where, memory: Memory, *, call: CallId, **facts: Any) -> list[LogEvent]:
    called = _called(item, where, memory, call=call, is_server_side=True, **facts)
    if item.status in ("in_progress", "searching", "generating"):
        return called
    reading = Reading("error" if item.status in ("failed", "incomplete") else "ok", "status")
    n_images = int(bool(getattr(item, "result", None)))
    return [*called, _returned(call, reading, with_turn(item, where), inside=_NO_TEXT, n_images=n_images)]


def _searched(item: items.WebSearchCall, memory: Memory) -> CallId:
    """The id of a search. Until mid-2026 it is only in the event before it, which has the same action."""
    for known in memory.searches:
        if item.id == known[0] or (not item.id and item.action == known[1]):
            memory.searches.remove(known)
            return known[0]
    return CallId(item.id or memory.made_id("web_search"))


def _returned(
    call: CallId | None, reading: Reading, where: Where, *, inside: Unpacked, n_images: int
) -> ToolReturned:
    return ToolReturned(
        **where,
        call=call,
        said=reading.said,
        why=reading.why,
        text=inside.text,
        whole_tokens=inside.whole_tokens,
        whole_lines=inside.whole_lines,
        envelope_bytes=inside.envelope_bytes,
        exit_code=reading.exit_code,
        task=TaskId(reading.task) if reading.task and reading.said == "backgrounded" else None,
        agent=ThreadId(reading.agent) if reading.agent else None,
        took_ms=reading.took_ms,
        n_images=n_images,
        is_sure=reading.is_sure,
    )


def _seen(call: CallId, asked: OpenCall | None, reading: Reading, where: Where) -> list[LogEvent]:
    """What an output says about a session, a script or subagents that were started before."""
    seen: list[LogEvent] = []
    if reading.end is not None:
        task = asked.task if asked and asked.task else TaskId(reading.task) if reading.task else None
        code = reading.exit_code
        seen.append(TaskSeen(**where, task=task, end=reading.end, asked_by=call, exit_code=code))
    for agent, end, said in reading.agents:
        seen.append(TaskSeen(**where, task=TaskId(agent), end=end, asked_by=call, text=said))
    return seen


def _asks_about(name: str, item: items.FunctionCall) -> TaskId | None:
    key, prefix = _ASKING.get(name, (None, ""))
    arguments = item.parsed if key else None
    value = arguments.get(key) if isinstance(arguments, dict) else None
    return TaskId(f"{prefix}{value}") if isinstance(value, (str, int)) else None


def _output_text(said: items.Output | None) -> tuple[str | None, str, int]:
    """The first text, all text, and the number of pictures of an output."""
    if said is None:
        return None, "", 0
    if isinstance(said, str):
        return None, said, 0
    if isinstance(said, dict):
        text = opened(said["text"]) if "text" in said else None
        return None, text if isinstance(text, str) else msgspec.json.encode(said).decode(), 0
    texts = [part.text for part in said if isinstance(part, (items.InputText, items.OutputText))]
    return texts[0] if texts else "", "\n".join(texts), n_pictures(said)


ITEMS: dict[type, Callable[[Any, Where, Memory], list[LogEvent]]] = {
    items.Message: message,
    items.AgentMailItem: agent_message,
    items.Reasoning: reasoning,
    items.FunctionCall: function_call,
    items.FunctionCallOutput: output,
    items.FunctionCallResult: output,
    items.CustomToolCall: custom_tool_call,
    items.CustomToolCallOutput: output,
    items.LocalShellCall: local_shell_call,
    items.LocalShellCallOutput: output,
    items.WebSearchCall: web_search_call,
    items.ToolSearchCall: tool_search_call,
    items.ToolSearchOutputItem: tool_search_output,
    items.ImageGenerationCall: image_generation_call,
    items.ConfigurationUpdate: configuration_update,
}
SILENT_ITEMS: set[type] = {
    items.AdditionalTools,  # which tools the model is offered
    items.GhostSnapshot,  # the client's means to undo
    items.CompactionItem,  # a cipher; the `compacted` line says what was compacted
    items.CompactionSummary,
    items.ContextCompaction,
}
