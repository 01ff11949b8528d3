"""What hooks are told on stdin and may answer on stdout (docs/formats/claude_code.md#hooks)."""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.records.base import Record


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
