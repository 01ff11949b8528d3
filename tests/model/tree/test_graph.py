"""The conversation graph: what is a branch, what is none, and which one is alive.

A conversation is written as rows `id < parent kind says`, in the order of the file: `p` a prompt, `a` an answer, `c` an
answer that asks for the call of its own id, `r` a result (of the call that `says` names), `w` words of the client,
`s` a note beside the conversation; `!` behind the kind puts it aside.
"""

from __future__ import annotations

import pytest

from tracklog.model.events import ModelReplied, NodeSeen, Place, PromptGiven, ToolCalled, ToolReturned
from tracklog.model.ids import CallId, NodeId, RequestId
from tracklog.model.session import Branch
from tracklog.model.tree.graph import Graph
from tracklog.model.tree.nodes import Kind

KINDS: dict[str, Kind] = {"p": "prompt", "a": "answer", "c": "call", "r": "result", "w": "words", "s": "side"}
NOWHERE = "00000000-0000-0000-0000-000000000000"


def write(graph: Graph, rows: str, writer: str | None = None) -> Graph:
    for row in filter(None, rows.splitlines()):
        id, _, parent, kind, *says = row.split()
        said = says[0] if says else None
        calls = (CallId(id),) if kind[0] == "c" else (CallId(said),) if kind[0] == "r" and said else ()
        graph.add(
            NodeId(id),
            None if parent == "-" else NodeId(parent),
            kind=KINDS[kind[0]],
            says=said,
            calls=calls,
            is_aside=kind.endswith("!"),
            writer=writer,
        )
    return graph


def graph_of(rows: str) -> Graph:
    return write(Graph(), rows)


def left(graph: Graph) -> list[tuple[str | None, str, str | None, str | None]]:
    """The ways that were left: where, first node, last message, why."""
    return [(b.start, b.id, b.end, b.why) for b in graph.branches() if not b.is_active]


TURN = """
p1 < - p first
c1 < p1 c R1
r1 < c1 r c1
a1 < r1 a R2
"""
REWOUND = (
    TURN
    + """
p2 < a1 p second
a2 < p2 a R3
p3 < a1 p second
a3 < p3 a R4
"""
)


def test_a_plain_conversation_is_one_branch() -> None:
    graph = graph_of(TURN)
    assert graph.path() == ["p1", "c1", "r1", "a1"]
    assert graph.branches() == [
        Branch(id="main", parent=None, start=NodeId("p1"), end=NodeId("a1"), is_active=True)
    ]
    assert graph.abandoned() == set()


def test_a_graph_without_records_has_no_leaf_and_one_empty_branch() -> None:
    graph = Graph()
    assert (graph.leaf, graph.path(), graph.orphans) == (None, [], [])
    assert graph.branches() == [Branch(id="main", parent=None, start=None, end=None, is_active=True)]


def test_the_same_prompt_once_more_is_a_rewind() -> None:
    graph = graph_of(REWOUND)
    assert graph.path() == ["p1", "c1", "r1", "a1", "p3", "a3"]
    assert left(graph) == [("a1", "p2", "a2", "rewind")]
    assert graph.abandoned() == {"p2", "a2"}


def test_another_prompt_in_its_place_is_an_edit() -> None:
    graph = graph_of(REWOUND.replace("p3 < a1 p second", "p3 < a1 p other"))
    assert left(graph) == [("a1", "p2", "a2", "edit")]


def test_ways_that_grow_in_turns_have_two_writers() -> None:
    graph = graph_of(
        TURN
        + "p2 < a1 p x\np3 < a1 p y\na2 < p2 a R3\na3 < p3 a R4\np4 < a2 p x2\na4 < p4 a R5\na5 < a3 a R6"
    )
    assert left(graph) == [("a1", "p2", "a4", "two_writers")]


def test_a_way_that_stands_in_another_file_is_a_fork() -> None:
    graph = write(graph_of(TURN), "p2 < a1 p x\na2 < p2 a R3", writer="one")
    write(graph, "p3 < a1 p y\na3 < p3 a R4", writer="two")
    assert left(graph) == [("a1", "p2", "a2", "fork")]


