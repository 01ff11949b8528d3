"""The payloads of our own hook, as events: which call began, was asked about, was refused, ended, and how long it took.

| the agent told | outcome |
|---|---|
| PreToolUse | `began`: nobody stopped it before, but what comes next may |
| PermissionRequest | `asked`: it names no call, so it is the newest open one with the same tool and input |
| PermissionDenied | `denied` |
| PostToolUse | `ok`; `told` if the work goes on in the background, for then nothing has ended. Codex tells the same of what failed: `told` |
| PostToolUseFailure | `error`, `timed_out`, `interrupted` |
| anything else | `told` |

Rules
  1. A payload comes from an agent, or from anybody who can run our hook. It describes calls; no path in it is followed.
  2. Order is the order of the spool: an agent waits for its hooks, so what it told first happened first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from tracklog.agents.hooks.records import HookInput, Spooled, TurnNotice
from tracklog.model.events import HookRan, Place
from tracklog.model.ids import CallId, ThreadId
from tracklog.model.records import opened

TIME_LIMIT = re.compile(
    r"(?:Exit code 143\n)?Command timed out after |MCP server [^\n]{1,300} timed out after |MCP error -32001"
    r"|(?:Error: )?(?:Request|Tool call|Operation) timed out"
)  # the words of a client in a failed call: to its hooks, and as its result in the log
_GOES_ON = {"async_launched", "remote_launched", "teammate_spawned"}
_ENDS = ("PostToolUse", "PostToolUseFailure", "PermissionDenied")
_CLOSING = ("UserPromptSubmit", "Stop", "SessionStart", "SubagentStop", "Interrupt")
_LONGEST_TEXT = 2000


class _Response(msgspec.Struct):
    """Of what a tool reported, the few keys that say that it goes on."""

    background_task_id: str | None = msgspec.field(default=None, name="backgroundTaskId")
    status: str | None = None


class _Open(NamedTuple):
    """A call that was about to run."""

    id: CallId
    tool: str | None
    input: Any


_response = msgspec.json.Decoder(_Response)


class Hearing:
    """Translates the spooled hook calls of one session, in their order."""

    def __init__(self) -> None:
        self._open: dict[str | None, dict[CallId, _Open]] = {}  # by thread

    def translate(self, spooled: Spooled, place: Place) -> HookRan | None:
        """The event that a spooled call tells; None where it tells nothing that we know."""
        told = spooled.payload
        if isinstance(told, HookInput):
            return self._heard(told, spooled, place)
        if isinstance(told, TurnNotice):
            text = (told.last_assistant_message or "")[:_LONGEST_TEXT]
            return HookRan(
                place=place,
                at=spooled.at,
                turn=told.turn_id,
                hook_event=told.type,
                name="notify",
                outcome="told",
                text=text,
                is_heard=True,
            )
        return None

    def _heard(self, told: HookInput, spooled: Spooled, place: Place) -> HookRan:
        call = self._call(told)
        is_codex = spooled.agent == "codex" or (spooled.agent is None and told.turn_id is not None)
        event = told.hook_event_name
        return HookRan(
            place=place,
            at=spooled.at,
            thread=ThreadId(told.agent_id) if told.agent_id else None,
            turn=told.prompt_id or told.turn_id,
            hook_event=event,
            name=f"{event}:{told.tool_name}" if told.tool_name else event,
            outcome=_outcome(told, is_codex=is_codex),
            call=call,
            text=_text(told),
            is_heard=True,
            call_took_ms=told.duration_ms if event in _ENDS else None,
        )

    def _call(self, told: HookInput) -> CallId | None:
        open_calls = self._open.setdefault(told.agent_id, {})
        if told.tool_use_id:
            id = CallId(told.tool_use_id)
            if told.hook_event_name == "PreToolUse":
                open_calls[id] = _Open(id, told.tool_name, opened(told.tool_input))
            elif told.hook_event_name in _ENDS:
                open_calls.pop(id, None)
            return id
        if told.hook_event_name == "PermissionRequest":
            return _meant(told, list(open_calls.values()))
        if told.hook_event_name in _CLOSING:
            open_calls.clear()  # what did not end until now is nothing that one could be asked about
        return None


def _meant(told: HookInput, open_calls: list[_Open]) -> CallId | None:
    """The newest open call with this tool and input. Codex adds a description to the input: what both have must agree."""
    wished = opened(told.tool_input)
    same_tool = [one for one in reversed(open_calls) if one.tool == told.tool_name]
    equal = [one for one in same_tool if one.input == wished]
    alike = [one for one in same_tool if inputs_agree(one.input, wished)]
    return next((one.id for one in (*equal, *alike)), None)


def inputs_agree(one: Any, other: Any) -> bool:
    """Whether two inputs of a tool say the same in all that both of them say, and there is such a thing."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    both = one.keys() & other.keys()
    return bool(both) and all(one[key] == other[key] for key in both)


def _outcome(told: HookInput, *, is_codex: bool) -> str:
    match told.hook_event_name:
        case "PreToolUse":
            return "began"
        case "PermissionRequest":
            return "asked"
        case "PermissionDenied":
            return "denied"
        case "PostToolUse":
            return "told" if is_codex or _goes_on(told) else "ok"
        case "PostToolUseFailure" if told.is_interrupt:
            return "interrupted"
        case "PostToolUseFailure":
            return "timed_out" if TIME_LIMIT.match(told.error or "") else "error"
        case _:
            return "told"


def _goes_on(told: HookInput) -> bool:
    """Whether the work goes on in the background."""
    raw = bytes(told.tool_response)
    if raw[:1] != b"{":
        return False
    try:
        said = _response.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return said.background_task_id is not None or said.status in _GOES_ON


def _text(told: HookInput) -> str:
    said = told.error or told.reason or told.message or told.last_assistant_message or ""
    return said[:_LONGEST_TEXT]


def heard(spooled: Iterable[tuple[Spooled, Place]]) -> Iterator[HookRan]:
    """What the spooled calls of one session tell, in their order."""
    hearing = Hearing()
    for one, place in spooled:
        event = hearing.translate(one, place)
        if event is not None:
            yield event
