"""The tree of subagents: which call spawned which line of work, and how that ended.

Rules
  1. The links, best first: the meta file or the log itself names the call; the call's result, its progress or a notice
     names the agent; a workflow's run holds it. These are `stated`.
  2. Then the same prompt, then the same description: `inferred`. A call is taken once; the earliest log gets the
     earliest call.
  3. A thread that no call can be found for stays, marked so: nothing is dropped. An agent whose log is missing is a
     thread without paths, if the result of the call that started it names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from tracklog.model.assemble.tasks import Tasks
from tracklog.model.assemble.verdicts import ThreadEnd
from tracklog.model.events import (
    LogEvent,
    Place,
    ThreadDescribed,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.fold.log import FileFold
from tracklog.model.fold.thread import CallFacts, ThreadFold
from tracklog.model.ids import MAIN, CallId, ThreadId
from tracklog.model.records import opened
from tracklog.model.session import Sureness

SPAWNERS = ("Task", "Agent", "spawn_agent", "Workflow", "Skill", "SendMessage", "SlashCommand")
_STARTERS = ("Task", "Agent", "spawn_agent")  # each call starts one agent, which its result names
_FINAL = ("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")


@dataclass(slots=True)
class Strand:
    """A thread before it is judged: its facts, their files, and its place in the tree."""

    fold: ThreadFold
    paths: list[str]
    calls: dict[CallId, CallFacts] = field(default_factory=dict)  # its own: see `_own_calls`
    described: list[ThreadDescribed] = field(default_factory=list)
    parent: ThreadId | None = None
    call: CallId | None = None
    joined_by: str | None = None
    sureness: Sureness = "stated"

    @property
    def id(self) -> ThreadId:
        return self.fold.id

    @property
    def prompt(self) -> str:
        """What it was asked to do."""
        first = next((turn.prompt for turn in self.fold.turns if turn.prompt is not None), None)
        return first.text if first else ""

    @property
    def is_warmup(self) -> bool:
        """Whether the client only warmed a cache with it (2.0.x)."""
        return self.id != MAIN and self.prompt.strip() == "Warmup" and not self.fold.calls

    def said(self, what: str) -> Any:
        """The last word of the log, or of the file beside it, on one of its attributes."""
        return next((value for one in reversed(self.described) if (value := getattr(one, what))), None)


def strands_of(folds: Iterable[FileFold]) -> dict[ThreadId, Strand]:
    """All threads of a session, each from the log that holds the most of it."""
    found: dict[ThreadId, Strand] = {}
    copies: dict[ThreadId, Strand] = {}
    described: dict[ThreadId, list[ThreadDescribed]] = {}
    for fold in folds:
        for event in _described(fold):
            described.setdefault(event.thread or fold.thread, []).append(event)
        for id, thread in fold.threads.items():
            if thread.requests or thread.calls or thread.turns or (id == MAIN and fold.graph.nodes):
                _keep(found, Strand(thread, list(fold.paths)))
        for thread in fold.copies.values():
            _keep(copies, Strand(thread, list(fold.paths)))
    for id, copy in copies.items():
        if id not in found or not found[id].fold.requests:
            found[id] = copy
    for id, events in described.items():
        if id in found:
            found[id].described = sorted(events, key=lambda event: event.place)
    _own_calls(found)
    return found


def _own_calls(strands: Mapping[ThreadId, Strand]) -> None:
    """Gives each call to one thread.

    A fork of the conversation copies calls of its parent: the same id in the same request is the same call. Gateways
    give ids that come again: the same id in another request is another call, and gets its thread's name behind it.
    """
    owners: dict[CallId, Strand] = {}
    for strand in sorted(strands.values(), key=lambda strand: (strand.id != MAIN, _first_at(strand))):
        for id, call in strand.fold.calls.items():
            owner = owners.setdefault(id, strand)
            known = owner.calls.setdefault(id, call) if owner is strand else owner.calls[id]
            if owner is strand:
                continue
            if call.request is None or call.request != known.request:
                renamed = CallId(f"{id}@{strand.id}")
                strand.calls[renamed] = replace(call, called=structs.replace(call.called, call=renamed))
            elif not known.results:
                owner.calls[id] = replace(known, results=call.results)


def _described(fold: FileFold) -> Iterator[ThreadDescribed]:
    for event in fold.facts.get(ThreadDescribed, []):
        assert isinstance(event, ThreadDescribed)
        yield event


def _keep(found: dict[ThreadId, Strand], strand: Strand) -> None:
    known = found.get(strand.id)
    if known is None:
        found[strand.id] = strand
        return
    better, other = sorted((known, strand), key=_fullness, reverse=True)
    better.paths = [*better.paths, *other.paths]
    found[strand.id] = better


def _fullness(strand: Strand) -> tuple[int, int, int, list[str]]:
    n_parts = sum(len(request.parts) for request in strand.fold.requests.values())
    n_results = sum(len(call.results) for call in strand.fold.calls.values())
    return n_parts, len(strand.fold.calls), n_results, strand.paths


def join(strands: Mapping[ThreadId, Strand], tasks: Tasks) -> None:
    """Finds for each thread the call that spawned it."""
    calls = {id: (strand.id, call) for strand in strands.values() for id, call in strand.calls.items()}
    by_agent = _calls_by_agent(strands, tasks)
    for strand in strands.values():
        if strand.id != MAIN:
            _join_stated(strand, calls, by_agent)
    taken = {strand.call for strand in strands.values() if strand.call is not None}
    _join_inferred([s for s in strands.values() if s.id != MAIN and s.call is None], calls, taken)
    for strand in strands.values():
        if strand.id != MAIN and strand.parent is None:
            _join_to_thread(strand, strands)
    _cut_circles(strands)


def without_logs(
    strands: Mapping[ThreadId, Strand], is_own: Callable[[Place], bool]
) -> dict[ThreadId, Strand]:
    """The agents that the results of calls name, and of which no log is there; a copied call belongs to its writer."""
    taken = {strand.call for strand in strands.values() if strand.call is not None}
    found: dict[ThreadId, Strand] = {}
    for strand in strands.values():
        for id, call in strand.calls.items():
            if call.called.name not in _STARTERS or id in taken or not is_own(call.called.place):
                continue
            for result in call.results:
                if result.agent is not None and result.agent not in strands:
                    missing = Strand(ThreadFold(result.agent), [], parent=strand.id, call=id)
                    missing.joined_by = "the call's result names it"
                    found.setdefault(result.agent, missing)
    return found


def _join_to_thread(strand: Strand, strands: Mapping[ThreadId, Strand]) -> None:
    """Work that no call asked for: a review, a side job of the client. It hangs on the thread it was done for."""
    stated = strand.said("parent_thread")
    if stated is not None and stated in strands and stated != strand.id:
        strand.parent, strand.joined_by = stated, "it names the thread"
    elif strand.said("is_internal"):
        strand.parent, strand.sureness, strand.joined_by = MAIN, "inferred", "the client's own work"


def _calls_by_agent(strands: Mapping[ThreadId, Strand], tasks: Tasks) -> dict[ThreadId, tuple[str, CallId]]:
    """What the calls' own records say about the agents that they spawned, best last."""
    found: dict[ThreadId, tuple[str, CallId]] = {}
    for task, id in tasks.call_of.items():
        found[ThreadId(task)] = ("a notice names both", id)
    for strand in strands.values():
        for id, call in strand.calls.items():
            for event in (call.first_progress, call.last_progress):
                if event is not None and event.agent is not None:
                    found[event.agent] = ("progress of the call names it", id)
    for strand in strands.values():
        for id, call in strand.calls.items():
            for result in call.results:
                if result.agent is not None and call.called.name in SPAWNERS:
                    found[result.agent] = ("the call's result names it", id)
    return found


