from __future__ import annotations

import csv
import io

import pytest

from tests.views.cli.usage_made import row
from tracklog.views.cli.commands.money.usage_answer import answer_csv
from tracklog.views.text.printing import cell


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\\t=1"),
        ("\r=1", "'\\r=1"),
        ("\n=1", "'\\n=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("claude-opus-4-6", "claude-opus-4-6"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("", ""),
        (None, ""),
    ],
)
def test_text_that_may_begin_a_formula_gets_an_apostrophe(text: str | None, shown: str) -> None:
    assert cell(text) == shown


def test_numbers_stay_numbers() -> None:
    assert [cell(value) for value in (-5, 0, 0.25)] == [-5, 0, 0.25]


def test_rows_are_written_as_rfc_4180_says(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = row('=HYPERLINK("http://x","y"),\n', 1.5, models=["a,b", "@c"], stated_requests=10)
    answer_csv([hostile], "ours")
    out = capsys.readouterr().out
    assert out.count("\r\n") == 2
    assert out.replace("\r\n", "").count("\n") == 0
    (read,) = csv.DictReader(io.StringIO(out, newline=""))
    assert read == {
        "key": '\'=HYPERLINK("http://x","y"),\\n',
        "requests": "10",
        "input_tokens": "1000",
        "output_tokens": "2000",
        "reasoning_tokens": "500",
        "cache_write_tokens": "30000",
        "cache_write_5m_tokens": "0",
        "cache_write_1h_tokens": "10000",
        "cache_read_tokens": "400000",
        "web_searches": "0",
        "cost_micro_usd": "1500000",
        "unpriced_requests": "0",
        "partial_requests": "0",
        "missing_requests": "0",
        "awaited_requests": "0",
        "inherited_requests": "0",
        "stated_cost_micro_usd": "0",
        "stated_requests": "10",
        "difference_micro_usd": "1500000",
        "cache_saving_micro_usd": "3000000",
        "cache_hit_rate": "0.9281",
        "models": "a,b @c",
        "first_at": "2026-03-01T10:00:00.000Z",
        "last_at": "2026-03-01T12:00:00.000Z",
        "output_tokens_low": "2000",
        "output_tokens_high": "2000",
        "cost_micro_usd_low": "1500000",
        "cost_micro_usd_high": "1500000",
    }


def test_without_rows_there_is_a_heading_and_unpriced_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    answer_csv([], "ours")
    assert capsys.readouterr().out.startswith("key,requests,input_tokens,")
    answer_csv([row("a", 0, unpriced_requests=10)], "ours")
    (read,) = csv.DictReader(io.StringIO(capsys.readouterr().out, newline=""))
    assert (read["cost_micro_usd"], read["cost_micro_usd_high"], read["unpriced_requests"]) == ("", "", "10")
