"""What the rest of tracklog asks of Claude Code (`agents/base.py`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentSupport

if TYPE_CHECKING:
    from tracklog.agents.claude_code.logs import ClaudeLogs
    from tracklog.agents.claude_code.usage import ClaudeUsage
    from tracklog.sources.log_file import Agent


class ClaudeCode(AgentSupport):
    """Claude Code."""

    name: Agent = "claude"
    label = "Claude Code"
    resume_words = ("claude", "--resume")
    registers_sessions = True

    @cached_property
    def logs(self) -> ClaudeLogs:
        from tracklog.agents.claude_code.logs import ClaudeLogs

        return ClaudeLogs()

    @cached_property
    def usage(self) -> ClaudeUsage:
        from tracklog.agents.claude_code.usage import USAGE

        return USAGE
