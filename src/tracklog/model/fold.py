"""Events become what is known of one log: threads with turns, requests and calls, and the conversation tree.

Rules of this room
  1. One fold per log. Folding a line costs the same however long the log is; the session is put together from
     folds on demand (assemble.py), so the order in which files are read means nothing.
  2. Facts are collected here, conclusions are drawn there: nothing that a later line could change is decided.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracklog.model.events import (
    CallProgressed,
    CallReported,
    ContextCompacted,
    Event,
    LeafMarked,
    MessagesRetracted,
    ModelReplied,
    NodeSeen,
    PromptGiven,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.graph import Graph
from tracklog.model.ids import MAIN, NodeId, ThreadId
from tracklog.model.thread_fold import ThreadFold

_IN_THREADS = frozenset(
    {ModelReplied, ToolCalled, ToolReturned, CallReported, PromptGiven, CallProgressed, NodeSeen}
)


_KEPT_TEXT = 2000  # characters: as much as a call tells of its error


class FileFold:
    """What is known of one log. `thread` is whose work it holds: `main`, or a subagent's id."""

    def __init__(self, path: str, thread: ThreadId = MAIN, *, with_text: bool = True) -> None:
        self.path = path
        self.paths = [path] if path else []  # all logs that were folded into it, the oldest first
        self.thread = thread
        self.threads: dict[ThreadId, ThreadFold] = {}
        self.copies: dict[ThreadId, ThreadFold] = {}  # work that the parent's log repeats
        self.graph = Graph()
        self.facts: dict[type[Event], list[Event]] = {}  # of the rarer kinds, in order
        self.first_at: str | None = None
        self.last_at: str | None = None
        self._thread_of: dict[NodeId, ThreadId] = {}
        self._with_text = with_text

    def add(self, events: Iterable[Event]) -> None:
        """Takes events in, as they stand in the log."""
        for event in events:
            if not self._with_text and isinstance(event, (ModelReplied, ToolCalled, ToolReturned)):
                _forget_text(event)
            if event.at is not None:
                self.first_at = event.at if self.first_at is None else min(self.first_at, event.at)
                self.last_at = event.at if self.last_at is None else max(self.last_at, event.at)
            if event.is_copy:
                self._copy(event)
            else:
                thread = self._thread(event)
                if event.node is not None:
                    self._grow(event, thread)
                self._note(event)
                self.of(thread).add(event)

    def of(self, thread: ThreadId) -> ThreadFold:
        """The fold of one thread of this log."""
        fold = self.threads.get(thread)
        if fold is None:
            fold = self.threads[thread] = ThreadFold(thread)
        return fold

    def _copy(self, event: Event) -> None:
        thread = event.thread or MAIN
        if thread not in self.copies:
            self.copies[thread] = ThreadFold(thread)
        self.copies[thread].add(event)

    def _thread(self, event: Event) -> ThreadId:
        if event.thread is not None:
            return event.thread
        if not event.is_sidechain or self.thread != MAIN:
            return self.thread
        if event.node is None:
            return self.thread
        known = self._thread_of.get(event.node) or (
            self._thread_of.get(event.parent) if event.parent else None
        )
        return known or ThreadId(event.node)

    def _grow(self, event: Event, thread: ThreadId) -> None:
        node = event.node
        assert node is not None
        if event.is_sidechain and self.thread == MAIN:
            self._thread_of[node] = thread  # not on the main tree
        else:
            self.graph.see(event, event.place.path)

    def _note(self, event: Event) -> None:
        kind = type(event)
        if kind in _IN_THREADS:
            return
        if isinstance(event, LeafMarked):
            self.graph.mark(event.leaf, explicit=event.explicit)
        elif isinstance(event, ContextCompacted) and event.node is not None:
            self._compacted(event, event.node)
        elif isinstance(event, MessagesRetracted):
            self.graph.retract(event.nodes)
        self.facts.setdefault(kind, []).append(event)

    def _compacted(self, event: ContextCompacted, boundary: NodeId) -> None:
        self.graph.compacted(
            boundary,
            logical_parent=event.logical_parent,
            head=event.kept_head,
            anchor=event.kept_anchor,
            tail=event.kept_tail,
        )


def _forget_text(event: ModelReplied | ToolCalled | ToolReturned) -> None:
    """Keeps of big texts what a verdict may still need, and nothing of the line that they stood in."""
    if isinstance(event, ToolCalled):
        event.input = event.input.copy()
        return
    if isinstance(event, ModelReplied):
        event.thinking = ""
    else:
        event.report = event.report.copy()
    event.text = event.text[:_KEPT_TEXT]
