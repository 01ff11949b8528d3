"""Events become what is known of one log: threads with turns, requests and calls, and the conversation tree.

Rules
  1. One fold per log. Folding a line costs the same however long the log is; the session is put together from
     folds on demand (assemble/session.py), so the order in which files are read means nothing.
  2. Facts are collected here, conclusions are drawn there: nothing that a later line could change is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from msgspec import Raw

from tracklog.model.events import (
    CallProgressed,
    CallReported,
    ContextCompacted,
    LeafMarked,
    LogEvent,
    MessagesRetracted,
    ModelReplied,
    NodeSeen,
    PromptGiven,
    ToolCalled,
    ToolReturned,
)
from tracklog.model.fold.thread import ThreadFold
from tracklog.model.ids import MAIN, NodeId, ThreadId
from tracklog.model.tree.graph import Graph

_IN_THREADS = frozenset(
    {ModelReplied, ToolCalled, ToolReturned, CallReported, PromptGiven, CallProgressed, NodeSeen}
)


_KEPT_TEXT = 2000  # characters: as much as a call keeps of its error


class FileFold:
    """The folded facts of one log. `thread` is whose work it holds: `main`, or a subagent's id."""

    def __init__(self, path: str, thread: ThreadId = MAIN, *, with_text: bool = True) -> None:
        self.path = path
        self.paths = [path] if path else []  # all logs that were folded into it, the oldest first
        self.thread = thread
        self.threads: dict[ThreadId, ThreadFold] = {}
        self.copies: dict[ThreadId, ThreadFold] = {}  # work that the parent's log repeats
        self.graph = Graph()
        self.facts: dict[type[LogEvent], list[LogEvent]] = {}  # of the rarer kinds, in order
        self.first_at: str | None = None
        self.last_at: str | None = None
        self._thread_of: dict[NodeId, ThreadId] = {}
        self._with_text = with_text

    def add(self, events: Iterable[LogEvent]) -> None:
        """Add events, in the order of the log."""
        for event in events:
            if not self._with_text and (forget := _FORGET_TEXT.get(type(event))) is not None:
                forget(event)
            if event.at is not None:
                self._meet(event.at)
            if event.is_copy:
                self._copy(event)
                continue
            thread = self._thread(event)
            if event.node is not None:
                self._grow(event, thread)
            if type(event) not in _IN_THREADS:
                self._note(event)
            self.of(thread).add(event)

    def _meet(self, at: str) -> None:
        if self.last_at is None or self.first_at is None:
            self.first_at = self.last_at = at
        elif at > self.last_at:
            self.last_at = at
        elif at < self.first_at:
            self.first_at = at

    def of(self, thread: ThreadId) -> ThreadFold:
        """The fold of one thread of this log."""
        fold = self.threads.get(thread)
        if fold is None:
            fold = self.threads[thread] = ThreadFold(thread)
        return fold

    def _copy(self, event: LogEvent) -> None:
        thread = event.thread or MAIN
        if thread not in self.copies:
            self.copies[thread] = ThreadFold(thread)
        self.copies[thread].add(event)

    def _thread(self, event: LogEvent) -> ThreadId:
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

    def _grow(self, event: LogEvent, thread: ThreadId) -> None:
        if event.is_sidechain and self.thread == MAIN and event.node is not None:
            self._thread_of[event.node] = thread  # not on the main tree
        else:
            self.graph.see(event, event.place.path)

    def _note(self, event: LogEvent) -> None:
        if isinstance(event, LeafMarked):
            self.graph.mark(event.leaf, explicit=event.explicit)
        elif isinstance(event, ContextCompacted) and event.node is not None:
            self._compacted(event, event.node)
        elif isinstance(event, MessagesRetracted):
            self.graph.retract(event.nodes)
        self.facts.setdefault(type(event), []).append(event)

    def _compacted(self, event: ContextCompacted, boundary: NodeId) -> None:
        self.graph.compacted(
            boundary,
            logical_parent=event.logical_parent,
            head=event.kept_head,
            anchor=event.kept_anchor,
            tail=event.kept_tail,
        )


def _forget_input(event: ToolCalled) -> None:
    """Copy the input, so that its whole line can be freed."""
    event.input = event.input.copy()


def _forget_words(event: ModelReplied) -> None:
    event.thinking = ""
    event.text = event.text[:_KEPT_TEXT]
    event.last_text = event.last_text[:_KEPT_TEXT]


def _forget_output(event: ToolReturned) -> None:
    """A report may tell what a subagent's work came to, or which run a workflow's call began; else nobody asks it."""
    if event.report:
        report = bytes(event.report)
        event.report = Raw(report) if b"otalT" in report or b"runId" in report else Raw()
    event.text = event.text[:_KEPT_TEXT]
    event.full_text = ""


def _forget_report(event: CallReported) -> None:
    event.report = Raw()


# What a verdict may still need of big texts is kept, and nothing else of their line.
_FORGET_TEXT = cast(
    dict[type[LogEvent], Callable[[LogEvent], None]],
    {
        ToolCalled: _forget_input,
        ModelReplied: _forget_words,
        ToolReturned: _forget_output,
        CallReported: _forget_report,
    },
)
