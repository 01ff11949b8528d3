"""The stories that are played, each a `Scenario`, gathered by agent."""

from __future__ import annotations

from tests.lab.clients import Version
from tests.lab.scenarios import (
    claude_accidents,
    claude_agents,
    claude_fate_sittings,
    claude_fates,
    claude_hooks,
    claude_permissions,
    claude_rare,
    claude_sessions,
    claude_sittings,
    claude_statusline,
    claude_tools,
    claude_usage,
    codex_agents,
    codex_fates,
    codex_sessions,
    codex_sittings,
    codex_tools,
    codex_usage,
)
from tests.lab.words import Scenario

CLAUDE = (
    *claude_tools.ALL,
    *claude_rare.ALL,
    *claude_agents.ALL,
    *claude_hooks.ALL,
    *claude_permissions.ALL,
    *claude_sessions.ALL,
    *claude_accidents.ALL,
    *claude_fates.ALL,
    *claude_usage.ALL,
    *claude_sittings.ALL,
    *claude_fate_sittings.ALL,
    *claude_statusline.ALL,
)
CODEX = (
    *codex_tools.ALL,
    *codex_agents.ALL,
    *codex_sessions.ALL,
    *codex_fates.ALL,
    *codex_usage.ALL,
    *codex_sittings.ALL,
)


def scenarios_for(agent: str, version: str) -> list[Scenario]:
    """The scenarios that this release of the client can play."""
    stories = CLAUDE if agent == "claude" else CODEX
    return [s for s in stories if Version(s.since) <= Version(version)]
