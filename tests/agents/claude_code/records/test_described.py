"""The examples of public descriptions read too, and mean what those say, also where real clients write otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tracklog.agents.claude_code import records
from tracklog.agents.claude_code.records.messages import Todo
from tracklog.agents.claude_code.records.outputs.tool_results import read_tool_result
from tracklog.agents.claude_code.records.outputs.work import Hunk
from tracklog.agents.codex import records as codex_records
from tracklog.model.records import UnknownPart
from tracklog.sources.lines import Line

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "data" / "described" / "examples.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def pick(read_as: str) -> list[Any]:
    return [example["value"] for example in EXAMPLES if example["read_as"] == read_as]


def read(value: Any, reader: Any = records.READER) -> Any:
    raw = json.dumps(value).encode()
    (piece,) = reader.read([Line(1, 0, len(raw), raw)])
    assert (piece.reading, piece.why) == ("read", None)
    if (
        reader is not codex_records.READER
    ):  # an untyped content item is read there, and still reported as strange
        assert reader.drift().strays(piece) == []
    return piece.record


def user_with(block: Any) -> Any:
    return {"type": "user", "message": {"role": "user", "content": [block]}}


@pytest.mark.parametrize("value", pick("claude"), ids=lambda value: value["type"])
def test_every_described_claude_code_line_reads(value: dict[str, Any]) -> None:
    assert read(value).kind.split("/")[0] == value["type"]


@pytest.mark.parametrize(
    "value", pick("codex"), ids=lambda value: value["payload"].get("type", value["type"])
)
def test_every_described_codex_line_reads(value: dict[str, Any]) -> None:
    assert read(value, codex_records.READER).kind.split("/")[0] == value["type"]


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e["read_as"].startswith("result:")], ids=lambda e: e["read_as"]
)
def test_every_described_tool_result_is_typed(example: dict[str, Any]) -> None:
    tool = example["read_as"].partition(":")[2]
    reading = read_tool_result(msgspec.Raw(json.dumps(example["value"]).encode()), tool)
    assert isinstance(reading, msgspec.Struct)
    assert not isinstance(reading, UnknownPart)
    assert read({**user_with({"type": "tool_result"}), "toolUseResult": example["value"]}).kind == "user"


def test_described_blocks_read_inside_a_message() -> None:
    for block in pick("assistant_block"):
        record = read({"type": "assistant", "message": {"content": [block]}})
        assert record.message.content[0].arguments == block["input"]
    for block in pick("user_block"):
        assert read(user_with(block)).message.content[0].content == block["content"]
    (message,) = pick("user_message")
    assert read({"type": "user", "message": message}).message.content == message["content"]


def test_the_suffix_exit_code_is_understood() -> None:
    block = read(user_with({"type": "tool_result", "content": "PASS\n\n[Exit code: 3]"})).message.content[0]
    assert block.exit_code == 3


def test_the_first_line_exit_code_is_understood() -> None:
    block = read(
        user_with({"type": "tool_result", "content": "Exit code 2\nboom [Exit code: 9] boom"})
    ).message.content[0]
    assert block.exit_code == 2


def test_an_exit_code_in_the_middle_of_the_output_is_no_exit_code() -> None:
    block = read(user_with({"type": "tool_result", "content": "it said: Exit code 2\nfine"})).message.content[
        0
    ]
    assert block.exit_code is None


def test_the_agent_id_in_a_results_text_is_understood() -> None:
    (block,) = [block for block in pick("user_block") if "agentId" in block["content"]]
    assert read(user_with(block)).message.content[0].agent_id == "agent-abc123"


def test_hooks_are_described_and_read() -> None:
    before, stop = (read(value, records.HOOK_INPUT_READER) for value in pick("hook_input"))
    assert (before.kind, before.tool_name, json.loads(bytes(before.tool_input))) == (
        "hook/PreToolUse",
        "Read",
        {"file_path": "/src/auth/login.ts"},
    )
    assert (stop.kind, stop.last_assistant_message) == (
        "hook/Stop",
        "The final text of the last assistant turn",
    )
    (decision,) = (read(value, records.HOOK_OUTPUT_READER) for value in pick("hook_output"))
    assert (decision.decision, decision.additional_context) == (
        "allow",
        "Note: This file was recently modified",
    )
    (settings,) = (read(value, records.SETTINGS_READER) for value in pick("settings"))
    assert settings.hooks["Stop"][0].hooks[0].timeout == 10


@pytest.mark.parametrize(("status", "kind"), [("idle", "interactive"), ("working", "print")])
def test_the_registry_reads_whatever_words_it_uses(status: str, kind: str) -> None:
    (value,) = pick("registry")
    record = read({**value, "status": status, "kind": kind}, records.REGISTRY_READER)
    assert (record.status, record.kind_, record.pid, record.ident) == (
        status,
        kind,
        360946,
        value["sessionId"],
    )


def test_a_system_record_of_subtype_tool_result_reads() -> None:
    record = read({"type": "system", "subtype": "tool_result", "content": "done", "uuid": "u"})
    assert (record.kind, record.content) == ("system/tool_result", "done")


def test_a_closing_result_tells_its_cost() -> None:
    (value,) = [value for value in pick("claude") if value["type"] == "result"]
    record = read(value)
    assert (record.kind, record.result, record.cost_usd, record.num_turns, record.usage.output_tokens) == (
        "result",
        "final response text",
        0,
        3,
        380,
    )


def test_described_backups_and_progress_keep_their_fields() -> None:
    (snapshot,) = [read(value) for value in pick("claude") if value["type"] == "file-history-snapshot"]
    backup = snapshot.snapshot.tracked_file_backups["/src/api.ts"]
    assert (backup.path, backup.original_content, backup.backup_path) == (
        "/src/api.ts",
        "...",
        "~/.claude/backups/...",
    )
    progress = [read(value).data for value in pick("claude") if value["type"] == "progress"]
    assert [(p.status, p.tool_name, p.server, p.tool) for p in progress] == [
        ("running", None, None, None),
        (None, None, None, None),
        ("running", "Bash", None, None),
        ("complete", None, "playwright", "browser_navigate"),
    ]


def test_hunks_and_todos_stand_alone_too() -> None:
    (hunk,) = pick("hunk")
    assert msgspec.convert(hunk, Hunk).lines == [" unchanged line", "-removed line", "+added line"]
    (todo,) = pick("todo")
    assert msgspec.convert(todo, Todo) == Todo(
        content="…", status="pending|in_progress|completed", active_form="…"
    )
