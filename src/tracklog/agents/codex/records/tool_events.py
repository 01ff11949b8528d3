"""Events that end something: a command, a patch, a call of a tool, the work of a subagent.

They say what response items do not: exit codes, success, durations. Later clients write turn items instead.
"""

import msgspec

from tracklog.agents.codex.records.parts import (
    NOTHING,
    AgentRef,
    Duration,
    FileChange,
    Free,
    ImageFailure,
    McpAppUi,
    McpResult,
    ParsedCommand,
    Variant,
    WebSearchAction,
)
from tracklog.agents.codex.records.turn_items import DynamicContent
from tracklog.model.records import Named, tag_of


class CodexEvent(Named, tag_field="type"):
    """Any event."""

    @property
    def name(self) -> str:
        return tag_of(type(self))

    @property
    def ident(self) -> str | None:
        return getattr(self, "call_id", None)


class ExecCommandEnd(CodexEvent, tag="exec_command_end"):
    call_id: str
    exit_code: int
    stdout: str | None = None
    stderr: str | None = None
    aggregated_output: str | None = None
    formatted_output: str | None = None
    status: str | None = None
    duration: Duration | None = None
    command: list[str] | None = None
    cwd: str | None = None
    parsed_cmd: list[ParsedCommand] | None = None
    source: str | None = None
    turn_id: str | None = None
    process_id: str | None = None
    interaction_input: str | None = None
    plugin_id: str | None = None
    script_path: str | None = None
    completed_at_ms: int | None = None


class PatchApplyEnd(CodexEvent, tag="patch_apply_end"):
    call_id: str
    success: bool
    stdout: str | None = None
    stderr: str | None = None
    turn_id: str | None = None
    changes: dict[str, FileChange] | None = None
    status: str | None = None


class McpInvocation(Named):
    server: str
    tool: str
    arguments: Free = NOTHING


class McpOutcome(Named):
    """`Ok` with the server's answer, or `Err` with a text."""

    ok: McpResult | None = msgspec.field(default=None, name="Ok")
    err: str | None = msgspec.field(default=None, name="Err")


class McpToolCallEnd(CodexEvent, tag="mcp_tool_call_end"):
    call_id: str
    invocation: McpInvocation
    result: McpOutcome
    turn_id: str | None = None
    duration: Duration | None = None
    connector_id: str | None = None
    mcp_app_resource_uri: str | None = None
    mcp_app_ui: McpAppUi | None = None
    link_id: str | None = None
    template_id: str | None = None
    app_name: str | None = None
    action_name: str | None = None
    plugin_id: str | None = None
    read_only_hint: bool | None = None


class WebSearchEnd(CodexEvent, tag="web_search_end"):
    call_id: str
    query: str
    action: WebSearchAction | None = None
    results: Free = NOTHING


class ImageGenerationEnd(CodexEvent, tag="image_generation_end"):
    call_id: str
    status: str
    result: str | None = None
    file_id: str | None = None
    revised_prompt: str | None = None
    transparent_background: bool | None = None
    failure: ImageFailure | None = None
    saved_path: str | None = None
    input_images: Free = NOTHING
    generation_id: str | None = None


class ViewImageToolCall(CodexEvent, tag="view_image_tool_call"):
    call_id: str
    path: str


class DynamicToolCallRequest(CodexEvent, tag="dynamic_tool_call_request", rename="camel"):
    call_id: str
    tool: str
    turn_id: str | None = None
    namespace: str | None = None
    started_at_ms: int | None = None
    arguments: Free = NOTHING


class DynamicToolCallResponse(CodexEvent, tag="dynamic_tool_call_response"):
    call_id: str
    tool: str
    success: bool
    turn_id: str | None = None
    namespace: str | None = None
    completed_at_ms: int | None = None
    arguments: Free = NOTHING
    content_items: list[DynamicContent] | None = None
    error: str | None = None
    duration: Duration | None = None


class GuardianAssessment(CodexEvent, tag="guardian_assessment"):
    """What the automatic reviewer thought of an action."""

    id: str
    status: str
    action: Free = NOTHING
    target_item_id: str | None = None
    plugin_id: str | None = None
    script_path: str | None = None
    turn_id: str | None = None
    started_at_ms: int | None = None
    completed_at_ms: int | None = None
    risk_score: int | None = None  # 0.115 to 0.118
    risk_level: str | None = None
    user_authorization: str | None = None
    rationale: str | None = None
    review_reason: str | None = None
    decision_source: str | None = None

    @property
    def ident(self) -> str | None:
        return self.id


class CollabAgentSpawnEnd(CodexEvent, tag="collab_agent_spawn_end"):
    call_id: str
    sender_thread_id: str | None = None
    new_thread_id: str | None = None
    new_agent_nickname: str | None = None
    new_agent_role: str | None = None
    prompt: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    status: Variant | None = None
    completed_at_ms: int | None = None


class CollabEnd(CodexEvent):
    """What the other ends of multi-agent v1 have in common."""

    call_id: str
    sender_thread_id: str | None = None
    receiver_thread_id: str | None = None
    receiver_agent_nickname: str | None = None
    receiver_agent_role: str | None = None
    status: Variant | None = None
    completed_at_ms: int | None = None


class CollabAgentInteractionEnd(CollabEnd, tag="collab_agent_interaction_end"):
    prompt: str | None = None


class CollabCloseEnd(CollabEnd, tag="collab_close_end"):
    """The agent was asked to end."""


class CollabResumeEnd(CollabEnd, tag="collab_resume_end"):
    """The agent was woken."""


class CollabWaitingEnd(CollabEnd, tag="collab_waiting_end"):
    statuses: dict[str, Variant] | None = None
    agent_statuses: list[AgentRef] | None = None


class SubAgentActivity(CodexEvent, tag="sub_agent_activity"):
    """Multi-agent v2: a subagent was started, spoken to or interrupted."""

    kind: str
    agent_thread_id: str
    event_id: str | None = None  # the call that spawned it, where the kind is `started`
    agent_path: str | None = None
    occurred_at_ms: int | None = None
    model: str | None = None
    reasoning_effort: str | None = None

    @property
    def ident(self) -> str | None:
        return self.event_id
