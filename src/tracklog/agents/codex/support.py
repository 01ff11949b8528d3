"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentSupport

if TYPE_CHECKING:
    from tracklog.agents.codex.logs import CodexLogs
    from tracklog.agents.codex.usage import CodexUsage
    from tracklog.sources.log_file import Agent


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"
    resume_words = ("codex", "resume")

    @cached_property
    def logs(self) -> CodexLogs:
        from tracklog.agents.codex.logs import CodexLogs

        return CodexLogs()

    @cached_property
    def usage(self) -> CodexUsage:
        from tracklog.agents.codex.usage import USAGE

        return USAGE
