"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentProcesses, AgentSupport

if TYPE_CHECKING:
    from tracklog.sources.log_file import Agent


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"
    log_names_sources = True

    @property
    def processes(self) -> AgentProcesses:
        from tracklog.agents.codex.processes import CodexProcesses  # loaded when it is asked for

        return CodexProcesses()
