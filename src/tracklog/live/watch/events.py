"""Live events: short summaries of lines that were just written, and changes of state.

Rules
  1. An event is only what people and scripts wait for; every other line is in the log.
  2. Texts are cut: an event is a notice, not a copy of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tracklog.clock import nearest_moment_text
from tracklog.live.journal import LiveEvent, reported_state
from tracklog.live.watch.session import WatchedSession
from tracklog.model.events import (
    ContextCompacted,
    LogEvent,
    ModelReplied,
    PromptGiven,
    RequestFailed,
    SessionTitled,
    TaskSeen,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import MAIN
from tracklog.model.states import LiveState

LONGEST_TEXT = 2000
_LONGEST_INPUT = 400
Summary = tuple[str, dict[str, Any]]


def summary_of(event: LogEvent) -> Summary | None:
    """The name and the facts of a live event; None for a log event that nobody waits for."""
    if event.is_copy:
        return None
    summarize = _SUMMARIES.get(type(event))
    return summarize(event) if summarize is not None else None


def _prompt(event: PromptGiven) -> Summary:
    return "prompt_given", {"text": event.text[:LONGEST_TEXT], "origin": event.origin}


def _reply(event: ModelReplied) -> Summary | None:
    if not event.text.strip() and event.stop_reason is None and event.api_error is None:
        return None
    return "model_replied", _without_none(
        text=event.text[:LONGEST_TEXT] or None,
        model=event.model,
        request=event.request,
        stop_reason=event.stop_reason,
        error=event.api_error,
    )


def _call(event: ToolCalled) -> Summary:
    return "tool_called", {"call": event.call, "name": event.name, "input": short_input(event.input)}


def _result(event: ToolReturned) -> Summary:
    return "tool_returned", _without_none(
        call=event.call, said=event.said, exit_code=event.exit_code, took_ms=event.took_ms
    )


def _end(event: TurnEnded) -> Summary:
    return "turn_ended", _without_none(took_ms=event.took_ms, error=event.error)


def _interruption(event: TurnInterrupted) -> Summary:
    return "turn_interrupted", {"in_tool": event.in_tool}


def _failure(event: RequestFailed) -> Summary:
    return "request_failed", _without_none(
        text=event.text[:LONGEST_TEXT], status=event.status, attempt=event.attempt, is_final=event.is_final
    )


def _compaction(event: ContextCompacted) -> Summary:
    return "context_compacted", _without_none(
        trigger=event.trigger, tokens_before=event.tokens_before, tokens_after=event.tokens_after
    )


def _title(event: SessionTitled) -> Summary | None:
    return (
        None if event.source == "last_prompt" else ("session_titled", {"title": event.title[:LONGEST_TEXT]})
    )


def _task(event: TaskSeen) -> Summary:
    return "task_seen", _without_none(
        task=event.task, end=event.end, call=event.call, exit_code=event.exit_code
    )


_SUMMARIES: dict[type[LogEvent], Callable[[Any], Summary | None]] = {
    PromptGiven: _prompt,
    ModelReplied: _reply,
    ToolCalled: _call,
    ToolReturned: _result,
    TurnEnded: _end,
    TurnInterrupted: _interruption,
    RequestFailed: _failure,
    ContextCompacted: _compaction,
    SessionTitled: _title,
    TaskSeen: _task,
}


def short_input(raw: msgspec.Raw) -> Any:
    """The input of a call, with its long texts cut."""
    try:
        value = msgspec.json.decode(raw) if len(raw) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return bytes(raw)[:_LONGEST_INPUT].decode("utf-8", "replace")
    return _cut(value, depth=4)


def _cut(value: Any, *, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_INPUT else f"{value[:_LONGEST_INPUT]}…"
    if isinstance(value, dict) and depth:
        return {key: _cut(one, depth=depth - 1) for key, one in list(value.items())[:20]}
    if isinstance(value, list) and depth:
        return [_cut(one, depth=depth - 1) for one in value[:20]]
    return "…" if isinstance(value, (dict, list)) else value


def _without_none(**facts: Any) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def state_facts(state: LiveState) -> dict[str, Any]:
    """A state as a document for scripts."""
    return {
        "state": state.state,
        "waiting_for": state.waiting_for,
        "doing": state.doing,
        "call": state.call,
        "since": None if state.since_ms is None else nearest_moment_text(state.since_ms),
        "evidence": state.evidence,
        "pid": state.pid,
    }


def is_other(before: LiveState, after: LiveState) -> bool:
    return _visible_facts(before) != _visible_facts(after)


def _visible_facts(state: LiveState) -> tuple[object, ...]:
    return reported_state(state), state.has_background


class EventQueue:
    """Collects the events of a watch until they are taken; while it is quiet, it adds none."""

    def __init__(self, now_ms: Callable[[], int], *, is_quiet: bool) -> None:
        self._now_ms = now_ms
        self._events: list[LiveEvent] = []
        self.is_quiet = is_quiet

    def __len__(self) -> int:
        return len(self._events)

    def add(
        self,
        event: str,
        session: WatchedSession,
        *,
        at: str | None = None,
        thread: str = MAIN,
        line: int | None = None,
        path: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an event of a session; the journal gives it its number."""
        if self.is_quiet:
            return
        self._events.append(
            LiveEvent(
                n=0,
                at=at or nearest_moment_text(self._now_ms()),
                event=event,
                session=session.id,
                agent=session.agent,
                thread=thread,
                line=line,
                path=path,
                cwd=session.latest.cwd,
                data=dict(data or {}),
            )
        )

    def take(self) -> list[LiveEvent]:
        """Remove and return all events."""
        events, self._events = self._events, []
        return events
