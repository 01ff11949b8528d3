"""One log of Claude Code, scanned: what it says of requests, and that nothing in it can break the scan."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.logs import some_log
from tests.oracle.logs import HAIKU, NOON, OPUS, ClaudeLog, Json, dumps, later, message_id, tool_use, usage
from tracklog.agents.base import LogToScan
from tracklog.agents.claude_code import usage_scan
from tracklog.agents.claude_code.usage_scan import scan
from tracklog.clock import NO_TIME, moment_ms
from tracklog.ledger.ledger import Ledger
from tracklog.model.usage import COUNT_RULES, NO_USAGE, Aside, CountRule, Sight, Source, UsageBlock
from tracklog.sources.log_file import FileKind, LogFile

often = settings(max_examples=25, deadline=None)
ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
MAIN = Source("one.jsonl", "claude", ONE, "main")
BESIDE = Source("agent-a1.jsonl", "claude", ONE, "a1", is_main=False)


def log_file(path: Path, data: bytes, *, kind: FileKind = FileKind.TRANSCRIPT) -> LogFile:
    path.write_bytes(data)
    return LogFile("claude", kind, path, path.parent, ONE, len(data), 0, 0, 0)


def scanned(
    data: bytes,
    *,
    source: Source = MAIN,
    rule: CountRule = "ours",
    with_tools: bool = False,
    name: str = "one.jsonl",
) -> UsageBlock:
    """What a log with these bytes says."""
    with tempfile.TemporaryDirectory() as folder:
        file = log_file(Path(folder) / name, data)
        return scan(LogToScan(0, source, file, rule, with_tools))


def rows_in(block: UsageBlock, *, source: Source = MAIN) -> dict[str, Sight]:
    """Requests by their key, those with ids of gateways too."""
    ledger = Ledger([source])
    ledger.take(block)
    ledger.settle()
    return {key.decode(): row for key, row in zip(ledger.keys(), ledger.rows(), strict=True)}


def read(log: ClaudeLog, *, source: Source = MAIN, **more: Any) -> dict[str, Sight]:
    return rows_in(scanned(log.bytes(), source=source, **more), source=source)


def four(row: Sight) -> tuple[int, ...]:
    return row.input, row.output, row.cache_write, row.cache_read


def lines(records: Iterable[Json]) -> bytes:
    return b"".join(dumps(record) + b"\n" for record in records)


@often
@given(some_log("claude"), st.sampled_from(COUNT_RULES), st.booleans())
def test_any_bytes_are_scanned(data: bytes, rule: CountRule, with_tools: bool) -> None:
    block = scanned(data, rule=rule, with_tools=with_tools)
    assert block.problem is None
    assert len(rows_in(block)) >= len(block.keys)


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
ENVELOPE = ["uuid", "timestamp", "requestId", "agentId", "isSidechain", "entrypoint", "forkedFrom", "costUSD", "message", "type", "cwd"]  # fmt: skip
MESSAGE = ["id", "model", "stop_reason", "usage", "content"]


@often
@given(st.sampled_from(["", "message", "progress"]), st.data())
def test_odd_values_anywhere_are_scanned(where: str, data: st.DataObject) -> None:
    log = ClaudeLog(ONE)
    record = log.reply(message_id(1), usage(1, 2))
    target = record if where == "" else record["message"]
    target[data.draw(st.sampled_from(ENVELOPE if where == "" else MESSAGE))] = data.draw(ODD)
    if where == "progress":
        log.progress(record)
    for rule in COUNT_RULES:
        rows_in(scanned(log.bytes(), rule=rule, with_tools=data.draw(st.booleans())))


IDS = [message_id(1), message_id(1), message_id(2), "gw-1", "gw-2", "", None]
OUTPUTS = [0, 5, 5, 9, 9, -1, 2**31]
TIMES = [NOON, later(NOON, seconds=5), "2026-03-04T13:00:00+01:00", None]


@st.composite
def conversations(draw: st.DrawFn) -> ClaudeLog:
    """Chunks of few messages in any order, with prompts, results and mirrors between them."""
    log = ClaudeLog(ONE)
    for _ in range(draw(st.integers(1, 9))):
        match draw(st.sampled_from(["reply", "reply", "reply", "prompt", "result", "progress"])):
            case "prompt":
                log.prompt()
            case "result":
                log.result("toolu_1")
            case kind:
                over: Json = {"isSidechain": draw(st.booleans()), "timestamp": draw(st.sampled_from(TIMES))}
                used = usage(
                    draw(st.integers(0, 2)), draw(st.sampled_from(OUTPUTS)), read=draw(st.integers(0, 1))
                )
                record = log.reply(
                    draw(st.sampled_from(IDS)),
                    draw(st.sampled_from([used, used, None])),
                    model=draw(st.sampled_from([OPUS, OPUS, HAIKU, "<synthetic>"])),
                    stop=draw(st.sampled_from([None, "end_turn"])),
                    content=[tool_use("toolu_1", name=draw(st.sampled_from(["Bash", "Edit"])))],
                    **over,
                )
                if kind == "progress":
                    log.records.pop()
                    log.progress(record)
    return log


@often
@given(conversations(), st.sampled_from([MAIN, BESIDE]))
def test_reading_the_names_of_tools_changes_nothing_else(log: ClaudeLog, source: Source) -> None:
    """Without them, most lines take a shorter way through the scan."""
    assert read(log, with_tools=True, source=source) == read(log, source=source)


def test_parts_of_two_messages_in_turn_are_two_requests_with_the_last_figures_of_each() -> None:
    log = ClaudeLog(ONE)
    for output, stop in ((1, None), (1, "tool_use"), (7, "tool_use")):
        for n in (1, 2):
            log.reply(message_id(n), usage(n, output), stop=stop)
    rows = read(log)
    assert [four(row) for row in rows.values()] == [(1, 7, 0, 0), (2, 7, 0, 0)]
    assert [row.has_ended for row in rows.values()] == [True, True]


def test_what_looks_like_an_answer_inside_of_one_is_not_taken_for_it() -> None:
    """In an input of a tool it stands as it is, in a text with its quotes escaped."""
    log = ClaudeLog(ONE)
    inner = ClaudeLog(ONE).reply(message_id(2), usage(1000, 2000))
    quoted = tool_use("toolu_1", input={**inner, "stop_reason": None, "usage": usage(7, 8)})
    log.reply(message_id(1), usage(1, 1), content=[quoted], stop=None)
    log.reply(message_id(1), usage(1, 2), content=[{"type": "text", "text": dumps(inner).decode()}])
    assert {key: four(row) for key, row in read(log).items()} == {message_id(1): (1, 2, 0, 0)}


@often
@given(conversations(), st.sampled_from([1, 7, 100, 1000]))
def test_the_size_of_the_pieces_that_are_read_means_nothing(log: ClaudeLog, size: int) -> None:
    whole = scanned(log.bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage_scan, "CHUNK", size)
        assert scanned(log.bytes()) == whole


@often
@given(conversations())
def test_blanks_carriage_returns_and_blank_lines_mean_nothing(log: ClaudeLog) -> None:
    found = [four(row) for row in read(log).values()]
    strange = log.bytes(blanks=True, end=b"\r\n\n")
    assert [four(row) for row in rows_in(scanned(strange)).values()] == found


def test_the_order_of_keys_means_nothing() -> None:
    log = ClaudeLog(ONE)
    record = log.reply(message_id(1), usage(3, 4))
    backwards = json.loads(dumps(record), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert [four(row) for row in rows_in(scanned(lines([backwards]))).values()] == [(3, 4, 0, 0)]


def test_a_request_is_one_whole_record_and_knows_its_first() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(9, 2), stop=None, entrypoint="sdk-cli")
    log.reply(message_id(1), usage(3, 40, write=5, w1h=2, read=7), content=[tool_use("toolu_1")])
    log.reply(message_id(1), usage(8, 3), stop=None)
    (row,) = read(log).values()
    starts = [0, *(len(lines(log.records[: n + 1])) for n in range(2))]  # type: ignore[arg-type]
    assert four(row) == (3, 40, 5, 7)
    assert (row.cache_write_5m, row.cache_write_1h, row.has_ended) == (3, 2, True)
    assert (row.offset, row.first_offset) == (starts[1], starts[0])
    assert (row.at, row.first_at) == (moment_ms(later(NOON, seconds=2)), moment_ms(later(NOON, seconds=1)))


@pytest.mark.parametrize(
    ("write", "w5m", "w1h", "all_of_it"), [(9, 3, 4, 9), (5, 3, 4, 7), (0, 0, 4, 4), (9, 0, 0, 9)]
)
def test_what_was_written_to_the_cache_is_the_larger_of_its_total_and_its_parts(
    write: int, w5m: int, w1h: int, all_of_it: int
) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1, write=write, w5m=w5m, w1h=w1h))
    (row,) = read(log).values()
    assert (row.cache_write, row.cache_write_5m, row.cache_write_1h) == (all_of_it, w5m, w1h)


def test_ids_of_anthropic_are_never_taken_apart() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4), content=[tool_use("toolu_1")])
    log.result("toolu_1")
    log.prompt()
    log.reply(message_id(1), usage(99, 1, read=500))
    assert [four(row) for row in read(log).values()] == [(3, 4, 0, 0)]


@pytest.mark.parametrize(
    ("id", "over", "key"),
    [
        ("", {"requestId": "req_1"}, "req_1"),
        (None, {"requestId": "req_1"}, "req_1"),
        ("", {"uuid": "u-1"}, "u-1"),
        (None, {"uuid": ""}, "0:0"),
    ],
)
def test_an_empty_id_is_never_a_key(id: str | None, over: Json, key: str) -> None:
    log = ClaudeLog(ONE)
    log.reply(id, usage(3, 4), **over)
    assert list(read(log)) == [key]


def test_words_of_the_client_are_no_request() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4), model="<synthetic>")
    assert read(log) == {}


@pytest.mark.parametrize("used", [None, {}, {"cache_read_input_tokens": 5}, {"input_tokens": "5"}])
def test_an_answer_without_figures_is_a_request_without_usage(used: Json | None) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), used)
    assert [row.output for row in read(log).values()] == [NO_USAGE]


@pytest.mark.parametrize("figure", [-1, 10**12 + 1, 10**30, 2.5, "7", True, None])
def test_what_is_no_figure_counts_for_nothing(figure: Any) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4) | {"cache_read_input_tokens": figure})
    assert [four(row) for row in read(log).values()] == [(3, 4, 0, 0)]


@pytest.mark.parametrize("output", [None, -1])
def test_an_answer_with_input_alone_has_put_out_nothing(output: int | None) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), None)
    log.reply(message_id(1), usage(3) | {"output_tokens": output})
    assert [four(row) for row in read(log).values()] == [(3, 0, 0, 0)]
    assert [four(row) for row in read(log, with_tools=True).values()] == [(3, 0, 0, 0)]


def test_words_of_the_client_under_a_models_id_change_nothing() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4))
    log.reply(message_id(1), usage(99, 4), model="<synthetic>")
    assert [four(row) for row in read(log).values()] == [(3, 4, 0, 0)]


@pytest.mark.parametrize("first", [True, False])
def test_a_chunk_without_a_time_does_not_take_the_time_from_the_others(first: bool) -> None:
    log = ClaudeLog(ONE)
    times = [None, NOON] if first else [NOON, None]
    for at in times:
        log.reply(message_id(1), usage(3, 4), timestamp=at)
    assert [row.first_at for row in read(log).values()] == [moment_ms(NOON)]


def test_a_request_without_any_time_has_none() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4), timestamp=None)
    assert [(row.at, row.first_at) for row in read(log).values()] == [(NO_TIME, NO_TIME)]


def test_a_mirror_names_the_thread_that_it_tells_of() -> None:
    log, inner = ClaudeLog(ONE), ClaudeLog(ONE, agent="a1")
    log.progress(inner.reply(message_id(1), usage(3, 4)), agent="a7")
    block = scanned(log.bytes())
    (row,) = rows_in(block).values()
    assert (four(row), row.is_told, block.names[row.thread], row.first_is_beside) == (
        (3, 4, 0, 0),
        True,
        "a7",
        True,
    )


def test_a_transcript_counts_before_its_mirror_in_the_same_file() -> None:
    log = ClaudeLog(ONE)
    record = log.reply(message_id(1), usage(3, 40))
    own = ClaudeLog(ONE)
    own.progress(record)
    own.reply(message_id(1), usage(3, 4), timestamp=later(NOON, seconds=900))
    (row,) = read(own).values()
    assert (row.output, row.is_told, row.first_is_told, row.first_at) == (4, False, False, moment_ms(later(NOON, seconds=900)))  # fmt: skip


def test_other_rules_leave_mirrors_out() -> None:
    log, inner = ClaudeLog(ONE), ClaudeLog(ONE)
    log.progress(inner.reply(message_id(1), usage(3, 4)))
    assert [read(log, rule=rule) for rule in COUNT_RULES if rule != "ours"] == [{}] * 4


@pytest.mark.parametrize(
    ("rule", "outputs"),
    [
        ("ours", [40, 5]),
        ("last-chunk", [7, 5]),
        ("first-chunk", [2, 5]),
        ("every-line", [2, 40, 7, 5]),
        ("time-and-usage", [2, 40, 7, 5]),
    ],
)
def test_each_rule_counts_the_chunks_that_it_says(rule: CountRule, outputs: list[int]) -> None:
    log = ClaudeLog(ONE)
    for output in (2, 40, 7):
        log.reply(message_id(1), usage(1, output), request="req_1")
    log.reply(message_id(2), usage(1, 5), request="req_2")
    assert [row.output for row in read(log, rule=rule).values()] == outputs


def test_sidechains_of_the_main_file_have_a_thread_of_their_own() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    log.reply(message_id(2), usage(1, 1), isSidechain=True)
    log.reply(message_id(3), usage(1, 1), isSidechain=True, agentId="a9")
    block = scanned(log.bytes())
    threads = [(block.names[row.thread], row.first_is_beside) for row in rows_in(block).values()]
    assert threads == [("", False), ("sidechain", True), ("a9", True)]


def test_the_lines_of_a_subagents_own_file_are_the_subagents() -> None:
    log = ClaudeLog(ONE, sidechain=True, agent="a1")
    log.reply(message_id(1), usage(1, 1))
    source = Source("agent-a1.jsonl", "claude", ONE, "a1", is_main=False)
    block = scanned(log.bytes(), source=source)
    (row,) = rows_in(block, source=source).values()
    assert (row.thread, row.first_is_beside) == (0, True)


def test_terms_are_kept_where_they_are_not_the_usual_ones() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1) | {"speed": "standard", "inference_geo": "not_available"})
    log.reply(message_id(2), usage(1, 1) | {"service_tier": "batch", "inference_geo": "us", "speed": "a\tb"})
    block = scanned(log.bytes())
    assert [block.names[row.terms] for row in rows_in(block).values()] == ["", "batch\ta b\tus"]


def test_the_names_of_tools_are_gathered_over_all_chunks_when_asked_for() -> None:
    log = ClaudeLog(ONE)
    for name in ("Edit", "Bash", "Edit"):
        log.reply(message_id(1), usage(1, 1), content=[tool_use("toolu_1", name=name)])
    log.reply(message_id(2), usage(1, 1))
    assert scanned(log.bytes(), with_tools=True).asides == {0: Aside(["Bash", "Edit"])}
    assert scanned(log.bytes()).asides == {}


def test_a_stated_cost_and_iterations_stand_aside() -> None:
    log = ClaudeLog(ONE)
    advisor = {"type": "advisor_message", "model": HAIKU, "input_tokens": 5, "output_tokens": 6}
    log.reply(message_id(1), usage(1, 1) | {"iterations": [advisor, {"type": "message"}]}, costUSD=0.25)
    beside: list[tuple[str, str | None, tuple[int, ...]]] = [("advisor", HAIKU, (5, 6, 0, 0, 0, 0, 0, 0))]
    assert scanned(log.bytes()).asides == {0: Aside([], beside, 250_000_000_000)}


@pytest.mark.parametrize("cost", [-1.0, 10**7, 10**400, "1", None])
def test_what_is_no_sum_of_money_is_not_stated(cost: Any) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4), costUSD=cost)
    block = scanned(log.bytes())
    assert (block.asides, [four(row) for row in rows_in(block).values()]) == ({}, [(3, 4, 0, 0)])


def test_a_fork_says_which_records_it_copied() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1), forkedFrom={"sessionId": "s", "messageUuid": "u"})
    log.reply(message_id(2), usage(1, 1), forkedFrom=None)
    log.reply(message_id(3), usage(1, 1))
    assert [row.first_is_copy for row in read(log).values()] == [True, False, False]


def test_the_folder_is_that_of_the_first_answer_that_names_one() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1), cwd=None)
    log.reply(message_id(2), usage(1, 1), cwd="/one")
    log.reply(message_id(3), usage(1, 1), cwd="/two")
    assert scanned(log.bytes()).cwd == "/one"


@pytest.mark.parametrize("is_meta", [True, False])
def test_an_answer_that_the_client_asks_to_go_on_with_has_not_ended(is_meta: bool) -> None:
    """2.1.325 writes `end_turn` into an answer whose stream was cut; a person may type the same words."""
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    log.prompt(
        "Your response above was cut off mid-stream. Resume directly from where it stops.", isMeta=is_meta
    )
    log.reply(message_id(2), usage(1, 1))
    assert [row.has_ended for row in read(log).values()] == [not is_meta, True]


def test_an_answer_that_the_client_calls_broken_off_has_not_ended() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    says: Json = {"isApiErrorMessage": True, "content": [{"type": "text", "text": "closed mid-response"}]}
    log.reply("0", usage(), model="<synthetic>", **says)
    assert [row.has_ended for row in read(log).values()] == [False]
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1))
    log.reply("0", usage(), model="<synthetic>", **says, parentUuid="another")
    assert [row.has_ended for row in read(log).values()] == [True]


def test_a_torn_line_gives_the_answer_behind_the_tear() -> None:
    log = ClaudeLog(ONE)
    torn, whole = dumps(log.reply(message_id(1), usage(1, 1))), dumps(log.reply(message_id(2), usage(3, 4)))
    rows = rows_in(scanned(torn[:200] + whole + b"\n"))
    assert {key: (four(row), row.offset) for key, row in rows.items()} == {message_id(2): ((3, 4, 0, 0), 200)}


def test_a_record_torn_in_two_lines_and_two_records_on_one_are_not_taken_for_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lines are decoded many at a time: what stands on two of them must not pass for one."""
    log = ClaudeLog(ONE)
    torn, one, two = (dumps(log.reply(message_id(n), usage(n, n))) for n in (1, 2, 3))
    middle = torn.index(b'"role":"assistant"')
    data = torn[:middle] + b"\n" + torn[middle:] + b"\n" + one + two + b"\n"
    assert torn[:middle].count(b'"assistant"') == torn[middle:].count(b'"assistant"') == 1
    places = {key: row.offset for key, row in rows_in(scanned(data)).items()}
    assert places == {message_id(2): data.index(one), message_id(3): data.index(two)}
    monkeypatch.setattr(usage_scan, "CHUNK", 1)
    assert {key: row.offset for key, row in rows_in(scanned(data)).items()} == places


