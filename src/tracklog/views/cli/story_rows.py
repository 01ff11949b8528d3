"""What stands beside the turns in the document of `show`: lists, questions, links, and what does not fit.

Rules of this room
  1. Every row says where it stands in the logs, as `path` and `line`, where it stands in one place.
  2. It is about the whole session, whatever thread or branch is shown.
"""

from __future__ import annotations

from tracklog.model.session import HookRun, Note, Problem, Question, Session, Stray, TodoList
from tracklog.views.cli.session_rows import Row, place_row

LINKS = frozenset({"pull_request", "artifact", "continued_in", "worktree", "moved_to", "forked_from", "team"})


def story_rows(session: Session) -> Row:
    """All of it."""
    return {
        "todos": [_todo_row(one) for one in session.todos],
        "questions": [_question_row(one) for one in session.questions],
        "links": [_link_row(note) for note in session.notes if note.what in LINKS],
        "strays": [_stray_row(one) for one in session.strays],
        "problems": [_problem_row(one) for one in session.problems],
        "hooks": [_hook_row(one) for one in session.hooks],
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


def _hook_row(hook: HookRun) -> Row:
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
