"""The narrow reading of Claude Code's lines, held against the full records and against plain JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.logs import FILES, damaged, lines_of
from tracklog.agents.claude_code.records import usage_lines
from tracklog.agents.claude_code.records.messages import AssistantLine
from tracklog.agents.claude_code.records.reader import READER
from tracklog.agents.claude_code.records.usage_lines import (
    AnswerFields,
    ProgressLineFields,
    ToolAnswer,
    UsageFields,
)
from tracklog.sources.lines import Line

Json = dict[str, Any]
often = settings(max_examples=50, deadline=None)
HUGE = 10**40
decode = msgspec.json.Decoder(AnswerFields).decode
decode_with_tools = msgspec.json.Decoder(ToolAnswer).decode
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-3, 10**6),
    st.sampled_from(
        [0, -1, HUGE, -HUGE, 2**63, 2**64, 10**12, 10**12 + 1, 3.0, 2.5, -0.0, 1e300, True, False]
    ),
    st.none(),
    st.text(max_size=6),
)
ODD = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=2)
FIGURES = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
WORDS = ("service_tier", "speed", "inference_geo")


def _objects(*names: str, of: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, of))


def usages(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Usage objects, with any of the keys that we know, and values of this kind for figures."""
    lives = _objects("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens", of=of)
    return st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(FIGURES, of)
        | dict.fromkeys(WORDS, st.none() | st.sampled_from(["standard", "batch", "us", "fast"]))
        | {
            "cache_creation": st.none() | lives,
            "output_tokens_details": st.none() | _objects("thinking_tokens", of=of),
            "server_tool_use": st.none() | _objects("web_search_requests", "web_fetch_requests", of=of),
            "iterations": st.none()
            | st.lists(_objects("type", "model", of=st.sampled_from(["message"])), max_size=2),
            "something_new": SCALARS,
        },
    )


