"""Hidden spending: the client's totals, less all that the logs tell of."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.test_ledger import NOON, few_examples, sight
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.unlogged_spending import Statement, hidden_in, plain
from tracklog.model.usage import (
    NO_USAGE,
    Aside,
    ClientTotals,
    Hidden,
    Sight,
    Source,
    Tokens,
    UsageBlock,
    pack,
)

NAMES = ["", "opus", "haiku"]
OPUS, HAIKU = 1, 2
COMPACT = "requests that no transcript holds, such as /compact"
END = 1000  # where totals stand


def cost(model: str | None, tokens: Tokens, at: int, *, terms: str = "") -> int | None:
    """A pico-dollar for every token; the haiku has no price."""
    return None if model == "haiku" else tokens.prompt + tokens.output


def totals(offset: int = END, stated: int | None = None, **models: tuple[Tokens, int | None]) -> ClientTotals:
    figures = {name: (_figures(tokens), spent) for name, (tokens, spent) in models.items()}
    return ClientTotals(offset, stated, figures)


def _figures(tokens: Tokens) -> tuple[int, ...]:
    cache = (tokens.cache_write, tokens.cache_write_5m, tokens.cache_write_1h, tokens.cache_read)
    return (tokens.input, tokens.output, tokens.reasoning, *cache, tokens.web_searches)


def told(file: int, rows: dict[str, Sight], of: ClientTotals | None, **more: Any) -> UsageBlock:
    keys = [key.encode() for key in rows]
    packed = b"".join(pack(*row) for row in rows.values())
    return UsageBlock(file=file, names=list(NAMES), keys=keys, rows=packed, totals=of, **more)


def ledger(*blocks: UsageBlock, sources: list[Source] | None = None) -> Ledger:
    made = Ledger(sources or [Source(f"f{n}", "claude", f"s{n}", "main") for n in range(len(blocks))])
    for block in blocks:
        made.take(block)
    made.settle()
    return made


def found_in(
    *blocks: UsageBlock, sources: list[Source] | None = None
) -> list[tuple[str, str | None, Tokens, int | None]]:
    hidden, _ = hidden_in(ledger(*blocks, sources=sources), cost)
    return [(one.session, one.model, one.tokens, one.cost_pico_usd) for one in hidden]


def request(file: int = 0, offset: int = 10, **known: Any) -> Sight:
    return sight(file, offset, **({"at": NOON, "model": OPUS, "input": 5, "output": 7} | known))


ONE = Tokens(5, 7)


def test_without_totals_nothing_is_hidden() -> None:
    assert hidden_in(ledger(told(0, {"a": request()}, None)), cost) == ([], {})


def test_totals_that_the_log_accounts_for_hide_nothing() -> None:
    made = ledger(told(0, {"a": request()}, totals(stated=50, opus=(ONE, 12))))
    assert hidden_in(made, cost) == ([], {"s0": Statement(50, 1)})


def test_what_totals_hold_beyond_the_log_is_hidden() -> None:
    beyond = Tokens(105, 27, 0, 30, 10, 20, 40)
    made = ledger(told(0, {"a": request()}, totals(opus=(beyond, 212))))
    hidden, statements = hidden_in(made, cost)
    assert hidden == [
        Hidden(
            session="s0",
            agent="claude",
            what=COMPACT,
            model="opus",
            tokens=Tokens(100, 20, 0, 30, 10, 20, 40),
            cost_pico_usd=200,
            at="2026-03-04T12:00:00.000Z",
        )
    ]
    assert statements == {}


def test_a_model_that_only_the_totals_know_is_hidden_whole() -> None:
    made = told(0, {"a": request()}, totals(opus=(ONE, 12), haiku=(Tokens(9, 9), None)))
    assert found_in(made) == [("s0", "haiku", Tokens(9, 9), None)]


def test_searches_are_called_by_their_name() -> None:
    made = ledger(told(0, {"a": request()}, totals(haiku=(Tokens(9, 9, web_searches=2), 5))))
    assert [one.what for one in hidden_in(made, cost)[0]] == ["web search"]


def test_the_mark_of_a_long_context_is_no_other_model() -> None:
    made = totals(opus=(ONE, 12))
    made.models = {"opus[1m]": made.models["opus"]}
    assert found_in(told(0, {"a": request()}, made)) == []
    assert [plain(name) for name in ("opus[1m]", "opus", None, "[1m]opus")] == [
        "opus",
        "opus",
        "",
        "[1m]opus",
    ]


def test_what_stands_behind_the_totals_is_not_in_them() -> None:
    rows = {"a": request(), "b": request(offset=END + 1, at=NOON + 1, input=50)}
    assert found_in(told(0, rows, totals(opus=(Tokens(8, 7), 15)))) == [("s0", "opus", Tokens(3), 3)]


def test_where_the_log_tells_more_than_the_totals_nothing_is_claimed() -> None:
    rows = {"a": request(), "b": request(offset=20, output=9)}
    assert found_in(told(0, rows, totals(opus=(Tokens(100, 7), 107)))) == []


def test_an_interrupted_answer_may_not_be_counted_by_the_client() -> None:
    rows = {"a": request(), "b": request(offset=20, has_ended=False)}
    assert found_in(told(0, rows, totals(opus=(ONE, 12)))) == []
    assert found_in(told(0, rows, totals(opus=(Tokens(10, 14), 24)))) == []


BEHIND = {"a": request(), "b": request(offset=END + 1, at=NOON + 1, input=3, output=2, has_ended=False)}


def test_an_interrupted_answer_that_stands_behind_the_totals_may_be_in_them() -> None:
    """2.1.326 writes its totals first, and counts more of the answer than its lines tell."""
    assert found_in(told(0, BEHIND, totals(opus=(Tokens(8, 9), 17)))) == []
    assert found_in(told(0, BEHIND, totals(opus=(Tokens(8, 16), 24)))) == []
    assert found_in(told(0, BEHIND, totals(opus=(Tokens(48, 9), 57)))) == [("s0", "opus", Tokens(40), 40)]
    assert found_in(told(0, BEHIND, totals(opus=(ONE, 12)))) == []


def test_only_the_first_request_behind_the_totals_can_be_the_one_that_was_interrupted() -> None:
    rows = {
        **BEHIND,
        "b": request(offset=END + 1, at=NOON + 1),
        "c": request(offset=END + 9, at=NOON + 2, has_ended=False),
    }
    assert found_in(told(0, rows, totals(opus=(Tokens(10, 14), 24)))) == [("s0", "opus", ONE, 12)]


def test_a_request_without_usage_takes_nothing_off() -> None:
    rows = {"a": request(), "b": request(offset=20, output=NO_USAGE)}
    assert found_in(told(0, rows, totals(opus=(Tokens(6, 7), 13)))) == [("s0", "opus", Tokens(1), 1)]


def test_what_a_killed_process_did_is_not_in_the_totals() -> None:
    rows = {"a": request(), "b": request(offset=20, at=NOON + 50)}
    of = totals(opus=(Tokens(6, 7), 13))
    of.apart = [(NOON + 40, NOON + 60)]
    assert found_in(told(0, rows, of)) == [("s0", "opus", Tokens(1), 1)]


def test_advisors_are_in_the_totals_and_compactions_are_not() -> None:
    beside: list[tuple[str, str | None, tuple[int, ...]]] = [
        ("advisor", "haiku", (3, 4, 0, 0, 0, 0, 0, 0)),
        ("compaction", "opus", (9, 9, 0, 0, 0, 0, 0, 0)),
    ]
    made = told(
        0, {"a": request()}, totals(opus=(ONE, 12), haiku=(Tokens(3, 4), 0)), asides={0: Aside([], beside)}
    )
    assert found_in(made) == []


def test_a_subagents_file_counts_as_far_as_the_main_one_had_come() -> None:
    sources = [Source("f0", "claude", "s0", "main"), Source("f1", "claude", "s0", "agent-1", is_main=False)]
    agent = told(1, {"b": request(1), "c": request(1, offset=5000, at=NOON + 90)}, None)
    main = told(
        0, {"a": request(), "z": request(offset=END + 1, at=NOON + 80)}, totals(opus=(Tokens(10, 14), 24))
    )
    assert found_in(main, agent, sources=sources) == []
    quiet = told(0, {"a": request()}, totals(opus=(Tokens(15, 21), 36)))
    assert found_in(quiet, agent, sources=sources) == []


def fork(file: int, *, beyond: int = 0, inherited: int = 0, at: int = 100) -> UsageBlock:
    """A session that copied its parent's request, made one of its own, and hides something."""
    copy = request(file, first_is_copy=True)
    own = request(file, offset=20, at=NOON + at)
    used = Tokens(10 + beyond + inherited, 14)
    return told(
        file, {"a": copy, f"own-{file}": own}, totals(stated=used.prompt + 14, opus=(used, used.prompt + 14))
    )


