"""The JSON documents of one session: its conversation, its threads, its branches.

Rules
  1. Lists, questions, links and problems cover the whole session, whatever thread or branch is shown.
  2. The rules of views/documents/sessions.py hold here, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import structs

from tracklog.model.session import (
    Branch,
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
from tracklog.model.session_rules import n_requests
from tracklog.model.usage import Tokens
from tracklog.views.documents.runs import leaf_rows, lineage_row
from tracklog.views.documents.sessions import Row, cost_row, place_row, session_row

if TYPE_CHECKING:
    from tracklog.app.session.show import Conversation, Costs, RequestSpending, ThreadTree

_DEEPEST = 100  # levels of agents that are nested inside one another


def conversation_document(
    shown: Conversation, *, with_thinking: bool = False, with_output: bool = False
) -> Row:
    """The document of `show`."""
    chosen = shown.chosen
    document: Row = {
        "session": session_row(shown.session, shown.costs.sum, only_here=shown.is_only_here),
        "turns": [
            turn_row(turn, chosen.requests_of(turn), shown.costs, with_thinking=with_thinking)
            for turn in chosen.turns
        ],
        **rows_beside_turns(shown.session),
        **lineage_row(shown.lineage),
    }
    if with_output:
        calls = (call for call in chosen.thread.calls if chosen.has(call))
        found = ((call, shown.outputs.of(call)) for call in calls)
        document["outputs"] = [
            {"call": call.id, "source": full.source, "is_whole": full.is_whole, "text": full.text}
            for call, full in found
            if full is not None
        ]
    return document


def threads_document(tree: ThreadTree) -> Row:
    """The document of `agents`."""
    tops = (tree.session.main, *tree.session.unjoined)
    return {"threads": [thread_row(thread, tree.costs) for thread in tops], "runs": leaf_rows(tree.lineage)}


def graph_document(session: Session) -> Row:
    """The document of `graph`."""
    return {
        "branches": [branch_row(branch) for branch in session.branches],
        "compactions": [compaction_row(one) for one in session.compactions],
        "orphans": list(session.orphans),
    }


def _spent_row(spent: RequestSpending) -> Row:
    """What a request used and cost; null if the log does not say, or it belongs to another session."""
    tokens = None if spent.tokens is None else _tokens_row(spent.tokens)
    return {"tokens": tokens, "certainty": spent.certainty, **cost_row(spent.cost)}


def _tokens_row(tokens: Tokens) -> Row:
    figures = structs.asdict(tokens)
    return {name if name == "web_searches" else f"{name}_tokens": n for name, n in figures.items()}


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
        **_spent_row(costs.spending(request.id)),
    }
    return {**row, "thinking": request.thinking} if with_thinking else row


def _client_row(request: Request) -> Row:
    return {"id": request.id, "at": request.at, "text": request.text, "error": request.error}


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


LINKS = frozenset({"pull_request", "artifact", "continued_in", "worktree", "moved_to", "forked_from", "team"})


def rows_beside_turns(session: Session) -> Row:
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
