"""What one log says of a turn, a request, a call: facts as they were met, nothing concluded."""

from __future__ import annotations

from dataclasses import dataclass, field

from tracklog.model.events import (
    CallProgressed,
    CallReported,
    Event,
    GroupedBy,
    HistoryRolledBack,
    HookRan,
    ModelReplied,
    PromptGiven,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import CallId, NodeId, RequestId


@dataclass(slots=True)
class CallFacts:
    """All that one log says of a call."""

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
    passed_by: Event | None = None  # the first thing that was said although it had no result


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
        """Takes a part in; the same record, written again, counts as it stands last."""
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
    first: Event | None = None
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
