"""Attachments about what is on offer: tools, skills, agents, teammates."""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Attachment


class SkillListing(Attachment, tag="skill_listing"):
    """The skills on offer."""

    content: str | None = None
    names: list[str] | None = None
    digests: list[str] | None = None
    skill_count: int | None = None
    is_initial: bool | None = None


class InvokedSkills(Attachment, tag="invoked_skills"):
    """The skills in use."""

    skills: Raw = Raw()


class DynamicSkill(Attachment, tag="dynamic_skill"):
    """Skills found in a directory."""

    skill_dir: str | None = None
    skill_names: list[str] | None = None
    display_path: str | None = None


class AgentListingDelta(Attachment, tag="agent_listing_delta"):
    """The kinds of subagents on offer."""

    added_types: list[str] | None = None
    added_lines: list[str] | None = None
    removed_types: list[str] | None = None
    built_in_types: list[str] | None = None
    built_in_plugin_types: list[str] | None = None
    is_initial: bool | None = None
    show_concurrency_note: bool | None = None


class DeferredTools(Attachment):
    """Tools that are loaded on demand."""

    added_names: list[str] | None = None
    added_lines: list[str] | None = None
    removed_names: list[str] | None = None
    readded_names: list[str] | None = None
    wire_hidden_names: list[str] | None = None
    pending_mcp_servers: Raw = Raw()
    needs_auth_mcp_servers: Raw = Raw()
    failed_mcp_servers: Raw = Raw()
    names: list[str] | None = None
    tools: Raw = Raw()
    entries: Raw = Raw()


class DeferredToolsDelta(DeferredTools, tag="deferred_tools_delta"):
    """Changes of that list."""


class DeferredToolsRecord(DeferredTools, tag="deferred_tools_record"):
    """All of that list."""


class McpInstructionsDelta(Attachment, tag="mcp_instructions_delta"):
    """Instructions of MCP servers."""

    added_names: list[str] | None = None
    added_blocks: Raw = Raw()
    removed_names: list[str] | None = None


class McpDroppedToolsDelta(Attachment, tag="mcp_dropped_tools_delta"):
    """Tools that MCP servers lost."""

    added_names: list[str] | None = None
    removed_names: list[str] | None = None
    dropped: Raw = Raw()


class CommandPermissions(Attachment, tag="command_permissions"):
    """What a slash command or skill allows."""

    allowed_tools: list[str] | None = None
    model: str | None = None


class HookPluginListing(Attachment, tag="hook_plugin_listing"):
    """Plugins that bring hooks."""

    content: Raw = Raw()


class LinkedPluginToolsNote(Attachment, tag="linked_plugin_tools_note"):
    """Tools of linked plugins."""

    text: str | None = None
    prefixes: list[str] | None = None


class ReplMcpNeedsAuth(Attachment, tag="repl_mcp_needs_auth"):
    """MCP servers that want a login."""

    servers: Raw = Raw()


class AdvisorTool(Attachment, tag="advisor_tool"):
    """Whether a second model can be asked."""

    available: bool | None = None
    abbreviated: bool | None = None
    model: str | None = None
    by_base: Raw = Raw()
    tool_change: Raw = Raw()


class ToolHosts(Attachment):
    """Machines on which tools run."""

    lines: Raw = Raw()
    host: Raw = Raw()
    label: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")


class ToolHostResultLines(ToolHosts, tag="tool_host_result_lines"):
    """Where a result came from."""


class ToolHostsCorrection(ToolHosts, tag="tool_hosts_correction"):
    """What was said of them is no longer true."""


class ToolHostsNotice(ToolHosts, tag="tool_hosts_notice"):
    """Which there are."""


class AgentMention(Attachment, tag="agent_mention"):
    """A subagent named with @."""

    agent_type: str | None = None


class SkillMention(Attachment, tag="skill_mention"):
    """A skill named in the prompt."""

    skill_name: str | None = None


class PeerMention(Attachment, tag="peer_mention"):
    """Another session named in the prompt."""

    mention: str | None = None
    candidates: Raw = Raw()
    status: str | None = None
    total: int | None = None


class TeamContext(Attachment, tag="team_context"):
    """The team that this agent works in."""

    agent_id: str | None = None
    agent_name: str | None = None
    team_name: str | None = None
    team_config_path: str | None = None
    task_list_path: str | None = None
    has_task_list_tools: bool | None = None


class TeammateShutdownBatch(Attachment, tag="teammate_shutdown_batch"):
    """Teammates that stopped."""

    count: int | None = None


class UnknownCommandFallback(Attachment, tag="unknown_command_fallback"):
    """A slash command that does not exist."""

    command_name: str | None = None
    available_command_names: list[str] | None = None
    available_command_count: int | None = None
    suggestion: str | None = None


AnyToolContext = (
    SkillListing | InvokedSkills | DynamicSkill | AgentListingDelta | DeferredToolsDelta | DeferredToolsRecord
    | McpInstructionsDelta | McpDroppedToolsDelta | CommandPermissions | HookPluginListing
    | LinkedPluginToolsNote | ReplMcpNeedsAuth | AdvisorTool | ToolHostResultLines | ToolHostsCorrection
    | ToolHostsNotice | AgentMention | SkillMention | PeerMention | TeamContext | TeammateShutdownBatch
    | UnknownCommandFallback
)  # fmt: skip
