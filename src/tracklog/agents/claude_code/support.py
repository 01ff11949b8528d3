"""What the rest of tracklog asks of Claude Code (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentClient, AgentHooks, AgentSupport

if TYPE_CHECKING:
    from tracklog.sources.log_file import Agent


class ClaudeCode(AgentSupport):
    """Claude Code."""

    name: Agent = "claude"
    label = "Claude Code"
    verified_release = "2.1.327"

    @property
    def client(self) -> AgentClient:
        from tracklog.agents.claude_code.client import ClaudeCodeClient

        return ClaudeCodeClient()

    @property
    def hooks(self) -> AgentHooks:
        from tracklog.agents.claude_code.hooks import ClaudeCodeHooks

        return ClaudeCodeHooks()