def parent(*, beyond: int = 0) -> UsageBlock:
    used = Tokens(5 + beyond, 7)
    return told(0, {"a": request()}, totals(stated=used.prompt + 7, opus=(used, used.prompt + 7)))


def test_a_fork_takes_off_what_it_copied() -> None:
    assert found_in(parent(), fork(1)) == []
    assert found_in(parent(), fork(1, beyond=3)) == [("s1", "opus", Tokens(3), 3)]


def test_a_fork_takes_off_what_its_parent_hides() -> None:
    assert found_in(parent(beyond=4), fork(1, inherited=4)) == [("s0", "opus", Tokens(4), 4)]
    assert found_in(parent(beyond=4), fork(1, inherited=4, beyond=3)) == [
        ("s0", "opus", Tokens(4), 4),
        ("s1", "opus", Tokens(3), 3),
    ]


def test_a_fork_states_its_own_cost_alone() -> None:
    _, statements = hidden_in(ledger(parent(beyond=4), fork(1, inherited=4, beyond=3)), cost)
    assert statements == {"s0": Statement(16, 1), "s1": Statement(15, 1)}


def test_a_parent_without_totals_still_owns_what_was_copied() -> None:
    assert found_in(told(0, {"a": request()}, None), fork(1)) == []


def test_sessions_that_hold_requests_of_one_another_are_all_told() -> None:
    first = told(0, {"a": request(), "b": request(0, 20, at=NOON + 9)}, totals(stated=1))
    second = told(1, {"a": request(1, at=NOON + 9), "b": request(1, 20)}, totals(stated=2))
    assert hidden_in(ledger(first, second), cost) == ([], {"s0": Statement(0, 1), "s1": Statement(0, 1)})


