"""One line of every kind that Codex writes, as its clients write them; all of it made up."""

from __future__ import annotations

import json
from typing import Any

AT = "2026-11-15T10:00:00.000Z"
USAGE = {
    "input_tokens": 100,
    "cached_input_tokens": 60,
    "cache_write_input_tokens": 0,
    "output_tokens": 20,
    "reasoning_output_tokens": 5,
    "total_tokens": 120,
}
TOOK = {"secs": 1, "nanos": 500}


def line(kind: str, payload: Any, /, **more: Any) -> bytes:
    """A line with the envelope of a client of today."""
    return json.dumps({"timestamp": AT, "ordinal": 7, "type": kind, "payload": payload, **more}).encode()


def item(kind: str, /, **fields: Any) -> bytes:
    return line("response_item", {"type": kind, **fields})


def event(kind: str, /, **fields: Any) -> bytes:
    return line("event_msg", {"type": kind, **fields})


def act(kind: str, /, **fields: Any) -> bytes:
    """An `item_completed` with that turn item."""
    done = {"type": kind, "id": "call_1", **fields}
    times = {"started_at_ms": 1, "completed_at_ms": 2}
    return event("item_completed", thread_id="t1", turn_id="u1", item=done, **times)


TEXT = [{"type": "input_text", "text": "hello"}]
MCP_ANSWER = {"content": [{"type": "text", "text": "x"}], "isError": False, "structuredContent": {"a": 1}}
REVIEW = {
    "findings": [
        {
            "title": "t",
            "body": "b",
            "confidence_score": 0.5,
            "priority": 1,
            "code_location": {"absolute_file_path": "/x", "line_range": {"start": 1, "end": 2}},
        }
    ],
    "overall_correctness": "good",
    "overall_explanation": "e",
    "overall_confidence_score": 1,
}
SETTINGS = {"model": "m", "reasoning_effort": None, "developer_instructions": None}
MODE = {"mode": "default", "settings": SETTINGS}
SPAWN = {"parent_thread_id": "t0", "depth": 1, "agent_path": None, "agent_nickname": "Ada", "agent_role": "r"}
ATTRIBUTION = {
    "turn_id": "u1",
    "turn_trigger": "exec",
    "parent_turn_id": None,
    "initiating_agent_path": None,
    "root_turn_id": "u1",
}
TOKEN_RECORD = {
    "thread_id": "t1",
    "turn_id": "u1",
    "session_id": "t1",
    "root_turn_id": "u1",
    "response_id": "resp_1",
    "usage": USAGE,
    "turn_token_usage": USAGE,
    "thread_token_usage": USAGE,
}
NOTES = {
    "client_authored": False,
    "user_input_order": 0,
    "retained_source": {
        "id": {"message_id": "msg_1", "turn_id": "u1", "role": "user"},
        "revision": "retained_1",
        "complete": True,
    },
    "mcp_attribution": {
        "status": "complete",
        "sources": [{"server_name": "s", "tool_name": "t", "first_turn_id": "u1"}],
    },
}
PASSTHROUGH = {
    "turn_id": "u1",
    "create_time": 1794779736.8,
    "content_item_kinds": ["user.text"],
    "content_item_metadata": [{"provenance": {"type": "harness", "hook": False}}],
}

