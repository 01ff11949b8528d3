"""Who and where: the payloads that describe a session, a turn and the settings in force.

Rules
  1. The first `session_meta` of a file is the file's identity. Later ones are copies from a fork's parent, or
     newer values of the same thread.
  2. A `turn_context` is written per turn and again after compactions: group by `turn_id`, do not count.
  3. Permission profiles are free: they are deep, they change with every release, and nothing here needs them.
"""

from tracklog.agents.codex.records.parts import NOTHING, Free, GitInfo, Variant
from tracklog.model.records import Named


class InstructionsProvenance(Named):
    type: str | None = None
    model: str | None = None


class BaseInstructions(Named):
    """The system prompt."""

    text: str
    provenance: InstructionsProvenance | None = None


class ThreadSpawn(Named):
    parent_thread_id: str
    depth: int | None = None
    agent_path: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    agent_type: str | None = None  # the older name of `agent_role`


class SubagentSource(Named):
    thread_spawn: ThreadSpawn | None = None
    other: str | None = None


class SessionSource(Named):
    """Where a session comes from, when a word such as `cli` does not say it."""

    custom: str | None = None
    internal: str | None = None
    subagent: str | SubagentSource | None = None


class HistoryBase(Named):
    """The part of another file that this one continues; `thread_id` is really that file's rollout id."""

    thread_id: str
    end_ordinal_exclusive: int | None = None
    end_byte_offset: int | None = None


class ContextWindow(Named):
    window_id: str


class SessionMeta(Named):
    cwd: str
    id: str | None = None  # of the thread
    session_id: str | None = None  # of the root thread
    timestamp: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: str | SessionSource | None = None
    thread_source: str | None = None
    forked_from_id: str | None = None
    forked_from_ordinal_exclusive: int | None = None
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    agent_type: str | None = None  # the older name of `agent_role`
    agent_path: str | None = None
    model_provider: str | None = None
    base_instructions: BaseInstructions | None = None
    instructions: str | None = None  # until 0.87
    dynamic_tools: Free = NOTHING
    selected_capability_roots: Free = NOTHING
    runtime_workspace_roots: list[str] | None = None
    memory_mode: str | None = None
    history_mode: str | None = None
    history_base: HistoryBase | None = None
    subagent_history_start_ordinal: int | None = None
    multi_agent_version: str | None = None
    context_window: ContextWindow | None = None
    creator_user_id: str | None = None
    creator_account_id: str | None = None
    account_scoped: bool | None = None  # since 0.169
    attached_thread: Free = NOTHING
    git: GitInfo | None = None


class SandboxPolicy(Named):
    """`danger-full-access`, `read-only`, `external-sandbox` or `workspace-write`; early clients say `mode`."""

    type: str | None = None
    mode: str | None = None
    writable_roots: list[str] | None = None
    network_access: bool | str | None = None
    exclude_tmpdir_env_var: bool | None = None
    exclude_slash_tmp: bool | None = None
    access: Free = NOTHING  # 0.100 to 0.125, as the next
    read_only_access: Free = NOTHING


class ActivePermissionProfile(Named):
    id: str
    extends: str | None = None
    modifications: Free = NOTHING


class ModeSettings(Named):
    model: str | None = None
    reasoning_effort: str | None = None
    developer_instructions: str | None = None


class CollaborationMode(ModeSettings):
    """`default` or `plan`; before 0.90 the settings are next to the mode."""

    mode: str | None = None
    settings: ModeSettings | None = None


class NetworkDomains(Named):
    allowed_domains: list[str] | None = None
    denied_domains: list[str] | None = None


class TruncationPolicy(Named):
    mode: str
    limit: int


class TurnContext(Named):
    cwd: str
    model: str
    turn_id: str | None = None
    root_turn_id: str | None = None
    trace_id: str | None = None
    workspace_roots: list[str] | None = None
    effort: str | None = None
    summary: str | None = None
    personality: str | None = None
    comp_hash: str | None = None
    current_date: str | None = None
    timezone: str | None = None
    approval_policy: Variant | None = None
    approvals_reviewer: str | None = None
    sandbox_policy: SandboxPolicy | None = None
    permission_profile: Free = NOTHING
    active_permission_profile: ActivePermissionProfile | None = None
    file_system_sandbox_policy: Free = NOTHING
    network: NetworkDomains | None = None
    collaboration_mode: CollaborationMode | None = None
    multi_agent_version: str | int | None = None
    multi_agent_mode: Variant | None = None
    realtime_active: bool | None = None
    cyber_access_program: str | None = None
    disabled_plugin_ids: list[str] | None = None
    base_instructions: str | None = None  # 0.78 to 0.87
    user_instructions: str | None = None  # 0.78 to 0.132, as the next three
    developer_instructions: str | None = None
    final_output_json_schema: Free = NOTHING
    truncation_policy: TruncationPolicy | None = None


class ThreadSettings(Named):
    model: str | None = None
    model_provider_id: str | None = None
    service_tier: str | None = None
    approval_policy: Variant | None = None
    approvals_reviewer: str | None = None
    requested_approvals_reviewer: str | None = None  # since 0.169
    permission_profile: Free = NOTHING
    active_permission_profile: ActivePermissionProfile | None = None
    cwd: str | None = None
    runtime_workspace_roots: list[str] | None = None
    reasoning_effort: str | None = None
    reasoning_summary: str | None = None
    personality: str | None = None
    collaboration_mode: CollaborationMode | None = None
    multi_agent_mode: Variant | None = None  # 0.142
    disabled_plugin_ids: list[str] | None = None
