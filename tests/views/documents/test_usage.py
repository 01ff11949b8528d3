from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.views.cli.usage_made import DOLLAR, report, row
from tracklog.model.events import Place
from tracklog.model.usage import Entry, Group, Hidden, Tokens
from tracklog.views.documents.usage import Order, UsageProvenance, listed, usage_document

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OURS = UsageProvenance("ours", "ours", "UTC")
ROW: dict[str, Any] = {
    "key": "2026-03-01",
    "requests": 10,
    "input_tokens": 1_000,
    "output_tokens": 2_000,
    "reasoning_tokens": 500,
    "cache_write_tokens": 30_000,
    "cache_write_5m_tokens": 0,
    "cache_write_1h_tokens": 10_000,
    "cache_read_tokens": 400_000,
    "web_searches": 0,
    "cost_micro_usd": 1_500_000,
    "unpriced_requests": 2,
    "partial_requests": 1,
    "missing_requests": 3,
    "awaited_requests": 0,
    "bounds": {"output_tokens": [2_000, 34_000], "cost_micro_usd": [1_500_000, 2_300_000]},
    "inherited_requests": 4,
    "stated_cost_micro_usd": 1_250_000,
    "stated_requests": 9,
    "difference_micro_usd": None,
    "cache_saving_micro_usd": 3_000_000,
    "cache_hit_rate": 0.9281,
    "models": ["claude-opus-4-6"],
    "first_at": "2026-03-01T10:00:00.000Z",
    "last_at": "2026-03-01T12:00:00.000Z",
}
UNSURE = row(
    "2026-03-01",
    1.5,
    most_output=34_000,
    most_cost_pico_usd=round(2.3 * DOLLAR),
    unpriced_requests=2,
    partial_requests=1,
    missing_requests=3,
    inherited_requests=4,
    stated_requests=9,
    stated_pico_usd=round(1.25 * DOLLAR),
)


def test_the_document_has_every_field_of_the_contract() -> None:
    hidden = Hidden(
        session="s",
        agent="claude",
        what="compaction",
        model="claude-opus-4-6",
        tokens=Tokens(input=7, output=2, cache_read=1),
        cost_pico_usd=1_500_000,
        place=Place("/logs/s.jsonl", 9),
        at="2026-03-01T10:00:00.000Z",
    )
    made = usage_document(
        report(UNSURE, hidden=[hidden], unpriced_models={"gateway": 2}), [UNSURE], OURS, now=NOW
    )
    none = dict.fromkeys(
        ["reasoning_tokens", "cache_write_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens"], 0
    )
    assert made == {
        "group": "daily",
        "count": "ours",
        "cost": "ours",
        "zone": "UTC",
        "as_model": None,
        "as_of": None,
        "rows": [ROW],
        "total": {**ROW, "key": "total", "models": [], "first_at": None, "last_at": None},
        "hidden": [
            {
                "session": "s",
                "what": "compaction",
                "tokens": 10,
                "cost_micro_usd": 2,
                "agent": "claude",
                "model": "claude-opus-4-6",
                "detail": {
                    "input_tokens": 7,
                    "output_tokens": 2,
                    **none,
                    "cache_read_tokens": 1,
                    "web_searches": 0,
                },
                "at": "2026-03-01T10:00:00.000Z",
                "path": "/logs/s.jsonl",
                "line": 9,
            }
        ],
        "unpriced_models": {"gateway": 2},
    }


def test_uncertain_requests_are_listed_with_their_lines_if_asked_for() -> None:
    entry = Entry(
        key="msg_1",
        id="msg_1",
        agent="claude",
        session="s",
        thread="main",
        place=Place("/logs/s.jsonl", 9),
        at="2026-03-01T10:00:00.000Z",
        model="claude-opus-4-6",
        tokens=Tokens(output=8),
        certainty="partial",
    )
    made = usage_document(report(UNSURE, uncertain=[entry]), [], OURS, now=NOW, with_uncertain=True)[
        "uncertain"
    ]
    assert [
        (one["key"], one["certainty"], one["path"], one["line"], one["output_tokens"]) for one in made
    ] == [("msg_1", "partial", "/logs/s.jsonl", 9, 8)]
    assert usage_document(report(), [], OURS, now=NOW, with_uncertain=True)["uncertain"] == []