ENVELOPES: dict[str, bytes] = {
    "session_meta": line(
        "session_meta",
        {
            "id": "t1",
            "session_id": "t0",
            "timestamp": AT,
            "cwd": "/w",
            "runtime_workspace_roots": ["/w"],
            "originator": "codex_exec",
            "cli_version": "0.166.0",
            "source": {"subagent": {"thread_spawn": SPAWN}},
            "thread_source": "subagent",
            "forked_from_id": "t0",
            "forked_from_ordinal_exclusive": 9,
            "parent_thread_id": "t0",
            "agent_nickname": "Ada",
            "agent_role": "r",
            "agent_path": "/root/ada",
            "model_provider": "openai",
            "base_instructions": {"text": "Be kind.", "provenance": {"type": "model", "model": "m"}},
            "dynamic_tools": [{"name": "n"}],
            "selected_capability_roots": [],
            "memory_mode": "enabled",
            "history_mode": "paginated",
            "history_base": {"thread_id": "t0", "end_ordinal_exclusive": 9, "end_byte_offset": 800},
            "subagent_history_start_ordinal": 10,
            "multi_agent_version": "v2",
            "context_window": {"window_id": "w1"},
            "git": {"commit_hash": "abc", "branch": "main", "repository_url": "git@example.invalid:x"},
        },
    ),
    "turn_context": line(
        "turn_context",
        {
            "turn_id": "u1",
            "root_turn_id": "u1",
            "cwd": "/w",
            "workspace_roots": ["/w"],
            "current_date": "2026-11-15",
            "timezone": "Etc/UTC",
            "approval_policy": {"granular": {"rules": True}},
            "approvals_reviewer": "user",
            "sandbox_policy": {
                "type": "workspace-write",
                "network_access": False,
                "exclude_slash_tmp": False,
            },
            "permission_profile": {"type": "disabled"},
            "active_permission_profile": {"id": "default"},
            "network": {"allowed_domains": [], "denied_domains": []},
            "file_system_sandbox_policy": {"kind": "restricted", "entries": []},
            "model": "m",
            "comp_hash": "3000",
            "personality": "pragmatic",
            "collaboration_mode": MODE,
            "multi_agent_version": "v1",
            "multi_agent_mode": "proactive",
            "realtime_active": False,
            "effort": "low",
            "summary": "auto",
            "disabled_plugin_ids": [],
        },
    ),
    "compacted": line(
        "compacted",
        {
            "message": "",
            "replacement_history": [{"type": "message", "role": "user", "content": TEXT}],
            "replacement_history_metadata": [NOTES],
            "retained_context": {"verified_answers": [], "incomplete": False, "next_order": 2},
            "window_number": 1,
            "first_window_id": "w0",
            "previous_window_id": "w0",
            "window_id": "w1",
            "compaction_response_id": "resp_1",
            "latest_token_usage_record": TOKEN_RECORD,
            "resume_metadata": {
                "dynamic_tools": {"thread_id": "t1", "tools": []},
                "multi_agent_version": "v1",
                "last_started_turn_id": "u1",
                "previous_turn_settings": {"model": "m", "comp_hash": None, "realtime_active": False},
                "turn_attribution": ATTRIBUTION,
            },
        },
    ),
    "world_state": line("world_state", {"full": True, "state": {"model": "m"}}),
    "token_usage_record": line("token_usage_record", TOKEN_RECORD),
    "retained_context": line(
        "retained_context",
        {
            "type": "verified_answer",
            "turn_id": "t-1",
            "call_id": "call_1",
            "questions": [{"question": "Which?", "answer": "Red"}],
            "acceptance_order": 2,
        },
    ),
    "dynamic_tools_updated": line("dynamic_tools_updated", {"thread_id": "t1", "tools": [{"name": "n"}]}),
    "inter_agent_communication": line(
        "inter_agent_communication",
        {
            "id": "amsg_1",
            "author": "/root",
            "recipient": "/root/ada",
            "other_recipients": [],
            "content": "hello",
            "trigger_turn": True,
        },
    ),
    "inter_agent_communication_metadata": line("inter_agent_communication_metadata", {"trigger_turn": True}),
    "realtime_item": line(
        "realtime_item",
        {"type": "transcript_segment", "id": "r1", "realtime_session_id": "rs", "role": "user", "text": "hi"},
    ),
    "security_risk_score": line("security_risk_score", {"scores": {"x": 0.1}, "sampled_at": AT}),
    "session_state": line("session_state", {"agent_task": None}),
}

