"""Cues from a thread's log: when its client changed its state in the registry, and when it called hooks.

Rules
  1. Times are those of the log. A sign may have come before the line that tells of it: a permission was asked for
     between a call and its result. So signs come out in order of time only when all was added.
  2. A permission was asked for where the log says so: a person decided, a refusal that was no interruption, a tool
     that asks. Of a permission that was given, clients before 2.1.3xx tell nothing.
  3. Stop comes with the last line of an answer, not after it: that line is flushed later (docs/replay.md). No Stop
     follows a refusal or an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from msgspec import Raw

from tracklog.agents.base import AgentReplay
from tracklog.model.events import (
    LogEvent,
    ModelReplied,
    PromptGiven,
    TaskSeen,
    TextInjected,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import CallId, RequestId, TaskId

_QUESTIONS = {
    "AskUserQuestion": "input needed",
    "ExitPlanMode": "permission prompt",
    "request_user_input": "input needed",
}
_GOES_ON = ("tool_use", "pause_turn")
_SAYS_ITS_LAST = (
    "end_turn",
    "stop_sequence",
)  # after `max_tokens` or `refusal` the client may ask again by itself
_ASKED_AFTER_MS = 50  # from a call's line to the prompt, as measured
_RAN_AFTER_MS = 60  # from a permission that is given to a quick result
_IDLE_AFTER_MS = 30
_DECIDED_BY_PERSON = b'"source":"user'
_NEVER_RAN = "<tool_use_error>"


class StatusCue(NamedTuple):
    """The client changed what the registry says of it."""

    at_ms: int
    status: str
    waiting_for: str | None = None


class HookCall(NamedTuple):
    """The client called the hooks of an event, with these fields beside the common ones."""

    at_ms: int
    event: str
    fields: Mapping[str, Any]


Cue = StatusCue | HookCall


class _OpenCall(NamedTuple):
    event: ToolCalled
    at_ms: int

    @property
    def fields(self) -> dict[str, Any]:
        given = self.event.input or Raw(b"{}")
        return {"tool_name": self.event.name, "tool_input": given, "tool_use_id": self.event.call}


class ThreadCues:
    """Follows the events of one thread. Hear them all, then call `finish`."""

    def __init__(self, agent: AgentReplay, *, thread: str | None = None) -> None:
        self._found: list[Cue] = []
        self._agent = agent
        self._thread = thread  # None: the main thread
        self._open: dict[CallId, _OpenCall] = {}
        self._refused: list[tuple[_OpenCall, int]] = []  # what follows says whether a person did it
        self._is_busy = False
        self._has_begun = False
        self._answered_ms = 0  # the last question: another one is put only then
        self._request: RequestId | None = None
        self._words: list[str] = []
        self._shells: set[TaskId] = set()  # that run in the background
        self._ends: tuple[int, bool] | None = None  # a last answer was written, and says that it is the last

    def add(self, event: LogEvent, raw: bytes, at_ms: int) -> None:
        """Add what happened next; `raw` is its line."""
        handle = self._HANDLERS.get(type(event))
        if handle is not None and not event.is_copy and (self._thread is not None or not event.is_sidechain):
            handle(self, event, raw, at_ms)

    def finish(self) -> list[Cue]:
        """All signs, in order of time."""
        self._settle_end(is_over=True)
        for call in self._open.values():
            self._hook(call.at_ms, "PreToolUse", call.fields)
            if call.event.name in _QUESTIONS:
                self._ask(call)
        return sorted(self._found, key=lambda cue: cue.at_ms)

    def _prompted(self, event: PromptGiven, _: bytes, at_ms: int) -> None:
        self._settle_end(is_over=True)
        if event.origin in ("slash", "shell"):  # most of them no model sees; its answer would show
            return
        self._work(at_ms)
        if self._thread is None:
            self._hook(at_ms, "UserPromptSubmit", {"prompt": event.text})

    def _injected(self, event: TextInjected, _: bytes, at_ms: int) -> None:
        if event.why == "notification" and event.is_message:
            self._settle_end(is_over=True)
            self._work(at_ms)
            if self._thread is None:
                self._hook(at_ms, "UserPromptSubmit", {"prompt": event.text})

    def _began(self, _: TurnBegan, __: bytes, at_ms: int) -> None:
        self._work(at_ms)

    def _replied(self, event: ModelReplied, _: bytes, at_ms: int) -> None:
        is_same = event.request is not None and event.request == self._request
        if not is_same:
            self._settle_end(is_over=False)
            self._request, self._words = event.request, []
        if event.text:
            self._words.append(event.text)
        if event.is_synthetic and event.api_error is None:
            return
        self._work(at_ms)
        if event.api_error is not None:
            self._stop(at_ms, "StopFailure", {"error": event.api_error})
        elif self._agent.stops_with_last_answer and event.stop_reason not in _GOES_ON and not self._open:
            self._ends = (at_ms, event.stop_reason in _SAYS_ITS_LAST)

    def _called(self, event: ToolCalled, _: bytes, at_ms: int) -> None:
        if event.request == self._request:
            self._ends = None
        self._work(at_ms)
        if not event.is_server_side:
            self._open[event.call] = _OpenCall(event, at_ms)

    def _returned(self, event: ToolReturned, raw: bytes, at_ms: int) -> None:
        call = self._open.pop(event.call, None) if event.call else None
        if call is None:
            return
        if not event.text.startswith(_NEVER_RAN):
            self._hook(call.at_ms, "PreToolUse", call.fields)
        if event.said == "rejected":
            self._refused.append((call, at_ms))
            return
        if self._was_asked(call.event, event, raw):
            self._ask(call)
            self._answer(max(at_ms - _RAN_AFTER_MS, call.at_ms + _ASKED_AFTER_MS))
        took_ms = event.took_ms if event.took_ms is not None else at_ms - call.at_ms
        if event.said == "backgrounded" and event.task and call.event.name == "Bash":
            self._shells.add(event.task)
        if event.said in ("ok", "backgrounded"):
            report = event.report or event.text
            self._hook(
                at_ms, "PostToolUse", call.fields | {"tool_response": report, "duration_ms": round(took_ms)}
            )
        elif event.said in ("error", "timed_out") and not event.text.startswith(_NEVER_RAN):
            said = {"error": event.text, "is_interrupt": False, "duration_ms": round(took_ms)}
            self._hook(at_ms, "PostToolUseFailure", call.fields | said)

    def _task_seen(self, event: TaskSeen, _: bytes, at_ms: int) -> None:
        if event.end == "running" or event.task not in self._shells:
            return
        self._shells.discard(event.task)
        if not self._is_busy and not self._shells and self._thread is None:
            self._found.append(StatusCue(at_ms, "idle"))

    def _interrupted(self, event: TurnInterrupted, _: bytes, at_ms: int) -> None:
        is_refusal = event.request is None and not event.is_headless and self._thread is None
        for call, refused_ms in self._refused:
            is_asked = not self._agent.asks_only_to_leave_sandbox or self._leaves_sandbox(call.event)
            if is_refusal and is_asked:
                self._ask(call)
                self._answered_ms = refused_ms
        self._refused.clear()
        self._ends = None
        self._rest(at_ms + _IDLE_AFTER_MS)

    def _ended(self, event: TurnEnded, _: bytes, at_ms: int) -> None:
        if self._ends is not None:
            self._settle_end(is_over=True)
        elif self._is_busy and not self._agent.stops_with_last_answer:
            self._stop(at_ms, "Stop", {"stop_hook_active": False, "last_assistant_message": event.text or ""})
        else:
            self._rest(at_ms + _IDLE_AFTER_MS)

    def _settle_end(self, *, is_over: bool) -> None:
        """An answer without calls was the last of its turn, if it says so, or if nothing follows it."""
        ends, self._ends = self._ends, None
        if ends is None or not (is_over or ends[1]):
            return
        words = "\n".join(self._words)
        fields = {"stop_hook_active": False, "last_assistant_message": words}
        self._stop(ends[0], "Stop", fields, is_over=is_over)

    def _stop(self, at_ms: int, event: str, fields: dict[str, Any], *, is_over: bool = True) -> None:
        """The client would stop; if it goes on by itself, because a hook wants it to, it was never idle."""
        is_main = self._thread is None
        self._hook(at_ms, event if is_main or event != "Stop" else "SubagentStop", fields)
        if is_over:
            self._rest(at_ms + _IDLE_AFTER_MS)

    def _work(self, at_ms: int) -> None:
        if not self._is_busy and self._thread is None:
            self._found.append(StatusCue(at_ms, "busy"))
        if not self._has_begun and self._thread is not None:
            self._hook(at_ms, "SubagentStart", {})
        self._is_busy = self._has_begun = True

    def _rest(self, at_ms: int) -> None:
        if self._is_busy and self._thread is None:
            self._found.append(StatusCue(at_ms, "shell" if self._shells else "idle"))
        self._is_busy = False

    def _ask(self, call: _OpenCall) -> None:
        at_ms = max(call.at_ms + _ASKED_AFTER_MS, self._answered_ms)
        waiting_for = _QUESTIONS.get(call.event.name, "permission prompt")
        self._found.append(StatusCue(at_ms, "waiting", waiting_for))
        asked = {key: value for key, value in call.fields.items() if key != "tool_use_id"}
        self._hook(at_ms, "PermissionRequest", asked)

    def _was_asked(self, call: ToolCalled, returned: ToolReturned, raw: bytes) -> bool:
        if returned.is_headless:
            return False
        is_decided = returned.decision is not None and _DECIDED_BY_PERSON in raw
        is_let_out = returned.said != "denied" and self._leaves_sandbox(call)
        return is_decided or is_let_out or returned.feedback is not None or call.name in _QUESTIONS

    def _leaves_sandbox(self, call: ToolCalled) -> bool:
        return self._agent.leaves_sandbox(bytes(call.input))

    def _answer(self, at_ms: int) -> None:
        self._answered_ms = at_ms
        self._found.append(StatusCue(at_ms, "busy"))

    def _hook(self, at_ms: int, event: str, fields: Mapping[str, Any]) -> None:
        whose = {} if self._thread is None else {"agent_id": self._thread}
        self._found.append(HookCall(at_ms, event, {**whose, **fields}))

    _HANDLERS: ClassVar[dict[type[LogEvent], Callable[[Any, Any, bytes, int], None]]] = {
        PromptGiven: _prompted,
        TextInjected: _injected,
        TurnBegan: _began,
        ModelReplied: _replied,
        ToolCalled: _called,
        ToolReturned: _returned,
        TaskSeen: _task_seen,
        TurnInterrupted: _interrupted,
        TurnEnded: _ended,
    }