def test_a_rewind_to_the_very_beginning_leaves_the_first_prompt() -> None:
    graph = graph_of(TURN + "q1 < - p first\nb1 < q1 a R9")
    assert graph.path() == ["q1", "b1"]
    assert left(graph) == [(None, "p1", "a1", "rewind")]


def test_a_fork_on_a_way_that_was_left_belongs_to_that_way() -> None:
    graph = graph_of(
        TURN
        + "p2 < a1 p x\na2 < p2 a R3\nq < a2 p u\nq1 < q a R4\nv < a2 p w\nv1 < v a R5\np3 < a1 p y\na3 < p3 a R6"
    )
    assert [(b.id, b.parent, b.start, b.end) for b in graph.branches()] == [
        ("main", None, "p1", "a3"),
        ("p2", "main", "a1", "v1"),
        ("q", "p2", "a2", "q1"),
    ]
    assert graph.path(NodeId("q1")) == ["p1", "c1", "r1", "a1", "p2", "a2", "q", "q1"]


@pytest.mark.parametrize(
    ("what", "rows", "path"),
    [
        (
            "results of parallel calls",
            "p < - p x\nc1 < p c R1\nc2 < c1 c R1\nr2 < c2 r c2\nr1 < c1 r c1\na < r2 a R2",
            ["p", "c1", "c2", "r1", "r2", "a"],
        ),
        (
            "parallel calls of which the first one's result goes on",
            "p < - p x\nc1 < p c R1\nc2 < c1 c R1\nr2 < c2 r c2\nr1 < c1 r c1\na < r1 a R2",
            ["p", "c1", "c2", "r2", "r1", "a"],
        ),
        (
            "hooks beside a result",
            "p < - p x\nc < p c R1\nh < c s\nr < c r c\nh2 < c s\na < r a R2",
            ["p", "c", "r", "a"],
        ),
        (
            "progress between call and result",
            "p < - p x\nc < p c R1\ng < c s\ng2 < g s\nr < g2 r c\na < r a R2",
            ["p", "c", "g", "g2", "r", "a"],
        ),
        (
            "a command that nobody answered",
            "p < - p x\na < p a R1\nm < a w!\nx < m w\ny < x s\nn < m a R2\nq < n p y",
            ["p", "a", "m", "n", "q"],
        ),
        (
            "a sidechain on the same node",
            "p < - p x\nt < p p! inner\nu < t a! R5\na < p a R1",
            ["p", "a"],
        ),
    ],
)
def test_what_looks_like_a_fork_and_is_none(what: str, rows: str, path: list[str]) -> None:
    graph = graph_of(rows)
    assert (left(graph), graph.abandoned()) == ([], set())
    assert graph.path() == path


def test_a_resume_past_calls_without_result_leaves_them() -> None:
    graph = graph_of("p < - p x\na < p a R1\nc1 < a c R1\nc2 < c1 c R1\nq < a p on\nb < q a R2")
    assert left(graph) == [("a", "c1", "c2", "rewind")]
    assert graph.path() == ["p", "a", "q", "b"]


def test_a_resume_past_a_call_that_began_the_answer_leaves_it() -> None:
    graph = graph_of("p < - p x\nc < p c R1\nm < p w!\nn < m a R2\nq < n p on")
    assert left(graph) == [("p", "c", "c", "rewind")]


def test_of_parallel_calls_only_the_one_without_result_is_left() -> None:
    graph = graph_of("p < - p x\nc1 < p c R1\nc2 < c1 c R1\nr1 < c1 r c1\nq < r1 p on\nb < q a R2")
    assert graph.abandoned() == {"c2"}


def test_a_call_without_result_is_not_left_before_the_conversation_went_on() -> None:
    graph = graph_of("p < - p x\nc1 < p c R1\nc2 < c1 c R1\nr1 < c1 r c1")
    assert graph.abandoned() == set()
    assert graph.path() == ["p", "c1", "c2", "r1"]