ITEMS: dict[str, bytes] = {
    "message": line(
        "response_item",
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "phase": "final_answer",
            "content": [
                {"type": "output_text", "text": "hi", "annotations": [], "logprobs": []},
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "high"},
                {"type": "input_audio", "audio_url": "data:audio/wav;base64,AA=="},
            ],
            "internal_chat_message_metadata_passthrough": PASSTHROUGH,
        },
        metadata=NOTES,
    ),
    "agent_message": item(
        "agent_message",
        author="/root",
        recipient="/root/ada",
        content=[*TEXT, {"type": "encrypted_content", "encrypted_content": "gAAAAA"}],
    ),
    "reasoning": item(
        "reasoning",
        id="rs_1",
        summary=[{"type": "summary_text", "text": "Look"}],
        content=[{"type": "reasoning_text", "text": "raw"}, {"type": "text", "text": "raw"}],
        encrypted_content="abc",
    ),
    "function_call": item(
        "function_call", id="fc_1", name="echo", namespace="mcp__x", arguments='{"a": 1}', call_id="call_1"
    ),
    "function_call_output": item("function_call_output", call_id="call_1", output="done"),
    "function_call_result": item("function_call_result", call_id="call_1", result="done"),
    "custom_tool_call": item(
        "custom_tool_call", status="completed", call_id="call_1", name="exec", input="text(1)"
    ),
    "custom_tool_call_output": item("custom_tool_call_output", call_id="call_1", output=TEXT),
    "local_shell_call": item(
        "local_shell_call",
        call_id="call_1",
        status="completed",
        action={"type": "exec", "command": ["ls"], "timeout_ms": 1, "env": {}, "user": None},
    ),
    "local_shell_call_output": item("local_shell_call_output", call_id="call_1", output="{}"),
    "web_search_call": item(
        "web_search_call", id="ws_1", status="completed", action={"type": "search", "queries": ["a"]}
    ),
    "tool_search_call": item(
        "tool_search_call", call_id="call_1", status="completed", execution="client", arguments={"query": "x"}
    ),
    "tool_search_output": item(
        "tool_search_output", call_id="call_1", status="completed", execution="client", tools=[{"name": "n"}]
    ),
    "image_generation_call": item(
        "image_generation_call", id="ig_1", status="completed", revised_prompt="cat", result="AA=="
    ),
    "additional_tools": item("additional_tools", id="at_1", role="developer", tools=[{"type": "namespace"}]),
    "configuration_update": item("configuration_update", reasoning={"effort": "low"}),
    "ghost_snapshot": item(
        "ghost_snapshot",
        ghost_commit={
            "id": "a",
            "parent": "b",
            "preexisting_untracked_files": [],
            "preexisting_untracked_dirs": [],
        },
    ),
    "compaction": item("compaction", encrypted_content="abc"),
    "compaction_summary": item("compaction_summary", encrypted_content="abc"),
    "context_compaction": item("context_compaction", encrypted_content=None),
}

_TURN = {"turn_id": "u1", "root_turn_id": "u1", "started_at": 1, "completed_at": 2, "duration_ms": 3}
_RECEIVER = {
    "call_id": "call_1",
    "sender_thread_id": "t1",
    "receiver_thread_id": "t2",
    "receiver_agent_nickname": "Ada",
    "receiver_agent_role": "r",
}

