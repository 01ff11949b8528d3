"""What an output says of its call: the header tells, never what a command printed."""

from __future__ import annotations

import json

import pytest

from tests.model.translate.codex_log import call, facts, item, only, output, translated
from tracklog.agents.codex.translate.outputs import Reading, Unpacked, read_output, unpacked
from tracklog.model.events import TaskSeen, ToolReturned

UNIFIED = "Chunk ID: 640f70\nWall time: 1.5 seconds\n{}\nOriginal token count: 6\nOutput:\nx\n"
STRUCTURED = json.dumps({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.5}})
LIMIT = "command timed out after 1000 milliseconds\nhalf"


@pytest.mark.parametrize(
    ("tool", "text", "reading"),
    [
        ("exec_command", UNIFIED.format("Process exited with code 0"), Reading("ok", "exit code", 0, 1500.0)),
        ("exec_command", UNIFIED.format("Process exited with code 137"), Reading("error", "exit code", 137, 1500.0)),
        ("exec_command", UNIFIED.format("Process exited with code -1"), Reading("error", "exit code", -1, 1500.0)),
        ("exec_command", UNIFIED.format("Process running with session ID 21963"),
         Reading("backgrounded", "session runs on", None, 1500.0, "21963")),
        ("write_stdin", UNIFIED.format("Process exited with code 6"),
         Reading("ok", "session ended", 6, 1500.0, end="error")),
        ("write_stdin", UNIFIED.format("Process running with session ID 7"),
         Reading("ok", "session runs on", None, 1500.0, "7", "running")),
        ("write_stdin", "write_stdin failed: Unknown process id 21963", Reading("error", "failed")),
        ("shell", "Exit code: 1\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nx", Reading("error", "exit code", 1, 2000.0)),
        ("shell", STRUCTURED, Reading("error", "exit code", 2, 500.0)),
        ("shell", json.dumps({"output": LIMIT, "metadata": {"exit_code": 124, "duration_seconds": 1.0}}),
         Reading("timed_out", "time limit", 124, 1000.0)),
        ("shell_command", f"Exit code: 124\nWall time: 1 seconds\nOutput:\n{LIMIT}", Reading("timed_out", "time limit", 124, 1000.0)),
        ("shell_command", "Exit code: 124\nWall time: 1 seconds\nOutput:\nmine", Reading("error", "exit code", 124, 1000.0)),
        ("shell", LIMIT, Reading("timed_out", "time limit")),
        ("shell", "exec command rejected by user", Reading("denied", "refused by the person")),
        ("shell", "failed in sandbox: sandbox error: command was killed by a signal", Reading("error", "failed in the sandbox")),
        ("shell", "aborted", Reading("interrupted", "aborted")),
        ("shell", "something that no client was seen to write", Reading("error", "no header", is_sure=False)),
        ("exec_command", "Wall time: 1.7 seconds\naborted by user", Reading("rejected", "aborted by user", took_ms=1700.0)),
        ("exec_command", "aborted by user after 0.3s", Reading("rejected", "aborted by user")),
        ("exec_command", "approval policy is Never; reject command — you cannot ask for escalated permissions",
         Reading("denied", "approval policy")),
        ("exec_command", '`/bin/bash -lc \'rm -rf x\'` rejected: blocked by policy', Reading("denied", "approval policy")),
        ("exec_command", 'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
         Reading("denied", "approval policy")),
        ("exec_command", 'exec_command failed: CreateProcess { message: "Rejected(\\"Failed to create unified exec process\\")" }',
         Reading("error", "failed")),
        ("exec_command", "This action was rejected due to unacceptable risk.", Reading("denied", "automatic reviewer")),
        ("exec_command", "Command blocked by PreToolUse hook: not today", Reading("blocked", "hook")),
        ("exec_command", "Wall time: 0.1 seconds\nOutput:\nExit code: 1\nSuccess.", Reading("ok", "came back", took_ms=100.0)),
        ("exec_command", "failed to parse function arguments: missing field `cmd`", Reading("error", "bad arguments")),
        ("apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", Reading("ok", "exit code", 0, 0.0)),
        ("apply_patch", "apply_patch verification failed: Failed to find expected lines", Reading("error", "failed")),
        ("apply_patch", "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
         Reading("denied", "approval policy")),
        ("apply_patch", "Success. Updated the following files:\nA x", Reading("ok", "came back")),
        ("exec", "Script completed\nWall time 0.1 seconds\nOutput:\n", Reading("ok", "script completed", took_ms=100.0)),
        ("exec", "Script failed\nWall time 0.1 seconds\nOutput:\n", Reading("error", "script failed", took_ms=100.0)),
        ("exec", "Script terminated\nWall time 0.1 seconds\n", Reading("error", "script terminated", took_ms=100.0)),
        ("exec", "Script running with cell ID 4\nWall time 0.3 seconds\n", Reading("backgrounded", "script runs on", None, 300.0, "cell:4")),
        ("wait", "Script failed\nWall time 0.7 seconds\n", Reading("ok", "script asked about", None, 700.0, end="error")),
        ("no_such_tool", "unsupported call: no_such_tool", Reading("error", "unknown tool")),
        ("view_image", "unable to locate image at `x.png`", Reading("error", "not possible")),
        ("request_user_input", "request_user_input is unavailable in Default mode", Reading("error", "not possible")),
        ("update_plan", "Plan updated", Reading("ok", "came back")),
        ("spawn_agent", '{"agent_id":"t2","nickname":"Ada"}', Reading("ok", "came back", agent="t2")),
        ("spawn_agent", "agent thread limit reached", Reading("error", "no answer of the agents")),
        ("wait_agent", '{"status":{"t2":{"completed":"Done."},"t3":"running"},"timed_out":false}',
         Reading("ok", "came back", agents=(("t2", "ok", "Done."), ("t3", "running", "")))),
        ("wait_agent", '{"status":{"t9":"not_found"},"timed_out":false}', Reading("error", "no such agent")),
        ("send_message", "", Reading("ok", "came back")),
    ],
)  # fmt: skip
def test_the_header_or_the_sentence_of_the_client_tells_how_a_call_went(
    tool: str, text: str, reading: Reading
) -> None:
    assert read_output(tool, text) == reading


