"""The four generations of transcripts, the files beside them, and the shapes that descriptions show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.codex.records.examples import ACTS, AT, ENVELOPES, EVENTS, ITEMS
from tracklog.agents.codex.records import (
    DOCUMENT_READER,
    HISTORY_READER,
    READER,
    SESSION_INDEX_READER,
    is_codex,
    session_of,
    version_of,
)
from tracklog.agents.codex.records.envelope import ResponseItemLine, SessionMetaLine
from tracklog.agents.codex.records.items import (
    FunctionCall,
    FunctionCallOutput,
    FunctionCallResult,
    InputText,
    Message,
    OutputText,
    Reasoning,
    SummaryText,
)
from tracklog.agents.codex.records.parts import GitInfo
from tracklog.agents.codex.records.reader import (
    CodexHistoryLine,
    Document,
    DocumentSession,
    MetaLine,
    SessionIndexLine,
    StateLine,
)
from tracklog.agents.codex.records.settings import SessionMeta
from tracklog.model.records import Record, Unknown, UnknownPart

PROMPT = {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
CALL = {"type": "function_call", "id": None, "name": "shell", "arguments": "{}", "call_id": "c1"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
META = {"id": "t1", "timestamp": AT, "instructions": None, "git": {"branch": "main"}}
DOCUMENT = {
    "session": {"timestamp": AT, "id": "t1", "instructions": "Be kind."},
    "items": [PROMPT, CALL, RESULT],
}


def read(value: Any) -> Record:
    return READER.read_bytes(json.dumps(value).encode())


def test_the_first_line_of_a_file_without_envelopes_is_its_meta_line() -> None:
    record = read(META)
    assert record == MetaLine(id="t1", timestamp=AT, git=GitInfo(branch="main"))
    assert (record.kind, record.ident, record.at) == ("meta", "t1", AT)


def test_a_state_line_is_read() -> None:
    assert read({"record_type": "state"}) == StateLine(record_type="state")
    assert read({"record_type": "state"}).kind == "state"


def test_response_items_may_stand_bare() -> None:
    assert read(PROMPT) == Message(role="user", content=[InputText(text="hello")])
    assert [read(value).kind for value in (PROMPT, CALL, RESULT)] == [
        "bare/message",
        "bare/function_call",
        "bare/function_call_output",
    ]


def test_a_whole_session_may_be_one_document() -> None:
    raw = json.dumps(DOCUMENT, indent=2).encode()
    document = Document(
        session=DocumentSession(id="t1", timestamp=AT, instructions="Be kind."),
        items=[
            Message(role="user", content=[InputText(text="hello")]),
            FunctionCall(name="shell", arguments="{}", call_id="c1"),
            FunctionCallOutput(call_id="c1", output="done"),
        ],
    )
    assert DOCUMENT_READER.read_bytes(raw) == document
    assert READER.read_bytes(raw) == document
    assert (document.kind, document.ident, document.at) == ("document", "t1", AT)


def test_a_document_may_hold_messages_without_type_and_items_of_unknown_kind() -> None:
    items = [{"role": "user", "content": "hello"}, {"type": "hologram"}]
    record = DOCUMENT_READER.read_bytes(json.dumps({**DOCUMENT, "items": items}).encode())
    assert isinstance(record, Document)
    plain, strange = record.items
    assert plain == Message(role="user", content="hello")
    assert isinstance(strange, UnknownPart)
    assert (strange.name, strange.body) == ("hologram", {"type": "hologram"})


def test_a_document_of_somebody_else_is_unknown() -> None:
    record = DOCUMENT_READER.read_bytes(b'{"info": {}, "messages": []}')
    assert isinstance(record, Unknown)
    assert (record.kind, record.why) == ("document", "Object missing required field `session`")


def test_the_history_of_prompts_is_read() -> None:
    record = HISTORY_READER.read_bytes(b'{"session_id": "t1", "ts": 1700000000, "text": "hello"}')
    assert record == CodexHistoryLine(session_id="t1", ts=1700000000, text="hello")


def test_the_index_of_names_is_read() -> None:
    raw = json.dumps({"id": "t1", "thread_name": "My thread", "updated_at": AT}).encode()
    assert SESSION_INDEX_READER.read_bytes(raw) == SessionIndexLine(
        id="t1", thread_name="My thread", updated_at=AT
    )


def test_a_described_call_is_read() -> None:
    payload = {
        "type": "function_call",
        "call_id": "call_abc123",
        "name": "Read",
        "arguments": '{"file_path": "/src/auth/login.ts"}',
    }
    record = read({"type": "response_item", "payload": payload})
    assert isinstance(record, ResponseItemLine)
    assert record.payload == FunctionCall(
        call_id="call_abc123", name="Read", arguments='{"file_path": "/src/auth/login.ts"}'
    )
    assert record.payload.parsed == {"file_path": "/src/auth/login.ts"}


def test_a_described_result_is_read_as_the_output_of_its_call() -> None:
    payload = {"type": "function_call_result", "call_id": "call_abc123", "result": "File contents..."}
    record = read({"type": "response_item", "payload": payload})
    assert isinstance(record, ResponseItemLine)
    assert isinstance(record.payload, FunctionCallResult)
    assert (record.payload.call_id, record.payload.output) == ("call_abc123", "File contents...")


@pytest.mark.parametrize(("role", "text"), [("assistant", OutputText), ("user", InputText)])
def test_a_described_text_without_type_is_the_text_of_its_role(
    role: str, text: type[OutputText | InputText]
) -> None:
    payload = {"type": "message", "role": role, "content": [{"text": "I found the issue..."}]}
    record = read({"type": "response_item", "timestamp": AT, "payload": payload})
    said = Message(role=role, content=[text(text="I found the issue...")])
    assert record == ResponseItemLine(timestamp=AT, payload=said)


def test_a_described_thought_is_read() -> None:
    summary = [{"type": "summary_text", "text": "Analyzing the error..."}]
    record = read({"type": "response_item", "payload": {"type": "reasoning", "summary": summary}})
    thought = Reasoning(summary=[SummaryText(text="Analyzing the error...")])
    assert record == ResponseItemLine(payload=thought)


def test_a_described_session_has_no_more_than_a_place_and_a_time() -> None:
    record = read({"type": "session_meta", "timestamp": AT, "payload": {"cwd": "/w", "timestamp": AT}})
    assert record == SessionMetaLine(timestamp=AT, payload=SessionMeta(cwd="/w", timestamp=AT))
    assert (record.ident, version_of(record), session_of(record)) == (None, None, None)


def test_a_session_says_its_version_and_its_thread() -> None:
    record = READER.read_bytes(ENVELOPES["session_meta"])
    assert (version_of(record), session_of(record)) == ("0.166.0", "t1")


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (READER, META),
        (DOCUMENT_READER, DOCUMENT),
        (HISTORY_READER, {"session_id": "t1", "ts": 1, "text": ""}),
        (SESSION_INDEX_READER, {"id": "t1", "thread_name": "", "updated_at": AT}),
    ],
)
def test_whatever_names_a_thread_says_which(reader: Any, value: Any) -> None:
    assert session_of(reader.read_bytes(json.dumps(value).encode())) == "t1"


def test_other_records_name_no_session_and_no_version() -> None:
    record = READER.read_bytes(ITEMS["message"])
    assert (session_of(record), version_of(record)) == (None, None)


OWN = [json.loads(raw) for table in (ENVELOPES, ITEMS, EVENTS, ACTS) for raw in table.values()]


def test_every_line_of_ours_looks_like_codex() -> None:
    assert [value for value in OWN if not is_codex(value)] == []


@pytest.mark.parametrize("value", [META, {"record_type": "state"}, PROMPT, CALL, RESULT, DOCUMENT])
def test_the_older_generations_look_like_codex(value: Any) -> None:
    assert is_codex(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hi"}},
        {"type": "message", "id": "1", "parentId": "0", "timestamp": AT, "message": {"role": "user"}},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]},
        {"type": "message", "role": "assistant", "content": []},
        {"type": "message", "role": "assistant", "content": [{"type": ["input_text"]}]},
        {"type": "compaction", "id": "1", "summary": "s"},
        {"type": "session.start", "data": {}, "id": "1", "timestamp": AT},
        {"type": "session_meta"},
        {"type": ["session_meta"], "payload": {}},
        {"type": None, "id": "t1", "timestamp": AT},
        {"id": "t1", "timestamp": AT, "text": "hi"},
        {"record_type": "metric"},
    ],
)
def test_lines_of_other_agents_do_not_look_like_codex(value: Any) -> None:
    assert not is_codex(value)