EVENTS: dict[str, bytes] = {
    "token_count": event(
        "token_count",
        info={
            "total_token_usage": USAGE,
            "last_token_usage": USAGE,
            "last_usage_includes_reasoning": True,
            "model_context_window": 258400,
        },
        rate_limits={
            "limit_id": "codex",
            "limit_name": None,
            "primary": {"used_percent": 1.0, "window_minutes": 300, "resets_at": 1782370927},
            "secondary": {"used_percent": 3, "window_minutes": 10080, "resets_in_seconds": 10},
            "credits": {"has_credits": False, "unlimited": False, "balance": None},
            "individual_limit": {"limit": "1", "used": "0", "remaining_percent": 100, "resets_at": 1},
            "spend_control_reached": None,
            "plan_type": "pro",
            "rate_limit_reached_type": None,
        },
    ),
    "task_started": event(
        "task_started",
        turn_id="u1",
        root_turn_id="u1",
        turn_attribution=ATTRIBUTION,
        started_at=1,
        model_context_window=258400,
        collaboration_mode_kind="default",
    ),
    "turn_started": event("turn_started", turn_id="u1"),
    "task_complete": event(
        "task_complete",
        last_agent_message=None,
        time_to_first_token_ms=1,
        error={"message": "m", "codex_error_info": {"http_connection_failed": {"http_status_code": 500}}},
        **_TURN,
    ),
    "turn_complete": event("turn_complete", turn_id="u1", last_agent_message="bye"),
    "turn_aborted": event("turn_aborted", reason="interrupted", **_TURN),
    "thread_rolled_back": event("thread_rolled_back", num_turns=1),
    "thread_settings_applied": event(
        "thread_settings_applied",
        thread_id="t1",
        thread_settings={
            "model": "m",
            "model_provider_id": "openai",
            "approval_policy": "never",
            "approvals_reviewer": "user",
            "permission_profile": {"type": "disabled"},
            "cwd": "/w",
            "runtime_workspace_roots": ["/w"],
            "collaboration_mode": MODE,
            "disabled_plugin_ids": [],
        },
    ),
    "thread_name_updated": event("thread_name_updated", thread_id="t1", thread_name="n"),
    "thread_goal_updated": event(
        "thread_goal_updated",
        threadId="t1",
        turnId="u1",
        goal={"threadId": "t1", "objective": "win", "status": "active", "tokenBudget": 1, "tokensUsed": 0},
    ),
    "user_message": event(
        "user_message",
        message="hello $x",
        kind="plain",
        client_id="c",
        images=[],
        local_images=["/w/i.png"],
        audio=None,
        text_elements=[{"byte_range": {"start": 6, "end": 8}, "placeholder": "$x"}],
    ),
    "agent_message": event(
        "agent_message",
        message="hi",
        phase="commentary",
        memory_citation={
            "entries": [{"path": "/m", "lineStart": 1, "lineEnd": 2, "note": "n"}],
            "rolloutIds": ["t0"],
        },
    ),
    "agent_reasoning": event("agent_reasoning", text="Look"),
    "agent_reasoning_raw_content": event("agent_reasoning_raw_content", text="raw"),
    "context_compacted": event("context_compacted"),
    "undo_completed": event("undo_completed", success=True, message="m"),
    "entered_review_mode": event(
        "entered_review_mode", target={"type": "commit", "sha": "abc", "title": None}, user_facing_hint="h"
    ),
    "exited_review_mode": event("exited_review_mode", review_output=REVIEW),
    "item_completed": act("Plan", text="1. win"),
    "error": event("error", message="m", codex_error_info="usage_limit_exceeded"),
    "exec_command_end": event(
        "exec_command_end",
        call_id="call_1",
        turn_id="u1",
        process_id="1",
        command=["bash", "-lc", "ls"],
        cwd="/w",
        parsed_cmd=[{"type": "list_files", "cmd": "ls", "path": None}],
        source="agent",
        stdout="",
        stderr="",
        aggregated_output="",
        exit_code=0,
        duration=TOOK,
        formatted_output="",
        status="completed",
    ),
    "patch_apply_end": event(
        "patch_apply_end",
        call_id="call_1",
        turn_id="u1",
        stdout="ok",
        stderr="",
        success=True,
        changes={"/w/a": {"type": "update", "unified_diff": "@@", "move_path": None}},
        status="completed",
    ),
    "mcp_tool_call_end": event(
        "mcp_tool_call_end",
        call_id="call_1",
        turn_id="u1",
        invocation={"server": "s", "tool": "t", "arguments": {"a": 1}},
        duration=TOOK,
        result={"Ok": MCP_ANSWER},
    ),
    "web_search_end": event(
        "web_search_end",
        call_id="ws_1",
        query="q",
        action={"type": "open_page", "url": "https://example.invalid"},
    ),
    "image_generation_end": event(
        "image_generation_end", call_id="ig_1", status="completed", revised_prompt="cat", result="AA=="
    ),
    "view_image_tool_call": event("view_image_tool_call", call_id="call_1", path="/w/i.png"),
    "dynamic_tool_call_request": event(
        "dynamic_tool_call_request", callId="call_1", turnId="u1", namespace="n", tool="t", arguments={}
    ),
    "dynamic_tool_call_response": event(
        "dynamic_tool_call_response",
        call_id="call_1",
        turn_id="u1",
        tool="t",
        arguments={},
        content_items=[{"type": "inputText", "text": "x"}, {"type": "inputImage", "imageUrl": "data:"}],
        success=True,
        error=None,
        duration=TOOK,
    ),
    "guardian_assessment": event(
        "guardian_assessment",
        id="g1",
        target_item_id="call_1",
        turn_id="u1",
        status="approved",
        risk_level="low",
        user_authorization="high",
        rationale="r",
        decision_source="agent",
        action={"type": "command", "source": "shell", "command": "ls", "cwd": "/w"},
    ),
    "collab_agent_spawn_end": event(
        "collab_agent_spawn_end",
        call_id="call_1",
        sender_thread_id="t1",
        new_thread_id="t2",
        new_agent_nickname="Ada",
        new_agent_role="r",
        prompt="p",
        model="m",
        reasoning_effort="low",
        status="pending_init",
    ),
    "collab_agent_interaction_end": event(
        "collab_agent_interaction_end", prompt="p", status={"completed": "x"}, **_RECEIVER
    ),
    "collab_waiting_end": event(
        "collab_waiting_end",
        call_id="call_1",
        sender_thread_id="t1",
        agent_statuses=[{"thread_id": "t2", "agent_nickname": "Ada", "status": "running"}],
        statuses={"t2": {"completed": "x"}},
    ),
    "collab_close_end": event("collab_close_end", status={"completed": "x"}, **_RECEIVER),
    "collab_resume_end": event("collab_resume_end", status="running", **_RECEIVER),
    "sub_agent_activity": event(
        "sub_agent_activity",
        event_id="call_1",
        occurred_at_ms=1,
        agent_thread_id="t2",
        agent_path="/root/ada",
        kind="started",
    ),
}

