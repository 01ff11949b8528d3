"""What the rest of tracklog asks of Claude Code (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentSupport

if TYPE_CHECKING:
    from tracklog.sources.log_file import Agent


class ClaudeCode(AgentSupport):
    """Claude Code."""

    name: Agent = "claude"
    label = "Claude Code"
    path_names_session = True

    @property
    def processes(self) -> AgentProcesses:
        from tracklog.agents.claude_code.processes import ClaudeProcesses  # loaded when it is asked for

        return ClaudeProcesses()
