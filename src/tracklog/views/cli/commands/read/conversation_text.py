"""Draw a conversation as lines for a terminal or a pipe: its head, its moments, and what was left out.

Rules
  1. Lines are made one by one: however long a session is, the first one comes at once.
  2. On a terminal words are wrapped and a call keeps to one line; in a pipe no line is broken.
  3. Every sign has its word: colour and marks only repeat it.
  4. What happened between prompts and answers is one line each; a line that begins with ! is a warning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tracklog.app.scope.read_sessions import Lineage
from tracklog.app.session.show import (
    Conversation,
    CostSum,
    Interrupted,
    Moment,
    NotedEvent,
    PromptTurn,
    RequestText,
    ThreadSelection,
)
from tracklog.home import tilde
from tracklog.model.ids import CallId
from tracklog.model.session import (
    Call,
    Compaction,
    Failure,
    Note,
    Prompt,
    Question,
    Request,
    Session,
    Stray,
    TodoList,
    Turn,
)
from tracklog.model.session_rules import is_about_a_file
from tracklog.views.cli.output.terminal import Paper, cut, wrapped
from tracklog.views.documents.runs import lineage_lines
from tracklog.views.documents.sessions import cost_words
from tracklog.views.text.calls import (
    MARKS,
    answers_words,
    reason_of,
    source_words,
    stated_words,
    verdict_words,
    what_it_did,
)
from tracklog.views.text.numbers import day_and_time, local_moment, took
from tracklog.views.text.printing import count, excerpt, for_the_shell, safe, short, short_id

_FORKS_SHOWN = 3


def head_lines(chosen: ThreadSelection, cost: CostSum, lineage: Lineage, paper: Paper) -> Iterator[str]:
    """The title, the id, where and how it ran, how much there is, and what could not be read."""
    session = chosen.session
    yield paper.painted(cut(excerpt(session.title or "(no title)", 200), paper.width), bold=True)
    facts = (session.id, _where(session), _how_much(session, cost), _circumstances(session))
    for line in (*facts, *lineage_lines(lineage)):
        if line:
            yield paper.painted(cut(safe(line), paper.width), dim=True)
    if chosen.thread is not session.main:
        thread = chosen.thread
        parts = [thread.type, thread.description, thread.state]
        yield cut(safe(f"thread {thread.id}: {', '.join(part for part in parts if part)}"), paper.width)
        if thread.worktree:
            yield cut(safe(f"worktree {tilde(thread.worktree)}"), paper.width)
    if chosen.branch is not None and not chosen.branch.is_active:
        yield cut(safe(f"branch {chosen.branch.id}: left ({chosen.branch.why})"), paper.width)
    yield from _not_read(session, paper)


def _where(session: Session) -> str:
    cwd = tilde(session.cwd) if session.cwd else ""
    place = f"{cwd} ({session.branch})" if cwd and session.branch else cwd
    parts = (session.agent, *session.versions[-1:], *session.models[:3], place)
    return " · ".join(part for part in parts if part)


def _how_much(session: Session, cost: CostSum) -> str:
    n_errors = sum(call.verdict == "error" for call in session.calls_by_thread)
    n_subagents = sum(not thread.is_warmup for thread in session.threads) - 1
    parts = [
        _from_to(session),
        count(len(session.turns), "turn"),
        count(len(session.calls_by_thread), "call") + (f" ({count(n_errors, 'error')})" if n_errors else ""),
        count(n_subagents, "subagent") if n_subagents > 0 else "",
        cost_words(cost),
    ]
    return " · ".join(part for part in parts if part)


def _from_to(session: Session) -> str:
    first, last = day_and_time(session.started_at), day_and_time(session.last_at)
    zone = local_moment(session.last_at)
    if not first or not last or zone is None:
        return ""
    return f"{first} – {last[11:] if first[:10] == last[:10] else last} {zone:%Z}"


def _circumstances(session: Session) -> str:
    """What it was allowed to do, and with which sessions it shares history."""
    n_copied = sum(last.line - first.line + 1 for first, last in session.inherited)
    forks = [short_id(fork) for fork in session.forks[:_FORKS_SHOWN]]
    more = ", …" if len(session.forks) > _FORKS_SHOWN else ""
    parts = [
        f"permissions: {' → '.join(session.permission_modes)}" if session.permission_modes else "",
        f"forked from {short_id(session.forked_from)}" if session.forked_from else "",
        f"{count(n_copied, 'line')} copied" if n_copied else "",
        f"copied by {', '.join(forks)}{more}" if forks else "",
    ]
    return " · ".join(part for part in parts if part)


def _not_read(session: Session, paper: Paper) -> Iterator[str]:
    lines = list(dict.fromkeys(one.place for one in session.problems if not is_about_a_file(one)))
    if lines:
        words = f"! {count(len(lines), 'line')} not understood, the first is line {lines[0].line}:"
        yield paper.painted(cut(words, paper.width), fg="yellow")
        yield f"  tracklog records {safe(for_the_shell(lines[0].path))}"  # never cut: it is there to be copied
    for path in dict.fromkeys(one.place.path for one in session.problems if is_about_a_file(one)):
        lead = "! not read to its end: "
        name = safe(tilde(path))
        room = paper.room(len(lead))
        yield paper.painted(lead + (short(name, room) if room else name), fg="yellow")


def foot_lines(chosen: ThreadSelection, paper: Paper, *, with_thinking: bool) -> Iterator[str]:
    """What was not shown, and how to see it."""
    parts = list(_left_out(chosen, with_thinking=with_thinking))
    if not chosen.turns and not chosen.requests:
        yield ""
        yield "Nothing was said here yet."
    if parts:
        yield ""
        lead = "not shown: "
        for line in wrapped("; ".join(parts), paper.room(len(lead))):
            yield paper.painted(f"{lead}{line}", dim=True)
            lead = " " * len(lead)


def _left_out(chosen: ThreadSelection, *, with_thinking: bool) -> Iterator[str]:
    session = chosen.session
    is_main = chosen.thread is session.main
    if is_main and session.injected:
        yield f"{count(len(session.injected), 'injected text')} ({_kinds(note.what for note in session.injected)})"
    if is_main and session.hooks:
        told = _kinds(hook.event or hook.name or "unnamed" for hook in session.hooks)
        yield f"{count(len(session.hooks), 'hook run')} ({told}; --json)"
    n_thoughts = sum(bool(request.thinking.strip()) for request in chosen.requests)
    if n_thoughts and not with_thinking:
        yield f"{count(n_thoughts, 'thought')} (--thinking)"
    n_left = sum(not branch.is_active for branch in session.branches)
    if n_left and not chosen.everything and chosen.branch is None and is_main:
        yield f"{n_left} left {'branch' if n_left == 1 else 'branches'} (--branch all)"


def _kinds(names: Iterator[str]) -> str:
    return ", ".join(f"{n} {short(name, 40)}" for name, n in Counter(names).most_common())


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


_LONGEST_ANSWER = 200
_QUESTIONS_SHOWN = 10


class Drawing:
    """Draws a conversation, one moment after the other."""

    def __init__(self, shown: Conversation, paper: Paper, *, with_thinking: bool, with_output: bool) -> None:
        self.shown = shown
        self.chosen = shown.chosen
        self.costs = shown.costs
        self.paper = paper
        self.with_thinking = with_thinking
        self._with_output = with_output
        self._cwd = shown.session.cwd
        self._says = False  # whether the last line was words, so that calls keep a distance
        self._questions: dict[CallId, list[Question]] = defaultdict(list)
        for question in shown.session.questions:
            self._questions[question.call].append(question)

    def lines(self) -> Iterator[str]:
        """The head of the session, the moments that are chosen, and what was left out."""
        yield from head_lines(self.chosen, self.costs.sum, self.shown.lineage, self.paper)
        for moment in self.chosen.moments():
            yield from self.moment(moment)
        yield from foot_lines(self.chosen, self.paper, with_thinking=self.with_thinking)

    def moment(self, moment: Moment) -> Iterator[str]:
        """The lines of one moment."""
        match moment:
            case PromptTurn():
                yield from self._prompt(moment)
            case RequestText():
                yield from self._request_text(moment)
            case Call():
                yield from self._call(moment)
            case _:
                yield from self._thin(event_words(moment))

    def _prompt(self, opened: PromptTurn) -> Iterator[str]:
        yield ""
        if opened.turn is not None:
            cost = self.costs.sum_over(self.chosen.requests_of(opened.turn))
            yield self._rule(_turn_words(opened.turn, cost_words(cost)))
        yield from self._words(_prompt_words(opened.prompt), mark="❯", bold=True)
        self._says = True

    def _request_text(self, said: RequestText) -> Iterator[str]:
        request = said.request
        if request.is_synthetic:
            yield from self._thin(client_words(request) if said.is_first else "")
            return
        if self.with_thinking and said.is_first and request.thinking.strip():
            yield ""
            yield from self._words(request.thinking, mark="∴", dim=True)
        if said.text.strip():
            yield ""
            yield from self._words(said.text, mark="●")
            self._says = True
        if not said.is_first:
            return
        if request.grouped_by == "adjacency" and len(request.places) > 1:
            yield from self._thin(f"{len(request.places)} lines without ids, taken for one answer (inferred)")
        if request.error:
            yield from self._thin(f"! API error: {short(request.error, LONGEST_REASON)}")

    def _call(self, call: Call) -> Iterator[str]:
        if self._says:
            yield ""
            self._says = False
        yield _call_line(call, self.paper, cwd=self._cwd)
        for line in (reason_of(call), stated_words(call), *_answers(self._questions.get(call.id, []))):
            if line:
                yield self.paper.painted(cut(f"      {line}", self.paper.width), dim=True)
        yield from self._output(call)

    def _output(self, call: Call) -> Iterator[str]:
        """What came back, where it is wanted; of output that was too long for the log at least where it is."""
        result = call.result
        if result is None or not (self._with_output or result.side_file or result.text_source != "result"):
            return
        full = self.shown.outputs.of(call)
        if full is None:
            return
        source = source_words(full.source, result.side_file, is_whole=full.is_whole)
        if source:
            words = f"output: {count(len(full.text), 'letter')} {source}"
            yield self.paper.painted(cut(f"      {words}", self.paper.width), dim=True)
        if self._with_output:
            text = full.plain
            for line in wrapped(text, self.paper.room(6)) if text.strip() else ():
                yield f"      {self.paper.painted(line, dim=True)}".rstrip()

    def _thin(self, words: str) -> Iterator[str]:
        if not words:
            return
        if self._says:
            yield ""
            self._says = False
        fg = "yellow" if words.startswith("!") else None
        yield self.paper.painted(cut(f"  {words}", self.paper.width), fg=fg, dim=fg is None)

    def _words(self, text: str, *, mark: str, **style: object) -> Iterator[str]:
        lead = mark
        for line in wrapped(text, self.paper.room(2)):
            yield f"{lead} {self.paper.painted(line, **style)}".rstrip()
            lead = " "

    def _rule(self, words: str) -> str:
        width = self.paper.width
        rule = f"── {words} ──"
        return self.paper.painted(rule if width is None else cut(rule.ljust(width, "─"), width), dim=True)


def _prompt_words(prompt: Prompt) -> str:
    remarks = [
        "" if prompt.origin in ("typed", "sdk") else f"({prompt.origin})",
        f"[{count(prompt.n_images, 'image')}]" if prompt.n_images else "",
        f"[{count(prompt.n_documents, 'document')}]" if prompt.n_documents else "",
    ]
    return " ".join([prompt.text, *filter(None, remarks)])


def _call_line(call: Call, paper: Paper, *, cwd: str | None) -> str:
    mark, colour = MARKS[call.verdict]
    name = short(call.name, 40)
    verdict = "" if call.verdict == "ok" and call.sureness == "stated" else verdict_words(call)
    spawned = f"agent {short_id(call.spawned)}" if call.spawned else ""
    left = "" if call.on_active_branch else "left"
    parts = (took(call.took_ms), verdict, answers_words(call), spawned, left)
    tail = " · ".join(part for part in parts if part)
    room = paper.room(4 + len(name) + 2 + (len(tail) + 3 if tail else 0))
    what = cut(what_it_did(call, cwd=cwd), room)
    head = f"  {paper.painted(mark, fg=colour)} {paper.painted(name, bold=True)}"
    return "  ".join(filter(None, [head, what])) + (
        f" · {paper.painted(tail, dim=not verdict)}" if tail else ""
    )


def _answers(questions: list[Question]) -> Iterator[str]:
    """What the person said; the first question is in the call's own line."""
    for n, question in enumerate(questions[:_QUESTIONS_SHOWN]):
        asked = excerpt(question.question, _LONGEST_ANSWER) if n else ""
        said = f"→ {excerpt(question.answer, _LONGEST_ANSWER)}" if question.answer is not None else ""
        yield " ".join(part for part in (asked, said) if part)


def _turn_words(turn: Turn, cost: str) -> str:
    parts = [
        f"turn {turn.n}",
        day_and_time(turn.at),
        took(turn.took_ms),
        cost,
        "interrupted" if turn.is_interrupted else "",
        "" if turn.on_active_branch else "left branch",
        "copied" if turn.is_inherited else "",
    ]
    return " · ".join(part for part in parts if part)
