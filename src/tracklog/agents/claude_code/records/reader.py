"""Read Claude Code's lines: one decoder for transcripts, and one for each kind of side file."""

from __future__ import annotations

from typing import Any

import msgspec

from tracklog.agents import drift
from tracklog.agents.claude_code.records.context.attachments import AttachmentLine
from tracklog.agents.claude_code.records.envelope import ToolResult, ToolUse
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.claude_code.records.metadata import AnyMetadata
from tracklog.agents.claude_code.records.outputs.tool_results import strays_of_tool_result
from tracklog.agents.claude_code.records.progress import ProgressLine
from tracklog.agents.claude_code.records.side_files import (
    AgentMeta,
    ClaudeHistoryLine,
    JournalFailed,
    JournalLaunched,
    JournalResult,
    JournalStarted,
    ProjectIndex,
    Registry,
    ResultLine,
    TitleFile,
    WorkflowRun,
)
from tracklog.agents.claude_code.records.system import SystemHead, decode_system, struct_for
from tracklog.agents.drift import Stray
from tracklog.agents.hooks.records import HookInput, HookOutput, Settings
from tracklog.agents.reader import Reader, Value, fit, single, unknown
from tracklog.model.records import Record, tag_of


class ClaudeDrift(drift.Drift):
    """Finds the strays of one transcript; remembers which call used which tool."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def strays_of(self, record: Record, value: Any) -> list[Stray]:
        found = super().strays_of(record, value)
        if isinstance(record, AssistantLine):
            self._note_calls(record)
        elif isinstance(record, UserLine) and record.tool_use_result:
            found += strays_of_tool_result(value["toolUseResult"], self._tool_of(record))
        return found

    def _note_calls(self, record: AssistantLine) -> None:
        for block in record.message.content:
            if isinstance(block, ToolUse):
                self._tools[block.id] = block.name

    def _tool_of(self, record: UserLine) -> str | None:
        for block in record.message.content:
            if isinstance(block, ToolResult) and block.tool_use_id in self._tools:
                return self._tools[block.tool_use_id]
        return None


Conversation = AssistantLine | UserLine | AttachmentLine | ProgressLine
Loose = ResultLine | JournalLaunched | JournalStarted
AnyLine = Conversation | SystemHead | AnyMetadata | Loose
Journal = JournalLaunched | JournalStarted | JournalResult | JournalFailed
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(AnyLine)
_NAMES = {tag_of(line) for line in AnyLine.__args__}
_PART_NAMES = {"tool_result", "result", "started"}  # also the `type` of things that are no records
_UNTYPED = ({"display", "project", "timestamp"}, {"agentType", "description"}, {"pid", "sessionId", "cwd"})
_TELLING = {
    "user": ("message", "sessionId", "parentUuid"),
    "assistant": ("message", "sessionId", "parentUuid"),
    "system": ("subtype", "sessionId", "parentUuid"),
    "attachment": ("attachment",),
    "progress": ("data",),
    "summary": ("leafUuid",),
    "result": ("subtype", "key"),
    "started": ("key",),
    "tool_result": ("sessionId",),
}  # which keys make a common word our `type`
_SUB_KINDS = {"system": ("subtype",), "attachment": ("attachment", "type"), "progress": ("data", "type")}


def decode(raw: bytes) -> Record:
    """The record in `raw`; raises what msgspec raises where it is of no known shape."""
    record = _decoder.decode(raw)
    if type(record) is SystemHead:
        return decode_system(raw, record.subtype)
    return record


def read_value(value: Value) -> Record:
    """The record that a parsed object is."""
    name = name_of(value)
    kind = value.get("type")
    if kind == "system":
        struct = struct_for(value)
        if struct is None:
            return unknown(value, name, "unknown subtype", body=value)
        return fit(value, struct, name)
    if kind == "result" and "subtype" not in value and "key" in value:
        return fit(value, JournalResult, name)
    if not isinstance(kind, str) or kind not in _NAMES:
        return unknown(value, name, "unknown type" if "type" in value else "no type", body=value)
    return fit(value, AnyLine, name)


def name_of(value: Value) -> str:
    """The kind of a record by its own words, such as `system/turn_duration`."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return "untyped"
    inner: Any = value
    for key in _SUB_KINDS.get(kind, ()):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return f"{kind}/{inner}" if kind in _SUB_KINDS and isinstance(inner, str) else kind


def is_record(value: Value) -> bool:
    """Whether an object is a record by itself, wherever it is found."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    return "sessionId" in value or "parentUuid" in value or kind in {"summary", "file-history-snapshot"}


def may_be_record(value: Value) -> bool:
    """Whether an object at an edge of its line may be a record."""
    kind = value.get("type")
    return is_record(value) or (isinstance(kind, str) and kind in _NAMES - _PART_NAMES)


READER = Reader(
    "claude",
    decode,
    read_value=read_value,
    name_of=name_of,
    is_record=is_record,
    may_be_record=may_be_record,
    drift=ClaudeDrift,
)
META_READER = single("claude", AgentMeta, name="meta")
REGISTRY_READER = single("claude", Registry, name="registry")
HISTORY_READER = single("claude", ClaudeHistoryLine, name="history")
WORKFLOW_READER = single("claude", WorkflowRun, name="workflow")
TITLE_READER = single("claude", TitleFile, name="title")
PROJECT_INDEX_READER = single("claude", ProjectIndex, name="project-index")
HOOK_INPUT_READER = single("claude", HookInput, name="hook")
HOOK_OUTPUT_READER = single("claude", HookOutput, name="hook-output")
SETTINGS_READER = single("claude", Settings, name="settings")
JOURNAL_READER = Reader(
    "claude",
    msgspec.json.Decoder(Journal).decode,
    read_value=lambda value: fit(value, Journal, name_of(value)),
    name_of=name_of,
    is_record=lambda value: "type" in value and "key" in value,
)


def is_claude(value: Value) -> bool:
    """Whether a parsed line looks like one of Claude Code's, also where its envelope is bare."""
    kind = value.get("type")
    if kind is None:
        return any(value.keys() >= keys for keys in _UNTYPED)
    if not isinstance(kind, str) or kind not in _NAMES:
        return False
    if kind in _TELLING:
        return any(key in value for key in _TELLING[kind]) and isinstance(value.get("message", {}), dict)
    return "-" in kind or "sessionId" in value


def version_of(record: Record) -> str | None:
    """The client version that wrote this record, where it says so."""
    said = getattr(record, "version", None)
    return said if isinstance(said, str) else None  # the index of a project counts its own versions


def session_of(record: Record) -> str | None:
    """The session that this record names."""
    return getattr(record, "session_id", None)
