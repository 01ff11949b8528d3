"""The branches of a conversation: the active one, and those that were left.

Rules
  1. A reading of a forest at one moment: every answer follows from the nodes, the mark and the retractions alone.
  2. The way that the living branch takes is kept; elsewhere, the way in which something was said last.
  3. A node is on the living path, abandoned, or beside it: never two of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import pairwise

import msgspec

from tracklog.model.ids import NodeId
from tracklog.model.session import Branch, WhyBranch
from tracklog.model.tree.nodes import Forest, Node

MAIN_BRANCH = "main"


class Mark(msgspec.Struct, gc=False):
    """From where the client would go on, as it said when so many records were written."""

    leaf: NodeId
    n_written: int
    explicit: bool


class Below(msgspec.Struct, gc=False):
    """The records at a node and below it."""

    first: int = 0  # when something new is said for the first time, in file order; 0: never
    last: int = 0
    lead: NodeId | None = None  # the first message on the newest way
    n_unanswered: int = 0
    has_result: bool = False

    def take(self, other: Below) -> None:
        """Add the records below a child."""
        if other.last > self.last:
            self.last = other.last
            self.lead = other.lead
        if other.first:
            self.first = min(self.first or other.first, other.first)
        self.n_unanswered += other.n_unanswered
        self.has_result = self.has_result or other.has_result

    def overlaps(self, other: Below) -> bool:
        """Whether both grew in turns, as under two writers; after a rewind the old way is silent."""
        return self.first < other.last and other.first < self.last


class Ways:
    """The branches of a forest."""

    def __init__(self, forest: Forest, mark: Mark | None, retracted: AbstractSet[NodeId]) -> None:
        self.forest = forest
        self._nodes = forest.nodes
        self._retracted = retracted
        self._mark = mark if mark is not None and mark.leaf in forest.nodes else None
        self._request: dict[NodeId, str | None] = {}  # the answer that a node belongs to
        self._passed: set[str] = set()  # answers after which something new was said
        self._message: dict[NodeId, NodeId | None] = {}  # the nearest one that is not aside, here or above
        self._speaks: set[NodeId] = set()
        self._below: dict[NodeId, Below] = {}
        self._look_down()
        self._look_up()

    @cached_property
    def leaf(self) -> NodeId | None:
        """The last message of the living branch."""
        if self._mark is None:
            return self._latest(self._nodes) or next(reversed(list(self._nodes)), None)
        below = list(self.forest.walk_down(self._mark.leaf))
        if self._mark.explicit:
            since = [id for id in below if self._nodes[id].order > self._mark.n_written]
            return self._latest(since) or self._mark.leaf
        return self._latest(below) or self._message[self._mark.leaf] or self._mark.leaf

    def history(self, leaf: NodeId | None = None) -> list[NodeId]:
        """From the root to a leaf, over all seams."""
        if leaf is None or leaf == self.leaf:
            return list(self._living)
        return list(self.forest.walk_up(leaf))[::-1] if leaf in self._nodes else []

    @cached_property
    def _living(self) -> list[NodeId]:
        return list(self.forest.walk_up(self.leaf))[::-1]

    def path(self, leaf: NodeId | None = None) -> list[NodeId]:
        """From the root or the last seam to a leaf, with the other blocks and results of each answer."""
        history = self.history(leaf)
        start = next((n for n in range(len(history) - 1, -1, -1) if history[n] in self.forest.boundaries), 0)
        chain = [id for id in history[start:] if id not in self._retracted]
        beside = self._beside(chain, set(history))
        last_block = {self._nodes[id].says: id for id in chain if self._nodes[id].is_answer}
        put_in = {last_block[request]: found for request, found in beside.items()}
        return [id for at in chain for id in (at, *put_in.get(at, ()))]

    @cached_property
    def abandoned(self) -> set[NodeId]:
        """All nodes below a way that was left, and those that were retracted."""
        return {*self._owners, *self._retracted}

    def branches(self) -> list[Branch]:
        """The living branch, then the others in the order of the file."""
        history = self.history()
        main = Branch(
            id=MAIN_BRANCH, parent=None, start=history[0] if history else None, end=self.leaf, is_active=True
        )
        return [main, *(self._branch(fork, head, rival) for fork, head, rival in self._left)]

    def _branch(self, fork: NodeId | None, head: NodeId, rival: NodeId | None) -> Branch:
        return Branch(
            id=head,
            parent=MAIN_BRANCH if fork is None else self._owners.get(fork, MAIN_BRANCH),
            start=fork,
            end=self._ends[head],
            is_active=False,
            why=self._why(head, rival),
            nodes=self._members[head],
        )

    @cached_property
    def _owners(self) -> dict[NodeId, str]:
        """The branch of each node that is not on the main one."""
        heads = {head for _, head, _ in self._left}
        of: dict[NodeId, str] = {}
        for id in self.forest.downwards if heads else ():
            parent = self.forest.up[id]
            branch = str(id) if id in heads else of.get(parent) if parent is not None else None
            if branch is not None:
                of[id] = branch
        return of

    @cached_property
    def _ends(self) -> dict[str, NodeId]:
        """The last message of each branch that was left, or its last record if it has none."""
        ends: dict[str, NodeId] = {}
        for id, branch in self._owners.items():
            if branch not in ends or self._rank(id) > self._rank(ends[branch]):
                ends[branch] = id
        return ends

    @cached_property
    def _members(self) -> dict[str, list[NodeId]]:
        """The nodes of each branch that was left, in the order of the file."""
        members: dict[str, list[NodeId]] = {}
        for id in sorted(self._owners, key=lambda id: self._nodes[id].order):
            members.setdefault(self._owners[id], []).append(id)
        return members

    def _rank(self, id: NodeId) -> tuple[bool, int]:
        return self._nodes[id].is_message, self._nodes[id].order

    def _look_down(self) -> None:
        """Notes the answer and the message that each node belongs to, and which nodes say something new."""
        up, requests, messages = self.forest.up, self._request, self._message
        for id in self.forest.downwards:
            node, parent = self._nodes[id], up[id]
            above = requests[parent] if parent is not None else None
            is_prompt, is_answer = node.kind == "prompt", node.is_answer
            said = node.says if is_answer else None if is_prompt else above
            requests[id] = said
            messages[id] = id if self._is_spoken(node) else messages[parent] if parent else None
            if node.is_aside or id in self._retracted:
                continue
            if is_prompt or (is_answer and said != above):
                self._speaks.add(id)
                if above is not None:
                    self._passed.add(above)

    def _look_up(self) -> None:
        answered = {call for node in self._nodes.values() if node.kind == "result" for call in node.calls}
        up, found = self.forest.up, self._below
        for id in reversed(self.forest.downwards):
            node, below = self._nodes[id], found.get(id)
            if below is None:
                below = found[id] = Below()
            if id in self._speaks:
                below.first = min(below.first or node.born, node.born)
                below.last = max(below.last, node.born)
            if node.kind != "side":
                below.lead = id
            if node.kind == "call":
                below.n_unanswered += sum([call not in answered for call in node.calls])
            elif node.kind == "result":
                below.has_result = True
            parent = up[id]
            if parent is None:
                continue
            if parent not in found:
                found[parent] = Below()
            found[parent].take(below)

    def _latest(self, among: Iterable[NodeId]) -> NodeId | None:
        """Of the messages that nothing follows, the one written last; those aside only if there is no other."""
        among = set(among)
        below = self.forest.children
        ends = {self._message[id] for id in among if id not in below or among.isdisjoint(below[id])}
        found = [id for id in ends if id is not None and id in among and not self._goes_on(id, among)]
        if not found:
            found = [id for id in among if self._nodes[id].is_message and id not in self._retracted]
        return max(found, key=lambda id: self._nodes[id].order, default=None)

    def _goes_on(self, id: NodeId, among: AbstractSet[NodeId]) -> bool:
        return any(child in among and self._is_way(child) for child in self.forest.children.get(id, ()))

    def _is_way(self, id: NodeId) -> bool:
        return self._below[id].last > 0

    def _is_spoken(self, node: Node) -> bool:
        return node.is_message and not node.is_aside and node.id not in self._retracted

    def _beside(self, chain: list[NodeId], history: set[NodeId]) -> dict[str, list[NodeId]]:
        """Blocks and results that the chain passes by, for each answer on it: blocks first, as written."""
        on_chain = {self._nodes[id].says for id in chain if self._nodes[id].is_answer}
        branches = {self._owners.get(id) for id in history}
        found: dict[str, list[NodeId]] = {}
        for id in self._nodes.keys() - history - self._retracted:
            request = self._request_of(self._nodes[id])
            if request is not None and request in on_chain and self._owners.get(id) in branches:
                found.setdefault(request, []).append(id)
        for ids in found.values():
            ids.sort(key=lambda id: (self._nodes[id].kind == "result", self._nodes[id].order))
        return found

    def _request_of(self, node: Node) -> str | None:
        if node.is_answer:
            return node.says
        if node.kind != "result":
            return None
        return next((r for call in node.calls if (r := self._asked_by.get(call))), self._request[node.id])

    @cached_property
    def _asked_by(self) -> dict[str, str | None]:
        return {
            call: node.says for node in self._nodes.values() if node.kind == "call" for call in node.calls
        }

    @cached_property
    def _left(self) -> list[tuple[NodeId | None, NodeId, NodeId | None]]:
        """Each way that was left: the fork, its first node, and the first node of the way that was kept."""
        history = self.history()
        onward = dict(pairwise(history))
        found: list[tuple[NodeId | None, NodeId, NodeId | None]] = list(self._left_at_the_start(history))
        for fork, children in self.forest.children.items():
            if len(children) > 1 or fork == self.leaf:
                found += self._left_at(
                    fork, children, onward.get(fork), is_living=fork in onward or fork == self.leaf
                )
        return sorted(found, key=lambda left: self._nodes[left[1]].born)

    def _left_at_the_start(self, history: list[NodeId]) -> Iterator[tuple[None, NodeId, NodeId]]:
        """A rewind to the very beginning gives a second prompt that follows nothing."""
        starts = [id for id in self.forest.roots if self._nodes[id].parent is None and self._begins(id)]
        if history and history[0] in starts:
            yield from ((None, start, history[0]) for start in starts if start != history[0])

    def _begins(self, root: NodeId) -> bool:
        return root in self._speaks and self._nodes[root].kind == "prompt"

    def _left_at(
        self, fork: NodeId, children: list[NodeId], onward: NodeId | None, *, is_living: bool
    ) -> Iterator[tuple[NodeId, NodeId, NodeId | None]]:
        ways = dict.fromkeys(child for child in children if self._is_way(child))
        kept = onward if is_living else max(ways, key=lambda way: self._below[way].last, default=None)
        for child in children:
            if child != kept and (child in ways or self._is_dropped(child, fork, kept)):
                yield fork, child, kept

    def _is_dropped(self, child: NodeId, fork: NodeId, kept: NodeId | None) -> bool:
        """Whether blocks of an answer were left behind, as a resume does with calls that got no result."""
        request = self._request[fork]
        if request is None or self._request[child] != request or not self._nodes[child].is_answer:
            return False
        below = self._below[child]
        if request in self._passed and below.n_unanswered and not below.has_result:
            return True
        return kept is not None and self._is_way(kept) and self._leads_away(kept, request)

    def _leads_away(self, way: NodeId, request: str) -> bool:
        """Whether a way goes on with neither a result nor a block of the answer that it leaves."""
        lead = self._lead(way)
        return lead.kind != "result" and lead.says != request

    def _lead(self, way: NodeId) -> Node:
        """The first message of a way."""
        return self._nodes[self._below[way].lead or way]

    def _why(self, head: NodeId, rival: NodeId | None) -> WhyBranch:
        """What made the conversation leave a way (docs/branches.md)."""
        if rival is None or not self._is_way(head) or not self._is_way(rival):
            return "rewind"
        old, new = self._lead(head), self._lead(rival)
        if old.writer != new.writer:
            return "fork"
        if self._below[head].overlaps(self._below[rival]):
            return "two_writers"
        is_other_prompt = old.kind == new.kind == "prompt" and old.says != new.says
        return "edit" if is_other_prompt else "rewind"
