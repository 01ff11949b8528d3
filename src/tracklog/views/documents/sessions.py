"""Sessions and calls as rows of JSON documents, with their costs.

Rules
  1. Every field of a row is always present; an unknown value is null.
  2. A row counts only the session's own parts: what a fork copied belongs to the session that it came from.
  3. Messages that the client wrote in the model's place are neither counted nor listed as requests.
  4. A cost without a price is null in documents and nothing for people. A lower bound says so.
  5. Each row has its place in the logs, as `path` and `line`, if it has one place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tracklog.model.events import Place
from tracklog.model.session import Call, HookRun, Session
from tracklog.model.session_rules import facts_of
from tracklog.model.usage import micro
from tracklog.views.text.numbers import money

if TYPE_CHECKING:
    from tracklog.app.sessions import CostSum, SessionList, SessionSummary

Row = dict[str, Any]


def cost_row(cost: CostSum) -> Row:
    """The fields of a document for a cost."""
    return {"cost_micro_usd": micro(cost.cost_pico_usd), "cost_is_lower_bound": cost.is_lower_bound}


def _period_row(spent: CostSum | None) -> Row:
    """The fields for what was spent in a period; null without one."""
    return {
        "period_cost_micro_usd": micro(spent.cost_pico_usd) if spent is not None else None,
        "period_cost_is_lower_bound": spent.is_lower_bound if spent is not None else None,
    }


def cost_words(cost: CostSum) -> str:
    """A cost for people: `$0.42`, `≥$0.42`; empty if nothing has a price."""
    if cost.cost_pico_usd is None:
        return ""
    return f"{'≥' if cost.is_lower_bound else ''}{money(cost.cost_pico_usd)}"


def sessions_document(found: SessionList) -> Row:
    """The document of `sessions`."""
    return {"sessions": [_summary_row(one) for one in found.sessions]}


def _summary_row(one: SessionSummary) -> Row:
    facts = structs.asdict(one)
    cost, period, only_here = facts.pop("cost"), facts.pop("period_cost"), facts.pop("only_here")
    return {**facts, **cost_row(cost), "only_here": only_here, **_period_row(period)}


def session_row(session: Session, cost: CostSum, *, only_here: bool) -> Row:
    """A session as `sessions` lists it, with the cost of its own requests."""
    facts = {"id": session.id, "agent": session.agent, **facts_of(session)}
    return {**facts, **cost_row(cost), "only_here": only_here, **_period_row(None)}


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


def place_row(place: Place) -> Row:
    """A place as the fields `path` and `line`."""
    return {"path": place.path, "line": place.line}


def showable(value: Any) -> Any:
    """The value, or a note if it nests too deep for JSON."""
    try:
        json.dumps([[[[value]]]])  # as deep as it will be in a document
    except RecursionError:
        return "nested too deep to show"
    return value
