"""What Claude Code wrote in which version: the facts a made session follows.

Sources: docs/formats/claude_code.md. One row per era; the fields say what changed between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

_TOOLS = {
    "Bash": 36,
    "Read": 22,
    "Edit": 15,
    "Grep": 5,
    "Write": 4,
    "Glob": 3,
    "image": 1,
    "mcp": 3,
    "WebSearch": 1,
}
_TASKS = {"TaskCreate": 1, "TaskUpdate": 3}


@dataclass(frozen=True)
class Era:
    """A span of versions that write alike."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    subagents: Literal["inline", "beside", "folder"]  # in the main file, next to it, in a folder of its own
    tools: dict[str, int]
    usage: tuple[str, ...]  # fields of `usage` beyond the four counts and the tier
    rounds: tuple[int, int]  # requests in a turn
    arrow: str = "→"  # between line number and line in what Read shows
    says_exit_code: bool = True  # `Exit code N` stands above the output of a failed command
    envelope_last: bool = False  # session, cwd and version stand behind the message
    settled_usage: bool = False  # each chunk in a main file has the final usage: 2.1.97 and later
    progress: bool = False  # hooks, running commands and agents leave progress records
    attachments: bool = False
    turn_metadata: tuple[str, ...] = ()  # re-appended at the end of each turn
    request_metadata: bool = False  # 2.1.3xx: a note of every API request
    async_agents: bool = False  # an Agent call returns at once, the answer comes as a notification
    agent_meta: bool = False  # agent-*.meta.json stands beside the agent's file
    user_fields: dict[str, object] = field(default_factory=dict)  # on typed prompts


ERAS = (
    Era(
        versions=("1.0.60", "1.0.89", "1.0.120"),
        models=("claude-sonnet-4-20250514", "claude-opus-4-1-20250805"),
        subagents="inline",
        tools={**_TOOLS, "TodoWrite": 6, "MultiEdit": 2, "Agent": 1},
        usage=("cache_creation",),
        rounds=(3, 14),
        says_exit_code=False,
    ),
    Era(
        versions=("2.0.30", "2.0.64", "2.0.76"),
        models=("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"),
        subagents="beside",
        tools={**_TOOLS, "TodoWrite": 6, "Agent": 1},
        usage=("cache_creation",),
        rounds=(3, 12),
        user_fields={"thinkingMetadata": {"level": "high", "disabled": False, "triggers": []}, "todos": []},
    ),
    Era(
        versions=("2.1.19", "2.1.39", "2.1.62"),
        models=("claude-opus-4-5-20251101", "claude-opus-4-6"),
        subagents="folder",
        tools={**_TOOLS, **_TASKS, "Agent": 2},
        usage=("cache_creation", "inference_geo"),
        rounds=(3, 12),
        progress=True,
        user_fields={"thinkingMetadata": {"maxThinkingTokens": 31999}, "todos": [], "permissionMode": "default"},
    ),
    Era(
        versions=("2.1.100", "2.1.138", "2.1.197"),
        models=("claude-opus-4-6", "claude-sonnet-4-6"),
        subagents="folder",
        tools={**_TOOLS, **_TASKS, "Agent": 2},
        usage=("cache_creation", "inference_geo", "server_tool_use", "iterations", "speed"),
        rounds=(1, 6),
        envelope_last=True,
        settled_usage=True,
        attachments=True,
        turn_metadata=("last-prompt", "ai-title", "custom-title", "agent-name", "mode", "permission-mode"),
        agent_meta=True,
        user_fields={"permissionMode": "acceptEdits"},
    ),
    Era(
        versions=("2.1.217", "2.1.270", "2.1.291"),
        models=("claude-opus-5", "claude-sonnet-5"),
        subagents="folder",
        tools={**_TOOLS, **_TASKS, "Agent": 2},
        usage=("cache_creation", "inference_geo", "server_tool_use", "iterations", "speed", "output_tokens_details"),
        rounds=(1, 6),
        envelope_last=True,
        settled_usage=True,
        attachments=True,
        turn_metadata=("last-prompt", "ai-title", "mode", "permission-mode", "bridge-session"),
        async_agents=True,
        agent_meta=True,
        user_fields={"permissionMode": "auto", "promptSource": "typed", "origin": {"kind": "human"}},
    ),
    Era(
        versions=("2.1.325",),
        models=("claude-opus-5-5", "claude-opus-4-8"),
        subagents="folder",
        tools={"Bash": 52, "Read": 22, "Edit": 15, "Write": 4, "image": 1, "mcp": 3, "WebSearch": 1, **_TASKS, "Agent": 2},
        usage=("output_tokens_details", "server_tool_use", "cache_creation", "inference_geo", "iterations", "speed", "fallback_credit"),
        rounds=(2, 9),
        arrow="\t",
        envelope_last=True,
        settled_usage=True,
        attachments=True,
        turn_metadata=("last-prompt", "ai-title", "mode", "permission-mode", "cost-state"),
        request_metadata=True,
        async_agents=True,
        agent_meta=True,
        user_fields={"permissionMode": "bypassPermissions", "promptSource": "typed", "origin": {"kind": "human"}, "turnOrigin": "human"},
    ),
)  # fmt: skip
