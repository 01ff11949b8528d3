"""Books: which requests are meant, and what their tokens cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.test_ledger import NAMES, NOON, ledger_of, sight
from tracklog.clock import NO_TIME, moment_text
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import Books, RequestFilter, folders, terms_of
from tracklog.model.usage import STANDARD, Awaited, Hidden, Source, Terms, Tokens, UsageBlock, pack

PRICES = Prices.load()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECONDS = st.integers(1_600_000_000_000, 1_900_000_000_000)


def moment(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def books(
    *, wanted: RequestFilter | None = None, at: int = NOON, cwd: str | None = None, **asked: Any
) -> Books:
    """The books of one request."""
    rows = pack(*sight(0, at=at, model=1))
    made = ledger_of([UsageBlock(file=0, names=NAMES, keys=[b"k"], rows=rows, cwd=cwd)])
    return Books(made, PRICES, wanted or RequestFilter(), **asked)


def is_wanted(wanted: RequestFilter, *, at: int = NOON, cwd: str | None = None) -> bool:
    found = books(wanted=wanted, at=at, cwd=cwd)
    (row,) = found.ledger.rows()
    return found.is_wanted(row)


@given(MILLISECONDS, st.integers(-2, 2))
def test_a_moment_lies_on_one_side_of_every_border(at: int, step: int) -> None:
    border = moment(at + step)
    assert is_wanted(RequestFilter(since=border), at=at) is (step <= 0)
    assert is_wanted(RequestFilter(until=border), at=at) is (step > 0)


@given(MILLISECONDS, st.integers(-2, 2))
def test_hidden_spending_lies_on_the_same_side_as_a_request(at: int, step: int) -> None:
    hidden = Hidden(
        session="session-a",
        agent="claude",
        what="",
        model=None,
        tokens=Tokens(),
        cost_pico_usd=0,
        at=moment_text(at),
    )
    border = moment(at + step)
    assert books(wanted=RequestFilter(since=border)).is_hidden_wanted(hidden) is (step <= 0)
    assert books(wanted=RequestFilter(until=border)).is_hidden_wanted(hidden) is (step > 0)


@pytest.mark.parametrize(
    "wanted", [RequestFilter(since=EPOCH), RequestFilter(until=datetime(9999, 1, 1, tzinfo=UTC))]
)
def test_a_request_without_a_time_is_in_no_span(wanted: RequestFilter) -> None:
    assert not is_wanted(wanted, at=NO_TIME)
    assert is_wanted(RequestFilter(), at=NO_TIME)


@pytest.mark.parametrize(
    ("model", "is_meant"),
    [("haiku", True), ("HAIKU-5", True), ("claude-haiku-5-5", True), ("opus", False), ("", True)],
)
def test_a_part_of_a_models_name_is_enough(model: str, is_meant: bool) -> None:
    assert is_wanted(RequestFilter(model=model)) is is_meant


def test_a_project_is_asked_for_by_the_folder_of_its_session() -> None:
    wanted = RequestFilter(is_project=lambda folder: folder.endswith("one"))
    assert is_wanted(wanted, cwd="/work/one")
    assert not is_wanted(wanted, cwd="/work/two")
    assert not is_wanted(wanted)


def test_each_folder_is_asked_about_once() -> None:
    asked: list[str] = []

    def is_project(folder: str) -> bool:
        asked.append(folder)
        return True

    found = books(wanted=RequestFilter(is_project=is_project), cwd="/work/one")
    (row,) = found.ledger.rows()
    assert [found.is_wanted(row), found.is_wanted(row), asked] == [True, True, ["/work/one"]]


def test_an_awaited_request_is_asked_as_any_other() -> None:
    found = books(wanted=RequestFilter(since=moment(NOON), model="haiku"))
    assert found.is_awaited_wanted(0, Awaited(0, NOON, 1))
    assert not found.is_awaited_wanted(0, Awaited(0, NOON - 1, 1))
    assert not found.is_awaited_wanted(0, Awaited(0, NOON, 2))


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("", STANDARD),
        ("batch\t\t", Terms("batch")),
        ("\tfast\tus", Terms(None, "fast", "us")),
        ("a b\tc\td", Terms("a b", "c", "d")),
    ],
)
def test_terms_come_back_from_their_name(name: str, terms: Terms) -> None:
    assert terms_of(name) == terms


def test_the_folder_of_a_session_is_that_of_its_main_thread() -> None:
    sources = [
        Source("a", "claude", "s", "agent-1", is_main=False),
        Source("b", "claude", "s", "main"),
        Source("c", "claude", "s", "main"),
        Source("d", "claude", "t", "agent-1", is_main=False),
    ]
    made = Ledger(sources)
    for n in range(4):
        made.take(UsageBlock(file=n, cwd=f"/{n}"))
    assert folders(made) == {"s": "/1", "t": "/3"}


def test_a_price_is_that_of_the_day_and_of_the_terms() -> None:
    found = books()
    standard, batch = (
        found.rates("claude-opus-4-5", "", NOON),
        found.rates("claude-opus-4-5", "batch\t\t", NOON),
    )
    assert standard == PRICES.rates("claude-opus-4-5", NOON)
    assert batch == PRICES.rates("claude-opus-4-5", NOON, Terms("batch"))
    assert standard != batch
    assert found.rates("claude-opus-4-5", "", NOON + 1) is standard


@given(
    st.sampled_from(["claude-opus-4-5", "claude-haiku-5-5", "gpt-5.1-codex", "deepseek-chat", "none"]),
    MILLISECONDS,
)
def test_remembered_prices_are_those_of_their_moment(model: str, at: int) -> None:
    found = books()
    for step in (0, 900_000, 43_200_000, 86_400_000):
        assert found.rates(model, "", at + step) == PRICES.rates(model, at + step)


def test_a_model_without_a_price_costs_nothing_that_we_know() -> None:
    found = books()
    assert found.cost("nobodys-model", Tokens(5, 5), NOON) is None
    assert found.cost(None, Tokens(5, 5), NOON) is None


def test_another_model_may_be_asked_for_in_the_place_of_all() -> None:
    found = books(as_model="claude-opus-4-5")
    assert found.rates("nobodys-model", "", NOON) == PRICES.rates("claude-opus-4-5", NOON)
    assert found.cost(None, Tokens(1), NOON) == 5_000_000


def test_another_day_may_be_asked_for_in_the_place_of_all() -> None:
    found = books(as_of=datetime(2026, 11, 1, tzinfo=UTC))
    assert found.rates("claude-opus-4-5", "", NO_TIME) == PRICES.rates("claude-opus-4-5", 1_793_491_200_000)


def test_the_longest_answer_is_the_models() -> None:
    found = books()
    assert found.most_output("claude-opus-4-5") == PRICES.most_output("claude-opus-4-5") == 64_000
    assert found.most_output(None) == PRICES.most_output(None)