@few_examples
@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.randoms(use_true_random=False))
def test_what_each_generation_hides_is_found_once(
    mine: int, childs: int, last: int, dice: random.Random
) -> None:
    grandchild = told(
        2,
        {"a": request(2, first_is_copy=True), "own-1": request(2, 20, at=NOON + 100, first_is_copy=True), "own-2": request(2, 30, at=NOON + 200)},
        totals(opus=(Tokens(15 + mine + childs + last, 21), None)),
    )  # fmt: skip
    blocks = [parent(beyond=mine), fork(1, beyond=childs, inherited=mine), grandchild]
    dice.shuffle(blocks)
    found = {session: tokens.input for session, _, tokens, _ in found_in(*blocks)}
    assert found == {name: n for name, n in (("s0", mine), ("s1", childs), ("s2", last)) if n}


@few_examples
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=5), st.integers(0, 9)
)
def test_figures_in_the_log_and_hidden_ones_are_the_totals(
    spent: list[tuple[int, int, bool]], beyond: int
) -> None:
    rows = {
        str(n): request(offset=n, input=input, output=output, has_ended=ended)
        for n, (input, output, ended) in enumerate(spent)
    }
    whole = Tokens(sum(one[0] for one in spent) + beyond, sum(one[1] for one in spent))
    found = found_in(told(0, rows, totals(opus=(whole, None))))
    assert [tokens for _, _, tokens, _ in found] == ([Tokens(beyond)] if beyond else [])


@pytest.mark.parametrize("n_forks", [2, 30])
def test_a_long_chain_of_forks_hides_only_what_each_adds(n_forks: int) -> None:
    blocks = [parent(beyond=1)]
    for n in range(1, n_forks):
        rows = {"a": request(n, first_is_copy=True)}
        rows |= {
            f"own-{k}": request(n, 20 + k, at=NOON + 100 * k, first_is_copy=k < n) for k in range(1, n + 1)
        }
        used = Tokens(5 * (n + 1) + n + 1, 7 * (n + 1))
        blocks.append(told(n, rows, totals(opus=(used, None))))
    assert [(session, tokens.input) for session, _, tokens, _ in found_in(*blocks)] == [
        (f"s{n}", 1) for n in range(n_forks)
    ]
