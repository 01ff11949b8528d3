from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.stories import agent_lines, stories
from tests.model.lines import LOG, Line, folded, record, reply, result, session, use, user
from tracklog.agents.base import Attached, LogContents
from tracklog.ledger.context_cost import THINGS, Thing, carried
from tracklog.ledger.context_window import PricedUsage, PromptRates
from tracklog.model.events import Place
from tracklog.model.ids import NodeId, RequestId
from tracklog.model.session import Session
from tracklog.model.usage import Tokens

RATES = PromptRates(input=5, cache_read=1, cache_write_5m=7, cache_write_1h=11)


def used(read: int = 0, write: int = 0, input: int = 0, *, output: int = 0) -> PricedUsage:
    return PricedUsage(
        Tokens(input=input, output=output, cache_read=read, cache_write=write), is_final=True, rates=RATES
    )


def contents(*lines: Line, path: str = LOG, attached: tuple[Attached, ...] = ()) -> LogContents:
    """Where the records stand; those of subagents in a main log are left out."""
    nodes = {
        Place(path, n): NodeId(line["uuid"])
        for n, line in enumerate(lines, 1)
        if "uuid" in line and not line.get("isSidechain")
    }
    return LogContents(nodes, list(attached))


def told(things: list[Thing]) -> list[tuple[Any, ...]]:
    """What has a place in the log: its line, kind and name, how often it was read, its tokens and costs."""
    return sorted(
        (
            thing.place.line if thing.place else 0,
            thing.kind,
            thing.name,
            thing.n_reads,
            thing.tokens,
            thing.first_pico_usd,
            thing.again_pico_usd,
        )
        for thing in things
        if thing.kind in THINGS
    )


def reads(things: list[Thing]) -> dict[str, int]:
    """How often each prompt and result was read, by its words or its call."""
    return {thing.text or thing.call or "": thing.n_reads for thing in things if thing.kind in THINGS}


def spending(**requests: PricedUsage) -> dict[RequestId, PricedUsage]:
    return {RequestId(id): spent for id, spent in requests.items()}


def test_a_result_costs_a_write_and_then_a_read_for_each_later_request() -> None:
    lines = [
        user("u1", None, "p" * 400),
        reply("a1", "u1", "m1", use("c1", "Read", file_path="/x")),
        result("r1", "a1", "c1", "x" * 900),
        reply("a2", "r1", "m2", "Done."),
        user("u2", "a2", "And now?"),
        reply("a3", "u2", "m3", "Now this."),
    ]
    spent = spending(
        m1=used(write=1000, output=50),
        m2=used(read=1000, write=350, output=10),
        m3=used(read=1350, write=14),
    )
    things = carried(session(*lines), contents(*lines), spent)
    assert told(things) == [
        (1, "prompt", "typed", 3, 100, 700, 200),
        (3, "result", "Read", 2, 300, 2100, 300),
        (5, "prompt", "typed", 1, 4, 28, 0),
    ]


def test_things_come_dearest_first_and_all_costs_add_up_to_those_of_the_prompts() -> None:
    lines = [
        user("u1", None, "p" * 400),
        reply("a1", "u1", "m1", use("c1")),
        result("r1", "a1", "c1", "x" * 90),
        reply("a2", "r1", "m2", "Done."),
    ]
    things = carried(
        session(*lines),
        contents(*lines),
        spending(m1=used(write=1000, output=50), m2=used(read=1000, input=80)),
    )
    assert [thing.kind for thing in things][:3] == ["beginning", "prompt", "reply"]
    assert sum(thing.cost_pico_usd for thing in things) == 7 * 1000 + 1000 + 5 * 80


def test_what_stands_on_a_branch_that_was_left_is_read_there_alone() -> None:
    lines = [
        user("u1", None, "common"),
        reply("a1", "u1", "m1", "one"),
        user("u2", "a1", "left"),
        reply("a2", "u2", "m2", "two"),
        user("u3", "a1", "living"),
        reply("a3", "u3", "m3", "three"),
    ]
    spent = spending(m1=used(input=100, output=5), m2=used(input=120, output=5), m3=used(input=120))
    assert reads(carried(session(*lines), contents(*lines), spent)) == {"common": 3, "left": 1, "living": 1}


