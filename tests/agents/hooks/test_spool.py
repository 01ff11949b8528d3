"""Lines of the spool read as what agents told, whatever they told."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spool_lines import spool_line
from tracklog.agents.drift import extra_of
from tracklog.agents.hooks.records import READER, HookInput, Spooled, TurnNotice
from tracklog.model.records import Broken, Unknown
from tracklog.sources.lines import Line, cut

COMMON = {
    "session_id": "s1",
    "transcript_path": "/p/s1.jsonl",
    "cwd": "/srv",
    "permission_mode": "default",
    "prompt_id": "p1",
    "effort": {"level": "high"},
    "agent_id": "a1",
    "agent_type": "Explore",
}
TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
TASK = {
    "task_id": "1",
    "task_subject": "x",
    "task_description": "y",
    "teammate_name": "z",
    "team_name": "t",
}
STOP = {"stop_hook_active": False, "last_assistant_message": "x", "background_tasks": [], "session_crons": []}
EVENTS: dict[str, dict[str, Any]] = {
    "SessionStart": {
        "source": "resume",
        "model": "m",
        "session_title": "t",
        "seconds_since_last_response": 1,
        "context_tokens": 14198,
        "prompt_cache_likely_expired": False,
        "estimated_cache_write_usd": 0.05,
    },
    "Setup": {"trigger": "init"},
    "SessionEnd": {"reason": "other"},
    "UserPromptSubmit": {"prompt": "go", "session_title": "t"},
    "UserPromptExpansion": {
        "expansion_type": "command",
        "command_name": "x",
        "command_args": "y",
        "command_source": "z",
        "prompt": "p",
    },
    "PreToolUse": TOOL,
    "PermissionRequest": {**TOOL, "permission_suggestions": [{"type": "addRules"}]},
    "PermissionDenied": {**TOOL, "reason": "no"},
    "PostToolUse": {**TOOL, "tool_response": {"stdout": ""}, "duration_ms": 51},
    "PostToolUseFailure": {**TOOL, "error": "x", "is_interrupt": False, "duration_ms": 3.5},
    "PostToolBatch": {"tool_calls": [{**TOOL, "tool_response": "x"}]},
    "Stop": STOP,
    "StopFailure": {"error": "overloaded", "error_details": {"x": 1}, "last_assistant_message": "x"},
    "SubagentStart": {},
    "SubagentStop": {**STOP, "agent_transcript_path": "/p/a.jsonl"},
    "Notification": {"message": "m", "title": "t", "notification_type": "idle_prompt"},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": "x"},
    "TaskCreated": TASK,
    "TaskCompleted": TASK,
    "TeammateIdle": {"teammate_name": "z", "team_name": "t"},
    "InstructionsLoaded": {
        "file_path": "/x",
        "memory_type": "User",
        "load_reason": "start",
        "globs": ["*"],
        "trigger_file_path": "/y",
        "parent_file_path": "/z",
    },
    "ConfigChange": {"source": "user_settings", "file_path": "/x"},
    "CwdChanged": {"old_cwd": "/a", "new_cwd": "/b"},
    "DirectoryAdded": {"directory": "/a", "source": "x"},
    "FileChanged": {"file_path": "/a", "event": "change"},
    "WorktreeCreate": {"name": "x"},
    "WorktreeRemove": {"worktree_path": "/x"},
    "Elicitation": {
        "mcp_server_name": "x",
        "message": "y",
        "mode": "form",
        "url": "u",
        "elicitation_id": "e",
        "requested_schema": {"type": "object"},
    },
    "ElicitationResult": {"mcp_server_name": "x", "action": "accept", "content": {"a": 1}},
    "MessageDisplay": {"turn_id": "t", "message_id": "m", "index": 0, "final": True, "delta": "d"},
}


def read(raw: bytes) -> Any:
    (piece,) = READER.read(cut([raw]))
    return piece.record


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_read_with_every_field(event: str) -> None:
    payload = {**COMMON, "hook_event_name": event, **EVENTS[event]}
    record = read(spool_line(payload))
    assert isinstance(record.payload, HookInput)
    assert (record.kind, record.session, record.at) == (
        f"spool/hook/{event}",
        "s1",
        "2026-11-16T10:00:00.000Z",
    )
    known = json.loads(msgspec.json.encode(_plain(record.payload)))
    assert {key: known[key] for key in payload} == payload


def _plain(record: HookInput) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__struct_fields__}
    return {name: value for name, value in values.items() if not isinstance(value, msgspec.Raw) or value}


def test_there_are_thirty_one_events() -> None:
    assert len(EVENTS) == 31


def test_codex_tells_its_hooks_the_same_way() -> None:
    payload = {
        "session_id": "t1",
        "transcript_path": None,
        "hook_event_name": "PermissionRequest",
        "model": "gpt-x",
        "turn_id": "9",
    }
    record = read(spool_line(payload, agent="codex"))
    assert (record.agent, record.payload.turn_id, record.payload.transcript_path) == ("codex", "9", None)


def test_a_notice_of_codex_is_read_in_its_own_words() -> None:
    payload = {
        "type": "agent-turn-complete",
        "thread-id": "t1",
        "turn-id": "9",
        "cwd": "/srv",
        "client": "codex-tui",
        "input-messages": ["go"],
        "last-assistant-message": "Done.",
    }
    record = read(spool_line(payload, agent="codex", via="notify"))
    assert record.payload == TurnNotice(
        type="agent-turn-complete",
        thread_id="t1",
        turn_id="9",
        cwd="/srv",
        client="codex-tui",
        input_messages=["go"],
        last_assistant_message="Done.",
    )
    assert (record.kind, record.session) == ("spool/notify/agent-turn-complete", "t1")


def test_garbage_is_kept_as_such() -> None:
    record = read(b'{"v":1,"at":5,"agent":null,"pid":7,"ppid":6,"garbage":"hello","n_bytes":5}\n')
    assert record == Spooled(at_ms=5, pid=7, ppid=6, garbage="hello", n_bytes=5)
    assert (record.kind, record.session) == ("spool/garbage", None)


def test_a_payload_in_another_shape_is_unknown_and_says_why() -> None:
    payload = {"session_id": "s1"}
    record = read(spool_line(payload))
    assert isinstance(record.payload, Unknown)
    assert "missing required field `hook_event_name`" in record.payload.why
    assert (record.payload.body, record.session) == (payload, None)


def test_a_payload_with_an_odd_field_is_read_without_it() -> None:
    payload = {"hook_event_name": "Stop", "session_id": 7, "last_assistant_message": "Done."}
    raw = spool_line(payload)
    record = read(raw)
    assert isinstance(record.payload, HookInput)
    assert (record.payload.session_id, record.payload.last_assistant_message) == (None, "Done.")
    (piece,) = READER.read([Line(1, 0, len(raw), raw)])
    assert READER.drift().strays(piece) == [("payload.session_id (odd)", 7)]


def test_half_a_character_does_not_spoil_the_line() -> None:
    line = spool_line({"hook_event_name": "Stop", "session_id": "s1", "last_assistant_message": "\ud83d"})
    assert read(line).session == "s1"


def test_a_line_of_another_kind_is_unknown() -> None:
    assert isinstance(read(b'{"type":"user"}'), Unknown)
    assert isinstance(read(b'{"v":1,"at":"noon","payload":{}}'), Unknown)


def test_keys_of_a_payload_that_nobody_names_are_found() -> None:
    line = spool_line({"hook_event_name": "Stop", "session_id": "s1", "mood": "calm"}, weather="rain")
    (piece,) = READER.read(cut([line]))
    assert READER.drift().strays(piece) == [("weather", "rain"), ("payload.mood", "calm")]
    assert extra_of(piece) == {"weather": "rain"}


def test_a_line_behind_a_cut_off_one_is_taken_out() -> None:
    good = spool_line({"hook_event_name": "Stop", "session_id": "s1"})
    wreck, record = (piece.record for piece in READER.read(cut([good[:40] + good])))
    assert isinstance(record, Spooled)
    assert (type(wreck), record.session) == (Broken, "s1")


@given(st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")))
def test_reading_is_total(raw: bytes) -> None:
    whole = b'{"v":1,"at":1,"payload":' + raw + b"}"
    for line in (raw, whole):
        pieces = list(READER.read([Line(1, 0, len(line), line)]))
        assert pieces
        assert all(piece.reading in ("read", "unknown", "broken") for piece in pieces)
