"""Folds become a session: joined, judged, and put in order.

Rules
  1. The same folds give the same session, in whatever order they come.
  2. There is no clock: the caller says what time it is, and whether the process lives.
  3. Judging goes from the top down: what happened to a subagent's call may depend on what became of the subagent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tracklog.clock import moment_ms
from tracklog.model.assemble.describe import describe
from tracklog.model.assemble.tasks import Tasks, questions, todo_lists
from tracklog.model.assemble.threads import Strand, end_of, join, strands_of, without_logs
from tracklog.model.assemble.values import (
    Numbers,
    Setting,
    branches_of_turns,
    call_value,
    hook_run,
    number_of,
    numbered,
    request_value,
    turn_value,
)
from tracklog.model.assemble.verdicts import Circumstances, Judgement, judge
from tracklog.model.events import CallReported, HookRan, Place, ToolReturned
from tracklog.model.fold.log import FileFold
from tracklog.model.fold.thread import CallFacts, RequestFacts, ThreadFold, TurnFacts
from tracklog.model.ids import MAIN, CallId, NodeId, RequestId, SessionId, ThreadId
from tracklog.model.lineage.copies import Descent
from tracklog.model.records import opened
from tracklog.model.session import Call, Request, Session, Stray, Thread, ThreadState, Turn
from tracklog.model.states import SILENT_MS, Life
from tracklog.model.tree.graph import Graph

_FRESH = timedelta(milliseconds=SILENT_MS)
_OF_MAIN: dict[
    str | None, ThreadState
] = {  # the main thread does what its session does, while its process lives
    "working": "running",
    "waiting": "waiting",
    "idle": "idle",
    "crashed": "crashed",
}


def assemble(
    folds: Iterable[FileFold],
    *,
    session: SessionId,
    agent: str,
    is_alive: bool | None = None,
    life: Life | None = None,
    now: datetime | None = None,
    descent: Descent | None = None,
    heard: Sequence[HookRan] = (),
    with_text: bool = True,
) -> Session:
    """The session that some logs tell.

    `life` is about its process; of one of which no more is known than that, `is_alive` says it. `descent` says which lines are copies of another session's.
    `heard` is what our own hook received about the session.
    Without text, what only the telling of a whole session needs is left out: todos, questions, hooks, the living path.
    """
    life = life or Life(is_alive)
    folds = sorted(folds, key=lambda fold: fold.path)
    is_fresh = life.word == "fresh" if life.word in ("fresh", "silent") else _is_fresh(folds, now)
    work = _Work(folds, session, agent, life, is_fresh, descent or Descent(), heard)
    threads = {id: work.thread(work.strands[id]) for id in work.top_down()}
    main = threads[MAIN]
    for id, thread in threads.items():
        if id != MAIN and thread.parent_thread in threads:
            threads[thread.parent_thread].children.append(thread)
    unjoined = [
        thread for id, thread in threads.items() if id != MAIN and thread.parent_thread not in threads
    ]
    made = Session(
        id=session,
        agent=agent,
        paths=[path for fold in folds for path in fold.paths],
        main=main,
        unjoined=unjoined,
    )
    made.branches = (
        work.graph.branches() if work.graph.nodes else branches_of_turns(work.strands[MAIN].fold.settled()[0])
    )
    if with_text:
        _tell_the_rest(made, work)
    _trace_back(made, work.descent)
    describe(made, folds, life=life, is_fresh=work.is_fresh)
    return made


def _tell_the_rest(session: Session, work: _Work) -> None:
    session.orphans = list(work.graph.orphans)
    session.active_nodes = work.graph.path()
    session.strays = list(work.strays())
    session.hooks = [hook_run(hook) for hook in work.other_hooks()]
    session.todos = todo_lists(session.main.calls)
    session.questions = questions(session.calls_by_thread)


def _trace_back(session: Session, descent: Descent) -> None:
    """Where the session came from, and what of it is copied."""
    for path in session.main.paths:
        own = descent.own.get(path)
        if own is None:
            continue
        if own.source is not None and own.source != session.id:
            session.forked_from = session.forked_from or own.source
        session.inherited += [
            (Place(path, run.first_line), Place(path, run.last_line))
            for run in own.runs
            if run.writer != session.id
        ]
    session.forks = list(descent.forks)


def _is_fresh(folds: Iterable[FileFold], now: datetime | None) -> bool:
    last = max((fold.last_at for fold in folds if fold.last_at is not None), default=None)
    if last is None or now is None:
        return False
    try:
        return abs(now - datetime.fromisoformat(last)) <= _FRESH  # a time far in the future tells nothing
    except (ValueError, TypeError):
        return False


@dataclass(slots=True)
class _Work:
    """State while a session is assembled."""

    folds: list[FileFold]
    session: SessionId
    agent: str
    life: Life
    is_fresh: bool
    descent: Descent
    heard: Sequence[HookRan]
    strands: dict[ThreadId, Strand] = field(init=False)
    tasks: Tasks = field(init=False)
    graph: Graph = field(init=False)
    left: set[NodeId] = field(init=False)
    spawned: dict[CallId, Strand] = field(init=False)
    judged: dict[CallId, Judgement] = field(init=False, default_factory=dict)
    late: dict[CallId, list[ToolReturned | CallReported | HookRan]] = field(init=False)
    on_branch: dict[ThreadId, bool] = field(init=False, default_factory=dict)
    stopped: dict[ThreadId, bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.strands = strands_of(self.folds)
        if MAIN not in self.strands:
            mute = [fold for fold in self.folds if fold.thread == MAIN][:1] or [FileFold("")]
            self.strands[MAIN] = Strand(mute[0].of(MAIN), [fold.path for fold in mute if fold.path])
        calls = {id: call for strand in self.strands.values() for id, call in strand.calls.items()}
        self._take_strays(calls)
        self.tasks = Tasks(self.folds, calls)
        join(self.strands, self.tasks)
        self.strands |= without_logs(self.strands, lambda place: self._writer(place) is None)
        by_age = sorted(self.strands.values(), key=lambda strand: (_began(strand), strand.id), reverse=True)
        self.spawned = {strand.call: strand for strand in by_age if strand.call is not None}
        mains = [fold for fold in self.folds if fold.path in self.strands[MAIN].paths]
        self.graph = max((fold.graph for fold in mains), key=lambda graph: len(graph.nodes), default=Graph())
        self.left = self.graph.abandoned()

    def _take_strays(self, calls: Mapping[CallId, CallFacts]) -> None:
        """Results, notes and hooks that are in another thread's log than their call, or in no log."""
        self.late = {}
        for thread in self._all_threads():
            for id, events in thread.strays.items():
                if id in calls and id not in thread.calls:
                    self.late.setdefault(id, []).extend(events)
        for event in self.heard:
            if event.call is not None and event.call in calls:
                self.late.setdefault(event.call, []).append(event)

    def _all_threads(self) -> Iterator[ThreadFold]:
        """The folds of all logs, also of those that hold too little to be a thread."""
        for fold in self.folds:
            yield from fold.threads.values()

    def top_down(self) -> list[ThreadId]:
        """All threads, parents before children, each generation in the order in which it began."""
        children: dict[ThreadId | None, list[Strand]] = {}
        for strand in self.strands.values():
            parent = strand.parent if strand.parent in self.strands and strand.id != MAIN else None
            children.setdefault(parent, []).append(strand)
        found: list[ThreadId] = []
        generation = children.get(None, [])
        while generation:
            generation.sort(key=lambda strand: (strand.id != MAIN, _began(strand), strand.id))
            found += [strand.id for strand in generation]
            generation = [child for strand in generation for child in children.get(strand.id, [])]
        return found

    def thread(self, strand: Strand) -> Thread:
        """A thread with its turns, requests and calls."""
        turns, numbers = numbered(*strand.fold.settled(), strand.fold.requests)
        calls = [self._call(strand, facts, numbers) for facts in strand.calls.values()]
        requests = [self._request(strand, facts, numbers) for facts in strand.fold.requests.values()]
        texts = {request.id: request.text for request in requests}
        return Thread(
            id=strand.id,
            parent_thread=strand.parent,
            parent_call=strand.call,
            type=strand.said("type") or self._wish(strand, "subagent_type", "agent_type"),
            description=strand.said("description") or self._wish(strand, "description"),
            name=strand.said("name"),
            model=strand.said("model"),
            state=self._state(strand),
            sureness=strand.sureness,
            joined_by=strand.joined_by,
            is_warmup=strand.is_warmup,
            is_internal=bool(strand.said("is_internal")),
            worktree=strand.said("worktree"),
            paths=list(strand.paths),
            turns=[self._turn(strand, facts, n, texts) for n, facts in turns.items()],
            requests=requests,
            calls=calls,
        )

    def _wish(self, strand: Strand, *keys: str) -> str | None:
        """What the spawning call says of the agent."""
        if strand.call is None or strand.parent is None:
            return None
        arguments = opened(self.strands[strand.parent].calls[strand.call].called.input)
        said = [arguments.get(key) for key in keys] if isinstance(arguments, dict) else []
        return next((one for one in said if isinstance(one, str)), None)

    def _call(self, strand: Strand, facts: CallFacts, numbers: Numbers) -> Call:
        late = self.late.get(facts.called.call)
        if late:
            facts = _with_late(facts, late)
        id, node = facts.called.call, facts.called.node
        child = self.spawned.get(id)
        end, shown_by = end_of(child) if child is not None else (None, None)
        seen = self.tasks.seen_of(facts)
        on_active_branch = self._is_on_active_branch(strand, node, facts.turn)
        life = self.life.at_call(moment_ms(facts.called.at)) if self.life.began_ms else self.life
        judged = judge(
            facts,
            Circumstances(
                is_alive=life.is_alive,
                alive_by=life.why,
                is_alive_sure=life.is_sure,
                is_fresh=self.is_fresh,
                is_abandoned=not on_active_branch,
                seen=seen,
                child=end,
                child_event=shown_by,
                is_beside_interrupted=_is_beside_interrupted(facts, strand),
                is_in_stopped_thread=self._is_stopped(strand),
            ),
        )
        self.judged[id] = judged
        request = strand.fold.requests.get(facts.request) if facts.request else None
        return call_value(
            facts,
            judged,
            Setting(
                session=self.session,
                agent=self.agent,
                thread=strand.id,
                turn=number_of(facts.turn, numbers),
                on_active_branch=on_active_branch,
                group=request.calls if request else [],
                spawned=child.id if child is not None else None,
                seen=seen,
                writer=self._writer(facts.called.place),
                inherited_by=self.descent.inherited_by.get(id, []),
            ),
        )

    def _request(self, strand: Strand, facts: RequestFacts, numbers: Numbers) -> Request:
        request = request_value(facts, strand.id, numbers)
        request.on_active_branch = self._is_on_active_branch(strand, request.node, facts.turn)
        request.is_inherited = self._writer(request.places[0]) is not None
        return request

    def _turn(self, strand: Strand, facts: TurnFacts, n: int, texts: Mapping[RequestId, str]) -> Turn:
        turn = turn_value(facts, strand.id, n, texts)
        node = facts.prompt.node if facts.prompt else None
        turn.on_active_branch = facts.left_by is None and self._is_on_active_branch(strand, node, None)
        turn.is_inherited = facts.prompt is not None and self._writer(facts.prompt.place) is not None
        return turn

    def _writer(self, place: Place) -> SessionId | None:
        """The other session that wrote a line first; None if the line is this one's own."""
        own = self.descent.own.get(place.path)
        writer = own.writer_of(place.line) if own is not None else None
        return writer if writer != self.session else None

    def _is_on_active_branch(self, strand: Strand, node: NodeId | None, turn: TurnFacts | None) -> bool:
        """Put each subagent on the branch of the call that spawned it."""
        if strand.id != MAIN:
            return self.on_branch.setdefault(strand.id, self._is_spawned_on_active_branch(strand))
        if turn is not None and turn.whole.left_by is not None:
            return False
        return node is None or node not in self.left

    def _is_spawned_on_active_branch(self, strand: Strand) -> bool:
        if strand.id in self.on_branch:
            return self.on_branch[strand.id]
        if strand.call is None or strand.parent is None:
            return True
        parent = self.strands[strand.parent]
        call = parent.calls[strand.call]
        return self._is_on_active_branch(parent, call.called.node, call.turn)

    def _is_stopped(self, strand: Strand) -> bool:
        """Whether a subagent, or one above it, was stopped while it worked. Those above were asked before."""
        if strand.id == MAIN:
            return False
        if strand.id not in self.stopped:
            judged = self.judged.get(strand.call) if strand.call is not None else None
            is_cut = judged is not None and (judged.verdict == "interrupted" or judged.outcome == "killed")
            is_above = strand.parent is not None and self._is_stopped(self.strands[strand.parent])
            self.stopped[strand.id] = is_cut or is_above or bool(strand.said("stopped_by_user"))
        return self.stopped[strand.id]

    def _state(self, strand: Strand) -> ThreadState:
        if strand.id == MAIN and self.life.state in _OF_MAIN:
            return _OF_MAIN[self.life.state]
        end, _ = end_of(strand)
        judged = self.judged.get(strand.call) if strand.call is not None else None
        if self._is_stopped(strand):
            return "killed"
        if end == "failed":
            return "failed"
        if end == "ended" or (judged is not None and (judged.verdict == "ok" or judged.outcome == "ok")):
            return "ended"
        if strand.id == MAIN and end == "stopped":
            return "ended"
        if (
            strand.id == MAIN and self.life.state == "ended"
        ):  # its client was closed, or took up another session
            return "ended"
        if self.life.is_alive or (self.life.is_alive is None and self.is_fresh):
            return "running"
        return "unknown" if self.life.is_alive is None else "crashed"

    def strays(self) -> Iterator[Stray]:
        """Results whose call is in none of the session's logs."""
        known = {id for strand in self.strands.values() for id in strand.calls}
        for thread in self._all_threads():
            for id, events in thread.strays.items():
                for event in events:
                    if isinstance(event, ToolReturned) and id not in known:
                        yield Stray(call=id, place=event.place, text=event.text)
            for event in thread.nameless:
                yield Stray(call=None, place=event.place, text=event.text)

    def other_hooks(self) -> Iterator[HookRan]:
        """Hooks that belong to no call."""
        known = {id for strand in self.strands.values() for id in strand.calls}
        for fold in self.folds:
            for event in fold.facts.get(HookRan, []):
                if isinstance(event, HookRan) and event.call not in known:
                    yield event


def _is_beside_interrupted(facts: CallFacts, strand: Strand) -> bool:
    """Asked only for calls that were cancelled along with others."""
    if not facts.request or "cancelled" not in [result.said for result in facts.results]:
        return False
    request = strand.fold.requests.get(facts.request)
    if request is None:
        return False
    beside = (strand.calls[id] for id in request.calls if id in strand.calls)
    return any(result.said == "interrupted" for call in beside for result in call.results)


def _with_late(facts: CallFacts, late: list[ToolReturned | CallReported | HookRan]) -> CallFacts:
    return replace(
        facts,
        results=[*facts.results, *(one for one in late if isinstance(one, ToolReturned))],
        reports=[*facts.reports, *(one for one in late if isinstance(one, CallReported))],
        hooks=[*facts.hooks, *(one for one in late if isinstance(one, HookRan))],
    )


def _began(strand: Strand) -> str:
    first = strand.fold.turns[0].first if strand.fold.turns else None
    return first.at or "" if first else ""