ACTS: dict[str, bytes] = {
    "UserMessage": act(
        "UserMessage",
        client_id="c",
        content=[
            {"type": "text", "text": "hello", "text_elements": []},
            {"type": "image", "image_url": "data:"},
            {"type": "local_image", "path": "/w/i.png"},
            {"type": "audio", "audio_url": "data:"},
            {"type": "local_audio", "path": "/w/a.wav"},
            {"type": "skill", "name": "s", "path": "/s"},
            {"type": "mention", "name": "m", "path": "app://m"},
        ],
    ),
    "HookPrompt": act("HookPrompt", fragments=[{"text": "x", "hookRunId": "h"}]),
    "AgentMessage": act(
        "AgentMessage",
        content=[{"type": "Text", "text": "hi"}],
        phase="final_answer",
        questions=[{"title": "which?", "options": ["a", "b"]}],
    ),
    "Plan": act("Plan", text="1. win"),
    "Reasoning": act("Reasoning", summary_text=["Look"], raw_content=[]),
    "CommandExecution": act(
        "CommandExecution",
        process_id="1",
        command=["bash", "-lc", "ls"],
        cwd="file:///w",
        parsed_cmd=[{"type": "search", "cmd": "rg x", "query": "x", "path": None}],
        source="unified_exec_startup",
        status="failed",
        aggregated_output="",
        exit_code=-1,
        duration=TOOK,
    ),
    "FileChange": act(
        "FileChange",
        changes={"/w/a": {"type": "add", "content": "x"}, "/w/b": {"type": "delete", "content": "y"}},
        status="completed",
        stdout="ok",
        stderr="",
    ),
    "McpToolCall": act(
        "McpToolCall",
        server="s",
        tool="t",
        arguments={"a": 1},
        readOnlyHint=False,
        mcpAppUi={"resourceUri": "ui://x", "preferredModelDisplayMode": "inline"},
        status="failed",
        result={**MCP_ANSWER, "_meta": None},
        error={"message": "m"},
        duration=TOOK,
    ),
    "DynamicToolCall": act(
        "DynamicToolCall",
        namespace="n",
        tool="t",
        arguments={},
        status="completed",
        content_items=[{"type": "inputAudio", "audioUrl": "data:"}],
        success=True,
        duration=TOOK,
    ),
    "FunctionCallOutput": act("FunctionCallOutput", name="n", namespace="ns", output="hello"),
    "CollabAgentToolCall": act(
        "CollabAgentToolCall",
        tool="spawn_agent",
        status="completed",
        sender_thread_id="t1",
        receiver_thread_ids=["t2"],
        receiver_agents=[{"thread_id": "t2", "agent_nickname": "Ada", "agent_role": "r"}],
        prompt="p",
        model="m",
        reasoning_effort="low",
        agents_states={"t2": "pending_init"},
    ),
    "SubAgentActivity": act(
        "SubAgentActivity", kind="started", agent_thread_id="t2", agent_path="/root/ada", model="m"
    ),
    "WebSearch": act("WebSearch", query="q", action={"type": "find_in_page", "url": "u", "pattern": "p"}),
    "ImageView": act("ImageView", path="file:///w/i.png"),
    "ImageGeneration": act("ImageGeneration", status="completed", result="AA==", saved_path="/w/o.png"),
    "Sleep": act("Sleep", duration_ms=1000),
    "Extension": act(
        "Extension",
        kind="web.search",
        query="q",
        action={"type": "openPage", "url": None},
        results=[{"a": 1}],
    ),
    "EnteredReviewMode": act(
        "EnteredReviewMode", target={"type": "custom", "instructions": "i"}, user_facing_hint="h"
    ),
    "ExitedReviewMode": act("ExitedReviewMode", review_output=REVIEW),
    "ContextCompaction": act("ContextCompaction"),
}
