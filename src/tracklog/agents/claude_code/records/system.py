"""The `system` records, by `subtype` (docs/formats/claude_code.md#system)."""

from typing import Any

import msgspec
from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel, Envelope
from tracklog.model.records import tag_of


class SystemHead(Envelope, tag="system", tag_field="type"):
    """Any system record: its subtype decides by which struct it is read."""

    subtype: str | None = None


class SystemText(Envelope, kw_only=True):
    """A system record without subtype (1.0.x to 2.0.x): output of hooks and commands."""

    type: str
    subtype: None = None
    content: str | None = None
    level: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")

    @property
    def kind(self) -> str:
        return "system"


class SystemLine(Envelope, tag_field="subtype", kw_only=True):
    """A system record of a known subtype."""

    type: str
    content: str | None = None
    level: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")

    @property
    def kind(self) -> str:
        return f"system/{tag_of(type(self))}"


class PreservedSegment(Camel):
    """The records that a compaction kept, by their ends."""

    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(Camel):
    """The records that a compaction kept, one by one."""

    anchor_uuid: str | None = None
    uuids: list[str] | None = None
    all_uuids: list[str] | None = None


class CompactMetadata(Camel):
    """What a compaction did."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    cumulative_dropped_tokens: int | None = None
    messages_summarized: int | None = None
    user_context: str | None = None
    running_turn_prompt: Raw = Raw()
    pre_compact_discovered_tools: list[str] | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class CompactBoundary(SystemLine, tag="compact_boundary"):
    """The conversation before this record was summed up."""

    compact_metadata: CompactMetadata | None = None
    remote_sourced: bool | None = None
    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None


class MicrocompactMetadata(Camel):
    """What a small compaction cleared."""

    trigger: str | None = None
    pre_tokens: int | None = None
    tokens_saved: int | None = None
    compacted_tool_ids: list[str] | None = None
    cleared_attachment_uuids: list[str] | None = field(default=None, name="clearedAttachmentUUIDs")


class MicrocompactBoundary(SystemLine, tag="microcompact_boundary"):
    """Old tool results were cleared."""

    microcompact_metadata: MicrocompactMetadata | None = None


class TurnDuration(SystemLine, tag="turn_duration", kw_only=True):
    """How long a turn took."""

    duration_ms: float
    message_count: int | None = None
    pending_background_agent_count: int | None = None
    pending_workflow_count: int | None = None


class HookInfo(Camel):
    """One hook of an event."""

    command: str | None = None
    duration_ms: float | None = None
    prompt_text: str | None = None


class StopHookSummary(SystemLine, tag="stop_hook_summary"):
    """The Stop hooks that ran at the end of a turn."""

    hook_count: int | None = None
    hook_infos: list[HookInfo] | None = None
    hook_errors: Raw = Raw()
    failed_hook_error_indexes: list[int] | None = None  # since 2.1.327: errors that are no decisions
    hook_additional_context: Raw = Raw()
    prevented_continuation: bool | None = None
    stop_reason: str | None = None
    has_output: bool | None = None
    hook_label: str | None = None
    total_duration_ms: float | None = None


class LocalCommandLine(Camel):
    """A slash command as it was typed."""

    command: str | None = None
    args: str | None = None


class LocalCommand(SystemLine, tag="local_command"):
    """A slash command or its output, as markup."""

    command_run: LocalCommandLine | None = None
    context_usage: Raw = Raw()


class ErrorLine(SystemLine):
    """An error, in the shape that the provider gave it."""

    error: Raw = Raw()
    cause: Raw = Raw()
    retry_in_ms: float | None = None
    retry_attempt: int | None = None
    max_retries: int | None = None
    source: str | None = None


class ApiErrorRetry(ErrorLine, tag="api_error"):
    """A request failed and is tried again."""


class PlainError(ErrorLine, tag="error"):
    """Something failed."""


class SessionStartLine(ErrorLine, tag="session_start"):
    """A session began (seen in one tool's files)."""

    duration_ms: float | None = None
    message_count: int | None = None


class AwaySummary(SystemLine, tag="away_summary"):
    """What happened while the person was away."""


class Informational(SystemLine, tag="informational"):
    """A notice, such as a prompt blocked by a hook."""

    prevent_continuation: bool | None = None
    prompt_submit_ending: Raw = Raw()
    from_remote_error_result: bool | None = None
    launched_agent_id: str | None = None
    tag: str | None = None


class BridgeStatus(SystemLine, tag="bridge_status"):
    """Remote control went on or off."""

    url: str | None = None


class ScheduledTaskFire(SystemLine, tag="scheduled_task_fire"):
    """A scheduled task came due."""

    cron_kind: str | None = None
    cron: str | None = None
    prompt: str | None = None
    task_id: str | None = None
    no_op_streak: int | None = None
    streak_started_at: str | int | None = None
    folded_uuids: list[str] | None = None


class Refusal(SystemLine):
    """The model refused, and what was retracted for it."""

    direction: str | None = None
    scope: str | None = None
    trigger: str | None = None
    source: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    request_id: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    retracted_message_uuids: list[str] | None = None
    refused_user_message_uuid: str | None = None
    original_model_name: str | None = None
    choice: str | None = None
    persisted_as_default: bool | None = None


class ModelRefusalFallback(Refusal, tag="model_refusal_fallback"):
    """The model refused; another one answered."""


class ModelConsentFallback(Refusal, tag="model_consent_fallback"):
    """Another model answered with the person's consent."""


class ApiRefusal(Refusal, tag="api_refusal"):
    """The API refused."""


class ModelRefusalNoFallback(Refusal, tag="model_refusal_no_fallback"):
    """The model refused, and no other answered."""


class ModelFallback(Refusal, tag="model_fallback"):
    """Another model took over."""


class CloudSessionStatus(SystemLine, tag="cloud_session_status"):
    """A session in the cloud changed."""

    entry: Raw = Raw()
    url: str | None = None


class Placed(SystemLine, tag="placed"):
    """A plugin put something into the conversation."""

    id: str | None = None
    plugin: str | None = None
    persist: bool | None = None


class RewindStandIn(SystemLine, tag="rewind_stand_in"):
    """Takes the place of a record that a rewind dropped."""

    source_uuid: str | None = None


class VoiceCallTalk(SystemLine, tag="voice_call_talk"):
    """Words of a voice call."""

    msg_v: Raw = Raw()


class AgentsKilled(SystemLine, tag="agents_killed"):
    """Background agents were stopped."""


class PermissionRetry(SystemLine, tag="permission_retry"):
    """A refused call may be tried again."""

    commands: list[str] | None = None
    heard_at_next_prompt: bool | None = None


class MemorySaved(SystemLine, tag="memory_saved"):
    """Memory files were written."""

    written_paths: list[str] | None = None


class PostTurnSummary(SystemLine, tag="post_turn_summary"):
    """What a turn did."""


class FileSnapshot(SystemLine, tag="file_snapshot"):
    """Files were saved for a rewind."""

    snapshot_files: Raw = Raw()


class SystemToolResult(SystemLine, tag="tool_result"):
    """A tool's result as public descriptions have it; no client is known to write it."""

    tool_use_result: Raw = Raw()


SUBTYPES: dict[str, type[SystemLine]] = {
    tag_of(line): line
    for line in (
        CompactBoundary,
        MicrocompactBoundary,
        TurnDuration,
        StopHookSummary,
        LocalCommand,
        ApiErrorRetry,
        PlainError,
        SessionStartLine,
        AwaySummary,
        Informational,
        BridgeStatus,
        ScheduledTaskFire,
        ModelRefusalFallback,
        ModelConsentFallback,
        ApiRefusal,
        ModelRefusalNoFallback,
        ModelFallback,
        CloudSessionStatus,
        Placed,
        RewindStandIn,
        VoiceCallTalk,
        AgentsKilled,
        PermissionRetry,
        MemorySaved,
        PostTurnSummary,
        FileSnapshot,
        SystemToolResult,
    )
}
_decoders = {name: msgspec.json.Decoder(line) for name, line in SUBTYPES.items()}
_plain = msgspec.json.Decoder(SystemText)


def decode_system(raw: bytes, subtype: str | None) -> SystemLine | SystemText:
    """The system record in `raw`; raises what msgspec raises where it is of no known shape."""
    if subtype is None:
        return _plain.decode(raw)
    if subtype not in _decoders:
        raise msgspec.ValidationError(f"unknown subtype {subtype!r}")
    return _decoders[subtype].decode(raw)


def struct_for(value: dict[str, Any]) -> type[SystemLine | SystemText] | None:
    """The struct by which a parsed system record is read, if its subtype is known."""
    subtype = value.get("subtype")
    return SystemText if subtype is None else SUBTYPES.get(subtype) if isinstance(subtype, str) else None
