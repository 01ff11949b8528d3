"""What a client was charged for, and could not write down any more."""

from __future__ import annotations

from tracklog.ledger.prices.rates import Prices
from tracklog.model.usage import UsageRow
from tracklog.run.log_facts import StreamRequest, row_with_requests

MODEL = "claude-sonnet-4-5-20250929"  # $3 in, $15 out, $0.30 read, $3.75 and $6 write; 64,000 tokens at most


def test_a_request_that_only_the_stream_told_of_is_a_partial_one() -> None:
    usage = {
        "input_tokens": 1000,
        "output_tokens": 2,
        "cache_read_input_tokens": 10_000,
        "cache_creation_input_tokens": 2000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 1000},
    }
    prices = Prices.load()
    row = row_with_requests(UsageRow(key="s"), [StreamRequest("msg_1", MODEL, usage)], prices)
    low = 1000 * 3_000_000 + 2 * 15_000_000 + 10_000 * 300_000 + 1000 * 3_750_000 + 1000 * 6_000_000
    most = prices.most_output(MODEL)
    assert (row.requests, row.partial_requests, row.unpriced_requests, row.models) == (1, 1, 0, [MODEL])
    assert (row.cost_pico_usd, row.most_cost_pico_usd) == (low, low + (most - 2) * 15_000_000)
    assert (row.tokens.output, row.most_output) == (2, most)


def test_odd_figures_count_as_nothing_and_an_unknown_model_is_unpriced() -> None:
    usage = {
        "input_tokens": -5,
        "output_tokens": "many",
        "cache_creation": 7,
        "cache_read_input_tokens": 1 << 60,
    }
    row = row_with_requests(UsageRow(key="s"), [StreamRequest("x", "nobody-knows", usage)], Prices.load())
    assert (row.tokens.prompt, row.tokens.output, row.cost_pico_usd, row.unpriced_requests) == (0, 0, 0, 1)
