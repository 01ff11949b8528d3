"""Every kind of line is read, and every key in it is named."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.agents.codex.records.examples import ACTS, AT, ENVELOPES, EVENTS, ITEMS, event, item, line
from tracklog.agents.codex.records import READER
from tracklog.agents.codex.records.envelope import (
    Enveloped,
    EventLine,
    ResponseItemLine,
    SessionMetaLine,
    WorldState,
    WorldStateLine,
)
from tracklog.agents.codex.records.events import EventPayload, ItemCompleted, TaskStarted, UserMessageEvent
from tracklog.agents.codex.records.items import (
    FunctionCall,
    FunctionCallOutput,
    InputText,
    Message,
    Reasoning,
    ResponseItem,
    SummaryText,
)
from tracklog.agents.codex.records.parts import ByteRange, Duration, ParsedCommand, TextElement
from tracklog.agents.codex.records.settings import SessionMeta, SessionSource, SubagentSource, ThreadSpawn
from tracklog.agents.codex.records.turn_items import CommandExecutionItem, TurnItem
from tracklog.agents.drift import extra_of
from tracklog.model.records import Piece, tag_of
from tracklog.sources.lines import cut

KINDS = {
    **ENVELOPES,
    **{f"response_item/{kind}": raw for kind, raw in ITEMS.items()},
    **{f"event_msg/{kind}": raw for kind, raw in EVENTS.items()},
}


def only_piece(raw: bytes) -> Piece:
    (piece,) = READER.read(cut([raw]))
    return piece


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_line_is_read_with_no_key_left_over(kind: str) -> None:
    piece = only_piece(KINDS[kind])
    assert (piece.reading, piece.record.kind, piece.record.at) == ("read", kind, AT)
    assert extra_of(piece) == {}


@pytest.mark.parametrize("kind", ACTS)
def test_every_kind_of_turn_item_is_read_with_no_key_left_over(kind: str) -> None:
    piece = only_piece(ACTS[kind])
    assert (piece.reading, piece.record.kind) == ("read", "event_msg/item_completed")
    assert piece.record.ident == "call_1"
    assert extra_of(piece) == {}


@pytest.mark.parametrize(
    ("union", "examples"),
    [(ResponseItem, ITEMS), (EventPayload, EVENTS), (TurnItem, ACTS)],
    ids=["response items", "events", "turn items"],
)
def test_the_examples_show_every_payload_that_we_name(union: object, examples: dict[str, bytes]) -> None:
    assert sorted(tag_of(struct) for struct in get_args(union)) == sorted(examples)


def test_the_examples_show_every_envelope_that_we_name() -> None:
    named = {tag_of(struct) for struct in get_args(Enveloped)}
    assert named == {*ENVELOPES, "response_item", "event_msg"}


@pytest.mark.parametrize(
    ("raw", "ident"),
    [
        (ENVELOPES["session_meta"], "t1"),
        (ENVELOPES["token_usage_record"], "resp_1"),
        (ENVELOPES["inter_agent_communication"], "amsg_1"),
        (ENVELOPES["turn_context"], None),
        (ITEMS["message"], "msg_1"),
        (ITEMS["function_call"], "fc_1"),
        (ITEMS["function_call_output"], "call_1"),
        (ITEMS["compaction"], None),
        (EVENTS["exec_command_end"], "call_1"),
        (EVENTS["guardian_assessment"], "g1"),
        (EVENTS["sub_agent_activity"], "call_1"),
        (EVENTS["token_count"], None),
    ],
)
def test_a_line_is_known_by_its_payloads_id_or_else_by_its_call(raw: bytes, ident: str | None) -> None:
    assert only_piece(raw).record.ident == ident


def test_a_session_is_read_whole() -> None:
    spawn = {"parent_thread_id": "t0", "depth": 1}
    raw = line("session_meta", {"id": "t1", "cwd": "/w", "source": {"subagent": {"thread_spawn": spawn}}})
    source = SessionSource(subagent=SubagentSource(thread_spawn=ThreadSpawn(parent_thread_id="t0", depth=1)))
    payload = SessionMeta(id="t1", cwd="/w", source=source)
    assert READER.read_bytes(raw) == SessionMetaLine(timestamp=AT, ordinal=7, payload=payload)


def test_a_message_is_read_whole() -> None:
    raw = item("message", role="user", content=[{"type": "input_text", "text": "hello"}])
    message = Message(role="user", content=[InputText(text="hello")])
    assert READER.read_bytes(raw) == ResponseItemLine(timestamp=AT, ordinal=7, payload=message)


def test_a_thought_is_read_whole() -> None:
    raw = item("reasoning", summary=[{"type": "summary_text", "text": "Look"}], content=None)
    thought = Reasoning(summary=[SummaryText(text="Look")])
    assert READER.read_bytes(raw) == ResponseItemLine(timestamp=AT, ordinal=7, payload=thought)


def test_a_prompt_is_read_whole() -> None:
    elements = [{"byte_range": {"start": 0, "end": 2}, "placeholder": "$x"}]
    raw = event("user_message", message="$x", images=[], text_elements=elements)
    prompt = UserMessageEvent(
        message="$x",
        images=[],
        text_elements=[TextElement(byte_range=ByteRange(start=0, end=2), placeholder="$x")],
    )
    assert READER.read_bytes(raw) == EventLine(timestamp=AT, ordinal=7, payload=prompt)


def test_a_command_is_read_whole() -> None:
    record = READER.read_bytes(ACTS["CommandExecution"])
    command = CommandExecutionItem(
        id="call_1",
        process_id="1",
        command=["bash", "-lc", "ls"],
        cwd="file:///w",
        parsed_cmd=[ParsedCommand(type="search", cmd="rg x", query="x")],
        source="unified_exec_startup",
        status="failed",
        aggregated_output="",
        exit_code=-1,
        duration=Duration(secs=1, nanos=500),
    )
    done = ItemCompleted(item=command, thread_id="t1", turn_id="u1", started_at_ms=1, completed_at_ms=2)
    assert record == EventLine(timestamp=AT, ordinal=7, payload=done)


def test_what_belongs_to_others_is_kept_as_bytes() -> None:
    record = READER.read_bytes(line("world_state", {"full": False, "state": {"a": [1, 2]}}))
    assert record == WorldStateLine(
        timestamp=AT, ordinal=7, payload=WorldState(full=False, state=msgspec.Raw(b'{"a": [1, 2]}'))
    )


def test_arguments_stay_the_string_they_are_and_are_parsed_on_demand() -> None:
    call = FunctionCall(name="n", arguments='{"cmd": "ls"}', call_id="c")
    assert (call.arguments, call.parsed) == ('{"cmd": "ls"}', {"cmd": "ls"})


@pytest.mark.parametrize("arguments", ["{bad", "", '{"a": ' + "[" * 100_000, None])
def test_arguments_that_are_no_json_are_survived(arguments: str | None) -> None:
    raw = item("function_call", name="n", arguments=arguments, call_id="c")
    record = READER.read_bytes(raw)
    assert isinstance(record, ResponseItemLine)
    assert isinstance(record.payload, FunctionCall)
    assert (record.payload.arguments, record.payload.parsed) == (arguments, None)


@pytest.mark.parametrize(
    "output",
    ["text", [{"type": "input_text", "text": "x"}], [], {"content": "x", "success": True}],
    ids=["text", "content items", "no items", "a stray object"],
)
def test_an_output_is_a_text_or_content_items_or_in_odd_logs_an_object(output: object) -> None:
    piece = only_piece(item("function_call_output", call_id="c", output=output))
    assert piece.reading == "read"
    assert extra_of(piece) == {}


def test_an_output_that_answers_no_call_is_read() -> None:
    record = READER.read_bytes(item("function_call_output", name="n", output="x"))
    assert isinstance(record, ResponseItemLine)
    assert record.payload == FunctionCallOutput(name="n", output="x")


def test_an_item_says_its_turn_under_either_name_of_the_field() -> None:
    new = READER.read_bytes(ITEMS["message"])
    old = READER.read_bytes(item("message", role="user", content=[], metadata={"turn_id": "u0"}))
    assert isinstance(new, ResponseItemLine)
    assert isinstance(old, ResponseItemLine)
    assert (new.payload.turn_id, old.payload.turn_id) == ("u1", "u0")


def test_both_spellings_of_a_turns_start_are_one_shape() -> None:
    records = [READER.read_bytes(event(kind, turn_id="u1")) for kind in ("task_started", "turn_started")]
    payloads = [record.payload for record in records if isinstance(record, EventLine)]
    assert [isinstance(payload, TaskStarted) for payload in payloads] == [True, True]
    assert [record.kind for record in records] == ["event_msg/task_started", "event_msg/turn_started"]