def test_a_compaction_ends_everything_that_it_does_not_keep() -> None:
    metadata = {"trigger": "manual", "preservedMessages": {"uuids": ["r1"]}}
    lines = [
        user("u1", None, "first"),
        reply("a1", "u1", "m1", use("c1")),
        result("r1", "a1", "c1", "x" * 90),
        reply("a2", "r1", "m2", "Done."),
        record("system", "b", None, subtype="compact_boundary", compactMetadata=metadata, content=""),
        user("s", "b", "all that was", isCompactSummary=True),
        user("u2", "s", "second"),
        reply("a3", "u2", "m3", "Yes."),
    ]
    spent = spending(m1=used(input=100, output=5), m2=used(input=140, output=5), m3=used(input=90))
    assert reads(carried(session(*lines), contents(*lines), spent)) == {
        "first": 2,
        "c1": 2,
        "all that was": 1,
        "second": 1,
    }


def test_a_subagent_carries_its_own_things_and_brings_home_one_result() -> None:
    lines = [
        user("u1", None, "Have it counted."),
        reply("a1", "u1", "m1", use("c1", "Agent", prompt="Count.")),
        result("r1", "a1", "c1", "seven", toolUseResult={"status": "completed", "agentId": "a2"}),
        reply("a2", "r1", "m2", "Seven."),
    ]
    inner = agent_lines(
        [
            user("v1", None, "Count."),
            reply("b1", "v1", "n1", use("d1")),
            result("q1", "b1", "d1", "x" * 40),
            reply("b2", "q1", "n2", "seven"),
        ],
        "a2",
    )
    agent = folded(*inner, path="agent-a2.jsonl", thread="a2")
    both = contents(*lines)
    spent = spending(m1=used(input=100), m2=used(input=110), n1=used(input=50), n2=used(input=80))
    things = carried(session(*lines, agent), both, spent)
    found = {
        (thing.thread, thing.call or thing.text): thing.n_reads for thing in things if thing.kind in THINGS
    }
    assert found == {
        ("main", "Have it counted."): 2,
        ("main", "c1"): 1,
        ("a2", "Count."): 2,
        ("a2", "d1"): 1,
    }


def test_attachments_take_their_part_of_the_growth() -> None:
    lines = [
        user("u1", None, "first"),
        reply("a1", "u1", "m1", "one"),
        user("u2", "a1", "x" * 100),
        record("attachment", "f", "u2", attachment={"type": "file", "content": "y" * 300}),
        reply("a2", "f", "m2", "two"),
    ]
    file = Attached(Place(LOG, 4), "file", "notes.md", 300)
    spent = spending(m1=used(input=100, output=5), m2=used(input=205))
    things = carried(session(*lines), contents(*lines, attached=(file,)), spent)
    assert [row[:5] for row in told(things)[1:]] == [
        (3, "prompt", "typed", 1, 25),
        (4, "attachment", "file", 1, 75),
    ]


def test_what_only_the_person_saw_is_not_carried() -> None:
    lines = [
        user("u1", None, "first"),
        record("system", "i", "u1", subtype="informational", content="By the way"),
        reply("a1", "i", "m1", "one"),
    ]
    things = carried(session(*lines), contents(*lines), spending(m1=used(input=100)))
    assert reads(things) == {"first": 1}


def test_without_any_spending_nothing_is_read() -> None:
    lines = [user("u1", None, "first"), reply("a1", "u1", "m1", "one")]
    assert reads(carried(session(*lines), contents(*lines), {})) == {"first": 0}


def n_prompt_pico(one: Session, spent: dict[RequestId, PricedUsage]) -> int:
    """What the prompts of all requests cost, by the definition of each figure."""
    asked = [spent[request.id].tokens for request in one.requests if not request.is_synthetic]
    return sum(5 * t.input + t.cache_read + 7 * t.cache_write for t in asked)


FIGURES = st.tuples(*[st.integers(0, 500)] * 4)


@given(stories(max_steps=25), stories(), st.lists(FIGURES, min_size=1, max_size=30))
def test_whatever_a_session_holds_its_things_cost_no_more_than_its_prompts(
    lines: list[Line], inner: list[Line], figures: list[tuple[int, int, int, int]]
) -> None:
    agent = folded(*agent_lines(inner, "a2"), path="agent-a2.jsonl", thread="a2")
    one = session(*lines, agent)
    spent = {
        request.id: used(*figures[n % len(figures)][:3], output=figures[n % len(figures)][3])
        for n, request in enumerate(one.requests)
    }
    things = carried(one, contents(*lines), spent)
    cost = Counter[bool]()
    for thing in things:
        cost[thing.kind in THINGS] += thing.cost_pico_usd
    total = n_prompt_pico(one, {**spent})
    n_twice = len(one.requests) - len({request.id for request in one.requests})
    if not n_twice:
        assert cost[True] + cost[False] == total
    assert cost[True] <= total