def _join_stated(
    strand: Strand,
    calls: Mapping[CallId, tuple[ThreadId, CallFacts]],
    by_agent: Mapping[ThreadId, tuple[str, CallId]],
) -> None:
    named = strand.said("parent_call")
    is_spawner = named in calls and calls[named][1].called.name in SPAWNERS
    joined_by, call = ("it names the call", named) if is_spawner else by_agent.get(strand.id, ("", None))
    if call is None:
        call = _workflow_call(strand, calls)
        joined_by = "the workflow's run holds it"
    if call is not None and call in calls and calls[call][0] != strand.id:
        strand.parent, strand.call, strand.joined_by = calls[call][0], call, joined_by


def _workflow_call(strand: Strand, calls: Mapping[CallId, tuple[ThreadId, CallFacts]]) -> CallId | None:
    """The Workflow call whose run's folder holds the thread's log."""
    runs = {part for path in strand.paths for part in path.split("/") if part.startswith("wf_")}
    if not runs:
        return None
    for id, (_, call) in calls.items():
        if call.called.name == "Workflow":
            for result in call.results:
                report = opened(result.report)
                if isinstance(report, dict) and str(report.get("runId")) in runs:
                    return id
    return None


def _join_inferred(
    strands: list[Strand], calls: Mapping[CallId, tuple[ThreadId, CallFacts]], taken: set[CallId]
) -> None:
    spawning = [
        (call.called.place, id, opened(call.called.input))
        for id, (_, call) in calls.items()
        if call.called.name in SPAWNERS and id not in taken
    ]
    free = {id: wish for _, id, wish in sorted(spawning, key=lambda one: one[0]) if isinstance(wish, dict)}
    for key, of in (("prompt", "prompt"), ("message", "prompt"), ("description", "description")):
        fitting: dict[str, list[CallId]] = {}
        for id, wish in reversed(free.items()):
            if isinstance(wish.get(key), str):
                fitting.setdefault(wish[key], []).append(id)
        for strand in sorted(strands, key=_first_at):
            said = strand.prompt if of == "prompt" else strand.said("description")
            if strand.call is None and said and fitting.get(said):
                match = fitting[said].pop()
                if calls[match][0] != strand.id:
                    strand.parent, strand.call, strand.sureness = calls[match][0], match, "inferred"
                    strand.joined_by = f"the same {key}"
                    del free[match]


