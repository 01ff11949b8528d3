"""One odd number hid a whole answer.

A gateway wrote `"input_tokens": true` into the usage of one answer (another one `"7"`). The record did not fit its
struct, became unknown as a whole, and its text and its calls were gone from `show`, `calls` and `final`. The same held
for every other optional field of a record, of a content block, and of Codex's items.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import ONE, TWO, codex_lines, rollout_in, tracklog, write
from tracklog.agents.claude_code import records
from tracklog.agents.codex import records as codex_records
from tracklog.agents.drift import extra_of
from tracklog.agents.reader import Reader
from tracklog.model.records import Piece
from tracklog.sources.lines import Line

ODD = [True, "7", 1.5, [], {}]


def read(reader: Reader, value: dict[str, Any]) -> Piece:
    raw = json.dumps(value).encode()
    (piece,) = reader.read([Line(1, 0, len(raw), raw)])
    return piece


def answer(**fields: Any) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "true"}}
    message: dict[str, Any] = {
        "id": "msg_1",
        "model": "m",
        "role": "assistant",
        "content": [{"type": "text", "text": "Done."}, call],
    }
    message["usage"] = {"input_tokens": 3, "output_tokens": 4}
    return {
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        "sessionId": ONE,
        "timestamp": "2026-11-15T10:00:01.000Z",
        "isSidechain": False,
        "message": message,
    } | fields


def with_usage(usage: Any) -> dict[str, Any]:
    line = answer()
    line["message"]["usage"] = usage
    return line


@pytest.mark.parametrize("odd", ODD)
def test_an_answer_with_an_odd_figure_keeps_its_text_its_calls_and_its_other_figures(odd: Any) -> None:
    piece = read(records.READER, with_usage({"input_tokens": odd, "output_tokens": 4}))
    assert piece.reading == "read"
    assert [path for path, _ in piece.odd] == ["message.usage.input_tokens"]
    assert list(extra_of(piece)) == ["message.usage.input_tokens (odd)"]
    message = piece.record.message  # type: ignore[attr-defined]
    assert (message.usage.input_tokens, message.usage.output_tokens) == (None, 4)
    assert [type(block).__name__ for block in message.content] == ["Text", "ToolUse"]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (answer(durationMs="long"), "durationMs"),
        (answer(requestId=5), "requestId"),
        (answer(cwd=["/srv"]), "cwd"),
        (with_usage("none"), "message.usage"),
        (
            with_usage({"cache_creation": {"ephemeral_5m_input_tokens": "x"}}),
            "message.usage.cache_creation.ephemeral_5m_input_tokens",
        ),
    ],
)
def test_any_optional_field_that_does_not_fit_is_left_out_alone(line: dict[str, Any], path: str) -> None:
    piece = read(records.READER, line)
    assert (piece.reading, [at for at, _ in piece.odd]) == ("read", [path])


def test_an_odd_field_of_a_block_does_not_hide_the_call_that_it_is() -> None:
    line = answer()
    line["message"]["content"][1]["id"] = 5
    piece = read(records.READER, line)
    assert [type(block).__name__ for block in piece.record.message.content] == ["Text", "ToolUse"]  # type: ignore[attr-defined]
    assert [path for path, _ in piece.odd] == ["message.content[](tool_use).id"]


def test_an_odd_field_of_a_result_does_not_hide_it() -> None:
    back = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42", "is_error": "no"}
    piece = read(records.READER, {**answer(type="user"), "message": {"role": "user", "content": [back]}})
    assert piece.record.message.content[0].text == "42"  # type: ignore[attr-defined]
    assert [path for path, _ in piece.odd] == ["message.content[](tool_result).is_error"]


def test_an_odd_content_of_a_result_does_not_hide_that_there_was_one() -> None:
    back = {"type": "tool_result", "tool_use_id": "toolu_1", "content": {"text": "42"}}
    piece = read(records.READER, {**answer(type="user"), "message": {"role": "user", "content": [back]}})
    assert [block.tool_use_id for block in piece.record.message.content] == ["toolu_1"]  # type: ignore[attr-defined]
    assert piece.odd == (("message.content[](tool_result).content", {"text": "42"}),)


def test_an_odd_field_of_codex_does_not_hide_its_item() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}", "id": 5}
    piece = read(
        codex_records.READER,
        {"timestamp": "2026-11-15T10:00:01.000Z", "type": "response_item", "payload": item},
    )
    assert (piece.reading, [path for path, _ in piece.odd]) == ("read", ["payload.id"])


CALL = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
SCRIPT = {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": "ls"}
BACK = {"type": "function_call_output", "call_id": "c1", "output": "done"}


@pytest.mark.parametrize("odd", [5, True, 1.5, ["x"]])
@pytest.mark.parametrize(
    ("item", "field"),
    [
        *((CALL, field) for field in ("call_id", "name", "arguments")),
        *((SCRIPT, field) for field in ("call_id", "name", "input")),
        (BACK, "call_id"),
        ({**BACK, "type": "custom_tool_call_output"}, "call_id"),
    ],
)
def test_an_odd_field_does_not_hide_a_call_of_codex(item: dict[str, Any], field: str, odd: Any) -> None:
    payload = {**item, field: odd}
    piece = read(
        codex_records.READER,
        {"timestamp": "2026-11-15T10:00:01.000Z", "type": "response_item", "payload": payload},
    )
    assert (piece.reading, piece.odd) == ("read", ((f"payload.{field}", odd),))


def codex_log(home: Path, *items: dict[str, Any]) -> None:
    rest = b"".join(
        json.dumps(
            {"timestamp": "2026-03-01T17:24:44.000Z", "type": "response_item", "payload": item}
        ).encode()
        + b"\n"
        for item in items
    )
    write(rollout_in(home), codex_lines() + rest)


def test_the_commands_show_a_call_of_codex_with_odd_fields(tmp_path: Path) -> None:
    codex_log(tmp_path, {**CALL, "name": 5, "arguments": {"command": ["ls"]}}, BACK, {**CALL, "call_id": 6})
    calls = tracklog("calls", TWO, "--json", home=tmp_path).json["calls"]
    assert [(call["id"] == "c1", call["name"], call["verdict"]) for call in calls] == [
        (True, "unknown", "ok"),
        (False, "shell", "lost"),
    ]
    shown = tracklog("show", TWO, "--json", home=tmp_path).json
    assert [problem["what"] for problem in shown["problems"]] == [
        "response_item/function_call: payload.name was left out, its value does not fit: 5",
        'response_item/function_call: payload.arguments was left out, its value does not fit: {"command": ["ls"]}',
        "response_item/function_call: payload.call_id was left out, its value does not fit: 6",
    ]


def test_a_result_of_codex_with_an_odd_output_is_still_one(tmp_path: Path) -> None:
    codex_log(tmp_path, CALL, {**BACK, "output": 5})
    (call,) = tracklog("calls", TWO, "--json", home=tmp_path).json["calls"]
    assert (call["id"], call["verdict"]) == ("c1", "ok")


def test_what_a_record_must_have_is_not_left_out() -> None:
    assert read(records.READER, answer(message="hello")).reading == "unknown"


def test_the_commands_show_the_answer_and_name_the_field(tmp_path: Path) -> None:
    prompt = {
        **answer(type="user", uuid="u1", parentUuid=None),
        "message": {"role": "user", "content": "Go."},
    }
    lines = [prompt, with_usage({"input_tokens": True, "output_tokens": "7"})]
    root = tmp_path / "claude"
    write(
        root / f"projects/-srv-app/{ONE}.jsonl", b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    )
    assert tracklog("final", ONE, "--root", root, home=tmp_path).out == "Done.\n"
    shown = tracklog("show", ONE, "--root", root, "--json", home=tmp_path).json
    assert shown["turns"][0]["requests"][0]["text"] == "Done."
    assert [problem["what"] for problem in shown["problems"]] == [
        "assistant: message.usage.input_tokens was left out, its value does not fit: true",
        'assistant: message.usage.output_tokens was left out, its value does not fit: "7"',
    ]
    calls = tracklog("calls", ONE, "--root", root, "--json", home=tmp_path).json["calls"]
    assert [call["id"] for call in calls] == ["toolu_1"]
    assert "message.usage.input_tokens (odd)" in tracklog("doctor", "--root", root, home=tmp_path).out


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize("place", ["usage", "input", "version"])
def test_a_value_nested_without_end_hides_nothing_but_itself(tmp_path: Path, place: str) -> None:
    line = answer(version="@") if place == "version" else answer()
    if place == "usage":
        line["message"]["usage"]["service_tier"] = "@"
    elif place == "input":
        line["message"]["content"][1]["input"] = {"command": "true", "deep": "@"}
    line["message"]["stop_reason"] = "tool_use"
    raw = json.dumps(line).replace('"@"', DEEP).encode()
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.raw) == ("read", raw)
    assert [type(block).__name__ for block in piece.record.message.content] == ["Text", "ToolUse"]  # type: ignore[attr-defined]
    assert "nested deeper" in (piece.why or "")
    root = tmp_path / "claude"
    write(root / f"projects/-srv-app/{ONE}.jsonl", raw + b"\n")
    total = tracklog("usage", "--root", root, "--json", home=tmp_path).json["total"]
    assert (total["requests"], total["input_tokens"], total["output_tokens"]) == (1, 3, 4)


def test_brackets_that_do_not_match_are_still_broken() -> None:
    raw = b'{"type":"assistant","message":' + b"[" * 5000 + b"]" * 4000 + b"}"
    assert {piece.reading for piece in records.READER.read([Line(1, 0, len(raw), raw)])} == {"broken"}


@pytest.mark.parametrize("odd", [*ODD[:2], -1, 2**80])
@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "cache_read_input_tokens"])
def test_a_figure_that_cannot_be_counted_makes_the_request_a_lower_bound(
    tmp_path: Path, field: str, odd: Any
) -> None:
    line = with_usage({"input_tokens": 3, "output_tokens": 4, field: odd})
    line["message"]["stop_reason"] = "end_turn"
    root = tmp_path / "claude"
    write(root / f"projects/-srv-app/{ONE}.jsonl", json.dumps(line).encode() + b"\n")
    total = tracklog("usage", "--root", root, "--json", home=tmp_path).json["total"]
    assert (total["requests"], total["partial_requests"]) == (1, 1)
