"""From Codex's records to events: every kind is told or silent on purpose, whatever generation wrote it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings

from tests import soak
from tests.agents.codex.records import examples
from tests.contracts.logs import some_log
from tests.model.translate.codex_log import (
    PATH,
    act,
    call,
    cut,
    event,
    facts,
    item,
    line,
    meta,
    only,
    output,
    raw,
    said,
    shown,
    translated,
    translated_bytes,
    translated_document,
)
from tracklog.agents.codex.records import READER, reader
from tracklog.agents.codex.records.envelope import Enveloped
from tracklog.agents.codex.records.events import EventPayload
from tracklog.agents.codex.records.items import CustomToolCall, FunctionCall, ResponseItem
from tracklog.agents.codex.records.turn_items import TurnItem
from tracklog.agents.codex.translate.items import ITEMS
from tracklog.agents.codex.translate.translator import ACTS, EVENTS, SILENT, TABLE, CodexTranslator
from tracklog.model import records
from tracklog.model.events import (
    CallProgressed,
    CallReported,
    ContextCompacted,
    HistoryInherited,
    HistoryRolledBack,
    ModeChanged,
    ModelReplied,
    Place,
    PromptGiven,
    RequestFailed,
    SessionDescribed,
    SessionTitled,
    StrangeSeen,
    TaskSeen,
    TextInjected,
    ThreadDescribed,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)

DATA = Path(__file__).parents[3] / "data" / "codex"
LEGACY = [
    reader.MetaLine,
    reader.StateLine,
    reader.Document,
    reader.CodexHistoryLine,
    reader.SessionIndexLine,
]


@pytest.mark.parametrize(
    ("kinds", "table"),
    [
        (get_args(Enveloped), TABLE),
        (get_args(ResponseItem), ITEMS),
        (get_args(ResponseItem), TABLE),
        (get_args(EventPayload), EVENTS),
        (get_args(TurnItem), ACTS),
        ([*LEGACY, records.Blank], TABLE),
    ],
)
def test_every_kind_has_its_function_or_is_silent_on_purpose(
    kinds: list[type], table: dict[type, object]
) -> None:
    assert [kind.__name__ for kind in kinds if (kind in table) == (kind in SILENT)] == []


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*/*.jsonl")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_in_real_logs_each_call_is_told_once_and_has_its_result(path: Path) -> None:
    log = path.read_bytes()
    told = translated_bytes(log)
    written = Counter(_called_by(piece.record) for piece in READER.read(cut(log)))
    del written[None]
    called = Counter(one.call for one in only(told, ToolCalled) if one.parent_call is None)
    assert called == written
    assert written
    assert set(called.values()) == {1}
    assert Counter(one.call for one in only(told, ToolReturned) if one.call in called) == called
    assert only(told, StrangeSeen) == []


def _called_by(record: records.Record) -> str | None:
    item = getattr(record, "payload", None)
    return item.call_id if isinstance(item, (FunctionCall, CustomToolCall)) else None


def test_all_that_the_model_says_between_two_outputs_is_one_request() -> None:
    told = translated(
        meta(),
        said("user", "look"),
        shown("look"),
        item("reasoning", summary=[{"type": "summary_text", "text": "Let me see."}]),
        said("assistant", "I look."),
        call(ident="c1"),
        call(ident="c2"),
        output("Exit code: 0\nWall time: 1 seconds\nOutput:\n", "c2"),
        output("Exit code: 0\nWall time: 1 seconds\nOutput:\n", "c1"),
        said("assistant", "Done."),
    )
    assert [facts(one, "request", "text", "thinking") for one in only(told, ModelReplied)] == [
        ("t1:4", "", "Let me see."),
        ("t1:4", "I look.", ""),
        ("t1:4", "", ""),
        ("t1:4", "", ""),
        ("t1:10", "Done.", ""),
    ]
    assert [facts(one, "call", "request") for one in only(told, ToolCalled)] == [
        ("c1", "t1:4"),
        ("c2", "t1:4"),
    ]


def test_a_record_of_tokens_ends_a_request() -> None:
    usage = line("token_usage_record", {"usage": {}, "response_id": "resp_1"})
    told = translated(meta(), said("assistant", "one"), usage, said("assistant", "two"))
    assert [one.request for one in only(told, ModelReplied)] == ["t1:2", "t1:4"]


def test_the_mirrors_of_what_the_model_says_are_silent() -> None:
    told = translated(
        meta(),
        event("agent_reasoning", text="Hm."),
        item("reasoning", summary=[], encrypted_content="gAAAAA"),
        event("agent_message", message="Hi."),
        said("assistant", "Hi."),
        act("AgentMessage", "m1", content=[{"type": "Text", "text": "Hi."}]),
    )
    replies = [facts(one, "text", "thinking", "has_hidden_thought") for one in only(told, ModelReplied)]
    assert replies == [("", "", True), ("Hi.", "", False)]
    assert len(told) == 3


@pytest.mark.parametrize(
    ("fields", "name", "server"),
    [
        ({"name": "mcp__lab__echo"}, "mcp__lab__echo", "lab"),
        ({"name": "echo", "namespace": "mcp__lab"}, "mcp__lab__echo", "lab"),
        ({"name": "spawn_agent", "namespace": "multi_agent_v1"}, "spawn_agent", None),
        ({"name": "exec_command"}, "exec_command", None),
    ],
)
def test_mcp_tools_bear_one_name_in_all_generations(
    fields: dict[str, str], name: str, server: str | None
) -> None:
    (called,) = only(translated(call(**fields)), ToolCalled)
    assert facts(called, "name", "server") == (name, server)


@pytest.mark.parametrize(
    ("arguments", "kept"), [('{"cmd": "ls"}', {"cmd": "ls"}), ('{"cmd": "l', '{"cmd": "l')]
)
def test_arguments_stay_json_and_what_is_no_json_is_kept_as_a_text(arguments: str, kept: object) -> None:
    (called,) = only(translated(call(arguments=arguments)), ToolCalled)
    assert msgspec.json.decode(called.input) == kept


def test_a_patch_is_kept_as_a_text() -> None:
    (called,) = only(
        translated(item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c1")), ToolCalled
    )
    assert msgspec.json.decode(called.input) == "*** Begin"


def test_what_the_server_does_is_call_and_result_in_one_line() -> None:
    action = {"type": "search", "query": "x"}
    told = translated(
        meta(),
        act("WebSearch", "ws_1", query="x", action=action),
        item("web_search_call", id="ws_1", status="completed", action=action),
        item("image_generation_call", id="ig_1", status="failed", result=""),
    )
    calls = [facts(one, "call", "name", "is_server_side") for one in only(told, ToolCalled)]
    assert calls == [("ws_1", "web_search", True), ("ig_1", "image_generation", True)]
    assert [facts(one, "call", "said") for one in only(told, ToolReturned)] == [
        ("ws_1", "ok"),
        ("ig_1", "error"),
    ]
    assert [facts(one, "call", "what", "end") for one in only(told, CallReported)] == [
        ("ws_1", "search", "ok")
    ]


def test_a_search_without_an_id_takes_it_from_the_event_before_it() -> None:
    action = {"type": "search", "query": "x"}
    told = translated(
        meta(),
        event("web_search_end", call_id="ws_1", query="x", action=action),
        item("web_search_call", status="completed", action=action),
        item("web_search_call", status="completed", action=action),
    )
    assert [one.call for one in only(told, ToolCalled)] == ["ws_1", "web_search:t1:4"]


def test_a_search_for_tools_is_answered_by_its_output() -> None:
    told = translated(
        item("tool_search_call", call_id="c1", execution="client", arguments={"query": "echo"}),
        item("tool_search_output", call_id="c1", execution="client", status="completed", tools=[]),
    )
    assert [facts(one, "call", "name", "is_server_side") for one in only(told, ToolCalled)] == [
        ("c1", "tool_search", False)
    ]
    assert [facts(one, "call", "said") for one in only(told, ToolReturned)] == [("c1", "ok")]


def test_calls_inside_a_script_are_children_of_the_script() -> None:
    ran: dict[str, Any] = {"command": ["ls"], "cwd": "file:///work", "status": "failed", "exit_code": 3}
    told = translated(
        meta(),
        item("custom_tool_call", name="exec", input="await tools.exec_command()", call_id="c1"),
        act(
            "CommandExecution", "exec-1", aggregated_output="x", duration={"secs": 1, "nanos": 500000}, **ran
        ),
        act("McpToolCall", "exec-2", server="lab", tool="echo", arguments={"a": 1}, status="declined"),
        item(
            "custom_tool_call_output",
            call_id="c1",
            output="Script completed\nWall time 0.1 seconds\nOutput:\n",
        ),
    )
    calls = [facts(one, "call", "name", "server", "parent_call") for one in only(told, ToolCalled)]
    assert calls == [
        ("c1", "exec", None, None),
        ("exec-1", "exec_command", None, "c1"),
        ("exec-2", "mcp__lab__echo", "lab", "c1"),
    ]
    results = [facts(one, "call", "said", "exit_code", "took_ms") for one in only(told, ToolReturned)]
    assert results == [
        ("exec-1", "error", 3, 1000.5),
        ("exec-2", "denied", None, 250.0),
        ("c1", "ok", None, 100.0),
    ]


def test_reports_tell_what_outputs_do_not() -> None:
    patch = {"/work/a": {"type": "add", "content": "x\n"}}
    told = translated(
        meta(),
        act("CommandExecution", "c1", command=["ls"], status="completed", exit_code=0, duration={"secs": 0, "nanos": 2000000}),
        act("CommandExecution", "c2", command=["ls"], status="declined", exit_code=-1),
        act("FileChange", "c3", changes=patch, status="completed"),
        act("McpToolCall", "c4", server="lab", tool="fail", status="completed", result={"content": [], "isError": True}),
        event("exec_command_end", call_id="c5", exit_code=1, aggregated_output="bad"),
        event("patch_apply_end", call_id="c6", success=False, status="declined", changes={}),
        event("mcp_tool_call_end", call_id="c7", invocation={"server": "lab", "tool": "x"}, result={"Err": "user rejected MCP tool call"}),
        event("guardian_assessment", id="g1", target_item_id="c8", status="denied", rationale="risky"),
        event("guardian_assessment", id="g2", target_item_id="c9", status="approved"),
    )  # fmt: skip
    reports = [
        facts(one, "call", "what", "end", "exit_code", "took_ms", "is_denied")
        for one in only(told, CallReported)
    ]
    assert reports == [
        ("c1", "command", "ok", 0, 2.0, False),
        ("c2", "command", "error", -1, 250.0, True),
        ("c3", "patch", "ok", None, 250.0, False),
        ("c4", "mcp", "error", None, 250.0, False),
        ("c5", "command", "error", 1, None, False),
        ("c6", "patch", "error", None, None, True),
        ("c7", "mcp", "error", None, None, True),
        ("c8", "reviewer", "error", None, None, True),
    ]
    assert msgspec.json.decode(only(told, CallReported)[2].report)["changes"]["/work/a"]["content"] == "x\n"


@pytest.mark.parametrize(
    ("code", "in_turn", "after"), [(137, "error", "killed"), (-1, "killed", "killed"), (1, "error", "error")]
)
def test_the_client_takes_its_processes_along_when_it_quits(code: int, in_turn: str, after: str) -> None:
    ended = act("CommandExecution", "c1", command=["sleep"], status="failed", exit_code=code)
    told = translated(
        meta(), event("task_started", turn_id="u1"), ended, event("task_complete", turn_id="u1"), ended
    )
    assert [one.end for one in only(told, CallReported)] == [in_turn, after]


def test_what_another_thread_did_is_left_to_its_own_file() -> None:
    foreign = act("CommandExecution", "c1", thread="t2", command=["ls"], status="completed", exit_code=0)
    assert only(translated(meta("t1"), foreign), CallReported) == []


def test_a_subagent_is_linked_to_the_call_that_started_it() -> None:
    told = translated(
        meta(),
        act("CollabAgentToolCall", "c1", tool="spawn_agent", status="completed", receiver_thread_ids=["t2"]),
        act("SubAgentActivity", "c2", kind="started", agent_thread_id="t3", agent_path="/root/scout"),
        act(
            "SubAgentActivity",
            "subagent-completed-1",
            kind="completed",
            agent_thread_id="t3",
            agent_path="/root/scout",
        ),
        event("collab_agent_spawn_end", call_id="c3", new_thread_id="t4"),
        event("sub_agent_activity", event_id="c4", kind="started", agent_thread_id="t5"),
    )
    started = [facts(one, "call", "agent") for one in only(told, CallProgressed)]
    assert started == [("c1", "t2"), ("c2", "t3"), ("c3", "t4"), ("c4", "t5")]
    assert [facts(one, "task", "end") for one in only(told, TaskSeen)] == [("t3", "ok")]
    assert {one.end for one in only(told, CallReported)} == {"ok"}


def test_turns_have_a_beginning_an_end_and_an_id_on_every_event_between() -> None:
    told = translated(
        meta(),
        event("task_started", turn_id="u1"),
        said("user", "fail"),
        shown("fail"),
        said("assistant", "I try."),
        event(
            "task_complete",
            turn_id="u1",
            duration_ms=295,
            error={"message": "no"},
            last_agent_message="I try.",
        ),
    )
    assert [facts(one, "turn") for one in told[1:]] == [("u1",)] * 5
    assert [type(one) for one in told[1:]] == [TurnBegan, PromptGiven, ModelReplied, RequestFailed, TurnEnded]
    assert facts(told[-1], "took_ms", "error", "text") == (295, "no", "I try.")


def test_an_item_that_names_its_turn_is_told_in_that_turn() -> None:
    passthrough = {"internal_chat_message_metadata_passthrough": {"turn_id": "u9"}}
    told = translated(meta(), event("task_started", turn_id="u1"), said("assistant", "hi", **passthrough))
    assert [one.turn for one in only(told, ModelReplied)] == ["u9"]


@pytest.mark.parametrize(
    ("lines", "in_tool"),
    [
        ([said("assistant", "This takes a while.")], False),
        ([call()], True),
        ([call(), output("Wall time: 4.8 seconds\naborted by user")], True),
        ([call(), output("Exit code: 0\nWall time: 1 seconds\nOutput:\n")], False),
    ],
)
def test_an_interrupted_turn_says_whether_a_tool_was_running(
    lines: list[dict[str, object]], in_tool: bool
) -> None:
    told = translated(
        meta(source="exec"), event("task_started", turn_id="u1"), *lines, event("turn_aborted", turn_id="u1", reason="interrupted")
    )  # fmt: skip
    assert [facts(one, "in_tool", "is_headless") for one in only(told, TurnInterrupted)] == [(in_tool, True)]
    assert len(only(told, TurnEnded)) == 1


def test_a_turn_that_ran_out_of_budget_ended_and_was_not_interrupted() -> None:
    told = translated(meta(), event("turn_aborted", turn_id="u1", reason="budget_limited"))
    assert only(told, TurnInterrupted) == []
    assert [one.error for one in only(told, TurnEnded)] == ["budget_limited"]


def test_a_compaction_is_told_once_and_its_summary_is_nobodys_words() -> None:
    told = translated(
        meta(),
        line(
            "response_item", said("assistant", "In short.")["payload"], metadata={"compaction_output": True}
        ),
        line("compacted", {"message": "In short.", "replacement_history": [said("user", "old")["payload"]]}),
        event("context_compacted"),
        act("ContextCompaction", "x1"),
    )
    assert [one.summary for one in only(told, ContextCompacted)] == ["In short."]
    assert [one.text for one in only(told, ModelReplied)] == [""]
    assert only(told, PromptGiven) == []


def test_rollbacks_names_and_errors_are_told() -> None:
    told = translated(
        event("thread_rolled_back", num_turns=2),
        event("thread_name_updated", thread_id="t1", thread_name="A name"),
        event(
            "error",
            message="overloaded",
            codex_error_info={"response_stream_failed": {"http_status_code": 529}},
        ),
    )
    assert [one.n_turns for one in only(told, HistoryRolledBack)] == [2]
    assert [facts(one, "title", "source") for one in only(told, SessionTitled)] == [("A name", "name")]
    assert [facts(one, "text", "status", "is_final") for one in only(told, RequestFailed)] == [
        ("overloaded", 529, True)
    ]


def test_a_session_is_described_once_and_again_when_something_changed() -> None:
    git = {"branch": "main", "commit_hash": "abc"}
    context = {"cwd": "/work", "model": "gpt-5.5", "approval_policy": "never", "effort": "high"}
    told = translated(
        meta("t1", git=git),
        meta("t1", git=git),
        line("turn_context", {**context, "sandbox_policy": {"type": "read-only"}}),
        line("turn_context", {**context, "sandbox_policy": {"type": "read-only"}}),
        line("turn_context", {**context, "cwd": "/other", "approval_policy": {"granular": {}}}),
    )
    described = [
        facts(one, "session", "cwd", "branch", "version", "entrypoint")
        for one in only(told, SessionDescribed)
    ]
    assert described == [
        ("t1", "/work", "main", "0.166.0", "codex-tui"),
        ("t1", "/other", "main", "0.166.0", "codex-tui"),
    ]
    assert [facts(one, "what", "value") for one in only(told, ModeChanged)] == [
        ("model", "gpt-5.5"),
        ("effort", "high"),
        ("permission", "never"),
        ("sandbox", "read-only"),
        ("permission", "granular"),
    ]


SPAWN = {
    "parent_thread_id": "t0",
    "depth": 2,
    "agent_nickname": "Ada",
    "agent_path": "/root/ada",
    "agent_role": "scout",
}


@pytest.mark.parametrize(
    ("fields", "described"),
    [
        ({"source": {"subagent": {"thread_spawn": SPAWN}}}, ("t0", "scout", "Ada", 2, False)),
        ({"source": {"subagent": "review"}, "parent_thread_id": "t0"}, ("t0", "review", None, None, True)),
        ({"source": {"subagent": {"other": "agent_job"}}}, (None, "agent_job", None, None, False)),
        ({"source": {"internal": "guardian"}}, (None, "guardian", None, None, True)),
    ],
)
def test_a_subagents_file_says_whose_it_is(fields: dict[str, object], described: tuple[object, ...]) -> None:
    (thread,) = only(translated(meta("t2", **fields)), ThreadDescribed)
    assert facts(thread, "parent_thread", "type", "name", "depth", "is_internal") == described


BASE = {"thread_id": "r0", "end_ordinal_exclusive": 21, "end_byte_offset": 900}


@pytest.mark.parametrize(
    ("fields", "inherited"),
    [
        ({"forked_from_id": "t0"}, ("t0", None, None, None, "fork")),
        ({"forked_from_id": "t0", "history_base": BASE}, ("t0", None, 21, 900, "fork")),
        ({"history_base": BASE}, ("r0", None, 21, 900, "revert")),
        ({"parent_thread_id": "t0", "subagent_history_start_ordinal": 9}, ("t0", 9, None, None, "subagent")),
    ],
)
def test_a_file_that_continues_another_says_how(
    fields: dict[str, object], inherited: tuple[object, ...]
) -> None:
    (told,) = only(translated(meta("t1", **fields)), HistoryInherited)
    assert facts(told, "source", "own_from_ordinal", "base_ordinal", "base_offset", "why") == inherited


def test_a_second_session_meta_of_another_thread_marks_a_copy_and_changes_nothing_else() -> None:
    told = translated(meta("t2", forked_from_id="t1"), meta("t1", cwd="/old"))
    assert [facts(one, "place", "source", "why") for one in only(told, HistoryInherited)] == [
        (Place(PATH, 1), "t1", "fork"),
        (Place(PATH, 2), "t1", "copy"),
    ]
    assert [one.session for one in only(told, SessionDescribed)] == ["t2"]


def test_prompts_in_the_inherited_part_of_a_subagents_file_have_no_mirrors() -> None:
    old, own = said("user", "old"), said("user", "own")
    told = translated(
        {**meta(subagent_history_start_ordinal=3), "ordinal": 0}, {**old, "ordinal": 1}, {**own, "ordinal": 3}, shown("own")
    )  # fmt: skip
    assert [facts(one, "place", "text") for one in only(told, PromptGiven)] == [
        (Place(PATH, 2), "old"),
        (Place(PATH, 4), "own"),
    ]


def test_the_first_jsonl_generation_has_bare_items() -> None:
    environment = "<environment_context>\n<cwd>/work</cwd>\n</environment_context>"
    told = translated(
        {
            "id": "t1",
            "timestamp": "2025-08-01T10:00:00.000Z",
            "instructions": None,
            "git": {"branch": "main"},
        },
        {"record_type": "state"},
        said("user", environment)["payload"],
        said("user", "hello")["payload"],
        call("shell")["payload"],
        output('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.5}}')["payload"],
    )
    assert [facts(one, "session", "cwd", "branch") for one in only(told, SessionDescribed)] == [
        ("t1", None, "main"),
        ("t1", "/work", "main"),
    ]
    assert [one.text for one in only(told, PromptGiven)] == ["hello"]
    assert [facts(one, "said", "exit_code", "took_ms") for one in only(told, ToolReturned)] == [
        ("error", 1, 500.0)
    ]


def test_a_session_in_one_document_is_told_at_its_first_line() -> None:
    items = [
        said("user", "hello")["payload"],
        call("shell")["payload"],
        output('{"output":"","metadata":{"exit_code":0,"duration_seconds":0.1}}')["payload"],
        said("assistant", "Done.")["payload"],
        {"type": "from_the_future"},
    ]
    session = {"id": "t1", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""}
    told = translated_document({"session": session, "items": items})
    assert {one.place for one in told} == {Place(PATH, 1)}
    assert [type(one) for one in told] == [
        SessionDescribed, PromptGiven, ModelReplied, ToolCalled, ToolReturned, ModelReplied, StrangeSeen,
    ]  # fmt: skip
    assert [one.request for one in only(told, ModelReplied)] == ["t1:1.2", "t1:1.4"]
    assert [one.at for one in told] == ["2025-05-01T10:00:00.000Z", *[None] * 6]


def test_an_output_that_answers_no_call_is_context() -> None:
    assert [
        facts(one, "why", "text")
        for one in translated(output("the news", None))
        if isinstance(one, TextInjected)
    ] == [("context", "the news")]


def test_lines_that_nobody_can_read_are_told_as_strange() -> None:
    told = translated_bytes(raw([meta(), event("from_the_future")]) + b'\n{"cut')
    assert [facts(one, "place", "kind") for one in only(told, StrangeSeen)] == [
        (Place(PATH, 2), "event_msg/from_the_future"),
        (Place(PATH, 3), "broken"),
    ]


def test_one_line_of_every_kind_is_translated_without_an_error() -> None:
    tables = (examples.ENVELOPES, examples.ITEMS, examples.EVENTS, examples.ACTS)
    told = translated_bytes(b"\n".join(one for table in tables for one in table.values()))
    assert only(told, StrangeSeen) == []
    assert len(told) > 70


@settings(max_examples=soak.examples(50), deadline=None)
@given(log=some_log("codex"))
def test_any_log_is_translated_and_no_event_runs_ahead_of_its_line(log: bytes) -> None:
    translator = CodexTranslator(PATH)
    for piece in READER.read(cut(log)):
        told = translator.translate(piece)
        assert [one for one in told if not 1 <= one.place.line <= piece.line] == []
        if piece.reading != "read":
            assert [type(one) for one in told] == [StrangeSeen]