def _first_at(strand: Strand) -> tuple[str, list[str], str]:
    first = strand.fold.turns[0].first if strand.fold.turns else None
    return (first.at or "" if first else "", strand.paths, strand.id)


def _cut_circles(strands: Mapping[ThreadId, Strand]) -> None:
    """Logs are hostile: a thread may not be its own ancestor."""
    settled = {MAIN}
    for strand in sorted(strands.values(), key=lambda strand: strand.id):
        way: dict[ThreadId, None] = {}
        at: ThreadId | None = strand.id
        while at is not None and at in strands and at not in settled:
            if at in way:
                strands[at].parent, strands[at].call, strands[at].joined_by = None, None, None
                break
            way[at] = None
            at = strands[at].parent
        settled.update(way)


def end_of(strand: Strand) -> tuple[ThreadEnd, LogEvent | None]:
    """How a thread's own log says that it ended, and the line that shows it."""
    fold = strand.fold
    reply, last = fold.last_reply, fold.last
    if isinstance(last, TurnEnded) and (last.error or last.took_ms is None):
        return ("failed" if last.error else "ended"), last
    stopped = fold.turns[-1].interrupted_by if fold.turns else None
    if isinstance(last, TurnInterrupted) or stopped is not None:
        return "stopped", last if isinstance(last, TurnInterrupted) else stopped
    if reply is None:
        return "open", last
    if reply.api_error is not None:
        return "failed", reply
    if reply.stop_reason in _FINAL or (reply.stop_reason is None and _is_spoken_out(fold)):
        return "ended", reply
    return "open", reply


def _is_spoken_out(fold: ThreadFold) -> bool:
    """Whether the last answer is words and no call: older clients log no reason for stopping."""
    reply = fold.last_reply
    assert reply is not None
    request = fold.requests.get(reply.request) if reply.request else None
    return bool(reply.text) and (request is None or not request.calls)
