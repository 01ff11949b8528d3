"""The newest sign of a session's state from its hooks.

Rules
  1. Stop is missing after every refusal and interrupt, one turn may have several, and a submitted prompt may be a
     notice of the background: so nothing is counted, and every event is judged by itself.
  2. A permission request is open from PermissionRequest until its call has an end: the answer Yes runs no hook. It
     names no call, so it belongs to the last call of equal tool, input and thread; if that one has ended, the
     request came late.
  3. A subagent's hooks say nothing of the main thread, except that a thread waits for the person.
  4. Notifications come seconds late: they add only what no other hook has said, and change no start time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from tracklog.agents.hooks.events import inputs_agree
from tracklog.agents.hooks.records import HookInput
from tracklog.model.records import opened
from tracklog.model.states import THINKING, Doing, Sign, WaitingFor, asked_by, told_call

_MOST_CALLS = 256  # ended ones are remembered for requests that come late
_BY_NOTICE = "notice"
_NOTIFIED: dict[str, WaitingFor] = {
    "permission_prompt": "permission",
    "elicitation_dialog": "answer",
    "agent_needs_input": "answer",
}


class _HookCall(NamedTuple):
    """A call as hooks describe it: enough to recognise it."""

    tool: str | None
    given: bytes
    agent: str | None
    doing: str
    is_over: bool = False

    def is_same_tool(self, hook: HookInput) -> bool:
        return (self.tool, self.agent) == (hook.tool_name, hook.agent_id)

    def agrees(self, hook: HookInput) -> bool:
        return inputs_agree(opened(msgspec.Raw(self.given)), opened(hook.tool_input))


class HookSigns:
    """Folds the hook calls of one session, in the order in which they were spooled."""

    def __init__(self) -> None:
        self._turn: Sign | None = None
        self._calls: dict[str, _HookCall] = {}
        self._prompts: dict[str, tuple[Sign, str | None]] = {}  # with the thread that waits
        self._handlers: dict[str, Callable[[HookInput, int], None]] = {
            "SessionStart": self._started,
            "SessionEnd": self._ended,
            "UserPromptSubmit": self._prompted,
            "PreToolUse": self._called,
            "PermissionRequest": self._asked,
            "PermissionDenied": self._returned,
            "PostToolUse": self._returned,
            "PostToolUseFailure": self._returned,
            "PostToolBatch": self._batch_returned,
            "Stop": self._stopped,
            "StopFailure": self._stopped,
            "Interrupt": self._stopped,  # only Codex sends it
            "SubagentStop": self._stopped,
            "Notification": self._notified,
            "Elicitation": self._elicited,
            "ElicitationResult": self._elicited,
            "PreCompact": self._compacting,
            "PostCompact": self._compacting,
        }

    def add(self, hook: HookInput, at_ms: int) -> None:
        """Add the next hook call; events that say nothing of what is done are ignored."""
        handle = self._handlers.get(hook.hook_event_name)
        if handle is not None:
            handle(hook, max(at_ms, self._turn.at_ms if self._turn else 0))

    def turn_completed(self, at_ms: int) -> None:
        """Codex' `notify` said that a turn is complete; it says nothing else."""
        self._drop(None)
        self._be("idle", at_ms, "notify agent-turn-complete")

    @property
    def sign(self) -> Sign | None:
        """The newest sign; None while no hook has said anything."""
        if self._prompts:
            return next(iter(self._prompts.values()))[0]
        if self._turn is None or self._turn.state != "working":
            return self._turn
        open_calls = tuple(
            ident for ident, call in self._calls.items() if not call.is_over and call.agent is None
        )
        if not open_calls:
            return self._turn
        doing = self._calls[open_calls[0]].doing
        return self._turn._replace(doing=doing, call=open_calls[0], open_calls=open_calls)

    def _started(self, hook: HookInput, at_ms: int) -> None:
        if hook.source == "compact":  # that one comes in the middle of everything
            return
        self._forget_all()
        self._turn = None
        if hook.permission_mode is None:  # Codex tells it, and runs this hook when the first turn has begun
            self._be("idle", at_ms, _where(hook))

    def _ended(self, hook: HookInput, at_ms: int) -> None:
        self._forget_all()
        self._be("ended", at_ms, _where(hook))

    def _prompted(self, hook: HookInput, at_ms: int) -> None:
        self._drop(None)
        self._be("working", at_ms, _where(hook))

    def _called(self, hook: HookInput, at_ms: int) -> None:
        call = hook.tool_use_id or ""
        given = opened(hook.tool_input)
        doing = told_call(hook.tool_name, given, hook.cwd)
        self._calls[call] = _HookCall(hook.tool_name, bytes(hook.tool_input), hook.agent_id, doing)
        while len(self._calls) > _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        if hook.agent_id is None:
            self._prompts.pop(_BY_NOTICE, None)
            self._be("working", at_ms, _where(hook))
        if waits_for := asked_by(hook.tool_name):
            self._wait(call, hook, at_ms, waits_for)

    def _asked(self, hook: HookInput, at_ms: int) -> None:
        known = self._calls_of(hook)
        still_open = [ident for ident in known if not self._calls[ident].is_over]
        if known and not still_open:
            return
        call = hook.tool_use_id or next(
            (ident for ident in reversed(still_open) if ident not in self._prompts), None
        )
        if call is None and still_open:
            return  # its call waits already: a tool that does nothing but ask
        self._wait(call, hook, at_ms, asked_by(hook.tool_name) or "permission")

    def _calls_of(self, hook: HookInput) -> list[str]:
        """The calls of equal input; else, as Codex adds a description to it, those that agree in what both say."""
        same = {ident: call for ident, call in self._calls.items() if call.is_same_tool(hook)}
        equal = [ident for ident, call in same.items() if call.given == bytes(hook.tool_input)]
        return equal or [ident for ident, call in same.items() if call.agrees(hook)]

    def _returned(self, hook: HookInput, at_ms: int) -> None:
        self._close(hook.tool_use_id or "", at_ms)
        self._prompts.pop(_unnamed(hook.tool_name, hook.agent_id), None)
        if hook.agent_id is None:
            self._prompts.pop(_BY_NOTICE, None)
            self._be("working", at_ms, _where(hook))

    def _batch_returned(self, hook: HookInput, at_ms: int) -> None:
        for ident, call in list(self._calls.items()):
            if call.agent == hook.agent_id:
                self._close(ident, at_ms)
        self._drop_prompts(hook.agent_id, at_ms)
        if hook.agent_id is None:
            self._be("working", at_ms, _where(hook))

    def _stopped(self, hook: HookInput, at_ms: int) -> None:
        self._drop(hook.agent_id, at_ms)
        if hook.agent_id is None and hook.hook_event_name != "SubagentStop":
            self._be("idle", at_ms, _where(hook), has_background=_runs_on(hook))

    def _notified(self, hook: HookInput, at_ms: int) -> None:
        kind = hook.notification_type or _kind_by_words(hook.message or "")
        if kind == "idle_prompt":
            if self._turn is None or self._turn.state != "idle":
                self._drop(None)
                self._be("idle", at_ms, _where(hook))
        elif kind in _NOTIFIED and not self._prompts:
            waits = Sign("hook", "waiting", at_ms, waiting_for=_NOTIFIED[kind], where=_where(hook))
            now = self.sign
            if now is not None and now.state == "working" and kind == "permission_prompt":
                waits = waits._replace(doing=now.doing if now.call else None, call=now.call)
            self._prompts[_BY_NOTICE] = (waits, None)

    def _elicited(self, hook: HookInput, at_ms: int) -> None:
        if hook.hook_event_name == "Elicitation":
            doing = told_call(hook.mcp_server_name, hook.message, hook.cwd)
            waits = Sign("hook", "waiting", at_ms, doing=doing, waiting_for="answer", where=_where(hook))
            self._prompts.setdefault("elicitation", (waits, hook.agent_id))
        elif self._prompts.pop("elicitation", None) and hook.agent_id is None:
            self._be("working", at_ms, _where(hook))

    def _compacting(self, hook: HookInput, at_ms: int) -> None:
        if hook.hook_event_name == "PreCompact":
            self._be("working", at_ms, _where(hook), doing="compacting")
        else:
            self._be("idle" if hook.trigger == "manual" else "working", at_ms, _where(hook))

    def _wait(self, call: str | None, hook: HookInput, at_ms: int, waiting_for: WaitingFor) -> None:
        doing = told_call(hook.tool_name, opened(hook.tool_input), hook.cwd)
        waits = Sign(
            "hook", "waiting", at_ms, doing=doing, call=call, waiting_for=waiting_for, where=_where(hook)
        )
        self._prompts.pop(_BY_NOTICE, None)
        self._prompts.setdefault(call or _unnamed(hook.tool_name, hook.agent_id), (waits, hook.agent_id))

    def _be(
        self,
        state: Doing,
        at_ms: int,
        where: str,
        *,
        doing: str | None = None,
        has_background: bool = False,
    ) -> None:
        doing = doing or (THINKING if state == "working" else None)
        self._turn = Sign("hook", state, at_ms, doing=doing, where=where, has_background=has_background)

    def _close(self, call: str, at_ms: int) -> None:
        if call in self._calls:
            self._calls[call] = self._calls[call]._replace(is_over=True)
        if self._prompts.pop(call, None):
            self._go_on(at_ms)

    def _drop_prompts(self, agent: str | None, at_ms: int | None = None) -> None:
        """Nobody waits for this thread any more."""
        waiting = [key for key, (_, thread) in self._prompts.items() if thread == agent]
        for key in waiting:
            del self._prompts[key]
        if waiting and at_ms is not None:
            self._go_on(at_ms)

    def _drop(self, agent: str | None, at_ms: int | None = None) -> None:
        """What this thread had open is over, whether a hook told so or not."""
        for ident, call in self._calls.items():
            if call.agent == agent:
                self._calls[ident] = call._replace(is_over=True)
        self._drop_prompts(agent, at_ms)

    def _go_on(self, at_ms: int) -> None:
        """Work that a question interrupted continues, from now on."""
        if self._turn is not None:
            self._turn = self._turn._replace(at_ms=at_ms)

    def _forget_all(self) -> None:
        self._calls.clear()
        self._prompts.clear()


def _unnamed(tool: str | None, agent: str | None) -> str:
    """The key of a request whose call no hook has told of."""
    return f"{agent or ''} {tool or ''}"


def _where(hook: HookInput) -> str:
    return f"hook {hook.hook_event_name}"


def _runs_on(hook: HookInput) -> bool:
    tasks = opened(hook.background_tasks)
    return isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("status") == "running" for task in tasks
    )


def _kind_by_words(message: str) -> str:
    """Clients up to 2.0.x name no type: two sentences are known."""
    if "permission" in message:
        return "permission_prompt"
    return "idle_prompt" if "waiting for your input" in message else ""
