"""One log of Codex, scanned: what it says of responses, and that nothing in it can break the scan."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.logs import some_log
from tests.oracle.logs import CODEX, NOON, CodexLog, Json, added, dumps, later, thread_id, tokens, turn_id
from tracklog.agents.base import LogToScan
from tracklog.agents.codex import usage_scan
from tracklog.agents.codex.records.usage_lines import TokenFields
from tracklog.agents.codex.usage_scan import figures_of, scan
from tracklog.clock import moment_ms
from tracklog.ledger.ledger import Ledger
from tracklog.model.ids import SessionId
from tracklog.model.lineage.copies import Own
from tracklog.model.lineage.trace import CopiedLines
from tracklog.model.usage import COUNT_RULES, NO_USAGE, Awaited, CountRule, Sight, Source, UsageBlock
from tracklog.sources.log_file import FileKind, LogFile

often = settings(max_examples=20, deadline=None)
THREAD = thread_id(1)
MAIN = Source("one.jsonl", "codex", THREAD, "main")
FIRST, SECOND = tokens(100, 10, cached=40, reasoning=4), tokens(200, 20, cached=150, write=30)


def scanned(data: bytes, *, name: str = "one.jsonl", source: Source = MAIN, **more: Any) -> UsageBlock:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        file = LogFile("codex", FileKind.TRANSCRIPT, path, path.parent, THREAD, len(data), 0, 0, 0)
        return scan(LogToScan(0, source, file, **more))


def rows_in(block: UsageBlock) -> dict[str, Sight]:
    ledger = Ledger([MAIN])
    ledger.take(block)
    ledger.settle()
    return {key.decode(): row for key, row in zip(ledger.keys(), ledger.rows(), strict=True)}


def figures(log: CodexLog | bytes, **more: Any) -> list[tuple[int, ...]]:
    """Uncached input, output, cache write, cache read, reasoning of each response."""
    data = log if isinstance(log, bytes) else log.bytes()
    return [
        (row.input, row.output, row.cache_write, row.cache_read, row.reasoning)
        for row in rows_in(scanned(data, **more)).values()
    ]


def begun(**more: Any) -> CodexLog:
    log = CodexLog(THREAD, **more)
    log.turn(turn_id(1, 1))
    return log


ONE, TWO = (60, 10, 0, 40, 4), (20, 20, 30, 150, 0)


@often
@given(some_log("codex"), st.sampled_from(COUNT_RULES))
def test_any_bytes_are_scanned(data: bytes, rule: CountRule) -> None:
    block = scanned(data, rule=rule)
    assert (block.problem, len(rows_in(block))) == (None, len(block.keys))


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@often
@given(st.data())
def test_odd_values_anywhere_are_scanned(data: st.DataObject) -> None:
    log = begun()
    log.counted(FIRST, response="resp_1", turn="t")
    log.counted(SECOND)
    records = [json.loads(line) for line in log.bytes().splitlines()]
    target: Json = data.draw(st.sampled_from(records))
    while isinstance(target, dict) and target:
        key = data.draw(st.sampled_from(sorted(target)))
        if not isinstance(target[key], dict) or data.draw(st.booleans()):
            target[key] = data.draw(ODD)
            break
        target = target[key]
    spoilt = b"".join(dumps(record) + b"\n" for record in records)
    for rule in COUNT_RULES:
        rows_in(scanned(spoilt, rule=rule))


def test_each_count_with_a_new_total_is_a_response() -> None:
    log = begun()
    log.counted(FIRST)
    log.counted(SECOND)
    assert figures(log) == [ONE, TWO]


def test_a_row_knows_its_model_its_time_and_its_place() -> None:
    log = begun()
    log.said()
    before = len(log.bytes())
    log.count(last=FIRST, total=FIRST)
    block = scanned(log.bytes())
    (row,) = rows_in(block).values()
    at = moment_ms(later(NOON, seconds=len(log.records)))
    assert (row.offset, row.first_offset, row.at, row.first_at) == (before, before, at, at)
    assert (block.names[row.model], block.names[row.entrypoint], block.cwd) == (
        CODEX,
        "codex_cli_rs",
        "/home/dev/project",
    )
    assert (row.has_ended, row.is_told, row.first_is_beside) == (True, False, False)


def test_a_count_with_the_same_total_tells_nothing_new() -> None:
    log = begun()
    log.counted(FIRST)
    log.count(last=FIRST, total=log.total)
    log.count(last=SECOND, total=log.total)
    assert figures(log) == [ONE]


def test_a_count_without_figures_tells_nothing() -> None:
    log = begun()
    log.count()
    log.counted(FIRST)
    log.count(last=tokens(0, 0), total=tokens(999, 0))
    assert figures(log) == [ONE]


def test_without_a_last_step_the_difference_of_totals_counts() -> None:
    log = begun()
    log.count(total=FIRST)
    log.count(total=added(FIRST, SECOND))
    assert figures(log) == [ONE, TWO]


def test_a_total_that_began_anew_counts_whole() -> None:
    log = begun()
    log.count(total=added(FIRST, SECOND))
    log.count(total=FIRST)
    assert len(figures(log)) == 2
    assert figures(log)[1] == ONE


@often
@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 50)), max_size=6))
def test_steps_and_differences_of_totals_are_the_same(steps: list[tuple[int, int]]) -> None:
    with_last, without = begun(), begun()
    total = tokens(0, 0)
    for input, output in steps:
        total = added(total, tokens(input, output))
        with_last.count(last=tokens(input, output), total=total)
        without.count(total=total)
    assert figures(with_last) == figures(without) == [(input, output, 0, 0, 0) for input, output in steps]


def test_the_record_of_a_response_counts_and_the_count_behind_it_not_again() -> None:
    log = begun()
    log.counted(FIRST, response="resp_1", turn=turn_id(1, 1))
    log.counted(SECOND, response="resp_2", turn=turn_id(1, 1))
    assert list(rows_in(scanned(log.bytes()))) == ["resp_1", "resp_2"]
    assert figures(log) == [ONE, TWO]


def test_a_repeated_record_counts_once() -> None:
    log = begun()
    for _ in range(2):
        log.used(FIRST, response="resp_1", turn="t")
    assert figures(log) == [ONE]


def test_records_without_an_id_are_known_by_their_place() -> None:
    log = begun()
    for _ in range(2):
        log.add("token_usage_record", {"thread_id": "t", "usage": FIRST})
    assert figures(log) == [ONE, ONE]


def test_equal_responses_of_one_turn_are_two_where_the_total_grows() -> None:
    log = begun()
    log.counted(FIRST)
    log.counted(FIRST)
    assert figures(log) == [ONE, ONE]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (TokenFields(100, 40, 0, 10, 4), (60, 0, 0, 0, 40, 4, 0)),
        (TokenFields(100, 400, 0, 10, 4), (0, 0, 0, 0, 400, 4, 0)),
        (TokenFields(100, None, None, 10, 40), (100, 0, 0, 0, 0, 10, 0)),
        (TokenFields(-5, -1, 10**13, 10, -2), (0, 0, 0, 0, 0, 0, 0)),
        (TokenFields(), (0, 0, 0, 0, 0, 0, 0)),
        (None, (0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_cached_input_is_taken_off_the_input(usage: TokenFields | None, expected: tuple[int, ...]) -> None:
    assert figures_of(usage) == expected


def test_the_latest_context_names_the_model() -> None:
    log = begun()
    log.counted(FIRST)
    log.turn(turn_id(1, 2), model="gpt-9")
    log.counted(SECOND)
    block = scanned(log.bytes())
    assert [block.names[row.model] for row in rows_in(block).values()] == [CODEX, "gpt-9"]


def test_settings_name_the_model_where_there_are_no_contexts() -> None:
    log = CodexLog(THREAD)
    log.event("thread_settings_applied", thread_settings={"model": "gpt-9"})
    log.counted(FIRST)
    block = scanned(log.bytes())
    assert [block.names[row.model] for row in rows_in(block).values()] == ["gpt-9"]


def test_a_model_that_nobody_named_is_none() -> None:
    log = CodexLog(THREAD)
    log.counted(FIRST)
    assert [row.model for row in rows_in(scanned(log.bytes())).values()] == [0]


def test_what_was_copied_is_not_counted_but_its_totals_are_gone_on_from() -> None:
    log = begun()
    log.count(total=FIRST)
    n_copied = len(log.records)
    log.count(total=added(FIRST, SECOND))
    own = Own(source=SessionId("parent"), runs=[CopiedLines(1, n_copied, None)])
    assert figures(log, own=own) == [TWO]


def test_an_answer_behind_the_last_count_is_a_request_without_usage() -> None:
    log = begun()
    log.counted(FIRST)
    log.turn(turn_id(1, 2))
    log.said("cut off")
    rows = list(rows_in(scanned(log.bytes())).values())
    assert [row.output for row in rows] == [10, NO_USAGE]


def test_an_answer_in_a_turn_that_was_stopped_is_a_request_without_usage() -> None:
    log = begun()
    log.said("One.")
    log.counted(FIRST)
    log.turn(turn_id(1, 2))
    log.said("Tw")
    log.event("turn_aborted", turn_id=turn_id(1, 2), reason="interrupted")
    log.turn(turn_id(1, 3))
    log.said("Three.")
    log.counted(SECOND)
    outputs = [row.output for row in rows_in(scanned(log.bytes())).values()]
    assert sorted(outputs) == [NO_USAGE, 10, 20]


def test_two_records_on_one_line_are_two_responses() -> None:
    log = begun()
    for n in (1, 2):
        log.used(FIRST, response=f"resp_{n}", turn=turn_id(1, 1))
    *before, one, two = log.bytes().splitlines(keepends=True)
    assert sorted(rows_in(scanned(b"".join(before) + one.rstrip() + two))) == ["resp_1", "resp_2"]


def test_a_prompt_without_an_answer_is_awaited() -> None:
    log = begun()
    log.counted(FIRST)
    log.event("task_complete")
    log.turn(turn_id(1, 2), model="gpt-9")
    log.add(
        "response_item",
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    )
    block = scanned(log.bytes())
    assert isinstance(block.awaited, Awaited)
    assert block.names[block.awaited.model] == "gpt-9"
    assert scanned(log.bytes(), is_newest=False).awaited is None


@pytest.mark.parametrize(
    ("rule", "n"),
    [("ours", 1), ("last-chunk", 3), ("first-chunk", 3), ("every-line", 3), ("time-and-usage", 3)],
)
def test_other_rules_count_what_is_told_again(rule: CountRule, n: int) -> None:
    log = begun()
    log.counted(FIRST)
    log.count(last=FIRST, total=log.total)
    log.count(last=FIRST, total=log.total)
    assert figures(log, rule=rule) == [ONE] * n


def test_a_fingerprint_takes_equal_counts_of_one_moment_for_one() -> None:
    log = begun()
    log.counted(FIRST)
    log.records.append(log.records[-1])
    assert figures(log, rule="time-and-usage") == [ONE]
    assert figures(log, rule="every-line") == [ONE, ONE]


@often
@given(st.sampled_from([1, 7, 100, 1000]), st.lists(st.sampled_from([FIRST, SECOND]), max_size=4))
def test_the_size_of_the_pieces_that_are_read_means_nothing(size: int, steps: list[Json]) -> None:
    log = begun()
    for n, step in enumerate(steps):
        log.counted(step, response=f"resp_{n}" if n % 2 else None, turn="t")
    whole = scanned(log.bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage_scan, "CHUNK", size)
        assert scanned(log.bytes()) == whole


def test_blanks_and_compression_mean_nothing() -> None:
    log = begun()
    log.counted(FIRST)
    log.counted(SECOND, response="resp_2", turn="t")
    packed = zstandard.ZstdCompressor().compress(log.bytes())
    assert figures(log.bytes(blanks=True)) == figures(packed, name="one.jsonl.zst") == figures(log)


def test_a_torn_line_gives_the_count_behind_the_tear() -> None:
    log = begun()
    log.count(last=FIRST, total=FIRST)
    *head, last = log.bytes().splitlines(keepends=True)
    assert figures(b"".join(head) + b'{"timestamp":"2026' + last) == [ONE]


def test_a_thread_below_is_beside_the_main_one() -> None:
    log = begun()
    log.counted(FIRST)
    source = Source("two.jsonl", "codex", thread_id(9), THREAD, is_main=False)
    block = scanned(log.bytes(), source=source)
    assert [row.first_is_beside for row in rows_in(block).values()] == [True]


def test_twenty_thousand_counts_are_twenty_thousand_rows() -> None:
    log = begun()
    log.count(last=tokens(7777777, 1), total=tokens(8888888, 1))
    *head, count = log.bytes().splitlines(keepends=True)
    lines = [count.replace(b"7777777", b"5").replace(b"8888888", b"%d" % n) for n in range(20_000)]
    assert len(scanned(b"".join([*head, *lines])).keys) == 20_000
