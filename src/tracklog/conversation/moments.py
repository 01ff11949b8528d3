"""A thread of a session as one stream of moments, in the order of the log.

Rules
  1. What is shown is selected here, and only here: the living branch, one that was left, or all.
  2. Moments are in the order of their lines, as the rows of the page are; the logs of a thread in the order in which
     they were written. A todo list comes at the end of the turn in which it changed.
  3. A value that a log repeats is included only when it changes. A command that is a prompt is that prompt.
  4. Nothing is formatted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tracklog.errors import NotThere, UserError
from tracklog.model.events import Place
from tracklog.model.ids import NodeId
from tracklog.model.session import (
    Branch,
    Call,
    Compaction,
    Failure,
    Note,
    Prompt,
    Request,
    Session,
    Stray,
    Thread,
    TodoList,
    Turn,
)

ALL = "all"


class PromptTurn(NamedTuple):
    """A prompt, and the turn that it opens; None if it came in while a turn was running."""

    prompt: Prompt
    turn: Turn | None


class RequestText(NamedTuple):
    """Words of a request, at their line; empty for a request without any."""

    request: Request
    text: str
    is_first: bool = True


class Interrupted(NamedTuple):
    """An interruption of a turn, by the user or a signal."""

    place: Place


NotedEvent = Compaction | Failure | Interrupted | Note | Stray | TodoList
Moment = PromptTurn | RequestText | Call | NotedEvent
_Order = tuple[int, int, int]

_REPEATED = frozenset({"permission", "worktree", "moved_to", "pull_request", "artifact", "continued_in"})
_COMMANDS = frozenset({"slash", "shell"})
_TOLD_ABOVE = frozenset({"permission"})  # the first value is shown in the header


class ThreadSelection:
    """The selected part of a session: a thread, and a branch of it."""

    def __init__(self, session: Session, *, thread: str | None = None, branch: str | None = None) -> None:
        self.session = session
        self.thread = thread_named(session, thread)
        self.branch = branch_named(session, branch)
        self.everything = branch == ALL
        self._nodes: frozenset[NodeId] = frozenset(self.branch.nodes) if self.branch else frozenset()
        self._requests = {request.id: request for request in self.thread.requests}
        paths = dict.fromkeys([*self.thread.paths, *session.paths])
        self._rank = {path: at for at, path in enumerate(paths)}

    @property
    def turns(self) -> list[Turn]:
        """The selected turns."""
        return [turn for turn in self.thread.turns if self._has_turn(turn)]

    def requests_of(self, turn: Turn) -> list[Request]:
        """The selected requests of a turn."""
        known = self._requests
        return [known[id] for id in turn.requests if id in known and self.has(known[id])]

    @property
    def requests(self) -> list[Request]:
        """All selected requests."""
        return [request for request in self.thread.requests if self.has(request)]

    def has(self, one: Request | Call) -> bool:
        """Whether a request or a call is selected."""
        if self.everything:
            return True
        return one.node in self._nodes if self._is_on_a_left_branch else one.on_active_branch

    def moments(self) -> list[Moment]:
        """All selected moments, in the order of the log."""
        found = [*self._prompts(), *self._answers(), *self._events()]
        found.sort(key=lambda one: one[0])
        return list(self._with_todos(_joined(moment for _, moment in found)))

    def _with_todos(self, moments: Iterable[Moment]) -> Iterator[Moment]:
        """Adds the todo list at the end of each turn that changed it."""
        changed_by = {todo.place: todo for todo in self.session.todos}
        changed: TodoList | None = None
        for moment in moments:
            if isinstance(moment, PromptTurn) and moment.turn is not None and changed is not None:
                yield changed
                changed = None
            yield moment
            if isinstance(moment, Call) and moment.evidence:
                changed = changed_by.get(moment.evidence[0], changed)
        if changed is not None:
            yield changed

    @property
    def _is_on_a_left_branch(self) -> bool:
        return self.branch is not None and not self.branch.is_active

    def _has_turn(self, turn: Turn) -> bool:
        if self.everything:
            return True
        if not self._is_on_a_left_branch:
            return turn.on_active_branch
        return any(prompt.node in self._nodes for prompt in turn.prompts)

    def _prompts(self) -> Iterator[tuple[_Order, Moment]]:
        for turn in self.turns:
            for n, prompt in enumerate(turn.prompts):
                yield self._order(prompt.place, 0), PromptTurn(prompt, None if n else turn)

    def _answers(self) -> Iterator[tuple[_Order, Moment]]:
        for request in self.requests:
            first = request.places[0] if request.places else None
            for n, (place, text) in enumerate(request.text_blocks or [(first, "")]):
                yield self._order(place, 1), RequestText(request, text, is_first=n == 0)
        for call in self.thread.calls:
            if self.has(call):
                yield self._order(call.evidence[0] if call.evidence else None, 1), call

    def _events(self) -> Iterator[tuple[_Order, Moment]]:
        session = self.session
        places = set(
            self.thread.paths if self.thread is not session.main else self.thread.paths or session.paths
        )
        if self._is_on_a_left_branch or (
            self.thread is not session.main and places & set(session.main.paths)
        ):
            return  # what happened to the session belongs to the living branch of the thread that owns the file
        told_by_requests = {
            place for request in self.thread.requests if request.error for place in request.places
        }
        prompted = {prompt.place for turn in self.turns for prompt in turn.prompts}
        notes = [
            note
            for note in session.notes
            if note.place.path in places and not (note.what in _COMMANDS and note.place in prompted)
        ]
        notes.sort(key=lambda note: self._order(note.place, 2))
        moments: list[tuple[Place, Moment]] = [
            *((one.place, one) for one in session.compactions),
            *((one.place, one) for one in session.failures if one.place not in told_by_requests),
            *((one.place, Interrupted(one.place)) for one in session.interruptions),
            *((one.place, one) for one in session.strays),
            *((one.place, one) for one in _when_they_change(notes)),
        ]
        yield from ((self._order(place, 2), one) for place, one in moments if place.path in places)

    def _order(self, place: Place | None, kind: int) -> _Order:
        if place is None:
            return (len(self._rank), 0, kind)
        return (self._rank.get(place.path, len(self._rank)), place.line, kind)


def _joined(moments: Iterable[Moment]) -> Iterator[Moment]:
    """The moments; words of a request with nothing between them as one."""
    held: RequestText | None = None
    for moment in moments:
        if held is not None and isinstance(moment, RequestText) and moment.request is held.request:
            held = held._replace(text=f"{held.text}\n{moment.text}")
            continue
        if held is not None:
            yield held
        held = moment if isinstance(moment, RequestText) else None
        if held is None:
            yield moment
    if held is not None:
        yield held


def _when_they_change(notes: Iterable[Note]) -> Iterator[Note]:
    last: dict[str, str] = {}
    for note in notes:
        is_first, is_new = note.what not in last, last.get(note.what) != note.value
        last[note.what] = note.value
        if note.what not in _REPEATED or (is_new and not (is_first and note.what in _TOLD_ABOVE)):
            yield note


def thread_named(session: Session, text: str | None) -> Thread:
    """The thread with this id, or the only one whose id begins so."""
    if text is None or text == session.main.id:
        return session.main
    fitting = [thread for thread in session.threads if thread.id.startswith(text)]
    exact = [thread for thread in fitting if thread.id == text]
    if not fitting:
        raise NotThere(f"no thread {text} in this session: `tracklog agents {session.id}` lists them")
    if len(exact or fitting) > 1:
        raise UserError(f"{text!r} is the start of {len(fitting)} threads: give more of the id")
    return (exact or fitting)[0]


def branch_named(session: Session, text: str | None) -> Branch | None:
    """The branch with this id, or the only one whose id begins so; None for the living one and for all."""
    if text is None or text == ALL:
        return None
    fitting = [branch for branch in session.branches if branch.id.startswith(text)]
    exact = [branch for branch in fitting if branch.id == text]
    if not fitting:
        raise NotThere(f"no branch {text} in this session: `tracklog graph {session.id}` lists them")
    if len(exact or fitting) > 1:
        raise UserError(f"{text!r} is the start of {len(fitting)} branches: give more of the id")
    return (exact or fitting)[0]
