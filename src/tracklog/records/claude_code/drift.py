"""Drift in Claude Code's lines: looks into `toolUseResult` too, by the tool that the call named."""

from __future__ import annotations

from typing import Any

from tracklog.records import drift
from tracklog.records.base import Record
from tracklog.records.claude_code.blocks import ToolResult, ToolUse
from tracklog.records.claude_code.messages import AssistantLine, UserLine
from tracklog.records.claude_code.tool_results import strays_of_tool_result
from tracklog.records.shapes import Stray


class Drift(drift.Drift):
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
