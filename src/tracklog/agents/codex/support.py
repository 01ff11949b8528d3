"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentSupport

if TYPE_CHECKING:
    from tracklog.agents.codex.usage import CodexUsage
    from tracklog.sources.log_file import Agent


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"

    @property
    def usage(self) -> CodexUsage:
        from tracklog.agents.codex.usage import USAGE

        return USAGE
