"""Fold the events of one thread into the facts of its turns, requests and calls, without conclusions.

Rules
  1. A turn is found by walking one step up the tree: a record belongs to the turn of its parent. Clients do write
     a record before its parent: it waits, and joins the parent's turn when that comes.
  2. Where there is no tree, or the parent never comes, a record belongs to the turn that was opened last.
  3. Adding an event costs the same however many there are already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

import msgspec

from tracklog.model.events import (
    CallProgressed,
    CallReported,
    GroupedBy,
    HistoryRolledBack,
    HookRan,
    LogEvent,
    ModelReplied,
    PromptGiven,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import CallId, NodeId, RequestId, ThreadId


@dataclass(slots=True)
class CallFacts:
    """All facts of one log about a call."""

    called: ToolCalled
    order: int  # of arrival, among the calls of its thread
    turn: TurnFacts | None
    request: RequestId | None
    results: list[ToolReturned] = field(default_factory=list)
    answered_in: set[NodeId] = field(default_factory=set)  # the records of the results
    reports: list[CallReported] = field(default_factory=list)
    hooks: list[HookRan] = field(default_factory=list)
    first_progress: CallProgressed | None = None
    last_progress: CallProgressed | None = None
    interrupted_by: TurnInterrupted | None = None
    read_by: ModelReplied | None = None  # the first answer behind its result
    passed_by: LogEvent | None = None  # the first thing that was said although it had no result


@dataclass(slots=True)
class RequestFacts:
    """One call of the API, from all lines that hold a part of its answer."""

    id: RequestId
    order: int  # of arrival, among the requests of its thread
    turn: TurnFacts | None
    parts: list[ModelReplied] = field(default_factory=list)
    calls: list[CallId] = field(default_factory=list)
    part_of: dict[NodeId, int] = field(default_factory=dict)  # by its record
    grouped_by: GroupedBy = "message_id"

    def take(self, part: ModelReplied) -> None:
        """Add a part; of the same record, written again, the last version counts."""
        known = self.part_of.get(part.node) if part.node is not None else None
        if known is not None:
            self.parts[known] = part
            return
        if part.node is not None:
            self.part_of[part.node] = len(self.parts)
        self.parts.append(part)


@dataclass(slots=True)
class TurnFacts:
    """A prompt and what followed."""

    prompt: PromptGiven | None
    word: str | None = None  # the agent's own id of the turn
    requests: list[RequestId] = field(default_factory=list)
    calls: list[CallId] = field(default_factory=list)
    first: LogEvent | None = None
    last_at: str | None = None
    ended: TurnEnded | None = None
    interrupted_by: TurnInterrupted | None = None
    left_by: HistoryRolledBack | None = None  # agents without a tree: it was taken back
    before: TurnFacts | None = None  # the turn that was open when this one was begun
    moved_to: TurnFacts | None = None  # the turn that it turned out to be a part of

    @property
    def whole(self) -> TurnFacts:
        """The turn that this one is, or is a part of. The way there is made short, as it is walked for each record."""
        top = self
        while top.moved_to is not None:
            top = top.moved_to
        at = self
        while at.moved_to is not None:
            at.moved_to, at = top, at.moved_to
        return top


_END_ANSWERS = frozenset({PromptGiven, ToolReturned, TurnBegan, TurnEnded, TurnInterrupted})
_WORK = frozenset({ModelReplied, ToolCalled, ToolReturned, TurnInterrupted})


class ThreadFold:
    """The facts of one line of work."""

    def __init__(self, id: ThreadId) -> None:
        self.id = id
        self.turns: list[TurnFacts] = []
        self.requests: dict[RequestId, RequestFacts] = {}
        self.calls: dict[CallId, CallFacts] = {}
        self.strays: dict[
            CallId, list[ToolReturned | CallReported | HookRan]
        ] = {}  # whose call came not (yet)
        self.nameless: list[ToolReturned] = []  # results that answer no call
        self.last: LogEvent | None = None
        self.last_reply: ModelReplied | None = None
        self._may_go_on = False  # an answer without ids, with the next line
        self._loose: dict[NodeId, RequestId] = {}  # of answers without ids
        self._turn_of: dict[NodeId, TurnFacts] = {}
        self._waiting: dict[
            NodeId, TurnFacts
        ] = {}  # parts of a turn whose parent is written later, by that parent
        self._circles: list[TurnFacts] = []
        self._unread: dict[
            RequestId | None, list[CallFacts]
        ] = {}  # answered calls, by the request that asked
        self._n_made_ids = 0
        self._latest: dict[CallId, CallId] = {}  # of an id that came again, the name of the newest call
        self._rejected: list[CallFacts] = []
        self._open: dict[
            RequestId | None, dict[CallId, CallFacts]
        ] = {}  # calls without a result, by their request

    def add(self, event: LogEvent) -> None:
        """Takes one event in."""
        if type(event) in _END_ANSWERS:
            self._may_go_on = False
        turn = self._turn(event)
        take = _TAKES.get(type(event))
        if take is not None:
            take(self, event, turn)
        self.last = event

    def _turn(self, event: LogEvent) -> TurnFacts | None:
        """The turn that an event belongs to; a prompt, and the client's own word, open one."""
        node = event.node
        known = self._turn_of.get(node) if node is not None else None
        if known is not None:
            turn: TurnFacts | None = known if known.moved_to is None else known.whole
        elif isinstance(event, (PromptGiven, TurnBegan)):
            turn = self._open_turn(event)
        else:
            turn = self._turn_of_parent(event)
        if turn is None:
            return None
        if node is not None:
            self._turn_of[node] = turn
            if node in self._waiting:
                turn = self._move(self._waiting.pop(node), turn)
        at = event.at
        if at is not None and type(event) in _WORK and (turn.last_at is None or at > turn.last_at):
            turn.last_at = at
        return turn

    def _turn_of_parent(self, event: LogEvent) -> TurnFacts | None:
        parent = event.parent
        above = self._turn_of.get(parent) if parent is not None else None
        if above is not None:
            return above if above.moved_to is None else above.whole
        latest = self.turns[-1] if self.turns else None
        if parent is not None and event.node is not None and parent != event.node:
            if parent not in self._waiting:
                self._waiting[parent] = TurnFacts(None, first=event, before=latest)
            return self._waiting[parent].whole
        if latest is None and isinstance(event, (ModelReplied, ToolCalled)):
            latest = TurnFacts(None, first=event)  # the log begins amid a turn
            self.turns.append(latest)
        return latest

    def _move(self, part: TurnFacts, into: TurnFacts) -> TurnFacts:
        """What was written before its parent joins the parent's turn; each part moves once."""
        part, into = part.whole, into.whole
        if part is into:
            self._circles.append(part)  # a record that is its own ancestor: nothing will come to wait for
        else:
            part.moved_to = into
            if len(part.requests) + len(part.calls) > len(into.requests) + len(into.calls):
                part.requests, into.requests = into.requests, part.requests
                part.calls, into.calls = into.calls, part.calls
            into.requests += part.requests  # always the few to the many; `settled` puts them in order
            into.calls += part.calls
            into.last_at = max(filter(None, (part.last_at, into.last_at)), default=None)
            into.ended = into.ended or part.ended
            into.interrupted_by = into.interrupted_by or part.interrupted_by
        return into

    def settled(self) -> tuple[list[TurnFacts], dict[int, int]]:
        """All turns with their contents, in the order of the log, and the position of each by its `id`.

        What waits for its parent in vain belongs to the turn that was open when it was written.
        """
        opened = [turn for turn in self.turns if turn.moved_to is None]
        parts = [part for part in (*self._waiting.values(), *self._circles) if part.moved_to is None]
        early = [part for part in parts if part.before is None]
        if early:
            opened = [TurnFacts(None, first=early[0].first), *opened]
        index = {id(turn): n for n, turn in enumerate(opened)}
        turns = [replace(turn, requests=list(turn.requests), calls=list(turn.calls)) for turn in opened]
        for part in parts:
            n = index[id(part)] = index.get(id(part.before.whole), 0) if part.before is not None else 0
            turns[n].requests += part.requests
            turns[n].calls += part.calls
            turns[n].last_at = max(filter(None, (part.last_at, turns[n].last_at)), default=None)
            turns[n].ended = turns[n].ended or part.ended
            turns[n].interrupted_by = turns[n].interrupted_by or part.interrupted_by
        for turn in turns:
            turn.requests.sort(key=lambda id: self.requests[id].order)
            turn.calls.sort(key=lambda id: self.calls[id].order)
        return turns, index

    def _open_turn(self, event: PromptGiven | TurnBegan) -> TurnFacts:
        latest = self.turns[-1] if self.turns else None
        prompt = event if isinstance(event, PromptGiven) else None
        if latest is not None and latest.prompt is None and not latest.requests:
            latest.prompt = prompt  # the client had opened the turn before its prompt was written
            latest.word = event.turn or latest.word
            return latest
        self.turns.append(TurnFacts(prompt, event.turn, first=event))
        return self.turns[-1]

    def _replied(self, event: ModelReplied, turn: TurnFacts | None) -> None:
        grouped_by: GroupedBy = "request_id" if event.is_by_request_id else "message_id"
        id = event.request
        if id is None:
            id = event.request = self._adjacent(event)
            grouped_by = "adjacency"
        self._may_go_on = grouped_by == "adjacency"
        request = self.requests.get(id)
        if request is None:
            request = self.requests[id] = RequestFacts(id, len(self.requests), turn)
            request.grouped_by = grouped_by
            if turn is not None:
                turn.requests.append(id)
        request.take(event)
        self.last_reply = event
        for other in [key for key in self._unread if key != id] if self._unread else ():
            for call in self._unread.pop(other):
                call.read_by = event
        if self._open and not event.is_synthetic:
            self._pass_by(event, but=id)
        if not event.is_synthetic:
            self._rejected.clear()

    def _adjacent(self, reply: ModelReplied) -> RequestId:
        """The request of a reply without any id: that of the reply right before it, else one of its own.

        A prompt, a result, another model or another place on the tree end an answer.
        """
        own = RequestId(reply.node or f"{reply.place.path}:{reply.place.line}")  # as in the ledger
        if reply.node is not None and (known := self._loose.get(reply.node)) is not None:
            return known  # the same record again
        last = self.last_reply
        goes_on = last is not None and self._may_go_on and last.is_synthetic == reply.is_synthetic
        if last is not None and goes_on and last.model == reply.model:
            is_below = reply.parent is None or last.node is None or reply.parent in (last.node, last.parent)
            own = last.request if is_below and last.request else own
        if reply.node is not None:
            self._loose[reply.node] = own
        return own

    def _called(self, event: ToolCalled, turn: TurnFacts | None) -> None:
        request = event.request or (self.last_reply.request if self.last_reply else None)
        known = self.calls.get(self._latest.get(event.call, event.call))
        if event.call and known is not None:
            facts = self.requests.get(request) if request is not None else None
            is_guess = facts is not None and facts.grouped_by == "adjacency"
            if request is None or is_guess or known.request is None or known.request == request:
                return  # a copy of the same wish
            self._latest[event.call] = self._made_id(event)  # gateways give ids that come again
        event.call = self._latest.get(event.call, event.call) or self._made_id(event)
        id = event.call
        call = self.calls[id] = CallFacts(event, len(self.calls), turn, request)
        if turn is not None:
            turn.calls.append(id)
        if request in self.requests:
            self.requests[request].calls.append(id)
        self._open.setdefault(request, {})[id] = call
        for early in self.strays.pop(id, []):
            self._take(call, early)

    def _made_id(self, event: ToolCalled) -> CallId:
        """A name for a call that the log gives none, or one that is taken."""
        self._n_made_ids += 1
        return CallId(f"{event.call or event.place.path}:{event.place.line}:{self._n_made_ids}")

    def _returned(self, event: ToolReturned, _: TurnFacts | None) -> None:
        if event.call is None:
            self.nameless.append(event)
        elif event.call in self.calls:
            self._take(self.calls[self._latest.get(event.call, event.call)], event)
        else:
            self.strays.setdefault(event.call, []).append(event)

    def _take(self, call: CallFacts, event: ToolReturned | CallReported | HookRan) -> None:
        if isinstance(event, CallReported):
            call.reports.append(event)
        elif isinstance(event, HookRan):
            call.hooks.append(event)
        else:
            if event.node is not None and event.node in call.answered_in:
                return  # the same record, written again
            if event.node is not None:
                call.answered_in.add(event.node)
            call.results.append(event)
            self._close(call)
            self._unread.setdefault(call.request, []).append(call)
            if event.said == "rejected":
                self._rejected.append(call)

    def _prompted(self, event: PromptGiven, _: TurnFacts | None) -> None:
        self._pass_by(event)
        self._rejected.clear()

    def _ended(self, event: TurnEnded, turn: TurnFacts | None) -> None:
        if turn is not None:
            stated = turn.ended.text if turn.ended is not None else None
            is_silent = event.text is None and stated is not None
            turn.ended = msgspec.structs.replace(event, text=stated) if is_silent else event

    def _reported(self, event: CallReported, _: TurnFacts | None) -> None:
        call = self.calls.get(event.call)
        if call is not None:
            call.reports.append(event)
        else:
            self.strays.setdefault(event.call, []).append(event)

    def _hook_ran(self, event: HookRan, _: TurnFacts | None) -> None:
        if event.call is None:
            return
        call = self.calls.get(event.call)
        if call is not None:
            call.hooks.append(event)
        else:
            self.strays.setdefault(event.call, []).append(event)

    def _progressed(self, event: CallProgressed, _: TurnFacts | None) -> None:
        call = self.calls.get(event.call) if event.call is not None else None
        if call is not None:
            call.first_progress = call.first_progress or event
            call.last_progress = event

    def _interrupted(self, event: TurnInterrupted, turn: TurnFacts | None) -> None:
        for call in self._rejected:
            call.interrupted_by = event
        self._rejected.clear()
        if turn is not None:
            turn.interrupted_by = event

    def _roll_back(self, event: HistoryRolledBack, _: TurnFacts | None) -> None:
        """Each turn is taken back at most once, so the work is paid by the turns."""
        n_left = 0
        for turn in reversed(self.turns):
            if turn.left_by is not None:
                continue
            place = turn.first.place if turn.first else None
            is_behind = event.from_line is not None and place is not None
            if (
                is_behind
                and place is not None
                and not (place.path == event.path and place.line >= (event.from_line or 0))
            ):
                return
            if not is_behind and n_left >= event.n_turns:
                return
            turn.left_by = event
            n_left += 1

    def _close(self, call: CallFacts) -> None:
        beside = self._open.get(call.request, {})
        beside.pop(call.called.call, None)
        if not beside:
            self._open.pop(call.request, None)

    def _pass_by(self, event: LogEvent, but: RequestId | None = None) -> None:
        """Notes at the calls without a result that the conversation went on; each call is asked once."""
        for request in [request for request in self._open if request is None or request != but]:
            for call in self._open.pop(request).values():
                call.passed_by = event


_TAKES = cast(
    dict[type[LogEvent], Callable[[ThreadFold, LogEvent, TurnFacts | None], None]],
    {
        ModelReplied: ThreadFold._replied,
        ToolCalled: ThreadFold._called,
        ToolReturned: ThreadFold._returned,
        PromptGiven: ThreadFold._prompted,
        CallReported: ThreadFold._reported,
        HookRan: ThreadFold._hook_ran,
        CallProgressed: ThreadFold._progressed,
        TurnInterrupted: ThreadFold._interrupted,
        TurnEnded: ThreadFold._ended,
        HistoryRolledBack: ThreadFold._roll_back,
    },
)
