"""The status line on the screen of real clients says what the scripted API's own log says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import pytest

from tests.lab.clients import PROJECT, Version
from tests.lab.loopback import Exchange
from tests.lab.run import LabRun
from tests.lab.words import Json

pytestmark = pytest.mark.lab_of(agent="claude", scenarios=("sitting_statusline",))

PRICES = {  # pico-dollars per token: input, output, cache read, five-minute write, one-hour write (list prices)
    "claude-sonnet-4-5-20250929": (3_000_000, 15_000_000, 300_000, 3_750_000, 6_000_000),
    "claude-haiku-4-5-20251001": (1_000_000, 5_000_000, 100_000, 1_250_000, 2_000_000),
}
COUNTS_ITS_INPUT = Version("2.1.100")  # 2.0.30 tells a cost in which most of the input is missing
KNOWS_1H_WRITES = Version("2.1.197")  # before, they were priced as writes for five minutes
COUNTS_BY_SESSION = Version("2.1.325")  # before, a cost went on counting after /clear
READ = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def notes(run: LabRun) -> list[Json]:
    """What was told and shown, in order: `told`, `line`, `known`."""
    return [json.loads(line) for line in (run.home.root / "status.jsonl").read_text().splitlines()]


def by_session(run: LabRun) -> tuple[list[Json], list[Json]]:
    """The notes before /clear and those after it."""
    first = notes(run)[0]["told"]["session_id"]
    before = [note for note in notes(run) if note["told"]["session_id"] == first]
    return before, notes(run)[len(before) :]


def exchange_of(run: LabRun, thread: str) -> Exchange:
    """The one request of a thread."""
    (found,) = [e for e in run.exchanges if (e.thread, e.k) == (thread, 0)]
    return found


def tokens_read(exchange: Exchange) -> int:
    return sum(exchange.usage[field] for field in READ)


def cost_pico_usd(exchanges: Iterable[Exchange], version: Version) -> int:
    """What the requests cost, as far as this release knows prices."""
    return sum(_cost_of_one(e, version) for e in exchanges)


def _cost_of_one(exchange: Exchange, version: Version) -> int:
    usage, written = exchange.usage, exchange.usage["cache_creation"]
    fresh, out, read, for_5m, for_1h = PRICES[exchange.model]
    late_price = for_1h if version >= KNOWS_1H_WRITES else for_5m
    return int(
        fresh * usage["input_tokens"]
        + out * usage["output_tokens"]
        + read * usage["cache_read_input_tokens"]
        + for_5m * written["ephemeral_5m_input_tokens"]
        + late_price * written["ephemeral_1h_input_tokens"]
    )


def assert_cost(note: Json, pico_usd: int) -> None:
    """Told by the client to the billionth, and by us to the micro-dollar."""
    assert abs(note["told"]["cost"]["total_cost_usd"] * 1e12 - pico_usd) < 1_000
    assert abs(note["known"]["cost_micro_usd"] * 1e6 - pico_usd) <= 500_001
    assert f" · ${pico_usd / 1e12:.2f}" in note["line"]


def test_the_cost_is_what_the_requests_cost(lab_run: LabRun) -> None:
    version = Version(lab_run.version)
    if version < COUNTS_ITS_INPUT:
        last = notes(lab_run)[-1]
        assert last["known"]["cost_micro_usd"] == round(last["told"]["cost"]["total_cost_usd"] * 1e6)
        return
    before, after = by_session(lab_run)
    until_clear = exchange_of(lab_run, "after").n
    first = [e for e in lab_run.exchanges if e.n <= until_clear]
    second = [e for e in lab_run.exchanges if e.n > until_clear]
    assert_cost(before[-1], cost_pico_usd(first, version))
    assert_cost(
        after[-1], cost_pico_usd(second if version >= COUNTS_BY_SESSION else lab_run.exchanges, version)
    )


def test_the_context_is_what_the_last_request_of_the_main_thread_read(lab_run: LabRun) -> None:
    before, after = by_session(lab_run)
    assert before[-1]["known"]["context_tokens"] == tokens_read(exchange_of(lab_run, "after"))
    assert after[-1]["known"]["context_tokens"] == tokens_read(exchange_of(lab_run, "anew"))
    ours = {tokens_read(e) for e in lab_run.exchanges if e.kind == "story" and e.thread != "outer"}
    assert {note["known"]["context_tokens"] for note in notes(lab_run)} <= {None, *ours}


def test_the_share_is_the_clients_own_where_it_tells_one(lab_run: LabRun) -> None:
    pairs = [
        (note["known"]["context_percent"], note["told"]["context_window"]["used_percentage"])
        for note in notes(lab_run)
        if "context_window" in note["told"]
    ]
    assert [ours or 0 for ours, _ in pairs] == [theirs or 0 for _, theirs in pairs]
    assert bool(pairs) == (Version(lab_run.version) >= Version("2.1.100"))


def test_a_new_session_begins_without_a_context(lab_run: LabRun) -> None:
    before, after = by_session(lab_run)
    assert [part[0]["known"]["context_tokens"] for part in (before, after)] == [None, None]


def test_the_changed_lines_are_the_edit_of_the_story(lab_run: LabRun) -> None:
    before, _ = by_session(lab_run)
    assert before[-1]["line"].endswith(" · +2 -1")


def test_every_field_that_a_client_tells_is_on_the_page(lab_run: LabRun) -> None:
    named = set(re.findall(r"`([\w.]+)`", (PROJECT / "docs" / "statusline.md").read_text()))
    told = {field for note in notes(lab_run) for field in fields_of(note["told"])}
    assert {field for field in told if field not in named} == set()


def fields_of(told: Json, path: str = "") -> Iterator[str]:
    """The full names of all values; of those of `prompt_cache` the last word."""
    for key, value in told.items():
        if isinstance(value, dict) and value:
            yield from fields_of(value, "" if key == "prompt_cache" else f"{path}{key}.")
        else:
            yield f"{path}{key}"
