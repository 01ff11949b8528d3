"""The agents that tracklog supports, by the names that logs, options and rows give them."""

from __future__ import annotations

from collections.abc import Mapping

from tracklog.agents.base import AgentSupport
from tracklog.agents.claude_code.support import ClaudeCode
from tracklog.agents.codex.support import Codex

SUPPORTED: Mapping[str, AgentSupport] = {"claude": ClaudeCode(), "codex": Codex()}
UNKNOWN = AgentSupport()


def support_for(agent: str | None) -> AgentSupport:
    """What tracklog knows of the agent of this name."""
    return SUPPORTED.get(agent, UNKNOWN) if agent is not None else UNKNOWN
