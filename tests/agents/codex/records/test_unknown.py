"""What we do not know is unknown, as small as possible, and keeps what can be said about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.codex.records.examples import ACTS, AT, ENVELOPES, EVENTS, ITEMS, act, event, item, line
from tracklog.agents.codex.records import READER
from tracklog.agents.codex.records.envelope import CompactedLine, EventLine, ResponseItemLine, WorldStateLine
from tracklog.agents.codex.records.events import ItemCompleted, TokenCount
from tracklog.agents.codex.records.items import FunctionCallOutput, InputText, Message
from tracklog.agents.codex.records.turn_items import AgentMessageItem, UserMessageItem
from tracklog.agents.drift import extra_of
from tracklog.model.records import Broken, Record, Unknown, UnknownPart
from tracklog.sources.lines import cut

HOLOGRAM = {"type": "hologram", "id": "h1", "depth": 3}


def read(raw: bytes) -> Record:
    return READER.read_bytes(raw)


def what_is(record: Record) -> tuple[str, str, str | None, str | None]:
    assert isinstance(record, Unknown)
    return record.kind, record.why, record.ident, record.at


@pytest.mark.parametrize(
    ("raw", "kind", "why", "ident"),
    [
        (line("hologram", {"id": "h1"}), "hologram", "unknown type", "h1"),
        (
            item("hologram", id="h1"),
            "response_item/hologram",
            "Invalid value 'hologram' - at `$.payload.type`",
            "h1",
        ),
        (
            event("hologram", call_id="c1"),
            "event_msg/hologram",
            "Invalid value 'hologram' - at `$.payload.type`",
            "c1",
        ),
        (
            act("Hologram"),
            "event_msg/item_completed/Hologram",
            "Invalid value 'Hologram' - at `$.payload.item.type`",
            None,
        ),
        (
            line("response_item", None),
            "response_item",
            "Expected `object`, got `null` - at `$.payload`",
            None,
        ),
        (line("event_msg", {}), "event_msg", "Object missing required field `type` - at `$.payload`", None),
        (line("turn_context", []), "turn_context", "Expected `object`, got `array` - at `$.payload`", None),
    ],
)
def test_a_line_of_unknown_kind_is_unknown_by_its_name(
    raw: bytes, kind: str, why: str, ident: str | None
) -> None:
    assert what_is(read(raw)) == (kind, why, ident, AT)


def test_a_line_without_type_is_unknown() -> None:
    assert what_is(read(b'{"id": "x", "mood": 1}')) == ("untyped", "no type", "x", None)
    assert what_is(read(b'{"type": 7, "payload": {}}')) == ("untyped", "unknown type", None, None)


@pytest.mark.parametrize(
    ("raw", "kind", "why"),
    [
        (
            line("world_state", {"full": 1, "state": {}}),
            "world_state",
            "Expected `bool`, got `int` - at `$.payload.full`",
        ),
        (
            event("agent_message", message=["hi"]),
            "event_msg/agent_message",
            "Expected `str`, got `array` - at `$.payload.message`",
        ),
        (
            line("response_item", {"0": {"role": "user"}, "1": {"role": "assistant"}}),
            "response_item",
            "Object missing required field `type` - at `$.payload`",
        ),
        (
            item("message", role="user", content={"0": "h", "1": "i"}),
            "response_item/message",
            "Expected `str | array`, got `object` - at `$.payload.content`",
        ),
        (
            b'{"id": "t1", "timestamp": 1700000000}',
            "meta",
            "Expected `str`, got `int` - at `$.timestamp`",
        ),
    ],
    ids=[
        "an int for a bool",
        "a list for a text",
        "a payload of numbers",
        "a content of numbers",
        "an integer timestamp in a meta line",
    ],
)
def test_a_known_kind_in_another_shape_is_unknown_under_its_kind(raw: bytes, kind: str, why: str) -> None:
    record = read(raw)
    assert isinstance(record, Unknown)
    assert (record.kind, record.why) == (kind, why)
    assert record.body == json.loads(raw)


@pytest.mark.parametrize(
    ("raw", "kind", "path"),
    [
        (
            ITEMS["function_call_output"].replace(f'"{AT}"'.encode(), b"1700000000"),
            "response_item/function_call_output",
            "timestamp",
        ),
        (
            ITEMS["function_call"].replace(b'"ordinal": 7', b'"ordinal": true'),
            "response_item/function_call",
            "ordinal",
        ),
        (
            event("token_count", info={"last_token_usage": {"input_tokens": True}}),
            "event_msg/token_count",
            "payload.info.last_token_usage.input_tokens",
        ),
        (
            event("token_count", info={"model_context_window": 1.5}),
            "event_msg/token_count",
            "payload.info.model_context_window",
        ),
        (
            act("CommandExecution", command=["ls"], status="completed", exit_code="0"),
            "event_msg/item_completed",
            "payload.item.exit_code",
        ),
    ],
)
def test_a_record_is_read_without_an_optional_field_that_does_not_fit(
    raw: bytes, kind: str, path: str
) -> None:
    (piece,) = READER.read(cut([raw]))
    assert (piece.reading, piece.record.kind, [at for at, _ in piece.odd]) == ("read", kind, [path])


def test_numbers_beyond_64_bit_are_read_as_they_are() -> None:
    huge = 2**70
    record = read(event("token_count", info={"last_token_usage": {"input_tokens": huge}}))
    assert isinstance(record, EventLine)
    assert isinstance(record.payload, TokenCount)
    info = record.payload.info
    assert info is not None
    assert info.last_token_usage is not None
    assert info.last_token_usage.input_tokens == huge


def test_a_number_beyond_python_is_a_text_and_so_another_shape() -> None:
    raw = (
        b'{"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": ' + b"9" * 5000 + b"}}"
    )
    record = read(raw)
    assert isinstance(record, Unknown)
    assert (record.kind, record.why) == (
        "event_msg/thread_rolled_back",
        "Expected `int`, got `str` - at `$.payload.num_turns`",
    )


def parts_of(record: Record) -> Sequence[Any]:
    match record:
        case ResponseItemLine(payload=Message(content=list(parts))):
            return parts
        case ResponseItemLine(payload=FunctionCallOutput(output=list(parts))):
            return parts
        case EventLine(payload=ItemCompleted(item=UserMessageItem(content=parts))):
            return parts
        case EventLine(payload=ItemCompleted(item=AgentMessageItem(content=texts))):
            return texts
        case CompactedLine():
            return record.payload.replacement_history or []
    raise AssertionError(record)


def unknown_parts_of(record: Record) -> list[tuple[str, Any]]:
    return [(part.name, part.body) for part in parts_of(record) if isinstance(part, UnknownPart)]


GOOD_TEXT = {"type": "input_text", "text": "hello"}


@pytest.mark.parametrize(
    "raw",
    [
        item("message", role="user", content=[GOOD_TEXT, HOLOGRAM]),
        item("function_call_output", call_id="c", output=[HOLOGRAM, GOOD_TEXT]),
        act("UserMessage", content=[{"type": "text", "text": "hello"}, HOLOGRAM]),
        act("AgentMessage", content=[HOLOGRAM]),
        line(
            "compacted",
            {"message": "", "replacement_history": [HOLOGRAM, json.loads(ITEMS["message"])["payload"]]},
        ),
    ],
    ids=["message", "output", "user message item", "agent message item", "replacement history"],
)
def test_a_part_of_unknown_kind_does_not_spoil_its_line(raw: bytes) -> None:
    (piece,) = READER.read(cut([raw]))
    assert piece.reading == "read"
    assert unknown_parts_of(piece.record) == [("hologram", HOLOGRAM)]
    assert [path[path.rindex("[]") :] for path in extra_of(piece)] == ["[](hologram)"]


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "input_text", "text": ["hello"]}, "input_text"),
        ({"type": "input_text"}, "input_text"),
        ({"no": "type"}, "dict"),
        (["hello"], "list"),
        (None, "NoneType"),
        (7, "int"),
    ],
)
def test_a_part_in_another_shape_does_not_spoil_its_line(part: Any, name: str) -> None:
    record = read(item("message", role="user", content=[part, GOOD_TEXT]))
    assert unknown_parts_of(record) == [(name, part)]
    assert isinstance(record, ResponseItemLine)
    assert isinstance(record.payload, Message)
    assert record.payload.content[1] == InputText(text="hello")


def test_a_part_inside_an_old_item_does_not_spoil_the_compaction() -> None:
    old = {"type": "message", "role": "user", "content": [HOLOGRAM]}
    record = read(line("compacted", {"message": "", "replacement_history": [old]}))
    assert isinstance(record, CompactedLine)
    assert record.payload.replacement_history is not None
    (message,) = record.payload.replacement_history
    assert isinstance(message, Message)
    assert [part.name for part in message.content if isinstance(part, UnknownPart)] == ["hologram"]


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (line("world_state", {"full": True, "state": {}}, mood=1), "mood"),
        (line("turn_context", {"cwd": "/w", "model": "m", "mood": 1}), "payload.mood"),
        (item("compaction", encrypted_content="", mood=1), "payload(compaction).mood"),
        (event("task_started", turn_attribution={"mood": 1}), "payload(task_started).turn_attribution.mood"),
        (act("Plan", text="", mood=1), "payload(item_completed).item(Plan).mood"),
        (
            item("message", role="user", content=[{**GOOD_TEXT, "mood": 1}]),
            "payload(message).content[](input_text).mood",
        ),
    ],
)
def test_a_key_that_we_do_not_name_is_seen_wherever_it_stands(raw: bytes, path: str) -> None:
    (piece,) = READER.read(cut([raw]))
    assert (piece.reading, extra_of(piece)) == ("read", {path: 1})


def test_a_line_nested_too_deep_is_unknown_by_its_type() -> None:
    raw = (
        b'{"timestamp": "%s", "type": "world_state", "payload": ' % AT.encode()
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}"
    )
    record = read(raw)
    assert isinstance(record, Unknown)
    assert (record.kind, record.at) == ("world_state", AT)


LINES = [*ENVELOPES.values(), *ITEMS.values(), *EVENTS.values(), *ACTS.values()]


@pytest.mark.parametrize(
    "raw", [ENVELOPES["compacted"], ITEMS["message"], EVENTS["token_count"], ACTS["FileChange"]]
)
def test_no_part_of_a_cut_off_line_is_taken_for_a_record(raw: bytes) -> None:
    for length in range(1, len(raw)):
        assert {type(piece.record) for piece in READER.read(cut([raw[:length]]))} == {Broken}


def test_a_record_spliced_onto_the_wreck_of_another_is_recovered() -> None:
    good = ENVELOPES["world_state"]
    for wreck in (raw[: len(raw) // 2] for raw in LINES):
        pieces = list(READER.read(cut([wreck + good])))
        assert [piece.reading for piece in pieces] == ["broken", "read"]
        assert isinstance(pieces[1].record, WorldStateLine)
        assert (pieces[1].recovered, pieces[1].offset, pieces[1].raw) == (True, len(wreck), good)


def test_records_without_the_newline_between_them_are_all_recovered() -> None:
    pieces = list(READER.read(cut([b"".join(LINES)])))
    assert [piece.raw for piece in pieces] == LINES
    assert {piece.reading for piece in pieces} == {"read"}


def test_bare_items_without_the_newline_between_them_are_recovered() -> None:
    prompt = b'{"type": "message", "id": null, "role": "user", "content": []}'
    state = b'{"record_type": "state"}'
    pieces = list(READER.read(cut([prompt + state + prompt])))
    assert [(piece.raw, piece.record.kind) for piece in pieces] == [
        (prompt, "bare/message"),
        (state, "state"),
        (prompt, "bare/message"),
    ]
