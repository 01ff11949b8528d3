"""The narrow reading of Codex's lines, held against the full records and against plain JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.logs import FILES, damaged, lines_of
from tracklog.agents.codex.records import usage_lines
from tracklog.agents.codex.records.reader import READER
from tracklog.agents.codex.records.usage_lines import PayloadFields, SpendingLine, TokenFields
from tracklog.sources.lines import Line

Json = dict[str, Any]
often = settings(max_examples=50, deadline=None)
HUGE = 10**40
NAMES = TokenFields.__struct_fields__
NUMBERS = st.none() | st.integers(-(10**30), 10**30)
ODD = st.one_of(
    st.integers(-3, 10**6),
    st.sampled_from([HUGE, -HUGE, 2**63, 3.0, 2.5, 1e300, True, False]),
    st.none(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def usages(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys((*NAMES, "something_new"), of))


def count(total: Any, last: Any) -> Json:
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 272000}
    payload = {"type": "token_count", "info": info, "rate_limits": None}
    return {"timestamp": "2026-03-04T12:00:00.000Z", "type": "event_msg", "payload": payload}


def record(usage: Any) -> Json:
    payload = {"thread_id": "t", "turn_id": "n", "session_id": "s", "response_id": "r", "usage": usage}
    return {"timestamp": "2026-03-04T12:00:00.000Z", "type": "token_usage_record", "payload": payload}


def dumped(value: Json, *, blanks: bool = False) -> bytes:
    return json.dumps(value, separators=(", ", " : ") if blanks else (",", ":")).encode()


def payload_of(raw: bytes) -> PayloadFields:
    line = usage_lines.read_line(raw)
    assert line is not None
    assert line.payload is not None
    return line.payload


def figures(usage: Any) -> list[int | None] | None:
    return None if usage is None else [getattr(usage, name) for name in NAMES]


def figures_by_json(usage: Any) -> list[int | None] | None:
    return [whole(usage.get(name)) for name in NAMES] if isinstance(usage, dict) else None


def whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def full_payload(raw: bytes) -> Any:
    [piece] = READER.read([Line(1, 0, len(raw), raw)])
    return getattr(piece.record, "payload")  # noqa: B009 - records differ in their types


@often
@given(usages(NUMBERS), usages(NUMBERS), st.booleans())
def test_a_count_is_read_as_its_full_record_is(total: Json, last: Json, blanks: bool) -> None:
    raw = dumped(count(total, last), blanks=blanks)
    narrow, full = payload_of(raw).info, full_payload(raw).info
    assert narrow is not None
    assert figures(narrow.total_token_usage) == figures(full.total_token_usage)
    assert figures(narrow.last_token_usage) == figures(full.last_token_usage)


@often
@given(usages(NUMBERS))
def test_the_record_of_a_response_is_read_as_its_full_record_is(usage: Json) -> None:
    raw = dumped(record(usage))
    narrow, full = payload_of(raw), full_payload(raw)
    assert (figures(narrow.usage), narrow.response_id) == (figures(full.usage), full.response_id)


@often
@given(usages(ODD), ODD | usages(ODD))
def test_a_figure_that_is_no_whole_number_is_none_and_spoils_no_other(total: Json, last: Any) -> None:
    info = payload_of(dumped(count(total, last))).info
    assert info is not None
    assert figures(info.total_token_usage) == figures_by_json(total)
    assert figures(info.last_token_usage) == figures_by_json(last)


@often
@given(ODD)
def test_odd_words_spoil_no_figure(odd: Any) -> None:
    line = record({"input_tokens": 5, "output_tokens": 6.0})
    line["timestamp"] = odd
    line["payload"] |= {"response_id": odd, "thread_id": odd, "turn_id": odd, "model": odd, "cwd": odd}
    payload = payload_of(dumped(line))
    assert figures(payload.usage) == [5, None, None, 6, None, None]
    assert payload.response_id == (odd if isinstance(odd, str) else None)


def test_the_last_of_two_equal_keys_counts() -> None:
    raw = dumped(record({"input_tokens": 1})).replace(
        b'"input_tokens":1', b'"input_tokens":1.5,"input_tokens":2'
    )
    assert figures(payload_of(raw).usage) == [2, None, None, None, None, None]


@pytest.mark.parametrize("bad", [b"\xff", b"\\ud800", b"\xed\xa0\x80", b"\x01"])
def test_a_line_with_bad_text_in_it_keeps_its_figures(bad: bytes) -> None:
    raw = dumped(record({"input_tokens": 7})).replace(b'"thread_id":"t"', b'"thread_id":"' + bad + b'"')
    payload = payload_of(raw)
    assert (payload.usage and payload.usage.input_tokens) == 7
    assert (payload.thread_id or "").encode()


@often
@given(st.binary(max_size=120) | damaged(lines_of("codex")))
def test_any_bytes_are_read_or_refused_as_no_json(raw: bytes) -> None:
    try:
        usage_lines.read_line(raw)
    except (ValueError, RecursionError):
        assert not _is_plain_json(raw)


def _is_plain_json(raw: bytes) -> bool:
    try:
        json.loads(raw.decode())
    except (ValueError, RecursionError):
        return False
    return True


@pytest.mark.parametrize("raw", [b"[]", b"3", b'"token_usage"', b"null"])
def test_json_that_is_no_object_is_none(raw: bytes) -> None:
    assert usage_lines.read_line(raw) is None


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parts[-3] == "codex"], ids=lambda path: path.parts[-2]
)
def test_every_figure_of_real_clients_stands_in_a_line_with_the_needle(path: Path) -> None:
    n_counts = 0
    for raw in path.read_bytes().splitlines():
        line = usage_lines.read_line(raw)
        assert isinstance(line, SpendingLine)
        if line.payload is not None and (line.payload.info or line.payload.usage):
            assert usage_lines.NEEDLE in raw
            n_counts += 1
        if line.type == "turn_context":
            assert line.payload is not None
            assert line.payload.model
    assert n_counts
