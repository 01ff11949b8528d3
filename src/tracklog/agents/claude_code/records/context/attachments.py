"""The `attachment` line, and attachments about hooks, reminders and queued prompts (docs/formats/claude_code.md#attachments).

Runs of hooks are logged so since about 2.1.9x.

One struct per kind, in the modules of this package. Lists and texts that only the model reads are kept as they are;
what a program may ask for (prompts, hooks, tasks, tokens) has typed fields. A new kind costs one class and its
place in a union.
"""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.agents.claude_code.records.context.files import AnyFileContext
from tracklog.agents.claude_code.records.context.state import AnyStateContext
from tracklog.agents.claude_code.records.context.tools import AnyToolContext
from tracklog.agents.claude_code.records.envelope import Attachment, Camel, Content, Envelope, Origin
from tracklog.model.records import tag_of


class HookAttachment(Attachment):
    """A hook that ran."""

    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    command: str | None = None
    content: Raw = Raw()
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    duration_ms: float | None = None
    account_memory_batch: Raw = Raw()


class HookSuccess(HookAttachment, tag="hook_success"):
    """It went well."""


class HookAdditionalContext(HookAttachment, tag="hook_additional_context"):
    """It added context."""


class HookSystemMessage(HookAttachment, tag="hook_system_message"):
    """It had a message for the person."""


class HookNonBlockingError(HookAttachment, tag="hook_non_blocking_error"):
    """It failed, and the work went on."""


class BlockingError(Camel):
    """The words of a hook that blocked."""

    blocking_error: str | None = None
    command: str | None = None


class HookBlockingError(HookAttachment, tag="hook_blocking_error"):
    """It blocked."""

    blocking_error: BlockingError | None = None


class HookErrorDuringExecution(HookAttachment, tag="hook_error_during_execution"):
    """It could not be run."""


class HookCancelled(HookAttachment, tag="hook_cancelled"):
    """It was cancelled."""

    timed_out: bool | None = None
    timeout_ms: float | None = None


class HookPermissionDecision(HookAttachment, tag="hook_permission_decision"):
    """It allowed or refused a call."""

    decision: str | None = None


class HookStoppedContinuation(HookAttachment, tag="hook_stopped_continuation"):
    """It ended the turn."""

    message: str | None = None


class AsyncHookResponse(HookAttachment, tag="async_hook_response"):
    """It answered later."""

    process_id: str | None = None
    response: Raw = Raw()
    tool_name: str | None = None


class HookDeferredTool(HookAttachment, tag="hook_deferred_tool"):
    """It put a call off."""

    tool_name: str | None = None
    tool_input: Raw = Raw()
    permission_mode: str | None = None


class AsyncHookResponseBatch(Attachment, tag="async_hook_response_batch"):
    """Several answered later."""

    hooks: Raw = Raw()


AnyHookContext = (
    HookSuccess | HookAdditionalContext | HookSystemMessage | HookNonBlockingError | HookBlockingError
    | HookErrorDuringExecution | HookCancelled | HookPermissionDecision | HookStoppedContinuation
    | AsyncHookResponse | HookDeferredTool | AsyncHookResponseBatch
)  # fmt: skip


class NoteAttachment(Attachment):
    """A text for the model."""

    text: str | None = None
    content: Raw = Raw()
    model: str | None = None
    clear_at: str | None = None


class TotalTokensReminder(NoteAttachment, tag="total_tokens_reminder"):
    """How many tokens are left."""


class ToolSearchUsageReminder(NoteAttachment, tag="tool_search_usage_reminder"):
    """How to find tools."""

    undiscovered_count: int | None = None
    undiscovered_tool_names: list[str] | None = None


class SilentTurnReminder(NoteAttachment, tag="silent_turn_reminder"):
    """Say something."""


class CriticalSystemReminder(NoteAttachment, tag="critical_system_reminder"):
    """Something not to forget."""

    connector_downloads_unchecked: bool | None = None
    only_as_system_message: bool | None = None


class BashOutputAudienceNote(NoteAttachment, tag="bash_output_audience_note"):
    """Who sees the output."""

    tool_use_id: str | None = field(default=None, name="toolUseID")


