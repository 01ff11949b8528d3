"""Hooks: what they are told on stdin, may answer on stdout, and how settings name them (docs/formats/claude_code.md#hooks)."""

from msgspec import Raw, field

from tracklog.records.base import Named, Record


class HookInput(Record, kw_only=True):
    """The payload of a hook event; which fields are there depends on the event."""

    hook_event_name: str
    session_id: str | None = None
    transcript_path: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    prompt_id: str | None = None
    effort: Raw = Raw()
    agent_id: str | None = None
    agent_type: str | None = None
    agent_transcript_path: str | None = None
    model: str | None = None
    source: str | None = None
    reason: str | None = None
    trigger: str | None = None
    custom_instructions: str | None = None
    compact_summary: str | None = None
    prompt: str | None = None
    session_title: str | None = None
    tool_name: str | None = None
    tool_input: Raw = Raw()
    tool_use_id: str | None = None
    tool_response: Raw = Raw()
    tool_calls: Raw = Raw()
    permission_suggestions: Raw = Raw()
    duration_ms: float | None = None
    error: str | None = None
    error_details: Raw = Raw()
    is_interrupt: bool | None = None
    stop_hook_active: bool | None = None
    last_assistant_message: str | None = None
    background_tasks: Raw = Raw()
    session_crons: Raw = Raw()
    message: str | None = None
    title: str | None = None
    notification_type: str | None = None
    turn_id: str | None = None

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
