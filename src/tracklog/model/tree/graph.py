"""The conversation as a tree: which branches there are, and which one is alive.

Rules
  1. Every record with an id is a node, whatever its kind: leaving kinds out would cut their children off.
  2. A way on is a child below which something new is said: a prompt, or an answer to another request. Where there
     are two, one was left. Results of parallel calls, hooks, progress and the blocks of one answer are no ways on.
  3. A call that got no result and was passed by was left too, though no new way leads away from it.
  4. The living branch holds the client's newest mark, or what was written below it; without a mark, or with one that
     is in no file, the latest message that nothing follows. The client itself chooses so (docs/branches.md).
  5. Adding costs the same however large the graph is. Answers are worked out when asked for, and kept until it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from tracklog.model.events import LogEvent, ModelReplied, PromptGiven, ToolCalled, ToolReturned
from tracklog.model.ids import CallId, NodeId
from tracklog.model.session import Branch
from tracklog.model.tree.branches import Mark, Ways
from tracklog.model.tree.nodes import Forest, Kind, Node, Seam

Told = tuple[Kind, str | None, tuple[CallId, ...]]  # kind, what it says, which calls it asks for or answers
_WEIGHT: dict[Kind, int] = {"side": 0, "words": 1, "result": 2, "answer": 3, "call": 4, "prompt": 5}


class Graph:
    """Grows by one record at a time."""

    def __init__(self) -> None:
        self.nodes: dict[NodeId, Node] = {}
        self._mark: Mark | None = None
        self._seams: dict[NodeId, Seam] = {}
        self._retracted: dict[NodeId, None] = {}
        self._n_written = 0
        self._ways: Ways | None = None

    def add(
        self,
        id: NodeId,
        parent: NodeId | None,
        *,
        kind: Kind = "side",
        says: str | None = None,
        calls: tuple[CallId, ...] = (),
        is_aside: bool = False,
        writer: str | None = None,
        line: int | None = None,
    ) -> None:
        """A record was written; with the `line` of its last time, it is the same record telling more.

        `says` is the text of a prompt, or the request of an answer. Of a record written again the last version counts.
        """
        self._grow(Node(id, parent, 0, 0, kind, says, dict.fromkeys(calls), is_aside, writer, line))

    def see(self, event: LogEvent, writer: str | None = None) -> None:
        """Takes in what an event says of its record."""
        if event.node is None:
            return
        told_by = _TOLD_BY.get(type(event))
        kind, says, calls = told_by(event) if told_by else _said_beside(event)
        told = dict.fromkeys(calls)
        line = event.place.line
        self._grow(Node(event.node, event.parent, 0, 0, kind, says, told, event.is_aside, writer, line))

    def _grow(self, node: Node) -> None:
        self._ways = None
        known = self.nodes.get(node.id)
        if known is not None and node.line is not None and known.line == node.line:
            _tell_more(known, node)
            return
        if node.says is None and node.is_answer:
            node.says = node.id  # an answer without a named request is on its own
        self._n_written += 1
        node.order = self._n_written
        node.born = node.order
        if known is not None:
            node.born = known.born
            node.line = known.line if node.line is None else node.line
        self.nodes[node.id] = node

    def mark(self, leaf: NodeId | None, *, explicit: bool = False) -> None:
        """The client said from where it would go on; only its last word counts, and its record may come later.

        An explicit mark says: from here, and from nothing that was written below it before. At a rewind the client
        marks a record that never comes (all zeros): that takes its earlier word back.
        """
        if leaf is not None:
            self._ways = None
            self._mark = Mark(leaf, self._n_written, explicit)

    def compacted(
        self,
        boundary: NodeId,
        *,
        logical_parent: NodeId | None = None,
        head: NodeId | None = None,
        anchor: NodeId | None = None,
        tail: NodeId | None = None,
    ) -> None:
        """The records before a boundary were summed up, except for the records from `head` to `tail`."""
        self._ways = None
        self._seams[boundary] = Seam(boundary, logical_parent, head, anchor, tail)

    def retract(self, nodes: Iterable[NodeId]) -> None:
        """Records that stay in the file are no longer part of the conversation; they may come later."""
        self._ways = None
        self._retracted.update(dict.fromkeys(nodes))

    @property
    def leaf(self) -> NodeId | None:
        """The last message of the living branch."""
        return self._read().leaf

    @property
    def orphans(self) -> list[NodeId]:
        """Records whose parent is in no file, is themselves, or leads in a circle."""
        return self._read().forest.orphans

    def path(self, leaf: NodeId | None = None) -> list[NodeId]:
        """What the client goes on with: from the root, or the last compaction, to a leaf (the living one).

        The other blocks and results of an answer on the way come after its last block there.
        """
        return self._read().path(leaf)

    def history(self, leaf: NodeId | None = None) -> list[NodeId]:
        """The records that led to a leaf (the living one), back to the root over all compactions."""
        return self._read().history(leaf)

    def abandoned(self) -> set[NodeId]:
        """All records on ways that were left, and those that were retracted."""
        return set(self._read().abandoned)

    def branches(self) -> list[Branch]:
        """The living branch, then each way that was left, in the order of the file."""
        return self._read().branches()

    def _read(self) -> Ways:
        if self._ways is None:
            forest = Forest(self.nodes, self._seams.values())
            self._ways = Ways(forest, self._mark, self._retracted.keys() & self.nodes.keys())
        return self._ways


def _tell_more(known: Node, node: Node) -> None:
    if _WEIGHT[node.kind] > _WEIGHT[known.kind]:
        known.kind = node.kind
        known.says = node.says if node.says is not None else known.says
    known.calls.update(node.calls)


def _said_beside(event: LogEvent) -> Told:
    return ("words" if event.is_message else "side"), None, ()


def _prompted(event: PromptGiven) -> Told:
    # A command is a way on only by what is answered: a resume passes by those that the client ran itself.
    return ("words" if event.origin in ("slash", "shell") else "prompt"), event.text, ()


def _replied(event: ModelReplied) -> Told:
    return "answer", event.request or event.node, ()


def _called(event: ToolCalled) -> Told:
    if event.is_server_side:
        return "answer", event.request or event.node, ()
    return "call", event.request or event.node, (event.call,)


def _returned(event: ToolReturned) -> Told:
    return "result", None, (event.call,) if event.call is not None else ()


_TOLD_BY = cast(
    dict[type[LogEvent], Callable[[LogEvent], Told]],
    {PromptGiven: _prompted, ModelReplied: _replied, ToolCalled: _called, ToolReturned: _returned},
)