def test_two_records_on_one_line_beside_an_odd_one_are_all_counted() -> None:
    """The number of values alone does not tell that each line holds one."""
    log = ClaudeLog(ONE)
    one, two, three, four = (dumps(log.reply(message_id(n), usage(n, n))) for n in range(1, 5))
    data = one + b"\n" + two + three + b"\n" + four + b"\r\n"
    assert set(rows_in(scanned(data))) == {message_id(n) for n in range(1, 5)}


def test_a_compressed_log_says_the_same() -> None:
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(3, 4))
    packed = zstandard.ZstdCompressor().compress(log.bytes())
    assert scanned(packed, name="one.jsonl.zst") == scanned(log.bytes())


def test_of_a_damaged_log_what_could_be_read_counts() -> None:
    log = ClaudeLog(ONE)
    for n in range(2000):
        log.reply(message_id(n), usage(3, n))
    packed = zstandard.ZstdCompressor().compress(log.bytes())
    block = scanned(packed[: len(packed) // 2], name="one.jsonl.zst")
    assert block.problem is not None
    assert 0 <= len(rows_in(block)) < 2000


def test_a_file_that_is_gone_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    file = log_file(tmp_path / "one.jsonl", b"{}")
    file.path.unlink()
    block = scan(LogToScan(0, MAIN, file))
    assert (block.keys, bool(block.problem)) == ([], True)


def test_fifty_thousand_models_in_one_file_are_fifty_thousand_names() -> None:
    line = dumps(ClaudeLog(ONE).reply(message_id(1), usage(1, 1), model="@@"))
    base = line.replace(message_id(1).encode(), b"msg_01%022d").replace(b"@@", b"model-%d")
    base = base.replace(b"%", b"%%").replace(b"%%022d", b"%022d").replace(b"%%d", b"%d")
    n_models = 50_000
    order = (0, 1) if base.index(b"%022d") < base.index(b"model-%d") else (1, 0)
    assert order == (0, 1)
    block = scanned(b"".join(base % (n, n) + b"\n" for n in range(n_models)))
    assert (len(block.keys), len(set(block.names))) == (n_models, len(block.names))
    assert len(block.names) == n_models + 2  # and none, and the client's way in


def test_ten_thousand_tools_in_one_message_are_ten_thousand_names() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1), content=[tool_use("t", name=f"tool-{n}") for n in range(10_000)])
    assert len(scanned(log.bytes(), with_tools=True).asides[0].tools) == 10_000


def test_a_line_beyond_the_limit_is_left_out_and_the_next_one_read() -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(1, 1), content=[{"type": "text", "text": "x" * 40_000_000}])
    log.reply(message_id(2), usage(3, 4))
    assert [four(row) for row in read(log).values()] == [(3, 4, 0, 0)]


def test_memory_does_not_grow_with_what_follows_the_last_answer(tmp_path: Path) -> None:
    log = ClaudeLog(ONE)
    log.reply(message_id(1), usage(3, 4))
    answer = log.bytes()
    log.prompt("x" * 20_000)
    file = log_file(tmp_path / "one.jsonl", answer + log.bytes().removeprefix(answer) * 600)
    tracemalloc.start()
    try:
        block = scan(LogToScan(0, MAIN, file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert block.awaited is not None
    assert peak < file.size // 2
