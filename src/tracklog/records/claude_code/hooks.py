"""Hooks: what they are told on stdin, may answer on stdout, and how settings name them (docs/formats/claude_code.md#hooks)."""

from msgspec import Raw, field

from tracklog.records.base import Named, Record


class HookInput(Record, kw_only=True):
    """The payload of a hook event; which fields are there depends on the event. Codex tells its hooks the same way."""

    hook_event_name: str
    session_id: str | None = None
    transcript_path: str | None = None  # of the main thread, also inside a subagent
    cwd: str | None = None
    permission_mode: str | None = None
    prompt_id: str | None = None
    turn_id: str | None = None  # Codex; of Claude Code only MessageDisplay has one
    effort: Raw = Raw()
    agent_id: str | None = None
    agent_type: str | None = None

    # SessionStart, SessionEnd, Setup, PreCompact, PostCompact, ConfigChange
    model: str | None = None
    source: str | None = None
    reason: str | None = None  # also of PermissionDenied
    trigger: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None
    custom_instructions: str | None = None
    compact_summary: str | None = None

    # UserPromptSubmit, UserPromptExpansion
    prompt: str | None = None
    expansion_type: str | None = None
    command_name: str | None = None
    command_args: str | None = None
    command_source: str | None = None

    # PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch
    tool_name: str | None = None
    tool_input: Raw = Raw()
    tool_use_id: str | None = None
    tool_response: Raw = Raw()
    tool_calls: Raw = Raw()
    permission_suggestions: Raw = Raw()
    duration_ms: float | None = None
    error: str | None = None  # also of StopFailure
    error_details: Raw = Raw()
    is_interrupt: bool | None = None

    # Stop, StopFailure, SubagentStart, SubagentStop
    stop_hook_active: bool | None = None
    last_assistant_message: str | None = None
    background_tasks: Raw = Raw()
    session_crons: Raw = Raw()
    agent_transcript_path: str | None = None

    # Notification, MessageDisplay
    message: str | None = None
    title: str | None = None
    notification_type: str | None = None
    message_id: str | None = None
    index: int | None = None
    final: bool | None = None
    delta: str | None = None

    # TaskCreated, TaskCompleted, TeammateIdle
    task_id: str | None = None
    task_subject: str | None = None
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None

    # InstructionsLoaded, CwdChanged, DirectoryAdded, FileChanged, WorktreeCreate, WorktreeRemove
    file_path: str | None = None
    memory_type: str | None = None
    load_reason: str | None = None
    globs: Raw = Raw()
    trigger_file_path: str | None = None
    parent_file_path: str | None = None
    old_cwd: str | None = None
    new_cwd: str | None = None
    directory: str | None = None
    event: str | None = None
    name: str | None = None
    worktree_path: str | None = None

    # Elicitation, ElicitationResult
    mcp_server_name: str | None = None
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: Raw = Raw()
    action: str | None = None
    content: Raw = Raw()

    @property
    def kind(self) -> str:
        return f"hook/{self.hook_event_name}"


class HookOutput(Record):
    """What a hook decided. `decision: "allow"` is of public descriptions; clients know `block`."""

    decision: str | None = None
    reason: str | None = None
    additional_context: str | None = field(default=None, name="additionalContext")
    continue_: bool | None = field(default=None, name="continue")
    stop_reason: str | None = field(default=None, name="stopReason")
    system_message: str | None = field(default=None, name="systemMessage")
    suppress_output: bool | None = field(default=None, name="suppressOutput")
    hook_specific_output: Raw = field(default=Raw(), name="hookSpecificOutput")
    async_: bool | None = field(default=None, name="async")
    async_timeout: float | None = field(default=None, name="asyncTimeout")

    @property
    def kind(self) -> str:
        return "hook-output"


class HookHandler(Named):
    """One thing to run for an event."""

    type: str | None = None
    command: str | None = None
    args: list[str] | None = None
    timeout: float | None = None
    async_: bool | None = field(default=None, name="async")
    async_rewake: bool | None = field(default=None, name="asyncRewake")
    shell: str | None = None
    if_: str | None = field(default=None, name="if")
    once: bool | None = None
    status_message: str | None = field(default=None, name="statusMessage")
    url: str | None = None
    headers: Raw = Raw()
    allowed_env_vars: list[str] | None = field(default=None, name="allowedEnvVars")
    server: str | None = None
    tool: str | None = None
    input: Raw = Raw()
    prompt: str | None = None
    model: str | None = None
    continue_on_block: bool | None = field(default=None, name="continueOnBlock")


class HookMatcher(Named):
    """Which calls or causes of an event a list of handlers is for; none means all."""

    matcher: str | None = None
    hooks: list[HookHandler] | None = None


class Settings(Record):
    """The part of a settings file that names hooks; the rest is the client's."""

    hooks: dict[str, list[HookMatcher]] | None = None

    @property
    def kind(self) -> str:
        return "settings"
