"""Whatever parents a log names: every walk ends, no node is lost, and growing costs the same at any size."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.model.ids import CallId, NodeId
from tracklog.model.tree.graph import Graph
from tracklog.model.tree.nodes import Kind

IDS = st.integers(0, 12).map(lambda n: NodeId(f"n{n}"))
PARENTS = st.none() | IDS | st.just(NodeId("missing"))
KINDS: list[Kind] = ["prompt", "answer", "call", "result", "words", "side"]


class Added(msgspec.Struct, frozen=True):
    id: NodeId
    parent: NodeId | None
    kind: Kind
    says: str | None
    calls: tuple[CallId, ...]
    is_aside: bool

    def tell(self, graph: Graph) -> None:
        graph.add(
            self.id, self.parent, kind=self.kind, says=self.says, calls=self.calls, is_aside=self.is_aside
        )


class Marked(msgspec.Struct, frozen=True):
    leaf: NodeId | None
    explicit: bool

    def tell(self, graph: Graph) -> None:
        graph.mark(self.leaf, explicit=self.explicit)


class Compacted(msgspec.Struct, frozen=True):
    boundary: NodeId
    ends: tuple[NodeId | None, NodeId | None, NodeId | None, NodeId | None]

    def tell(self, graph: Graph) -> None:
        before, head, anchor, tail = self.ends
        graph.compacted(self.boundary, logical_parent=before, head=head, anchor=anchor, tail=tail)


class Retracted(msgspec.Struct, frozen=True):
    nodes: list[NodeId]

    def tell(self, graph: Graph) -> None:
        graph.retract(self.nodes)


Step = Added | Marked | Compacted | Retracted
CALLS = st.lists(st.sampled_from([CallId("k1"), CallId("k2"), CallId("k3")]), max_size=2).map(tuple)
ADDED = st.builds(
    Added,
    IDS,
    PARENTS,
    st.sampled_from(KINDS),
    st.sampled_from([None, "R1", "R2", "R3"]),
    CALLS,
    st.booleans(),
)
OTHERS = (
    st.builds(Marked, PARENTS, st.booleans())
    | st.builds(Compacted, IDS, st.tuples(PARENTS, PARENTS, PARENTS, PARENTS))
    | st.builds(Retracted, st.lists(IDS, max_size=2))
)
STEPS = st.lists(ADDED | ADDED | ADDED | OTHERS, max_size=40)


def told(steps: list[Step]) -> Graph:
    graph = Graph()
    for step in steps:
        step.tell(graph)
    return graph


def everything(graph: Graph) -> tuple[object, ...]:
    paths = [graph.path(id) for id in graph.nodes]
    return (
        graph.leaf,
        graph.path(),
        graph.history(),
        graph.abandoned(),
        graph.branches(),
        graph.orphans,
        paths,
    )


@given(STEPS)
def test_every_walk_ends_and_names_each_node_once(steps: list[Step]) -> None:
    graph = told(steps)
    for start in [None, *graph.nodes]:
        for walk in (graph.path(start), graph.history(start)):
            assert len(walk) == len(set(walk))
            assert set(walk) <= graph.nodes.keys()


@given(STEPS)
def test_a_node_is_on_the_living_path_or_abandoned_or_beside_it(steps: list[Step]) -> None:
    graph = told(steps)
    living, abandoned = set(graph.path()), graph.abandoned()
    assert not living & abandoned
    assert living | abandoned <= graph.nodes.keys()
    assert (graph.leaf is None) == (not graph.nodes)


@given(STEPS)
def test_the_branches_that_were_left_hold_the_abandoned_nodes(steps: list[Step]) -> None:
    graph = told([step for step in steps if not isinstance(step, Retracted)])
    main, *others = graph.branches()
    assert main.is_active
    assert {NodeId(branch.id) for branch in others} <= graph.abandoned()
    assert bool(others) == bool(graph.abandoned())
    assert {branch.parent for branch in others} <= {branch.id for branch in (main, *others)}
    assert graph.leaf not in graph.abandoned()


@given(STEPS, st.integers(0, 40))
def test_told_in_two_halves_is_told_at_once(steps: list[Step], cut: int) -> None:
    graph = told(steps[:cut])
    everything(graph)
    for step in steps[cut:]:
        step.tell(graph)
    assert everything(graph) == everything(told(steps))


@given(st.permutations(range(8)))
def test_the_order_in_the_file_does_not_change_a_path(order: list[int]) -> None:
    graph = Graph()
    for n in order:
        graph.add(NodeId(str(n)), NodeId(str(n - 1)) if n else None, kind="prompt", says="x")
    assert graph.path() == [str(n) for n in range(8)]


@contextmanager
def counted_lines() -> Iterator[list[int]]:
    """Counts the lines of Python that run: steps, not time."""
    count = [0]

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        count[0] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("kind", KINDS)
def test_adding_takes_as_many_steps_to_a_large_graph_as_to_a_small_one(kind: Kind) -> None:
    steps = {}
    for size in (10, 20_000):
        graph = Graph()
        for n in range(size):
            graph.add(NodeId(str(n)), NodeId(str(n - 1)), kind=kind, says="one request")
        with counted_lines() as count:
            graph.add(NodeId("new"), NodeId(str(size - 1)), kind=kind, says="one request")
            graph.mark(NodeId("new"))
        steps[size] = count[0]
    assert steps[20_000] == steps[10] > 0


@pytest.mark.parametrize("shape", ["chain", "star", "comb", "circle"])
def test_an_answer_takes_steps_in_proportion_to_the_graph(shape: str) -> None:
    small, large = (_steps_to_answer(shape, size) for size in (500, 4_000))
    assert large < 8 * small * 1.5


def _steps_to_answer(shape: str, size: int) -> int:
    graph = Graph()
    for n in range(size):
        parent = {"chain": n - 1, "star": 0, "comb": n - 1 if n % 2 else n - 2, "circle": (n + 1) % size}[
            shape
        ]
        graph.add(NodeId(str(n)), NodeId(str(parent)), kind=KINDS[n % 2], says=f"R{n}")
    with counted_lines() as count:
        graph.path()
        graph.branches()
        graph.abandoned()
    return count[0]
