"""Sums: requests counted first and priced once come to what each of them costs by itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.test_ledger import NAMES, NOON, WORLDS, few_examples, ledger_of, sight
from tracklog.clock import NO_TIME
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices, cost_pico_usd
from tracklog.ledger.pricing import Books, RequestFilter, terms_of
from tracklog.ledger.sums import NO_NAME, GroupKeys, GroupSums, added, step_of, unseen
from tracklog.ledger.unlogged_spending import Statement
from tracklog.model.usage import NO_USAGE, Aside, Awaited, Hidden, Sight, Tokens, UsageBlock, UsageRow, pack

PRICES = Prices.load()
HAIKU, UNKNOWN = 1, 2  # in NAMES
MOST = PRICES.most_output("claude-haiku-5-5")


ALL = GroupKeys(lambda *_: "all")
BY_FILE = GroupKeys(lambda _, one: str(one.first_file))
BY_TIME = GroupKeys(lambda _, one: str(one.first_at), str)


def by_model(ledger: Ledger) -> GroupKeys:
    return GroupKeys(lambda _, one: ledger.model_of(one) or NO_NAME, is_by_model=True)


def sums_of(
    *rows: Sight, asides: dict[int, Aside] | None = None, wanted: RequestFilter | None = None
) -> GroupSums:
    block = UsageBlock(file=0, names=NAMES, keys=[b"%d" % n for n in range(len(rows))], asides=asides or {})
    block.rows = b"".join(pack(*row) for row in rows)
    made = ledger_of([block])
    found = GroupSums(
        Books(made, PRICES, wanted or RequestFilter()), GroupKeys(lambda _, one: str(one.entrypoint))
    )
    found.add_all()
    return found


def total_of(*rows: Sight, **more: Any) -> UsageRow:
    return sums_of(*rows, **more).rows()[1]


def tokens_of(row: Sight) -> Tokens:
    cache = (row.cache_write, row.cache_write_5m, row.cache_write_1h, row.cache_read)
    return Tokens(row.input, max(row.output, 0), row.reasoning, *cache, row.web_searches)


def priced_one_by_one(ledger: Ledger) -> int:
    """What all requests cost, each with its own price."""
    spent = 0
    for number, row in enumerate(ledger.rows()):
        names = ledger.names[row.file]
        at = None if row.first_at == NO_TIME else row.first_at
        rates = PRICES.rates(names[row.model] or None, at, terms_of(names[row.terms]))
        if row.output < 0:
            continue
        spent += cost_pico_usd(tokens_of(row), rates) if rates is not None else 0
        aside = ledger.asides.get(number)
        for what, model, figures in aside.beside if aside else []:
            rates = PRICES.rates(model, at)
            spent += cost_pico_usd(Tokens(*figures), rates) if what == "advisor" and rates is not None else 0
    return spent


@few_examples
@given(WORLDS)
def test_summed_first_and_priced_once_is_the_same_to_the_pico_dollar(told: tuple[UsageBlock, ...]) -> None:
    ledger = ledger_of(told)
    for key_of in (by_model(ledger), ALL, BY_TIME, BY_FILE):
        found = GroupSums(Books(ledger, PRICES, RequestFilter()), key_of)
        found.add_all()
        assert found.rows()[1].cost_pico_usd == priced_one_by_one(ledger)


@few_examples
@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 8), max_size=5))
def test_tokens_are_added_field_by_field(figures: list[tuple[int, ...]]) -> None:
    total = Tokens()
    for one in figures:
        total = added(total, Tokens(*one))
    sums = [sum(column) for column in zip(*figures, strict=True)] or [0] * 8
    assert total == Tokens(*sums)


def test_a_final_request_is_counted_with_all_its_tokens() -> None:
    row = sight(0, at=NOON, model=HAIKU, output=7, input=5, cache_write=4, cache_write_5m=3, cache_write_1h=1)
    row = row._replace(cache_read=9, reasoning=2, web_searches=1)
    cost = 5 * 100_000 + 7 * 500_000 + 3 * 125_000 + 200_000 + 9 * 10_000 + 10**10
    assert total_of(row) == UsageRow(
        key="total",
        requests=1,
        tokens=Tokens(5, 7, 2, 4, 3, 1, 9, 1),
        cost_pico_usd=cost,
        most_output=7,
        most_cost_pico_usd=cost,
        uncached_cost_pico_usd=18 * 100_000 + 7 * 500_000 + 10**10,
        first_at="2026-03-04T12:00:00.000Z",
        last_at="2026-03-04T12:00:00.000Z",
        models=["claude-haiku-5-5"],
    )


def test_a_partial_request_has_its_models_longest_answer_as_bound() -> None:
    total = total_of(sight(0, at=NOON, model=HAIKU, output=7, has_ended=False))
    assert (total.partial_requests, total.tokens.output, total.most_output) == (1, 7, MOST)
    assert (total.cost_pico_usd, total.most_cost_pico_usd) == (7 * 500_000, MOST * 500_000)


def test_a_bound_is_never_below_what_was_seen() -> None:
    total = total_of(sight(0, model=HAIKU, output=MOST + 5, has_ended=False))
    assert (total.tokens.output, total.most_output) == (MOST + 5, MOST + 5)
    assert total.cost_pico_usd == total.most_cost_pico_usd


def test_a_request_without_usage_is_missing_and_has_no_price() -> None:
    total = total_of(sight(0, model=UNKNOWN, output=NO_USAGE, has_ended=False))
    assert (total.requests, total.missing_requests, total.partial_requests) == (1, 1, 0)
    assert (total.unpriced_requests, total.tokens) == (0, Tokens())


def test_a_model_without_a_price_is_unpriced_and_named() -> None:
    found = sums_of(
        sight(0, model=UNKNOWN, output=5), sight(0, 1, output=5), sight(0, 2, model=HAIKU, output=5)
    )
    _, total = found.rows()
    assert (total.requests, total.unpriced_requests, total.cost_pico_usd) == (3, 2, 5 * 500_000)
    assert found.unpriced == {"nobodys-model": 1, NO_NAME: 1}


@pytest.mark.parametrize(
    ("more", "cost"), [({"cache_read": 10_001}, 10_001 * 50_000), ({"cache_write": 10_001}, 10_001 * 625_000)]
)
def test_each_request_is_priced_by_the_size_of_its_own_prompt(more: dict[str, int], cost: int) -> None:
    short, long = sight(0, model=HAIKU, input=100_000), sight(0, 1, model=HAIKU, input=90_000, **more)
    assert total_of(short, long).cost_pico_usd == 100_000 * 100_000 + 90_000 * 500_000 + cost


def test_a_step_of_a_price_is_that_of_the_prompt() -> None:
    rates = PRICES.rates("claude-haiku-5-5")
    assert rates is not None
    assert [step_of(rates, size) is rates for size in (0, 100_000, 100_001)] == [True, True, False]


def test_an_advisor_is_counted_on_top_at_its_own_model_and_is_no_request() -> None:
    aside = Aside([], [("advisor", "claude-opus-4-5", (10, 3, 1, 0, 0, 0, 0, 0))])
    total = total_of(sight(0, model=HAIKU, output=2), asides={0: aside})
    assert (total.requests, total.tokens) == (1, Tokens(10, 5, 1))
    assert total.cost_pico_usd == 2 * 500_000 + 10 * 5_000_000 + 3 * 25_000_000
    assert total.models == ["claude-haiku-5-5", "claude-opus-4-5"]


def test_an_advisor_stands_in_its_own_row_among_models() -> None:
    aside = Aside([], [("advisor", "claude-opus-4-5", (10, 3, 1, 0, 0, 0, 0, 0))])
    rows = pack(*sight(0, at=NOON, model=HAIKU, output=2))
    ledger = ledger_of([UsageBlock(file=0, names=NAMES, keys=[b"k"], rows=rows, asides={0: aside})])
    found = GroupSums(Books(ledger, PRICES, RequestFilter()), by_model(ledger))
    found.add_all()
    rows_found = [(row.key, row.requests, row.tokens, row.first_at) for row in found.rows()[0]]
    noon = "2026-03-04T12:00:00.000Z"
    assert rows_found == [
        ("claude-haiku-5-5", 1, Tokens(output=2), noon),
        ("claude-opus-4-5", 0, Tokens(10, 3, 1), noon),
    ]


def test_a_compaction_is_hidden_and_not_in_the_sums() -> None:
    aside = Aside([], [("compaction", None, (10, 3, 0, 0, 0, 0, 0, 0))])
    found = sums_of(sight(0, at=NOON, model=HAIKU, output=2), asides={0: aside})
    assert found.rows()[1].tokens == Tokens(output=2)
    assert found.compactions == [
        Hidden(
            session="session-a",
            agent="claude",
            what="compaction inside a request",
            model="claude-haiku-5-5",
            tokens=Tokens(10, 3),
            cost_pico_usd=10 * 100_000 + 3 * 500_000,
            at="2026-03-04T12:00:00.000Z",
        )
    ]


def test_what_the_records_state_is_summed_beside() -> None:
    total = total_of(sight(0, output=2), sight(0, 1, output=3), asides={1: Aside([], [], 40)})
    assert (total.stated_pico_usd, total.stated_requests) == (40, 1)


def test_a_clients_total_takes_the_place_of_what_the_records_state() -> None:
    found = sums_of(sight(0, output=2), asides={0: Aside([], [], 40)})
    assert found.rows()[1].stated_pico_usd == 40
    found.note_statements({"0": Statement(90, 1), "not asked for": Statement(5, 5)})
    assert [(row.key, row.stated_pico_usd, row.stated_requests) for row in found.rows()[0]] == [("0", 90, 1)]


def test_an_awaited_request_is_missing_but_none_of_the_requests() -> None:
    found = sums_of(sight(0, at=NOON, model=HAIKU, output=2))
    found.await_one(0, Awaited(9, NOON + 1, UNKNOWN))
    _, total = found.rows()
    assert (total.requests, total.missing_requests, total.awaited_requests, total.unpriced_requests) == (
        1,
        1,
        1,
        0,
    )
    assert (total.last_at, total.models) == (
        "2026-03-04T12:00:00.001Z",
        ["claude-haiku-5-5", "nobodys-model"],
    )


def test_an_unseen_request_stands_where_its_answer_should() -> None:
    row = unseen(3, Awaited(9, NOON, 1))
    assert (row.output, row.at, row.file, row.offset, row.model) == (NO_USAGE, NOON, 3, 9, 1)
    assert (row.first_at, row.first_file, row.first_offset, row.has_ended) == (NOON, 3, 9, False)


@pytest.mark.parametrize("times", [[5, 9, 7], [NO_TIME, 9, 5], [9, 5, NO_TIME]])
def test_times_are_those_of_the_first_and_the_last_request(times: list[int]) -> None:
    total = total_of(*(sight(0, n, at=at) for n, at in enumerate(times)))
    assert (total.first_at, total.last_at) == ("1970-01-01T00:00:00.005Z", "1970-01-01T00:00:00.009Z")


@few_examples
@given(WORLDS)
def test_rows_come_in_the_order_of_their_keys_and_add_up(told: tuple[UsageBlock, ...]) -> None:
    ledger = ledger_of(told)
    found = GroupSums(Books(ledger, PRICES, RequestFilter()), by_model(ledger))
    found.add_all()
    rows, total = found.rows()
    assert [row.key for row in rows] == sorted({row.key for row in rows})
    for name in ("requests", "cost_pico_usd", "most_output", "most_cost_pico_usd", "uncached_cost_pico_usd"):
        assert getattr(total, name) == sum(getattr(row, name) for row in rows)
    sums = [
        sum(column) for column in zip(*(msgspec.structs.astuple(row.tokens) for row in rows), strict=True)
    ]
    assert total.tokens == Tokens(*sums)


class Counting(Prices):
    """Prices that know how often they were asked."""

    n_asked = 0

    def rates(self, *asked: Any, **more: Any) -> Any:
        type(self).n_asked += 1
        return super().rates(*asked, **more)


def test_a_price_is_asked_for_once_a_day_however_many_requests_there_are() -> None:
    rows = b"".join(
        pack(*sight(0, n, at=NOON + 60_000 * (n % 300), model=HAIKU, output=1)) for n in range(5000)
    )
    block = UsageBlock(file=0, names=NAMES, keys=[b"%d" % n for n in range(5000)], rows=rows)
    prices = Counting(PRICES.book, PRICES.own)
    found = GroupSums(Books(ledger_of([block]), prices, RequestFilter()), ALL)
    found.add_all()
    assert (found.rows()[1].requests, prices.n_asked) == (5000, 1)
