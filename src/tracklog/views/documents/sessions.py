"""Sessions and their parts as rows of JSON documents, with their costs.

Rules
  1. Every field of a row is always present; an unknown value is null.
  2. A row counts only the session's own parts: what a fork copied belongs to the session that it came from.
  3. Messages that the client wrote in the model's place are neither counted nor listed as requests.
  4. A cost without a price is null in documents and nothing for people. A lower bound says so.
  5. Lists, questions, links and problems in the document of `show` cover the whole session, whatever thread or branch
     is shown; each row has its place in the logs, as `path` and `line`, if it has one place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tracklog.ledger.cost_sums import CostSum, RequestCost, sum_of
from tracklog.model.events import Place
from tracklog.model.session import (
    Branch,
    Call,
    Compaction,
    HookRun,
    Note,
    Problem,
    Question,
    Request,
    Session,
    Stray,
    Thread,
    TodoList,
    Turn,
)
from tracklog.model.session_rules import facts_of, n_requests
from tracklog.model.usage import Tokens, micro
from tracklog.views.text.numbers import money

if TYPE_CHECKING:
    from tracklog.app.calls import ListedCall
    from tracklog.app.sessions import SessionList, SessionSummary
    from tracklog.ledger.request_costs import Costs


def cost_row(cost: CostSum) -> Row:
    """The fields of a document for a cost."""
    return {"cost_micro_usd": micro(cost.cost_pico_usd), "cost_is_lower_bound": cost.is_lower_bound}


def _period_row(spent: CostSum | None) -> Row:
    """The fields for what was spent in a period; null without one."""
    return {
        "period_cost_micro_usd": micro(spent.cost_pico_usd) if spent is not None else None,
        "period_cost_is_lower_bound": spent.is_lower_bound if spent is not None else None,
    }


def spent_row(costs: Sequence[RequestCost]) -> Row:
    """What a request used and cost; null if the log does not say, or it belongs to another session."""
    if not costs:
        return {"tokens": None, "certainty": None, **cost_row(CostSum())}
    grades = {cost.entry.certainty for cost in costs}
    certainty = next(grade for grade in ("missing", "partial", "final") if grade in grades)
    tokens = None if certainty == "missing" else _tokens_row([cost.entry.tokens for cost in costs])
    return {"tokens": tokens, "certainty": certainty, **cost_row(sum_of(costs))}


def _tokens_row(tokens: Iterable[Tokens]) -> Row:
    names = Tokens.__struct_fields__
    sums = dict.fromkeys(names, 0)
    for one in tokens:
        for name in names:
            sums[name] += getattr(one, name)
    return {name if name == "web_searches" else f"{name}_tokens": n for name, n in sums.items()}


def cost_words(cost: CostSum) -> str:
    """A cost for people: `$0.42`, `≥$0.42`; empty if nothing has a price."""
    if cost.cost_pico_usd is None:
        return ""
    return f"{'≥' if cost.is_lower_bound else ''}{money(cost.cost_pico_usd)}"


Row = dict[str, Any]
_DEEPEST = 100  # levels of agents that are nested inside one another


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


def turn_row(turn: Turn, requests: Iterable[Request], costs: Costs, *, with_thinking: bool) -> Row:
    """A turn as `show` lists it, with these requests."""
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


def calls_document(found: Iterable[ListedCall]) -> Row:
    """The document of `calls`."""
    return {"calls": [call_row(one.call) for one in found]}


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
    """A place as the fields `path` and `line`."""
    return {"path": place.path, "line": place.line}


def showable(value: Any) -> Any:
    """The value, or a note if it nests too deep for JSON."""
    try:
        json.dumps([[[[value]]]])  # as deep as it will be in a document
    except RecursionError:
        return "nested too deep to show"
    return value


LINKS = frozenset({"pull_request", "artifact", "continued_in", "worktree", "moved_to", "forked_from", "team"})


def story_rows(session: Session) -> Row:
    """The parts of the document of `show` that are not turns."""
    return {
        "todos": [_todo_row(one) for one in session.todos],
        "questions": [_question_row(one) for one in session.questions],
        "links": [_link_row(note) for note in session.notes if note.what in LINKS],
        "strays": [_stray_row(one) for one in session.strays],
        "problems": [_problem_row(one) for one in session.problems],
        "hooks": [_session_hook_row(one) for one in session.hooks],
        "permission_modes": list(session.permission_modes),
        "titles": dict(session.titles),
        "retracted": list(session.retracted),
        "forked_from": session.forked_from,
        "forks": list(session.forks),
        "copied": [
            {"path": first.path, "first_line": first.line, "last_line": last.line}
            for first, last in session.inherited
        ],
    }


def _todo_row(todo: TodoList) -> Row:
    items = [{"status": status, "text": text} for status, text in todo.items]
    return {"at": todo.at, **place_row(todo.place), "items": items, "whole": todo.is_whole}


def _question_row(question: Question) -> Row:
    return {
        "call": question.call,
        "question": question.question,
        "options": list(question.options),
        "answer": question.answer,
    }


def _link_row(note: Note) -> Row:
    return {"what": note.what, "target": note.value, "at": note.at, **place_row(note.place)}


def _stray_row(stray: Stray) -> Row:
    return {"call": stray.call, **place_row(stray.place)}


def _problem_row(problem: Problem) -> Row:
    return {**place_row(problem.place), "what": problem.what}


def _session_hook_row(hook: HookRun) -> Row:
    return {
        "event": hook.event,
        "name": hook.name,
        "outcome": hook.outcome,
        "command": hook.command,
        "exit_code": hook.exit_code,
        "took_ms": hook.took_ms,
        "at": hook.at,
        **place_row(hook.place),
    }
