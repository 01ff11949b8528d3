"""Payloads of `event_msg`: what the client showed, and its accounting.

Rules
  1. Only events that some release wrote to disk are here; the live-only ones would be news, so they stay unknown.
  2. In the older history mode the messages, patches and tool ends are mirrors of response items; in the newer
     one (`history_mode: paginated`) `item_completed` replaces them all.
  3. A `token_count` is not a request: it is repeated on rate limit updates and recomputed by compactions.
"""

from tracklog.agents.codex.records.parts import (
    AskedQuestion,
    ErrorReport,
    MemoryCitation,
    ReviewOutput,
    ReviewTarget,
    TextElement,
    TurnAttribution,
    Variant,
)
from tracklog.agents.codex.records.settings import ThreadSettings
from tracklog.agents.codex.records.token_counts import RateLimits, TokenUsageInfo
from tracklog.agents.codex.records.tool_events import (
    CodexEvent,
    CollabAgentInteractionEnd,
    CollabAgentSpawnEnd,
    CollabCloseEnd,
    CollabResumeEnd,
    CollabWaitingEnd,
    DynamicToolCallRequest,
    DynamicToolCallResponse,
    ExecCommandEnd,
    GuardianAssessment,
    ImageGenerationEnd,
    McpToolCallEnd,
    PatchApplyEnd,
    SubAgentActivity,
    ViewImageToolCall,
    WebSearchEnd,
)
from tracklog.agents.codex.records.turn_items import TurnItem
from tracklog.model.records import Named


class TokenCount(CodexEvent, tag="token_count"):
    info: TokenUsageInfo | None = None
    rate_limits: RateLimits | None = None


class TaskStarted(CodexEvent, tag="task_started"):
    turn_id: str | None = None
    root_turn_id: str | None = None
    turn_attribution: TurnAttribution | None = None
    trace_id: str | None = None
    started_at: int | str | None = None
    model_context_window: int | None = None
    collaboration_mode_kind: str | None = None


class TurnStarted(TaskStarted, tag="turn_started"):
    """The other spelling that clients accept."""


class TaskComplete(CodexEvent, tag="task_complete"):
    turn_id: str | None = None
    root_turn_id: str | None = None
    last_agent_message: str | None = None
    error: ErrorReport | None = None
    started_at: int | str | None = None
    completed_at: int | str | None = None
    duration_ms: int | None = None
    time_to_first_token_ms: int | None = None


class TurnComplete(TaskComplete, tag="turn_complete"):
    """The other spelling that clients accept."""


class TurnAborted(CodexEvent, tag="turn_aborted"):
    reason: str
    turn_id: str | None = None
    root_turn_id: str | None = None
    error: ErrorReport | None = None
    started_at: int | str | None = None
    completed_at: int | str | None = None
    duration_ms: int | None = None


class ThreadRolledBack(CodexEvent, tag="thread_rolled_back"):
    num_turns: int  # user turns before this line that are dead


class ThreadSettingsApplied(CodexEvent, tag="thread_settings_applied"):
    thread_settings: ThreadSettings
    thread_id: str | None = None


class ThreadNameUpdated(CodexEvent, tag="thread_name_updated"):
    thread_id: str | None = None
    thread_name: str | None = None


class Goal(Named, rename="camel"):
    objective: str
    status: str
    thread_id: str | None = None
    token_budget: int | None = None
    tokens_used: int | None = None
    time_used_seconds: int | None = None
    created_at: int | None = None
    updated_at: int | None = None


class ThreadGoalUpdated(CodexEvent, tag="thread_goal_updated", rename="camel"):
    goal: Goal
    thread_id: str | None = None
    turn_id: str | None = None


class UserMessageEvent(CodexEvent, tag="user_message"):
    message: str
    kind: str | None = None  # until 0.47: `plain`, `user_instructions`, `environment_context`
    client_id: str | None = None
    images: list[str] | None = None
    image_details: list[str | None] | None = None
    file_ids: list[str] | None = None
    file_id_details: list[str | None] | None = None
    image_order: list[Variant] | None = None
    local_images: list[str] | None = None
    local_image_details: list[str | None] | None = None
    audio: list[str] | None = None
    local_audio: list[str] | None = None
    text_elements: list[TextElement] | None = None


class AgentMessageEvent(CodexEvent, tag="agent_message"):
    message: str
    phase: str | None = None
    memory_citation: MemoryCitation | None = None
    delivery: str | None = None
    questions: list[AskedQuestion] | None = None


class AgentReasoning(CodexEvent, tag="agent_reasoning"):
    text: str


class AgentReasoningRawContent(CodexEvent, tag="agent_reasoning_raw_content"):
    text: str


class ContextCompactedEvent(CodexEvent, tag="context_compacted"):
    """The companion of a `compacted` line."""


class UndoCompleted(CodexEvent, tag="undo_completed"):
    success: bool
    message: str | None = None


class EnteredReviewMode(CodexEvent, tag="entered_review_mode"):
    target: ReviewTarget | None = None
    user_facing_hint: str | None = None
    turn_id: str | None = None
    item_id: str | None = None
    prompt: str | None = None  # until 0.64
    append_to_original_thread: bool | None = None  # 0.59 to 0.63


class ExitedReviewMode(CodexEvent, tag="exited_review_mode"):
    review_output: ReviewOutput | None = None
    turn_id: str | None = None
    item_id: str | None = None


class ItemCompleted(CodexEvent, tag="item_completed"):
    item: TurnItem
    thread_id: str | None = None
    turn_id: str | None = None
    started_at_ms: int | None = None
    completed_at_ms: int | None = None

    @property
    def ident(self) -> str | None:
        return self.item.id


class ErrorRaised(CodexEvent, tag="error"):
    message: str
    codex_error_info: Variant | None = None
    http_status_code: int | None = None  # 0.61 only


EventPayload = (
    TokenCount
    | TaskStarted
    | TurnStarted
    | TaskComplete
    | TurnComplete
    | TurnAborted
    | ThreadRolledBack
    | ThreadSettingsApplied
    | ThreadNameUpdated
    | ThreadGoalUpdated
    | UserMessageEvent
    | AgentMessageEvent
    | AgentReasoning
    | AgentReasoningRawContent
    | ContextCompactedEvent
    | UndoCompleted
    | EnteredReviewMode
    | ExitedReviewMode
    | ItemCompleted
    | ErrorRaised
    | ExecCommandEnd
    | PatchApplyEnd
    | McpToolCallEnd
    | WebSearchEnd
    | ImageGenerationEnd
    | ViewImageToolCall
    | DynamicToolCallRequest
    | DynamicToolCallResponse
    | GuardianAssessment
    | CollabAgentSpawnEnd
    | CollabAgentInteractionEnd
    | CollabWaitingEnd
    | CollabCloseEnd
    | CollabResumeEnd
    | SubAgentActivity
)
