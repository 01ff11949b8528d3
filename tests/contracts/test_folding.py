"""The contracts of folding: live equals batch, the order of files means nothing, every call has one verdict, nothing raises."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.logs import FILES, READERS, some_log
from tests.contracts.stories import agent_lines, stories, tangled
from tests.model.lines import Line, folded, log, reply, result, session, use, user
from tests.soak import examples
from tracklog.agents.claude_code.translate import translator as claude_translator
from tracklog.agents.codex.translate import translator as codex_translator
from tracklog.model.assemble.session import assemble
from tracklog.model.events import LogEvent
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, SessionId
from tracklog.model.session import Session
from tracklog.sources.lines import cut

often = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TRANSLATORS: dict[str, type[claude_translator.ClaudeTranslator] | type[codex_translator.CodexTranslator]] = {
    "claude": claude_translator.ClaudeTranslator,
    "codex": codex_translator.CodexTranslator,
}
PATH = "one.jsonl"
agents = pytest.mark.parametrize("agent", TRANSLATORS)
files = pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))


def told_by(agent: str, text: bytes) -> list[list[LogEvent]]:
    """What each piece of a log tells."""
    translator = TRANSLATORS[agent](PATH)
    return [translator.translate(piece) for piece in READERS[agent].read(cut([text]))]


def made_of(agent: str, *folds: FileFold) -> Session:
    return assemble(folds, session=SessionId("s1"), agent=agent)


def at_once(agent: str, text: bytes) -> Session:
    fold = FileFold(PATH, MAIN)
    fold.add(event for events in told_by(agent, text) for event in events)
    return made_of(agent, fold)


def in_two_halves(agent: str, text: bytes, split: int) -> Session:
    """The session of a log that was asked for when only its first lines had come."""
    fold, told = FileFold(PATH, MAIN), told_by(agent, text)
    for events in told[:split]:
        fold.add(events)
    made_of(agent, fold)
    for events in told[split:]:
        fold.add(events)
    return made_of(agent, fold)


def line_by_line(agent: str, text: bytes) -> Session:
    fold = FileFold(PATH, MAIN)
    for events in told_by(agent, text):
        fold.add(events)
        made_of(agent, fold)
    return made_of(agent, fold)


@often
@given(lines=stories() | tangled(), split=st.integers(0, 20))
def test_a_log_folded_in_two_halves_is_the_log_folded_at_once(lines: list[Line], split: int) -> None:
    assert in_two_halves("claude", log(lines), split) == at_once("claude", log(lines))


@files
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_what_real_clients_wrote_is_folded_in_two_halves_as_at_once(path: Path, data: st.DataObject) -> None:
    agent, text = path.parts[-3], path.read_bytes()
    split = data.draw(st.integers(0, text.count(b"\n")))
    assert in_two_halves(agent, text, split) == at_once(agent, text)


@files
def test_what_real_clients_wrote_may_be_asked_for_at_every_line(path: Path) -> None:
    agent, text = path.parts[-3], path.read_bytes()
    assert line_by_line(agent, text) == at_once(agent, text)


@files
def test_every_call_of_real_clients_has_a_result_and_a_sure_verdict(path: Path) -> None:
    made = at_once(path.parts[-3], path.read_bytes())
    assert made.calls
    assert {call.verdict for call in made.calls} <= {"ok", "error", "blocked"}
    assert [call.id for call in made.calls if call.sureness != "stated" or not call.results] == []
    assert (made.strays, made.problems) == ([], [])


@often
@given(
    main=stories(), first=stories(max_steps=6), second=stories(max_steps=6), order=st.permutations([0, 1, 2])
)
def test_the_order_of_files_means_nothing(
    main: list[Line], first: list[Line], second: list[Line], order: list[int]
) -> None:
    folds = [
        folded(*main),
        folded(*agent_lines(first, "a1"), path="agent-a1.jsonl", thread="a1"),
        folded(*agent_lines(second, "a2"), path="agent-a2.jsonl", thread="a2"),
    ]
    assert made_of("claude", *[folds[n] for n in order]) == made_of("claude", *folds)


@often
@given(lines=stories() | tangled())
def test_every_wish_has_exactly_one_verdict(lines: list[Line]) -> None:
    wished = {
        block["id"]
        for line in lines
        for block in (line.get("message") or {}).get("content") or []
        if isinstance(block, dict) and block["type"] == "tool_use"
    }
    made = session(*lines)
    assert Counter(call.id for call in made.calls) == Counter(wished)
    assert all(call.evidence and call.why for call in made.calls)


@often
@given(lines=stories() | tangled())
def test_every_request_and_call_stands_in_one_turn(lines: list[Line]) -> None:
    made = session(*lines)
    assert Counter(id for turn in made.turns for id in turn.requests) == Counter(
        r.id for r in made.main.requests
    )
    assert Counter(id for turn in made.turns for id in turn.calls) == Counter(c.id for c in made.main.calls)
    assert {call.id: call.turn for call in made.main.calls} == {
        id: turn.n for turn in made.turns for id in turn.calls
    }


@often
@given(lines=stories())
def test_a_session_told_twice_is_the_same(lines: list[Line]) -> None:
    fold = folded(*lines)
    assert made_of("claude", fold) == made_of("claude", fold)


@st.composite
def woven(draw: st.DrawFn) -> tuple[list[Line], list[Line]]:
    """The chunk lines of several requests one request after the other, and the same lines woven into each other."""
    prompts = [user(f"u{n}", None, f"ask {n}") for n in range(3)]
    requests = [chunks(n, draw(st.integers(1, 4))) for n in range(3)]
    whole = [*prompts, *(line for lines in requests for line in lines)]
    left = [list(lines) for lines in requests]
    mixed = list(prompts)
    while any(left):
        mixed.append(draw(st.sampled_from([lines for lines in left if lines])).pop(0))
    return whole, mixed


def chunks(n: int, n_chunks: int) -> list[Line]:
    """A request of several lines that all hang on each other, with the result of each call behind it."""
    lines: list[Line] = []
    parent = f"u{n}"
    for k in range(n_chunks):
        id = f"a{n}{k}"
        lines.append(reply(id, parent, f"m{n}", f"words {k}", use(f"c{n}{k}")))
        lines.append(result(f"r{n}{k}", id, f"c{n}{k}"))
        parent = id
    return lines


@often
@given(logs=woven())
def test_any_interleaving_of_chunks_gives_the_same_requests(logs: tuple[list[Line], list[Line]]) -> None:
    whole, mixed = (session(*lines) for lines in logs)
    one, other = (
        {r.id: (r.text, r.calls, r.turn, r.node, len(r.places)) for r in made.requests}
        for made in (whole, mixed)
    )
    assert one == other
    assert {c.id: (c.verdict, c.parallel_with, c.turn) for c in whole.calls} == {
        c.id: (c.verdict, c.parallel_with, c.turn) for c in mixed.calls
    }


@agents
@often
@given(data=st.data())
def test_folding_is_total(agent: str, data: st.DataObject) -> None:
    text = data.draw(some_log(agent))
    made = at_once(agent, text)
    assert in_two_halves(agent, text, data.draw(st.integers(0, 6))) == made
    assert [
        event for events in told_by(agent, text) for event in events if not isinstance(event, LogEvent)
    ] == []


@often
@given(lines=tangled())
def test_the_same_tangled_log_as_that_of_a_subagent_never_raises(lines: list[Line]) -> None:
    made = session(
        user("u", None, "go"), folded(*agent_lines(lines, "a1"), path="agent-a1.jsonl", thread="a1")
    )
    assert {thread.id for thread in made.threads} <= {"main", "a1"}


@often
@given(lines=tangled())
def test_in_a_tangle_of_inline_sidechains_each_call_is_told_once(lines: list[Line]) -> None:
    sides = [
        {**line, "isSidechain": True} if line.get("uuid", "n0")[-1] in "13579" else line for line in lines
    ]
    ids = [call.id for call in session(*sides).calls]
    assert len(ids) == len(set(ids))


def test_a_long_chain_of_records_is_folded_without_recursion() -> None:
    lines = [user("n0", None, "go"), *(reply(f"n{n}", f"n{n - 1}", f"m{n}", "x") for n in range(1, 3000))]
    for order in (lines, lines[::-1]):
        made = session(*order)
        assert (len(made.requests), len(made.turns)) == (2999, 1)
