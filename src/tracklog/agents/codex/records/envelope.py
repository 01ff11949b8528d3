"""Lines since 0.32: `{timestamp, ordinal?, type, payload}`.

Rules
  1. The kind of a line is its type; of a response item or an event, type and payload type together.
  2. `compacted` restates old items. They are named, and never new.
  3. `world_state` and `retained_context` are the client's memory of what it told the model: not conversation.
"""

from tracklog.agents.codex.records.events import EventPayload
from tracklog.agents.codex.records.items import Passthrough, ResponseItem
from tracklog.agents.codex.records.parts import NOTHING, Free, TurnAttribution
from tracklog.agents.codex.records.settings import SessionMeta, TurnContext
from tracklog.agents.codex.records.token_counts import TokenUsageRecord
from tracklog.model.records import Named, Record, UnknownPart, tag_of


class EnvelopeLine(Record, tag_field="type", kw_only=True):
    """Any line with an envelope."""

    timestamp: str | None = None
    ordinal: int | None = None  # since 0.144, in paginated history

    @property
    def at(self) -> str | None:
        return self.timestamp


class SessionMetaLine(EnvelopeLine, tag="session_meta", kw_only=True):
    payload: SessionMeta

    @property
    def ident(self) -> str | None:
        return self.payload.id


class RetainedSourceId(Named):
    message_id: str | None = None
    turn_id: str | None = None
    role: str | None = None


class RetainedSource(Named):
    id: RetainedSourceId | None = None
    revision: str | None = None
    complete: bool | None = None


class McpSource(Named):
    server_name: str | None = None
    tool_name: str | None = None
    connector_id: str | None = None
    plugin_id: str | None = None
    first_turn_id: str | None = None


class McpAttribution(Named):
    status: str | None = None
    error_reason: str | None = None
    sources: list[McpSource] | None = None


class HarnessMetadata(Named):
    """What the client notes about an item, beside it."""

    history_sequence: int | None = None  # since 0.169, as the next one
    sampled_through_sequence: int | None = None
    client_authored: bool | None = None
    additional_context_tool_output: Free = NOTHING
    user_input_order: int | None = None
    inherited_user_message: bool | None = None
    fallback_token_limit_override: int | None = None
    compaction_output: bool | None = None
    compaction_model_hash: str | None = None
    retained_source: RetainedSource | None = None
    mcp_attribution: McpAttribution | None = None
    delivered_assistant_message: Free = NOTHING
    harness_authored_configuration: Free = NOTHING
    sender_user_messages: Free = NOTHING
    guardian_review_ids: Free = NOTHING
    guardian_source_order_guidance: Free = NOTHING
    guardian_retained_omissions: Free = NOTHING


class ResponseItemLine(EnvelopeLine, tag="response_item", kw_only=True):
    payload: ResponseItem
    metadata: HarnessMetadata | None = None

    @property
    def kind(self) -> str:
        return f"response_item/{tag_of(type(self.payload))}"

    @property
    def ident(self) -> str | None:
        return self.payload.ident


class EventLine(EnvelopeLine, tag="event_msg", kw_only=True):
    payload: EventPayload

    @property
    def kind(self) -> str:
        return f"event_msg/{self.payload.name}"

    @property
    def ident(self) -> str | None:
        return self.payload.ident


class TurnContextLine(EnvelopeLine, tag="turn_context", kw_only=True):
    payload: TurnContext


class RetainedContext(Named):
    verified_answers: Free = NOTHING
    incomplete: bool | None = None
    user_messages: Free = NOTHING
    user_messages_incomplete: bool | None = None
    assistant_messages: Free = NOTHING
    assistant_messages_incomplete: bool | None = None
    sender_deliveries: Free = NOTHING
    next_order: int | None = None


class RetainedPiece(Named):
    """One thing to be retained, such as a person's answer to a question."""

    type: str | None = None
    turn_id: str | None = None
    call_id: str | None = None
    questions: Free = NOTHING
    acceptance_order: int | None = None


