"""The records of a conversation as trees: who follows whom, once circles, gaps and compactions are dealt with.

Rules
  1. A forest is a reading of nodes at one moment; it never changes. It costs a few passes over the nodes.
  2. A parent that is in no file, is the node itself, or closes a circle counts as none: the node is an orphan, and
     the root of its own tree. Of a circle, the node that was written first is the root.
  3. A compaction is a seam: its boundary follows the last record before it. What it kept word by word follows the
     summary, and what came after the summary follows what was kept, as the client arranges it when it loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from tracklog.model.ids import CallId, NodeId

Kind = Literal["prompt", "answer", "call", "result", "words", "side"]


class Node(msgspec.Struct, gc=False):
    """A record on the tree. What it says is a prompt's text or the request that an answer belongs to."""

    id: NodeId
    parent: NodeId | None
    born: int  # when it was first written, counted in records
    order: int  # when it was last written: a record may be repeated
    kind: Kind = "side"
    says: str | None = None
    calls: dict[CallId, None] = {}  # that it asks for, or answers, in order
    is_aside: bool = False  # of a subagent, a teammate, or made by the client: never where a session goes on
    writer: str | None = None  # the session or file that holds it
    line: int | None = None  # of its last time

    @property
    def is_message(self) -> bool:
        """Whether it is part of what a model reads, as the client sees it."""
        return self.kind != "side"

    @property
    def is_answer(self) -> bool:
        """Whether a model said it."""
        return self.kind in ("answer", "call")


class Seam(msgspec.Struct, gc=False):
    """A compaction: where the past was cut off, and which records were kept."""

    boundary: NodeId
    before: NodeId | None = None  # the last record before it
    head: NodeId | None = None
    anchor: NodeId | None = None
    tail: NodeId | None = None


class Forest:
    """Parents and children as they are to be read."""

    def __init__(self, nodes: Mapping[NodeId, Node], seams: Iterable[Seam]) -> None:
        self.nodes = nodes
        self.up: dict[NodeId, NodeId | None] = {
            id: node.parent if node.parent in nodes and node.parent != id else None
            for id, node in nodes.items()
        }
        self.boundaries: set[NodeId] = set()
        self._steps_left = 20 * len(
            nodes
        )  # to walk what compactions kept: a hostile log may claim all, each time
        self._sew(list(seams))
        self.cut: set[NodeId] = set()
        self._open_circles()
        self.children = self._children()
        self.downwards = list(self._from_the_roots())

    @property
    def roots(self) -> list[NodeId]:
        """The nodes that follow none."""
        return [id for id, parent in self.up.items() if parent is None]

    @property
    def orphans(self) -> list[NodeId]:
        """The nodes that name a parent which could not be followed."""
        return [
            id
            for id, node in self.nodes.items()
            if node.parent is not None
            and (node.parent not in self.nodes or node.parent == id or id in self.cut)
        ]

    def walk_up(self, start: NodeId | None) -> Iterator[NodeId]:
        """A node and all that it follows, over every seam."""
        at = start
        while at is not None:
            yield at
            at = self.up[at]

    def walk_down(self, start: NodeId) -> Iterator[NodeId]:
        """A node and all that follows it."""
        stack = [start]
        while stack:
            at = stack.pop()
            yield at
            stack += self.children.get(at, ())

    def _sew(self, seams: list[Seam]) -> None:
        followers = self._following({seam.anchor for seam in seams if seam.anchor})
        for seam in seams:
            if seam.boundary not in self.nodes:
                continue
            before = self._keep(seam, followers) or seam.before
            if self.up[seam.boundary] is None and before in self.nodes and before != seam.boundary:
                self.up[seam.boundary] = before
            self.boundaries.add(seam.boundary)

    def _following(self, anchors: set[NodeId]) -> dict[NodeId, list[NodeId]]:
        found: dict[NodeId, list[NodeId]] = {anchor: [] for anchor in anchors}
        for id, parent in self.up.items():
            if parent in anchors:
                found[parent].append(id)
        return found

    def _keep(self, seam: Seam, followers: dict[NodeId, list[NodeId]]) -> NodeId | None:
        """Moves the kept records behind their anchor; the boundary follows what was before them."""
        head, anchor, tail = (id if id in self.nodes else None for id in (seam.head, seam.anchor, seam.tail))
        if head is None or anchor is None or tail is None:
            return None
        kept = self._segment(head, tail)
        if kept is None or anchor in kept or seam.boundary in kept:
            return None
        before = self.up[head]
        for follower in followers[anchor]:
            if follower not in kept:
                self.up[follower] = tail
        self.up[head] = anchor
        return before

    def _segment(self, head: NodeId, tail: NodeId) -> set[NodeId] | None:
        found: set[NodeId] = set()
        at: NodeId | None = tail
        while at is not None and at not in found and self._steps_left > 0:
            self._steps_left -= 1
            found.add(at)
            if at == head:
                return found
            at = self.up[at]
        return None

    def _open_circles(self) -> None:
        born = {id: node.born for id, node in self.nodes.items()}
        if all(parent is None or born[parent] < born[id] for id, parent in self.up.items()):
            return  # who follows only what was there before closes no circle
        done: set[NodeId] = set()
        for start in self.up:
            walk: dict[NodeId, None] = {}
            at: NodeId | None = start
            while at is not None and at not in done and at not in walk:
                walk[at] = None
                at = self.up[at]
            if at is not None and at in walk:
                self._cut_first(at)
            done.update(walk)

    def _cut_first(self, on_circle: NodeId) -> None:
        circle = [on_circle]
        at = self.up[on_circle]
        while at is not None and at != on_circle:
            circle.append(at)
            at = self.up[at]
        first = min(circle, key=lambda id: self.nodes[id].born)
        self.up[first] = None
        self.cut.add(first)

    def _children(self) -> dict[NodeId, list[NodeId]]:
        children: dict[NodeId, list[NodeId]] = {}
        for id, parent in self.up.items():
            if parent is not None:
                children.setdefault(parent, []).append(id)
        return children

    def _from_the_roots(self) -> Iterator[NodeId]:
        for root in self.roots:
            yield from self.walk_down(root)
