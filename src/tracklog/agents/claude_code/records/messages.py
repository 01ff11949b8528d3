"""The `user` and `assistant` records (docs/formats/claude_code.md#messages).

One API message spans several assistant records that share `message.id`: one per content block in 2.1.x, one with
several blocks in some older files.
"""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel, Content, Envelope, Origin
from tracklog.model.records import Named


class CacheCreation(Named):
    """Cache writes by their time to live."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolCounts(Named):
    """How often the API's own tools ran."""

    web_search_requests: int | None = None
    web_fetch_requests: int | None = None


class OutputDetails(Named):
    """A part of the output tokens, not an addition to them."""

    thinking_tokens: int | None = None


class Iteration(Named):
    """One sampling of a request; `advisor_message` and `compaction` are billed beside the total."""

    type: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputDetails | None = None


class Usage(Named):
    """The tokens of a request, as far as they were known when the record was written."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerToolCounts | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | int | None = None
    fallback_credit: Raw = Raw()


class UserMessage(Named, kw_only=True):
    """What was sent to the model in the user's name."""

    content: Content
    role: str | None = None


class StopDetails(Named):
    """More about why the model stopped."""

    type: str | None = None
    category: str | None = None
    explanation: str | None = None
    recommended_model: str | None = None
    fallback_has_prefill_claim: bool | None = None


class CacheMissReason(Named):
    """Why a prompt was not read from the cache."""

    type: str | None = None
    cache_missed_input_tokens: int | None = None


class Diagnostics(Named):
    """The API's remarks on a request."""

    cache_miss_reason: CacheMissReason | None = None


class ContextManagement(Named):
    """What the API cleared from the context."""

    applied_edits: Raw = Raw()


class ApiMessage(UserMessage):
    """A message of the API, or the block of it that this record holds."""

    id: str | None = None
    type: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: StopDetails | None = None
    usage: Usage | None = None
    container: Raw = Raw()
    context_management: ContextManagement | None = None
    diagnostics: Diagnostics | None = None


class AssistantLine(Envelope, tag="assistant", tag_field="type", kw_only=True):
    """One block of the model's answer."""

    message: ApiMessage
    request_id: str | None = None
    api_block_index: int | None = None
    effort: str | None = None
    per_turn_effort: str | None = None
    requested_model: str | None = None
    made_by: str | None = None
    request_ref: str | None = None
    request_session_id: str | None = None  # since 2.1.326, in copies that a fork holds: whose it was
    prompt_cache_requested: str | bool | None = None
    thinking_display: str | None = None
    thinking_duration_ms: float | None = None
    tool_input_stream_ms: float | None = None
    wire_tool_inputs: Raw = Raw()
    is_api_error_message: bool | None = None
    error: str | None = None
    error_details: Raw = Raw()
    api_error: str | None = None
    api_error_status: int | str | None = None
    api_error_type: str | None = None
    failed_response_had_no_tool_call: bool | None = None
    supersedes: Raw = Raw()
    supersedes_uuids: list[str] | None = None
    is_aborted_mid_stream: bool | None = None
    truncated_after_output: bool | None = None
    attribution_agent: str | None = None
    attribution_skill: str | None = None
    attribution_plugin: str | None = None
    attribution_mcp_server: str | None = None
    attribution_mcp_tool: str | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    duration_ms: float | None = None


class ThinkingTrigger(Camel):
    """A word of the prompt that asked for more thinking."""

    start: int | None = None
    end: int | None = None
    text: str | None = None


class ThinkingMetadata(Camel):
    """How much thinking the prompt asked for."""

    level: str | None = None
    disabled: bool | None = None
    triggers: list[ThinkingTrigger] | None = None
    max_thinking_tokens: int | None = None


class Todo(Camel):
    """An entry of a todo list."""

    content: str | None = None
    status: str | None = None
    active_form: str | None = None
    id: str | int | None = None
    priority: str | None = None


class PermissionDecision(Camel):
    """Who allowed or refused a call, and why."""

    decision: str | None = None
    source: str | None = None
    reason_type: str | None = None
    reason_code: str | None = None
    grant_scope: str | None = None
    rule_source: str | None = None


class TurnPosition(Camel):
    """The place of a prompt in the session."""

    prompt_index: int | None = None
    turn_index: int | None = None


class SummarizeMetadata(Camel):
    """What a partial compaction summed up."""

    messages_summarized: int | None = None
    user_context: str | None = None
    direction: str | None = None


class UserLine(Envelope, tag="user", tag_field="type", kw_only=True):
    """A prompt, the result of a tool, or text that the client put in."""

    message: UserMessage
    tool_use_result: Raw = Raw()  # its reader: tool_results.py
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    prompt_id: str | None = None
    prompt_source: str | None = None
    origin: Origin | None = None
    turn_origin: str | None = None
    turn_position: TurnPosition | None = None
    permission_mode: str | None = None
    permission_decision: PermissionDecision | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    repeats_compact_summary: bool | None = None
    summarize_metadata: SummarizeMetadata | None = None
    tool_denial_kind: str | None = None
    tool_denial_unanswered: str | None = None
    tool_denial_before_run: bool | None = None  # since 2.1.326
    user_feedback: str | None = None
    holds_persons_words: bool | None = None
    interrupted_message_id: str | None = None
    interrupted_by_shutdown: bool | None = None
    refused_message_id: str | None = None
    summarized_turn_prompt_uuids: list[str] | None = None
    thinking_metadata: ThinkingMetadata | None = None
    todos: list[Todo] | None = None
    image_paste_ids: list[int] | None = None
    mcp_meta: Raw = Raw()
    mcp_call_not_read_only: str | None = None
    tool_ends_turn: bool | None = None
    turn_companion: bool | None = None
    queue_origin: str | None = None
    queue_priority: str | None = None
    queue_skip_attachments: bool | None = None
    classifier_meta_lines: Raw = Raw()
    plan_content: str | None = None
    sandboxed: bool | None = None
    turn_attribution_key: str | None = None
