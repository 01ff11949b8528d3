"""Folds become a session: joined, judged, and put in order.

Rules of this room
  1. The same folds give the same session, in whatever order they come.
  2. There is no clock: the caller says what time it is, and whether the process lives.
  3. Judging goes from the top down: what happened to a subagent's call may depend on what became of the subagent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from tracklog.model.call_values import Setting, between_ms, call_value, hook_run
from tracklog.model.calls import Circumstances, Judgement, judge
from tracklog.model.describe import describe
from tracklog.model.events import CallReported, HookRan, Place, ToolReturned
from tracklog.model.facts import CallFacts, RequestFacts, TurnFacts
from tracklog.model.fold import FileFold
from tracklog.model.graph import Graph
from tracklog.model.ids import MAIN, CallId, NodeId, RequestId, SessionId, ThreadId
from tracklog.model.lineage import Descent
from tracklog.model.session import Branch, Call, Prompt, Request, Session, Stray, Thread, ThreadState, Turn
from tracklog.model.tasks import Tasks
from tracklog.model.threads import Strand, end_of, join, strands_of
from tracklog.model.todos import questions, todo_lists
from tracklog.records.base import opened

_FRESH = timedelta(minutes=10)
_COMMANDS = ("slash", "shell")
Numbers = Mapping[int, int]  # of turns, by the identity of their facts


def assemble(
    folds: Iterable[FileFold],
    *,
    session: SessionId,
    agent: str,
    is_alive: bool | None = None,
    now: datetime | None = None,
    descent: Descent | None = None,
) -> Session:
    """The session that some logs tell.

    `is_alive` is about its process; None if nobody knows. `descent` says which lines are copies of another session's.
    """
    folds = sorted(folds, key=lambda fold: fold.path)
    work = _Work(folds, session, agent, is_alive, _is_fresh(folds, now), descent or Descent())
    threads = {id: work.thread(work.strands[id]) for id in work.top_down()}
    main = threads[MAIN]
    for id, thread in threads.items():
        if id != MAIN and thread.parent_thread in threads:
            threads[thread.parent_thread].children.append(thread)
    unjoined = [
        thread for id, thread in threads.items() if id != MAIN and thread.parent_thread not in threads
    ]
    made = Session(id=session, agent=agent, paths=[fold.path for fold in folds], main=main, unjoined=unjoined)
    made.branches = work.graph.branches() if work.graph.nodes else work.branches_of_turns()
    made.orphans = list(work.graph.orphans)
    made.active_nodes = work.graph.path()
    made.strays = list(work.strays())
    made.hooks = [hook_run(hook) for hook in work.other_hooks()]
    made.todos = todo_lists(main.calls)
    made.questions = questions(made.calls)
    _trace_back(made, work.descent)
    describe(made, folds, is_alive=is_alive, is_fresh=work.is_fresh)
    return made


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
        return now - datetime.fromisoformat(last) <= _FRESH
    except (ValueError, TypeError):
        return False


@dataclass(slots=True)
class _Work:
    """What is needed at hand while a session is put together."""

    folds: list[FileFold]
    session: SessionId
    agent: str
    is_alive: bool | None
    is_fresh: bool
    descent: Descent
    strands: dict[ThreadId, Strand] = field(init=False)
    tasks: Tasks = field(init=False)
    graph: Graph = field(init=False)
    left: set[NodeId] = field(init=False)
    spawned: dict[CallId, Strand] = field(init=False)
    judged: dict[CallId, Judgement] = field(init=False, default_factory=dict)
    late: dict[CallId, list[ToolReturned | CallReported | HookRan]] = field(init=False)

    def __post_init__(self) -> None:
        self.strands = strands_of(self.folds)
        if MAIN not in self.strands:
            self.strands[MAIN] = Strand(FileFold("").of(MAIN), [])
        calls = {id: call for strand in self.strands.values() for id, call in strand.fold.calls.items()}
        self._take_strays(calls)
        self.tasks = Tasks(self.folds, calls)
        join(self.strands, self.tasks)
        self.spawned = {strand.call: strand for strand in self.strands.values() if strand.call is not None}
        mains = [fold for fold in self.folds if fold.path in self.strands[MAIN].paths]
        self.graph = mains[0].graph if mains else Graph()
        self.left = self.graph.abandoned()

    def _take_strays(self, calls: Mapping[CallId, CallFacts]) -> None:
        """Results, notes and hooks that stand in another thread's log than their call."""
        self.late = {}
        for strand in self.strands.values():
            for id, events in strand.fold.strays.items():
                if id in calls and id not in strand.fold.calls:
                    self.late.setdefault(id, []).extend(events)

    def top_down(self) -> list[ThreadId]:
        """All threads, parents before children."""
        depth: dict[ThreadId, int] = {}
        for id in self.strands:
            n, at = 0, self.strands[id].parent
            while at is not None and at in self.strands:
                n, at = n + 1, self.strands[at].parent
            depth[id] = n
        return sorted(self.strands, key=lambda id: (id != MAIN, depth[id], _began(self.strands[id]), id))

    def thread(self, strand: Strand) -> Thread:
        """A thread with its turns, requests and calls."""
        turns, numbers = _numbered(*strand.fold.settled())
        calls = [self._call(strand, facts, numbers) for facts in strand.fold.calls.values()]
        requests = [self._request(strand, facts, numbers) for facts in strand.fold.requests.values()]
        texts = {request.id: request.text for request in requests}
        told = [self._turn(strand, facts, n, texts) for n, facts in turns.items()]
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
            paths=sorted(strand.paths),
            turns=told,
            requests=requests,
            calls=calls,
        )

    def _wish(self, strand: Strand, *keys: str) -> str | None:
        """What the spawning call says of the agent."""
        if strand.call is None or strand.parent is None:
            return None
        arguments = opened(self.strands[strand.parent].fold.calls[strand.call].called.input)
        said = [arguments[key] for key in keys if key in arguments] if isinstance(arguments, dict) else []
        return str(said[0]) if said else None

    def _call(self, strand: Strand, facts: CallFacts, numbers: Numbers) -> Call:
        late = self.late.get(facts.called.call)
        if late:
            facts = _with_late(facts, late)
        id, node = facts.called.call, facts.called.node
        child = self.spawned.get(id)
        end, shown_by = end_of(child) if child is not None else (None, None)
        seen = self.tasks.seen_of(facts)
        on_active_branch = self._is_on_active_branch(strand, node, facts.turn)
        judged = judge(
            facts,
            Circumstances(
                is_alive=self.is_alive,
                is_fresh=self.is_fresh,
                is_abandoned=not on_active_branch,
                seen=seen,
                child=end,
                child_event=shown_by,
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
                turn=_number_of(facts.turn, numbers),
                on_active_branch=on_active_branch,
                parallel_with=[other for other in request.calls if other != id] if request else [],
                spawned=child.id if child is not None else None,
                seen=seen,
                writer=self._writer(facts.called.place),
                inherited_by=self.descent.inherited_by.get(id, []),
            ),
        )

    def _writer(self, place: Place) -> SessionId | None:
        """The other session that wrote a line first; None if the line is this one's own."""
        own = self.descent.own.get(place.path)
        writer = own.writer_of(place.line) if own is not None else None
        return writer if writer != self.session else None

    def _is_on_active_branch(self, strand: Strand, node: NodeId | None, turn: TurnFacts | None) -> bool:
        """A subagent stands on the branch of the call that spawned it."""
        while strand.id != MAIN:
            call = strand.call
            if call is None or strand.parent is None:
                return True
            strand = self.strands[strand.parent]
            node, turn = strand.fold.calls[call].called.node, strand.fold.calls[call].turn
        if turn is not None and turn.whole.left_by is not None:
            return False
        return node is None or node not in self.left

    def _is_stopped(self, strand: Strand) -> bool:
        """Whether a subagent, or one above it, was stopped while it worked."""
        while strand.id != MAIN:
            judged = self.judged.get(strand.call) if strand.call is not None else None
            if strand.said("stopped_by_user"):
                return True
            if judged is not None and (judged.verdict == "interrupted" or judged.outcome == "killed"):
                return True
            if strand.parent is None:
                return False
            strand = self.strands[strand.parent]
        return False

    def _state(self, strand: Strand) -> ThreadState:
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
        return "running" if self.is_alive or (self.is_alive is None and self.is_fresh) else "unknown"

    def _request(self, strand: Strand, facts: RequestFacts, numbers: Numbers) -> Request:
        parts = facts.parts
        times = [part.at for part in parts if part.at is not None]
        return Request(
            id=facts.id,
            thread=strand.id,
            turn=_number_of(facts.turn, numbers),
            model=next((part.model for part in parts if part.model), None),
            at=min(times, default=None),
            ended_at=max(times, default=None),
            text="\n".join(part.text for part in parts if part.text),
            thinking="\n".join(part.thinking for part in parts if part.thinking),
            stop_reason=next((part.stop_reason for part in reversed(parts) if part.stop_reason), None),
            calls=list(facts.calls),
            places=list(dict.fromkeys(part.place for part in parts)),
            node=parts[-1].node,
            error=next((part.api_error for part in parts if part.api_error is not None), None),
            is_synthetic=all(part.is_synthetic for part in parts),
            has_hidden_thought=any(part.has_hidden_thought for part in parts),
            on_active_branch=self._is_on_active_branch(strand, parts[-1].node, facts.turn),
            is_inherited=self._writer(parts[0].place) is not None,
        )

    def _turn(self, strand: Strand, facts: TurnFacts, n: int, texts: Mapping[RequestId, str]) -> Turn:
        prompt, at = facts.prompt, facts.first.at if facts.first else None
        node = prompt.node if prompt else None
        return Turn(
            n=n,
            thread=strand.id,
            prompts=[
                Prompt(
                    text=prompt.text,
                    origin=prompt.origin,
                    at=prompt.at,
                    place=prompt.place,
                    node=node or _as_node(facts.word),
                    n_images=prompt.n_images,
                    n_documents=prompt.n_documents,
                )
            ]
            if prompt
            else [],
            requests=list(facts.requests),
            calls=list(facts.calls),
            at=at,
            ended_at=facts.last_at,
            text=next((texts[id] for id in reversed(facts.requests) if texts[id]), ""),
            took_ms=between_ms(at, facts.last_at),
            stated_ms=facts.ended.took_ms if facts.ended else None,
            is_closed=facts.ended is not None,
            is_interrupted=facts.interrupted_by is not None,
            on_active_branch=facts.left_by is None and self._is_on_active_branch(strand, node, None),
            is_inherited=prompt is not None and self._writer(prompt.place) is not None,
        )

    def branches_of_turns(self) -> list[Branch]:
        """The branches of an agent without a tree: turns that were taken back together are one."""
        turns, _ = self.strands[MAIN].fold.settled()
        words = [_as_node(turn.word) for turn in turns]
        living = [word for turn, word in zip(turns, words, strict=True) if turn.left_by is None]
        ends = (living[0], living[-1]) if living else (None, None)
        found = [Branch(id=MAIN, parent=None, start=ends[0], end=ends[1], is_active=True)]
        for event, group in groupby(enumerate(turns), key=lambda one: id(one[1].left_by)):
            places = [n for n, _ in group]
            if event != id(None):
                nodes = [word for word in words[places[0] : places[-1] + 1] if word is not None]
                start = words[places[0] - 1] if places[0] else None
                found.append(
                    Branch(
                        id=nodes[0] if nodes else f"turn-{places[0] + 1}",
                        parent=MAIN,
                        start=start,
                        end=nodes[-1] if nodes else None,
                        is_active=False,
                        why="rewind",
                        nodes=nodes,
                    )
                )
        return found

    def strays(self) -> Iterator[Stray]:
        """Results whose call stands in none of the session's logs."""
        known = {id for strand in self.strands.values() for id in strand.fold.calls}
        for strand in self.strands.values():
            for id, events in strand.fold.strays.items():
                for event in events:
                    if isinstance(event, ToolReturned) and id not in known:
                        yield Stray(call=id, place=event.place, text=event.text)
            for event in strand.fold.nameless:
                yield Stray(call=None, place=event.place, text=event.text)

    def other_hooks(self) -> Iterator[HookRan]:
        """Hooks that belong to no call."""
        known = {id for strand in self.strands.values() for id in strand.fold.calls}
        for fold in self.folds:
            for event in fold.facts.get(HookRan, []):
                if isinstance(event, HookRan) and event.call not in known:
                    yield event