def test_a_result_that_hangs_elsewhere_is_found_by_its_call() -> None:
    graph = graph_of("p < - p x\nc1 < p c R1\nc2 < c1 c R1\nr2 < c2 r c2\nh < p s\nr1 < h r c1\na < r2 a R2")
    assert graph.path() == ["p", "c1", "c2", "r1", "r2", "a"]


def test_the_mark_of_the_client_beats_what_was_written_last() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a2"))
    assert graph.leaf == "a2"
    assert left(graph) == [("a1", "p3", "a3", "rewind")]


def test_what_was_written_below_the_mark_goes_on() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a2"))
    write(graph, "p4 < a2 p more\na4 < p4 a R5")
    assert graph.leaf == "a4"


def test_a_mark_that_stands_before_its_record_waits_for_it() -> None:
    graph = graph_of(TURN)
    graph.mark(NodeId("late"))
    assert graph.leaf == "a1"
    write(graph, "late < a1 s\np9 < c1 p elsewhere")
    assert graph.leaf == "a1"


def test_only_the_newest_mark_counts_and_at_a_rewind_it_points_nowhere() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a2"))
    graph.mark(NodeId(NOWHERE), explicit=True)
    assert graph.leaf == "a3"


def test_a_mark_without_a_leaf_says_nothing() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a2"))
    graph.mark(None)
    assert graph.leaf == "a2"


def test_a_plain_mark_takes_along_what_was_written_below_it_before() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a1"))
    assert graph.leaf == "a3"


def test_an_explicit_mark_leaves_what_was_written_below_it_before() -> None:
    graph = graph_of(REWOUND)
    graph.mark(NodeId("a1"), explicit=True)
    assert graph.path() == ["p1", "c1", "r1", "a1"]
    assert graph.abandoned() == {"p2", "a2", "p3", "a3"}
    write(graph, "p4 < a1 p anew")
    assert graph.leaf == "p4"


def test_words_that_the_client_put_in_last_do_not_end_their_branch() -> None:
    graph = graph_of(TURN + "p3 < a1 p y\na3 < p3 a R4\np2 < a1 p x\na2 < p2 a R3\nm < a2 w!")
    assert graph.leaf == "a2"


def test_a_log_of_a_teammate_alone_has_a_leaf_too() -> None:
    assert graph_of("p < - p! x\na < p a! R1").path() == ["p", "a"]


COMPACTED = TURN + "b < - s\ns < b w\np2 < s p on\na2 < p2 a R3"


def test_a_compaction_is_no_branch_and_the_path_begins_at_it() -> None:
    graph = graph_of(COMPACTED)
    graph.compacted(NodeId("b"), logical_parent=NodeId("a1"))
    assert graph.path() == ["b", "s", "p2", "a2"]
    assert graph.history() == ["p1", "c1", "r1", "a1", "b", "s", "p2", "a2"]
    assert (left(graph), graph.abandoned()) == ([], set())


def test_what_a_compaction_kept_stands_behind_its_summary() -> None:
    graph = graph_of(COMPACTED)
    graph.compacted(
        NodeId("b"), logical_parent=NodeId("a1"), head=NodeId("r1"), anchor=NodeId("s"), tail=NodeId("a1")
    )
    assert graph.path() == ["b", "s", "r1", "a1", "p2", "a2"]
    assert graph.history() == ["p1", "c1", "b", "s", "r1", "a1", "p2", "a2"]


def test_records_that_hang_on_the_kept_tail_follow_the_summary_too() -> None:
    graph = graph_of(TURN + "b < - s\ns < b w\nf < s s\np2 < a1 p on\na2 < p2 a R3")
    graph.compacted(
        NodeId("b"), logical_parent=NodeId("a1"), head=NodeId("a1"), anchor=NodeId("s"), tail=NodeId("a1")
    )
    assert graph.path() == ["b", "s", "a1", "p2", "a2"]
    assert left(graph) == []


