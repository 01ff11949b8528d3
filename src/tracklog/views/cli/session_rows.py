"""Sessions and their parts as the documents name their fields.

Rules of this room
  1. Every field of a row is always there; what nobody knows is null.
  2. A row counts what is the session's own: what a fork copied belongs to the session that it came from.
  3. What the client wrote in the model's place is no request: it is neither counted nor listed as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracklog.model.events import Place
from tracklog.model.request_costs import Sum
from tracklog.model.session import Branch, Call, Compaction, HookRun, Request, Session, Thread, Turn
from tracklog.pipeline.session_values import facts_of, n_requests
from tracklog.views.cli.costs import cost_row, period_row, spent_row

if TYPE_CHECKING:
    from tracklog.pipeline.request_costs import Costs

Row = dict[str, Any]

_DEEPEST = 100  # levels of agents that are drawn inside one another


def session_row(session: Session, cost: Sum | None = None, *, only_here: bool) -> Row:
    """A session as `sessions` lists it, with what its own requests cost."""
    facts = {"id": session.id, "agent": session.agent, **facts_of(session)}
    return listed_row(facts, cost, only_here=only_here)


def listed_row(facts: Row, cost: Sum | None = None, *, only_here: bool) -> Row:
    """The same, of a session that is known by what lists tell of it."""
    return {**facts, **cost_row(cost or Sum()), "only_here": only_here, **period_row(facts["id"], None)}


def turn_row(turn: Turn, requests: Iterable[Request], costs: Costs, *, with_thinking: bool) -> Row:
    """A turn as `show` lists it, with the requests that are meant."""
    shown = list(requests)
    return {
        "n": turn.n,
        "prompt": turn.prompt,
        "at": turn.at,
        "requests": [
            _request_row(request, costs, with_thinking=with_thinking)
            for request in shown
            if not request.is_synthetic
        ],
        "calls": list(turn.calls),
        "text": turn.text,
        **cost_row(costs.sum_over(shown)),
        "ended_at": turn.ended_at,
        "took_ms": turn.took_ms,
        "stated_ms": turn.stated_ms,
        "client_texts": [_client_row(request) for request in shown if request.is_synthetic],
        "interrupted": turn.is_interrupted,
        "on_active_branch": turn.on_active_branch,
        "inherited": turn.is_inherited,
    }


def _request_row(request: Request, costs: Costs, *, with_thinking: bool) -> Row:
    row: Row = {
        "id": request.id,
        "model": request.model,
        "at": request.at,
        "text": request.text,
        "calls": list(request.calls),
        "grouped_by": request.grouped_by,
        **spent_row(costs.of(request.id)),
    }
    return {**row, "thinking": request.thinking} if with_thinking else row


def _client_row(request: Request) -> Row:
    return {"id": request.id, "at": request.at, "text": request.text, "error": request.error}


def call_row(call: Call) -> Row:
    """A call as `calls` lists it."""
    return {
        "id": call.id,
        "session": call.session,
        "agent": call.agent,
        "thread": call.thread,
        "name": call.name,
        "input": showable(call.arguments),
        "verdict": call.verdict,
        "outcome": call.outcome,
        "timed_out": call.timed_out,
        "sureness": call.sureness,
        "evidence": [place_row(place) for place in call.evidence],
        "on_active_branch": call.on_active_branch,
        "called_at": call.called_at,
        "returned_at": call.returned_at,
        "took_ms": call.took_ms,
        "took_by": call.took_by,
        "exit_code": call.exit_code,
        "error": call.error,
        "parallel_with": list(call.parallel_with),
        "inherited_by": list(call.inherited_by),
        "why": call.why,
        "decision": call.decision,
        "feedback": call.feedback,
        "spawned": call.spawned,
        "mcp_server": call.server,
        "stated": _stated_row(call),
        "hooks": [_hook_row(hook) for hook in call.hooks],
        "phases": [{"what": phase.what, "at": phase.at, **place_row(phase.place)} for phase in call.phases],
    }


def _stated_row(call: Call) -> Row | None:
    stated = call.stated
    if stated is None:
        return None
    return {"took_ms": stated.took_ms, "tokens": stated.tokens, "tool_uses": stated.tool_uses}


def _hook_row(hook: HookRun) -> Row:
    return {"event": hook.event, "name": hook.name, "outcome": hook.outcome, **place_row(hook.place)}


def thread_row(thread: Thread, costs: Costs, *, depth: int = 0) -> Row:
    """A thread as `agents` lists it, with the threads below it."""
    if depth < _DEEPEST:
        children = [thread_row(child, costs, depth=depth + 1) for child in thread.children]
    else:
        children = [_thread_alone(below, costs) for below in thread.walk() if below is not thread]
    return {**_thread_alone(thread, costs), "children": children}


def _thread_alone(thread: Thread, costs: Costs) -> Row:
    return {
        "id": thread.id,
        "parent_thread": thread.parent_thread,
        "parent_call": thread.parent_call,
        "type": thread.type,
        "description": thread.description,
        "state": thread.state,
        "sureness": thread.sureness,
        "requests": n_requests(thread.requests),
        "calls": len(thread.calls),
        **cost_row(costs.sum_over(thread.requests)),
        "joined_by": thread.joined_by,
        "warmup": thread.is_warmup,
        "paths": list(thread.paths),
        "children": [],
    }


def branch_row(branch: Branch) -> Row:
    """A branch as `graph` lists it."""
    return {
        "id": branch.id,
        "parent": branch.parent,
        "from": branch.start,
        "to": branch.end,
        "active": branch.is_active,
        "why": branch.why,
    }


def compaction_row(compaction: Compaction) -> Row:
    """A compaction as `graph` lists it."""
    return {
        **place_row(compaction.place),
        "at": compaction.at,
        "trigger": compaction.trigger,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "kept": list(compaction.kept),
    }


def place_row(place: Place) -> Row:
    """Where something stands."""
    return {"path": place.path, "line": place.line}


def showable(value: Any) -> Any:
    """The value, if it can be written as JSON."""
    try:
        json.dumps([[[[value]]]])  # as deep as it will stand in a document
    except RecursionError:
        return "nested too deep to show"
    return value