def _with_late(facts: CallFacts, late: list[ToolReturned | CallReported | HookRan]) -> CallFacts:
    return replace(
        facts,
        results=[*facts.results, *(one for one in late if isinstance(one, ToolReturned))],
        reports=[*facts.reports, *(one for one in late if isinstance(one, CallReported))],
        hooks=[*facts.hooks, *(one for one in late if isinstance(one, HookRan))],
    )


def _numbered(turns: list[TurnFacts], index: Mapping[int, int]) -> tuple[dict[int, TurnFacts], Numbers]:
    """The turns by number, and the number of each by identity. A command that the model never saw is no turn."""
    by_place: dict[int, int] = {}
    for place, turn in enumerate(turns):
        is_command = turn.prompt is not None and turn.prompt.origin in _COMMANDS
        if turn.requests or turn.calls or (turn.prompt is not None and not is_command):
            by_place[place] = len(by_place) + 1
    numbers = {facts: by_place[place] for facts, place in index.items() if place in by_place}
    return {n: turns[place] for place, n in by_place.items()}, numbers


def _number_of(turn: TurnFacts | None, numbers: Numbers) -> int | None:
    return numbers.get(id(turn.whole)) if turn is not None else None


def _as_node(word: str | None) -> NodeId | None:
    return NodeId(word) if word else None


def _began(strand: Strand) -> str:
    first = strand.fold.turns[0].first if strand.fold.turns else None
    return first.at or "" if first else ""