class RetainedContextLine(EnvelopeLine, tag="retained_context", kw_only=True):
    payload: RetainedPiece


class DynamicTools(Named):
    thread_id: str | None = None
    tools: Free = NOTHING


class DynamicToolsLine(EnvelopeLine, tag="dynamic_tools_updated", kw_only=True):
    payload: DynamicTools


class PreviousTurnSettings(Named):
    model: str | None = None
    comp_hash: str | None = None
    realtime_active: bool | None = None
    cyber_access_program: str | None = None


class ResumeMetadata(Named):
    dynamic_tools: DynamicTools | None = None
    multi_agent_version: str | None = None
    last_started_turn_id: str | None = None
    previous_turn_settings: PreviousTurnSettings | None = None
    turn_attribution: TurnAttribution | None = None


class Compacted(Named):
    message: str  # the summary; empty when the server made it
    replacement_history: list[ResponseItem | UnknownPart] | None = None  # since 0.59
    replacement_history_metadata: list[HarnessMetadata] | None = None
    retained_context: RetainedContext | None = None
    mcp_resource_origins: Free = NOTHING
    window_number: int | None = None
    first_window_id: str | None = None
    previous_window_id: str | None = None
    window_id: str | int | None = None  # a number in 0.140 and 0.141
    compaction_response_id: str | None = None
    latest_token_usage_record: TokenUsageRecord | None = None
    resume_metadata: ResumeMetadata | None = None


class CompactedLine(EnvelopeLine, tag="compacted", kw_only=True):
    payload: Compacted


class WorldState(Named):
    full: bool
    state: Free = NOTHING


class WorldStateLine(EnvelopeLine, tag="world_state", kw_only=True):
    payload: WorldState


class TokenUsageLine(EnvelopeLine, tag="token_usage_record", kw_only=True):
    payload: TokenUsageRecord

    @property
    def ident(self) -> str | None:
        return self.payload.response_id


class AgentMail(Named):
    author: str
    recipient: str
    content: str
    id: str | None = None
    other_recipients: list[str] | None = None
    encrypted_content: str | None = None
    internal_chat_message_metadata_passthrough: Passthrough | None = None
    trigger_turn: bool | None = None


class AgentMailLine(EnvelopeLine, tag="inter_agent_communication", kw_only=True):
    payload: AgentMail

    @property
    def ident(self) -> str | None:
        return self.payload.id


class AgentMailMetadata(Named):
    trigger_turn: bool


class AgentMailMetadataLine(EnvelopeLine, tag="inter_agent_communication_metadata", kw_only=True):
    payload: AgentMailMetadata


class RealtimeItem(Named):
    """A piece of a spoken conversation."""

    type: str
    id: str | None = None
    realtime_session_id: str | None = None
    role: str | None = None
    text: str | None = None
    turn_id: str | None = None
    item_id: str | None = None
    presentation: Free = NOTHING
    outcome: str | None = None


class RealtimeItemLine(EnvelopeLine, tag="realtime_item", kw_only=True):
    payload: RealtimeItem

    @property
    def ident(self) -> str | None:
        return self.payload.id


class SecurityRiskScore(Named):
    scores: dict[str, float]
    sampled_at: str | None = None


class SecurityRiskScoreLine(EnvelopeLine, tag="security_risk_score", kw_only=True):
    payload: SecurityRiskScore


class SessionState(Named):
    agent_task: Free = NOTHING


class SessionStateLine(EnvelopeLine, tag="session_state", kw_only=True):
    """0.122 and 0.123 only."""

    payload: SessionState


Enveloped = (
    SessionMetaLine
    | ResponseItemLine
    | EventLine
    | TurnContextLine
    | CompactedLine
    | WorldStateLine
    | TokenUsageLine
    | RetainedContextLine
    | DynamicToolsLine
    | AgentMailLine
    | AgentMailMetadataLine
    | RealtimeItemLine
    | SecurityRiskScoreLine
    | SessionStateLine
)