def test_a_mark_before_a_compaction_leads_over_it() -> None:
    graph = graph_of(COMPACTED)
    graph.mark(NodeId("a1"))
    graph.compacted(NodeId("b"), logical_parent=NodeId("a1"))
    assert graph.leaf == "a2"


def test_a_compaction_that_follows_itself_ends_every_walk() -> None:
    graph = graph_of(COMPACTED)
    graph.compacted(NodeId("b"), logical_parent=NodeId("a2"))
    assert set(graph.history()) == {"b", "s", "p2", "a2"}


def test_a_compaction_whose_kept_records_stand_nowhere_keeps_none() -> None:
    graph = graph_of(COMPACTED)
    graph.compacted(
        NodeId("b"), logical_parent=NodeId("a1"), head=NodeId("?"), anchor=NodeId("s"), tail=NodeId("a1")
    )
    assert graph.path() == ["b", "s", "p2", "a2"]


def test_retracted_records_leave_the_path_and_make_no_branch() -> None:
    graph = graph_of(TURN + "x < a1 a R7\ny < a1 a R8")
    graph.retract([NodeId("x"), NodeId("not there")])
    assert graph.path() == ["p1", "c1", "r1", "a1", "y"]
    assert (left(graph), graph.abandoned()) == ([], {"x"})


def test_orphans_self_parents_and_circles_are_listed_and_end_every_walk() -> None:
    graph = graph_of("o < gone p x\na < o a R1\ns < s p y\nx < z p k\ny < x a R2\nz < y p l")
    assert graph.orphans == ["o", "s", "x"]
    assert graph.path(NodeId("z")) == ["x", "y", "z"]
    assert graph.path(NodeId("a")) == ["o", "a"]
    assert graph.path(NodeId("unheard of")) == []


def test_a_record_written_again_counts_as_it_stands_last() -> None:
    graph = graph_of("p < - p x\na < p a R1\nb < p a R1\nb < a a R2\np < - p x")
    assert graph.path() == ["p", "a", "b"]
    assert left(graph) == []


def test_a_parent_may_come_after_its_child() -> None:
    assert graph_of("r < c r c\np < - p x\nc < p c R1\na < r a R2").path() == ["p", "c", "r", "a"]


def test_events_of_one_record_make_one_node() -> None:
    graph = Graph()
    for event in _events():
        graph.see(event)
    assert graph.path() == ["p", "c", "r"]
    assert [(node.kind, node.says, tuple(node.calls)) for node in graph.nodes.values()] == [
        ("prompt", "hello", ()),
        ("call", "R1", ("k1", "k2")),
        ("result", None, ("k1", "k2")),
        ("side", None, ()),
    ]


def _events() -> list[PromptGiven | ModelReplied | ToolCalled | ToolReturned | NodeSeen]:
    prompt, call, result = NodeId("p"), NodeId("c"), NodeId("r")
    places = [Place("log", line) for line in range(1, 5)]
    request = RequestId("R1")
    calls = [CallId("k1"), CallId("k2")]
    return [
        PromptGiven(place=places[0], node=prompt, text="hello"),
        ModelReplied(place=places[1], node=call, parent=prompt, request=request),
        *(
            ToolCalled(place=places[1], node=call, parent=prompt, request=request, call=id, name="Bash")
            for id in calls
        ),
        *(ToolReturned(place=places[2], node=result, parent=call, call=id, said="ok") for id in calls),
        NodeSeen(place=places[3], node=NodeId("t"), parent=result, kind="system/turn_duration"),
    ]


def test_a_chain_of_twenty_thousand_records_is_walked_without_recursion() -> None:
    graph = Graph()
    kinds: list[Kind] = ["prompt", "answer", "side"]
    for n in range(20_000):
        graph.add(NodeId(str(n)), NodeId(str(n - 1)) if n else None, kind=kinds[n % 3], says=f"R{n}")
    assert (len(graph.path()), graph.leaf, len(graph.branches())) == (20_000, "19999", 1)