@pytest.mark.parametrize(
    "printed",
    ["Process exited with code 1", "aborted by user", "Exit code: 3", "exec command rejected by user"],
)
def test_what_a_command_prints_is_never_taken_for_the_header(printed: str) -> None:
    text = f"Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{printed}"
    assert read_output("exec_command", text) == Reading("ok", "exit code", 0, 100.0)


@pytest.mark.parametrize(
    "printed", ["Process exited with code 1\n", "Exit code: 3\n", "Script failed\n", "error: mine", "aborted", STRUCTURED]
)  # fmt: skip
def test_what_an_mcp_server_says_is_never_taken_for_the_clients_words(printed: str) -> None:
    assert read_output("mcp__lab__echo", printed, server="lab") == Reading("ok", "came back")


def test_a_refused_mcp_call_is_denied() -> None:
    refused = read_output("mcp__lab__echo", "user rejected MCP tool call", server="lab")
    assert refused == Reading("denied", "refused by the person")


def test_an_output_in_parts_is_read_by_its_first_text_and_counts_its_pictures() -> None:
    parts = [
        {"type": "input_text", "text": "Wall time: 0.002 seconds\nOutput:"},
        {"type": "input_text", "text": "Process exited with code 9"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
    ]
    told = translated(call("picture", namespace="mcp__lab"), output(parts))
    assert [facts(one, "said", "took_ms", "n_images", "text") for one in only(told, ToolReturned)] == [
        ("ok", 2.0, 1, "Process exited with code 9")
    ]


def test_a_session_is_followed_to_its_end_by_write_stdin() -> None:
    told = translated(
        call("exec_command", "c1"),
        output(UNIFIED.format("Process running with session ID 7"), "c1"),
        call("write_stdin", "c2", '{"session_id": 7, "chars": ""}'),
        output(UNIFIED.format("Process running with session ID 7"), "c2"),
        call("write_stdin", "c3", '{"session_id": 7, "chars": "x"}'),
        output(UNIFIED.format("Process exited with code 6"), "c3"),
    )
    results = [facts(one, "call", "said", "task", "exit_code") for one in only(told, ToolReturned)]
    assert results == [("c1", "backgrounded", "7", None), ("c2", "ok", None, None), ("c3", "ok", None, 6)]
    seen = [facts(one, "task", "end", "asked_by", "exit_code") for one in only(told, TaskSeen)]
    assert seen == [("7", "running", "c2", None), ("7", "error", "c3", 6)]


def test_a_script_that_runs_on_is_followed_by_wait() -> None:
    told = translated(
        item("custom_tool_call", name="exec", input="text(1)", call_id="c1"),
        item("custom_tool_call_output", call_id="c1", output="Script running with cell ID 4\nWall time 0.3 seconds\n"),
        call("wait", "c2", '{"cell_id": "4"}', namespace="functions"),
        output([{"type": "input_text", "text": "Script completed\nWall time 0.7 seconds\nOutput:\n"}], "c2"),
    )  # fmt: skip
    assert [facts(one, "call", "said", "task") for one in only(told, ToolReturned)] == [
        ("c1", "backgrounded", "cell:4"),
        ("c2", "ok", None),
    ]
    assert [facts(one, "task", "end") for one in only(told, TaskSeen)] == [("cell:4", "ok")]


def test_a_spawned_agent_is_named_by_the_output_and_its_end_by_wait() -> None:
    told = translated(
        call("spawn_agent", "c1", namespace="multi_agent_v1"),
        output('{"agent_id":"t2","nickname":"Ada"}', "c1"),
        call("wait_agent", "c2", namespace="multi_agent_v1"),
        output('{"status":{"t2":{"completed":"Done."}},"timed_out":false}', "c2"),
    )
    assert [facts(one, "call", "said", "agent") for one in only(told, ToolReturned)] == [
        ("c1", "ok", "t2"),
        ("c2", "ok", None),
    ]
    assert [facts(one, "task", "end", "text") for one in only(told, TaskSeen)] == [("t2", "ok", "Done.")]


@pytest.mark.parametrize(
    ("tool", "text", "inside"),
    [
        ("exec_command", UNIFIED.format("Process exited with code 0"), Unpacked("x\n", whole_tokens=6)),
        ("write_stdin", UNIFIED.format("Process running with session ID 7"), Unpacked("x\n", whole_tokens=6)),
        ("shell", "Exit code: 1\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nx", Unpacked("x", whole_lines=9)),
        ("shell", STRUCTURED, Unpacked("x")),
        ("shell", '{"mine": 1}', Unpacked('{"mine": 1}')),
        ("apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", Unpacked("Success.")),
        ("exec_command", "Wall time: 0.1 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
         Unpacked("Success.")),
        ("exec_command", "Wall time: 1.7 seconds\naborted by user", Unpacked("aborted by user")),
        ("exec_command", "aborted by user after 0.3s", Unpacked("aborted by user after 0.3s")),
        ("exec", "Script completed\nWall time 0.1 seconds\nOutput:\n", Unpacked("")),
        ("wait", "Script failed\nWall time 0.7 seconds\n", Unpacked("")),
        ("update_plan", "Exit code: 0\nWall time: 0 seconds\nOutput:\nx", Unpacked("Exit code: 0\nWall time: 0 seconds\nOutput:\nx")),
        ("update_plan", "Plan updated", Unpacked("Plan updated")),
        (None, "Exit code: 0\nWall time: 0 seconds\nOutput:\nx", Unpacked("x")),
    ],
)  # fmt: skip
def test_the_text_of_a_result_is_what_is_inside_the_envelope(
    tool: str | None, text: str, inside: Unpacked
) -> None:
    envelope_bytes = len(text) - len(inside.text)
    assert unpacked(tool, text) == inside._replace(envelope_bytes=envelope_bytes)


def test_what_a_command_prints_after_its_header_stays() -> None:
    printed = "Exit code: 3\nWall time: 1 seconds\nOutput:\nmine"
    text = f"Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{printed}"
    assert unpacked("exec_command", text).text == printed


def test_the_parts_behind_a_header_of_its_own_stay_whole() -> None:
    head = "Script completed\nWall time 0.1 seconds\nOutput:\n"
    assert unpacked("exec", f"{head}\n\none\ntwo", head=head).text == "\none\ntwo"


def test_an_answer_of_a_server_has_no_more_than_its_time_around_it() -> None:
    text = "Wall time: 0.2 seconds\nOutput:\nExit code: 1\nWall time: 1 seconds\nOutput:\nx"
    assert unpacked("mcp__a__b", text, server="a").text == "Exit code: 1\nWall time: 1 seconds\nOutput:\nx"
