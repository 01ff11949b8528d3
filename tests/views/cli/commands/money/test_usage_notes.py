from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.views.cli.usage_made import DOLLAR, report, row
from tracklog.model.usage import Hidden, Tokens, UsageReport
from tracklog.views.cli.commands.money.usage import is_passed, verdict
from tracklog.views.cli.commands.money.usage_notes import remarks
from tracklog.views.documents.usage import UsageProvenance

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OURS = UsageProvenance("ours", "ours", "UTC")
CACHE = "92 % of the prompts came from the cache: $2.00 saved."


def said(made: UsageReport, manner: UsageProvenance = OURS) -> list[str]:
    return list(remarks(made, manner, now=NOW, zone=ZoneInfo("Europe/Berlin")))


def by_model(**more: Any) -> UsageReport:
    return report(row("m", **more), group="model")


def hidden(cost_pico_usd: int | None, what: str = "compaction") -> Hidden:
    return Hidden(
        session="s",
        agent="claude",
        what=what,
        model="m",
        tokens=Tokens(input=77_777),
        cost_pico_usd=cost_pico_usd,
    )


def test_where_all_is_certain_only_the_cache_and_the_zone_are_worth_a_word() -> None:
    assert said(by_model()) == [CACHE]
    assert said(report(row("2026-03-01"))) == [CACHE, "Times are those of UTC; --zone NAME chooses another."]


def test_the_bounds_are_told_with_their_reason() -> None:
    one = by_model(partial_requests=1, most_cost_pico_usd=3 * DOLLAR)
    many = by_model(partial_requests=12, most_cost_pico_usd=3 * DOLLAR, missing_requests=2)
    assert said(one)[0] == (
        "Between $1.00 and $3.00: 1 request has no final count in the log; --uncertain lists it."
    )
    assert said(many)[:2] == [
        "Between $1.00 and $3.00: 12 requests have no final count in the log; --uncertain lists them.",
        "2 requests left no count at all, and nothing bounds what that cost; --uncertain lists them.",
    ]


def test_without_a_price_the_bounds_are_those_of_the_output() -> None:
    made = by_model(dollars=0, unpriced_requests=10, partial_requests=1, most_output=64_000)
    assert said(made)[0].startswith("Output between 2,000 and 64,000 tokens: 1 request has no final count")


def test_models_without_a_price_are_named_the_most_used_first() -> None:
    made = report(row("m"), group="model", unpriced_models={"a": 1, "b\x1b[31m": 1_200, "c": 3, "d": 2})
    assert said(made)[0] == (
        "1,206 requests without a known price: b\\x1b[31m (1,200), c (3), d (2) and 1 other; "
        "`tracklog prices` says how to add one."
    )


def test_hidden_spending_is_told_by_its_cost_or_else_by_its_tokens() -> None:
    made = report(row("m"), group="model", hidden=[hidden(DOLLAR // 2), hidden(DOLLAR // 2, "web search")])
    assert said(made)[0] == (
        "Hidden: $1.00 more in 1 session, in no row above: compaction; web search. --json lists it."
    )
    made = report(row("m"), group="model", hidden=[hidden(None)])
    assert said(made)[0].startswith("Hidden: 77.8k more tokens in 1 session")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"uncached_cost_pico_usd": DOLLAR // 2}, "; all in all, caching cost $0.50 more than it saved."),
        ({"uncached_cost_pico_usd": DOLLAR}, "."),
        ({"unpriced_requests": 10, "dollars": 0}, "."),
    ],
)
def test_a_cache_is_praised_only_where_it_paid(more: dict[str, Any], words: str) -> None:
    assert said(by_model(**more)) == [f"92 % of the prompts came from the cache{words}"]


def test_without_a_cache_nothing_is_said_of_it() -> None:
    assert said(by_model(tokens=Tokens(input=5, output=1))) == []


def test_the_running_block_tells_its_end_and_its_rate() -> None:
    running = report(row("2026-03-01T10:00:00.000Z", 4), group="blocks")
    assert said(running)[0] == (
        "The running block ends at 16:00, 3 h 0 min from now: 3,608 tokens/min, $2.00/h; "
        "if that goes on, $10.00 at its end."
    )
    unpriced = report(row("2026-03-01T10:00:00.000Z", 0, unpriced_requests=10), group="blocks")
    assert said(unpriced)[0].endswith("3,608 tokens/min; if that goes on, 1.08M tokens at its end.")


def test_what_was_not_paid_is_said_to_be_so() -> None:
    manner = UsageProvenance("every-line", "ours", "UTC", as_model="gpt\x1b-5", as_of="2025-01-01")
    assert said(by_model(), manner)[:2] == [
        "Counted by the rule every-line, for comparison only: it is not what was spent.",
        "Not what was paid, but what the same tokens would cost with gpt\\x1b-5 at the prices of 2025-01-01, or the oldest that are known.",
    ]


def test_of_stated_costs_it_is_said_how_many_there_are() -> None:
    manner = OURS._replace(basis="both")
    assert said(by_model(stated_requests=3), manner)[0] == (
        "The logs state the cost of 3 of 10 requests: most clients write none, and late ones only for whole sessions: `usage session`."
    )
    assert said(by_model(stated_requests=10), manner) == [CACHE]


@pytest.mark.parametrize(
    ("made", "budget", "words", "is_over"),
    [
        (by_model(), 1.0, None, False),
        (by_model(), 0.9, "the budget of $0.90 is passed by $0.10: $1.00 was spent", True),
        (
            by_model(most_cost_pico_usd=2 * DOLLAR, partial_requests=1),
            0.9,
            "the budget of $0.90 is passed by $0.10: $1.00 was spent, at most $2.00",
            True,
        ),
        (
            by_model(most_cost_pico_usd=2 * DOLLAR, partial_requests=1),
            1.5,
            "the budget of $1.50 may be passed: between $1.00 and $2.00 was spent",
            False,
        ),
        (
            by_model(unpriced_requests=2),
            5,
            "the budget of $5.00 is kept, not counting 2 unpriced requests",
            False,
        ),
        (
            report(row("m"), hidden=[hidden(DOLLAR)]),
            0,
            "the budget of $0.00 is passed by $2.00: $2.00 was spent",
            True,
        ),
        (
            by_model(dollars=0, unpriced_requests=10),
            0,
            "the budget of $0.00 is kept, not counting 10 unpriced requests",
            False,
        ),
    ],
)
def test_a_budget_is_compared_with_what_is_certain(
    made: UsageReport, budget: float, words: str | None, is_over: bool
) -> None:
    pico = round(budget * DOLLAR)
    assert (verdict(made, pico, "ours"), is_passed(made, pico, "ours")) == (words, is_over)