def answer(usage: Any, **more: Any) -> Json:
    message = {
        "id": "msg_1",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    envelope = {"type": "assistant", "uuid": "u", "timestamp": "2026-03-04T12:00:00.000Z", "sessionId": "s"}
    return envelope | {"message": message} | more


def dumped(value: Json, *, blanks: bool = False) -> bytes:
    return json.dumps(value, separators=(", ", " : ") if blanks else (",", ":")).encode()


def read(raw: bytes) -> AnswerFields | ProgressLineFields | None:
    """As the scan reads: narrowly, or else patiently."""
    try:
        return decode(raw)
    except usage_lines.REFUSALS:
        return usage_lines.read_tolerantly(raw)


def usage_in(raw: bytes) -> UsageFields:
    line = read(raw)
    assert isinstance(line, AnswerFields)
    assert line.message is not None
    assert line.message.usage is not None
    return line.message.usage


def told(usage: Any) -> Json:
    """All figures and words of a usage, by the narrow or the full reading."""

    def inside(name: str, *names: str) -> list[Any]:
        part = getattr(usage, name)
        return [None if part is None else getattr(part, one) for one in names]

    return {name: getattr(usage, name) for name in (*FIGURES, *WORDS)} | {
        "lives": inside("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
        "thinking": inside("output_tokens_details", "thinking_tokens"),
        "searches": inside("server_tool_use", "web_search_requests"),
    }


def whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def told_by_json(usage: Json) -> Json:
    """The same, worked out without any types: what is no whole number, no text, no object, is nothing."""

    def inside(name: str, *names: str) -> list[Any]:
        part = usage.get(name)
        return [whole(part.get(one)) if isinstance(part, dict) else None for one in names]

    figures = {name: whole(usage.get(name)) for name in FIGURES}
    words = {name: usage.get(name) if isinstance(usage.get(name), str) else None for name in WORDS}
    return (
        figures
        | words
        | {
            "lives": inside("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
            "thinking": inside("output_tokens_details", "thinking_tokens"),
            "searches": inside("server_tool_use", "web_search_requests"),
        }
    )


@often
@given(usages(st.none() | st.integers(-(10**30), 10**30)), st.booleans())
def test_the_narrow_reading_tells_what_the_full_record_tells(usage: Json, blanks: bool) -> None:
    raw = dumped(answer(usage), blanks=blanks)
    [piece] = READER.read([Line(1, 0, len(raw), raw)])
    assert isinstance(piece.record, AssistantLine)
    assert told(usage_in(raw)) == told(piece.record.message.usage)


@often
@given(usages(ODD))
def test_a_figure_that_is_no_whole_number_is_none_and_spoils_no_other(usage: Json) -> None:
    assert told(usage_in(dumped(answer(usage)))) == told_by_json(usage)


@often
@given(
    usages(st.integers(0, 99)),
    st.sampled_from([*FIGURES, *WORDS, "cache_creation", "output_tokens_details"]),
    ODD,
)
def test_what_does_not_fit_is_left_out_alone(usage: Json, name: str, value: Any) -> None:
    spoilt = usage | {name: value}
    assert told(usage_in(dumped(answer(spoilt)))) == told_by_json(spoilt)


def test_the_last_of_two_equal_keys_counts() -> None:
    raw = dumped(answer({"input_tokens": 1})).replace(
        b'"input_tokens":1', b'"input_tokens":1,"input_tokens":2'
    )
    twice = dumped(answer({"input_tokens": 1.5})).replace(
        b'"input_tokens":1.5', b'"input_tokens":1.5,"input_tokens":2'
    )
    assert (usage_in(raw).input_tokens, usage_in(twice).input_tokens) == (2, 2)


@pytest.mark.parametrize("bad", [b"\xff", b"\\ud800", b"\xed\xa0\x80", b"\x01"])
def test_a_line_with_bad_text_in_it_keeps_its_figures(bad: bytes) -> None:
    raw = dumped(answer({"input_tokens": 7, "output_tokens": 8})).replace(
        b'"uuid":"u"', b'"uuid":"' + bad + b'"'
    )
    assert (usage_in(raw).input_tokens, usage_in(raw).output_tokens) == (7, 8)


@pytest.mark.parametrize(
    "more",
    [
        {"costUSD": 10**400},
        {"costUSD": True},
        {"costUSD": "1.5"},
        {"forkedFrom": [HUGE]},
        {"isSidechain": "yes"},
        {"timestamp": 5},
        {"agentId": {}},
        {"entrypoint": None},
    ],
    ids=lambda more: next(iter(more)),
)
def test_an_odd_envelope_costs_no_figures(more: Json) -> None:
    usage = usage_in(dumped(answer({"input_tokens": 7, "output_tokens": 8.0}, **more)))
    assert (usage.input_tokens, usage.output_tokens) == (7, 8)


def test_an_odd_iteration_costs_no_figures() -> None:
    usage = usage_in(dumped(answer({"input_tokens": 7.0, "iterations": [{"input_tokens": HUGE}]})))
    assert (usage.input_tokens, usage_lines.iterations_of(usage)) == (7, [])


@often
@given(st.binary(max_size=120) | damaged(lines_of("claude")))
def test_any_bytes_are_read_or_refused_as_no_json(raw: bytes) -> None:
    try:
        usage_lines.read_tolerantly(raw)
    except (ValueError, RecursionError):
        assert not _is_plain_json(raw)
    usage_lines.read_cost_state(raw)


def _is_plain_json(raw: bytes) -> bool:
    try:
        json.loads(raw.decode())
    except (ValueError, RecursionError):
        return False
    return True


@often
@given(damaged(lines_of("claude")))
def test_what_both_readings_understand_they_understand_alike(raw: bytes) -> None:
    try:
        narrow = decode_with_tools(raw)
        patient = usage_lines.read_tolerantly(raw)
    except (*usage_lines.REFUSALS, ValueError):
        return
    if isinstance(patient, AnswerFields):
        assert _figures(narrow) == _figures(patient)


def _figures(line: AnswerFields) -> tuple[Any, ...]:
    message = line.message
    usage = message.usage if message is not None else None
    named = (line.uuid, line.timestamp, line.request_id, line.agent_id, line.cost_usd)
    ids = (message.id, message.model, message.stop_reason) if message is not None else ()
    return (*named, *ids, told(usage) if usage is not None else None)


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parts[-3] == "claude"], ids=lambda path: path.name
)
def test_every_answer_of_real_clients_is_read_as_its_record_is(path: Any) -> None:
    n_answers = 0
    for raw in path.read_bytes().splitlines():
        [piece] = READER.read([Line(1, 0, len(raw), raw)])
        if isinstance(piece.record, AssistantLine):
            record, line = piece.record, decode_with_tools(raw)
            assert usage_lines.NEEDLE in raw
            assert told(line.message and line.message.usage) == told(record.message.usage)
            assert line.message is not None
            assert (line.message.id, line.message.model) == (record.message.id, record.message.model)
            assert (line.timestamp, line.request_id, line.uuid) == (
                record.timestamp,
                record.request_id,
                record.uuid,
            )
            n_answers += 1
    assert n_answers


@pytest.mark.parametrize(
    ("id", "is_unique"),
    [
        ("msg_01" + "A" * 22, True),
        ("msg_bdrk_01" + "a9" * 11, True),
        ("msg_vrtx_01" + "Z" * 22, True),
        ("msg_01" + "A" * 21, False),
        ("msg_01" + "A" * 23, False),
        ("msg_01" + "A" * 22 + "\n", False),
        ("msg_02" + "A" * 22, False),
        ("msg_20251030084941", False),
        ("msg_aws_01" + "A" * 22, False),
        ("x msg_01" + "A" * 22, False),
        ("", False),
    ],
)
def test_only_ids_of_anthropic_are_taken_for_unique(id: str, is_unique: bool) -> None:
    assert usage_lines.is_unique(id) is is_unique


@pytest.mark.parametrize(
    ("usage", "says"),
    [
        ({}, False),
        ({"cache_read_input_tokens": 5}, False),
        ({"input_tokens": None, "output_tokens": "9"}, False),
        ({"input_tokens": 0}, True),
        ({"output_tokens": 0}, True),
    ],
)
def test_a_usage_without_input_and_output_says_nothing(usage: Json, says: bool) -> None:
    assert usage_lines.has_figures(usage_in(dumped(answer(usage)))) is says


def test_only_iterations_that_are_billed_beside_the_request_are_read() -> None:
    advisor = {"type": "advisor_message", "model": "m", "input_tokens": 5, "output_tokens": 2}
    plain = {"type": "message", "input_tokens": 1}
    both = usage_in(dumped(answer({"input_tokens": 1, "iterations": [plain, advisor]})))
    assert [msgspec.to_builtins(one)["input_tokens"] for one in usage_lines.iterations_of(both)] == [1, 5]
    assert usage_lines.iterations_of(usage_in(dumped(answer({"iterations": [plain]})))) == []
    assert usage_lines.iterations_of(usage_in(dumped(answer({"iterations": 3})))) == []
    assert usage_lines.iterations_of(UsageFields()) == []


def test_totals_are_read_from_their_own_kind_of_line_alone() -> None:
    models = {"m": {"inputTokens": 5, "cacheCreationEphemeral1hInputTokens": 6, "costUSD": 0.5}}
    line = {"type": "cost-state", "totalCostUSD": 0.5, "totalDuration": 12.5, "modelUsage": models}
    state = usage_lines.read_cost_state(dumped(line))
    assert state is not None
    assert (state.total_cost_usd, state.total_duration, list(state.model_usage or {})) == (0.5, 12.5, ["m"])
    used = (state.model_usage or {})["m"]
    assert (used.input_tokens, used.cache_creation_ephemeral_1h_input_tokens, used.cost_usd) == (5, 6, 0.5)
    assert usage_lines.read_cost_state(dumped(line | {"type": "user"})) is None


@pytest.mark.parametrize("raw", [b'["assistant"]', b'"assistant"', b'{"type":["assistant"]}', b"{}", b"null"])
def test_json_that_is_no_answer_is_none(raw: bytes) -> None:
    assert usage_lines.read_tolerantly(raw) is None
