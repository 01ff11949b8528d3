"""What happened between prompts and answers, each in one line of words; a line that begins with ! is a warning."""

from __future__ import annotations

from tracklog.model.session import Compaction, Failure, Note, Request, Stray, TodoList
from tracklog.views.cli.conversation import Interrupted, NotedEvent
from tracklog.views.cli.printing import excerpt, safe, short
from tracklog.views.cli.times import took

LONGEST_REASON = 300
_LONGEST_TODO = 80
_DONE = "completed"
_NOTES = {
    "result": "result: {}",
    "slash": "command {}",
    "shell": "shell: {}",
    "permission": "permissions: {}",
    "worktree": "worktree {}",
    "moved_to": "moved to {}",
    "pull_request": "pull request {}",
    "artifact": "artifact {}",
    "continued_in": "continued in {}",
}


def event_words(event: NotedEvent) -> str:
    """One line, safe; empty for what needs no words."""
    match event:
        case Compaction():
            how = [event.trigger or "", _tokens(event), took(event.took_ms)]
            return " · ".join(["≡ compacted", *(safe(part) for part in how if part)])
        case Failure():
            return _failure_words(event)
        case Interrupted():
            return "! interrupted"
        case Stray():
            of = f" {short(event.call, 40)}" if event.call else ""
            return f"! result without a call{of} · line {event.place.line} · {excerpt(event.text, 120)}"
        case TodoList():
            return todo_words(event)
        case Note():
            return _note_words(event)


def client_words(request: Request) -> str:
    """What the client wrote in the model's place."""
    if request.error:
        return f"! API error: {short(request.text.strip() or request.error, LONGEST_REASON)}"
    return f"client: {short(request.text.strip(), LONGEST_REASON)}" if request.text.strip() else ""


def todo_words(todo: TodoList) -> str:
    """How far a list has come, and what is being done: `todo 3/5 · in progress: Write tests`."""
    if not todo.is_whole:
        return " · ".join(["todo", *(f"{safe(status)}: {_todo(text)}" for status, text in todo.items)])
    n_done = sum(status == _DONE for status, _ in todo.items)
    now = [_todo(text) for status, text in todo.items if status == "in_progress"]
    return f"todo {n_done}/{len(todo.items)}" + (f" · in progress: {', '.join(now[:3])}" if now else "")


def _todo(text: str) -> str:
    return excerpt(text, _LONGEST_TODO)


def _failure_words(failure: Failure) -> str:
    tries = (
        f"try {failure.attempt} of {failure.of_attempts}" if failure.attempt and failure.of_attempts else ""
    )
    status = str(failure.status) if failure.status else ""
    parts = ["! API error", status, short(failure.text, LONGEST_REASON), tries]
    return " · ".join(part for part in parts if part)


def _note_words(note: Note) -> str:
    if note.what == "worktree" and not note.value:
        return "worktree left"
    return short(_NOTES[note.what].format(note.value), 200) if note.what in _NOTES else ""


def _tokens(compaction: Compaction) -> str:
    before, after = compaction.tokens_before, compaction.tokens_after
    if before is None:
        return ""
    return f"{before:,} tokens" + (f" → {after:,}" if after is not None else "")