def test_a_row_without_a_price_costs_null_and_never_zero() -> None:
    (made,) = usage_document(report(), [row("a", 0, unpriced_requests=10)], OURS, now=NOW)["rows"]
    assert (made["cost_micro_usd"], made["bounds"]["cost_micro_usd"]) == (None, [None, None])
    assert (made["unpriced_requests"], made["cache_saving_micro_usd"]) == (10, None)


def test_by_stated_cost_what_no_log_states_is_unpriced() -> None:
    manner = OURS._replace(basis="stated")
    (made,) = usage_document(report(), [UNSURE], manner, now=NOW)["rows"]
    assert (made["cost_micro_usd"], made["unpriced_requests"]) == (1_250_000, 1)
    assert made["bounds"]["cost_micro_usd"] == [1_250_000, 1_250_000]


def test_the_running_block_says_how_it_burns_and_the_others_do_not() -> None:
    running = row("2026-03-01T10:00:00.000Z", 4)
    over = row("2026-03-01T04:00:00.000Z", 4, first_at="2026-03-01T04:00:00.000Z")
    made = usage_document(report(over, running, group="blocks"), [over, running], OURS, now=NOW)["rows"]
    assert [one["burn"] for one in made] == [
        None,
        {
            "ends_at": "2026-03-01T15:00:00Z",
            "left_ms": 3 * 3_600_000,
            "tokens_per_minute": 433_000 // 120,
            "cost_micro_usd_per_hour": 2_000_000,
            "projected_tokens": 433_000 + 649_500,
            "projected_cost_micro_usd": 10_000_000,
        },
    ]


@pytest.mark.parametrize(
    ("group", "by", "limit", "shown"),
    [
        ("daily", None, None, "abcd"),
        ("daily", None, 2, "cd"),  # the newest
        ("daily", "cost", 2, "cb"),
        ("daily", "tokens", None, "abcd"),
        ("model", None, None, "cbad"),
        ("model", None, 2, "cb"),  # the dearest
        ("model", "key", 2, "ab"),
        ("session", "time", 3, "cba"),
        ("model", None, 9, "cbad"),
    ],
)
def test_rows_are_in_order_and_a_limit_keeps_the_newest_or_the_largest(
    group: Group, by: Order | None, limit: int | None, shown: str
) -> None:
    rows = [
        row("d", 0, unpriced_requests=10, tokens=Tokens(input=1), last_at="2026-03-01T01:00:00.000Z"),
        row("a", 1, tokens=Tokens(input=9), last_at="2026-03-01T04:00:00.000Z"),
        row("b", 2, tokens=Tokens(output=8), last_at="2026-03-01T03:00:00.000Z"),
        row("c", 3, tokens=Tokens(cache_read=7), last_at="2026-03-01T02:00:00.000Z"),
    ]
    chosen = listed(report(*rows, group=group), by=by, basis="ours", limit=limit)
    turned = listed(report(*rows, group=group), by=by, basis="ours", limit=limit, is_reversed=True)
    assert "".join(one.key for one in chosen.rows) == shown
    assert "".join(one.key for one in turned.rows) == shown[::-1]
    assert sorted(one.key for one in [*chosen.rows, *chosen.others]) == list("abcd")


def test_rows_that_cost_the_same_are_in_the_order_of_their_names() -> None:
    rows = [row(key) for key in "cab"]
    assert (
        "".join(one.key for one in listed(report(*rows, group="model"), by=None, basis="ours").rows) == "abc"
    )