class CompanionIntro(NoteAttachment, tag="companion_intro"):
    """The companion introduces itself."""

    name: str | None = None
    species: str | None = None


class BatchingReminderSent(NoteAttachment, tag="batching_reminder_sent"):
    """Batch your calls."""


class ReadTruncationNotice(Attachment, tag="read_truncation_notice"):
    """A file was read in part."""

    banner: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")


class Reminder(Attachment):
    """A list the model is reminded of."""

    content: Raw = Raw()
    item_count: int | None = None


class TodoReminder(Reminder, tag="todo_reminder"):
    """The todo list."""


class TaskReminder(Reminder, tag="task_reminder"):
    """The task list."""


class BatchingReminder(NoteAttachment, tag="batching_reminder"):
    """Batch your calls."""


class SecondaryReminder(NoteAttachment, tag="secondary_reminder"):
    """Another reminder."""


class SecondaryReminderSent(NoteAttachment, tag="secondary_reminder_sent"):
    """Another reminder, sent."""


class ElapsedTimeReminder(NoteAttachment, tag="elapsed_time_reminder"):
    """How long it took."""


class OutputLimitNote(NoteAttachment, tag="output_limit_note"):
    """How much may be written."""


class ForkBriefing(NoteAttachment, tag="fork_briefing"):
    """What a fork should know."""


class PrefixDelta(NoteAttachment, tag="prefix_delta"):
    """What changed at the start."""


class SandboxInstructions(NoteAttachment, tag="sandbox_instructions"):
    """How the sandbox works."""


class DirSyncNotice(NoteAttachment, tag="dir_sync_notice"):
    """A directory was synchronised."""


class ContextEfficiency(NoteAttachment, tag="context_efficiency"):
    """How to save context."""


class AttentionBudget(NoteAttachment, tag="attention_budget"):
    """How much attention is left."""


class Goals(NoteAttachment, tag="goals"):
    """The goals."""


AnyNote = (
    TotalTokensReminder | ToolSearchUsageReminder | SilentTurnReminder | CriticalSystemReminder
    | BashOutputAudienceNote | CompanionIntro | BatchingReminderSent | ReadTruncationNotice | TodoReminder
    | TaskReminder | BatchingReminder | SecondaryReminder | SecondaryReminderSent | ElapsedTimeReminder | OutputLimitNote
    | ForkBriefing | PrefixDelta | SandboxInstructions | DirSyncNotice
    | ContextEfficiency | AttentionBudget | Goals
)  # fmt: skip


class QueuedCommand(Attachment, tag="queued_command", kw_only=True):
    """A prompt typed while the model worked, or a notice of a finished task."""

    prompt: Content
    command_mode: str | None = None
    timestamp: str | None = None
    origin: Origin | None = None
    source_uuid: str | None = field(default=None, name="source_uuid")
    image_paste_ids: list[int] | None = None
    is_meta: bool | None = None
    queue_priority: str | None = None
    delivery_id: str | None = field(default=None, name="delivery_id")
    run_id: str | None = None
    usage: Raw = Raw()
    tools_used_delta: list[str] | None = None
    carried_by_compaction: bool | None = None
    file_attachments: Raw = Raw()
    saved_files: Raw = Raw()
    image_file_uuids: Raw = Raw()
    inlined_image_names: Raw = Raw()
    inlined_image_paths: Raw = Raw()
    forwarded_intent: Raw = Raw()
    input_source: str | None = None
    text_not_typed: bool | None = None
    typed_by_person: bool | None = None
    human_turn: bool | None = None
    from_connector: Raw = Raw()
    task_delivery: Raw = Raw()


AnyAttachment = QueuedCommand | AnyFileContext | AnyHookContext | AnyNote | AnyStateContext | AnyToolContext


class AttachmentLine(Envelope, tag="attachment", tag_field="type", kw_only=True):
    """A piece of context and its place in the conversation."""

    attachment: AnyAttachment
    rendered: Raw = Raw()
    rendered_in_human_turn: Raw = Raw()
    rendered_role: str | None = None
    rendered_beside_tool_result: bool | None = None

    @property
    def kind(self) -> str:
        return f"attachment/{tag_of(type(self.attachment))}"
