"""The client's own totals: the last of them, and the times of which they tell nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.claude_code.test_usage_scan import ONE, scanned
from tests.oracle.logs import NOON, OPUS, ClaudeLog, Json, dumps, later, message_id, text, usage
from tracklog.agents.claude_code import usage_scan
from tracklog.clock import moment_ms
from tracklog.model.usage import COUNT_RULES, ClientTotals

FIGURES = {
    "inputTokens": 1,
    "outputTokens": 2,
    "thinkingTokens": 3,
    "cacheCreationInputTokens": 4,
    "cacheCreationEphemeral5mInputTokens": 5,
    "cacheCreationEphemeral1hInputTokens": 6,
    "cacheReadInputTokens": 7,
    "webSearchRequests": 8,
}


def state(models: Json | None = None, **more: Any) -> Json:
    return {"type": "cost-state", "totalCostUSD": 0.5, "modelUsage": models or {}} | more


def totals_in(*lines: Json | bytes) -> ClientTotals | None:
    raws = (line if isinstance(line, bytes) else dumps(line) for line in lines)
    return scanned(b"".join(raw + b"\n" for raw in raws)).totals


def test_a_log_without_totals_has_none() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    assert totals_in(*log.records) is None


def test_all_figures_of_all_models_are_read() -> None:
    found = totals_in(state({"a": FIGURES | {"costUSD": 0.25}, "b": {}}))
    assert found == ClientTotals(
        0, 500_000_000_000, {"a": ((1, 2, 3, 4, 5, 6, 7, 8), 250_000_000_000), "b": ((0,) * 8, None)}
    )


def test_the_last_totals_count_and_their_place_is_known() -> None:
    first, last = state({"a": {"inputTokens": 1}}), state({"b": {"inputTokens": 2}})
    found = totals_in(first, b"{}", last)
    assert found is not None
    assert (found.offset, list(found.models)) == (len(dumps(first)) + 4, ["b"])


@pytest.mark.parametrize("figure", [-1, 2**53 + 1])
def test_what_is_no_figure_counts_for_nothing(figure: Any) -> None:
    found = totals_in(state({"a": {"inputTokens": figure, "outputTokens": 5}}, totalCostUSD=-1.0))
    assert found == ClientTotals(0, None, {"a": ((0, 5, 0, 0, 0, 0, 0, 0), None)})


def test_one_odd_figure_does_not_cost_the_others() -> None:
    found = totals_in(state({"a": {"inputTokens": "many", "outputTokens": 5}, "b": {"inputTokens": 6.0}}))
    assert found is not None
    assert {name: figures for name, (figures, _) in found.models.items()} == {
        "a": (0, 5, 0, 0, 0, 0, 0, 0),
        "b": (6, 0, 0, 0, 0, 0, 0, 0),
    }


def test_words_about_totals_are_none() -> None:
    log = ClaudeLog(ONE)
    log.prompt('{"type":"cost-state","totalCostUSD":9}')
    log.reply(message_id(1), usage(1, 1), content=[text('"cost-state"')])
    log.add({"type": "user", "message": {"role": "user", "content": [{"cost-state": 1}]}})
    assert totals_in(*log.records) is None


@pytest.mark.parametrize("rule", [rule for rule in COUNT_RULES if rule != "ours"])
def test_other_rules_know_no_totals(rule: Any) -> None:
    assert scanned(dumps(state()) + b"\n", rule=rule).totals is None


def at(second: int) -> int:
    return moment_ms(later(NOON, seconds=second))


def process(began: int, ended: int, *, lived_before: int = 0) -> tuple[list[Json], int]:
    """The lines of a process that lived from one second to another, and how long all lived that wrote totals."""
    lived = lived_before + (ended - began) * 1000
    log = ClaudeLog(ONE, at=later(NOON, seconds=ended - 2))
    return [log.prompt(), log.reply(message_id(ended), usage(1, 1)), state(totalDuration=lived)], lived


def test_before_the_first_process_began_is_apart() -> None:
    lines, _ = process(0, 100)
    found = totals_in(*lines)
    assert found is not None
    assert found.apart == [(0, at(0))]


def test_processes_leave_what_lies_between_them_apart() -> None:
    first, lived = process(0, 100)
    second, _ = process(500, 600, lived_before=lived)
    found = totals_in(*first, *second)
    assert found is not None
    assert found.apart == [(0, at(0)), (at(100), at(500))]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 500), st.integers(3, 500)), min_size=1, max_size=6))
def test_what_is_apart_is_all_that_no_process_lived_in(spans: list[tuple[int, int]]) -> None:
    lines: list[Json] = []
    now, lived, apart, before = 0, 0, [], 0
    for silence, length in spans:
        began, ended = now + silence, now + silence + length
        more, lived = process(began, ended, lived_before=lived)
        lines += more
        apart.append((before, at(began)))
        now, before = ended, at(ended)
    found = totals_in(*lines)
    assert found is not None
    assert found.apart == apart


def test_without_a_duration_nothing_is_apart() -> None:
    lines, _ = process(0, 100)
    found = totals_in(*lines[:2], state())
    assert found is not None
    assert found.apart == []


@pytest.mark.parametrize("duration", [-5, 10**30, 1e300, 0])
def test_odd_durations_leave_spans_in_order(duration: Any) -> None:
    lines, _ = process(0, 100)
    found = totals_in(*lines[:2], state(totalDuration=duration), *lines[:2], state(totalDuration=5))
    assert found is not None
    assert all(first < last for first, last in found.apart)


def test_totals_far_behind_the_last_time_still_count() -> None:
    lines, _ = process(0, 100)
    found = totals_in(*lines[:2], b"x" * 300_000, lines[2])
    assert found is not None
    assert found.cost_pico_usd == 500_000_000_000


@pytest.mark.parametrize("size", [1, 50, 1000, 1 << 20])
def test_the_size_of_the_pieces_that_are_read_means_nothing(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, lived = process(0, 100)
    second, _ = process(500, 600, lived_before=lived)
    whole = totals_in(*first, *second)
    monkeypatch.setattr(usage_scan, "CHUNK", size)
    assert totals_in(*first, *second) == whole


def test_models_of_any_name_are_kept() -> None:
    found = totals_in(state({"": {"inputTokens": 1}, f"{OPUS}[1m]": {"inputTokens": 2}, "\u2028": {}}))
    assert found is not None
    assert sorted(found.models) == ["", f"{OPUS}[1m]", "\u2028"]
