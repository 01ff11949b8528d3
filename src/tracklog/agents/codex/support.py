"""What the rest of tracklog asks of Codex (`agents/base.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracklog.agents.base import AgentClient, AgentHooks, AgentSupport

if TYPE_CHECKING:
    from tracklog.sources.log_file import Agent


class Codex(AgentSupport):
    """Codex."""

    name: Agent = "codex"
    label = "Codex"
    verified_release = "0.169.0"

    @property
    def client(self) -> AgentClient:
        from tracklog.agents.codex.client import CodexClient

        return CodexClient()

    @property
    def hooks(self) -> AgentHooks:
        from tracklog.agents.codex.hooks import CodexHooks

        return CodexHooks()
