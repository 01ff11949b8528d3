"""Attachments that remind the model of something."""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.records.claude_code.envelope import Attachment


class Note(Attachment):
    """A text for the model."""

    text: str | None = None
    content: Raw = Raw()
    model: str | None = None
    clear_at: str | None = None


class TotalTokensReminder(Note, tag="total_tokens_reminder"):
    """How many tokens are left."""


class ToolSearchUsageReminder(Note, tag="tool_search_usage_reminder"):
    """How to find tools."""

    undiscovered_count: int | None = None
    undiscovered_tool_names: list[str] | None = None


class SilentTurnReminder(Note, tag="silent_turn_reminder"):
    """Say something."""


class CriticalSystemReminder(Note, tag="critical_system_reminder"):
    """Something not to forget."""

    connector_downloads_unchecked: bool | None = None
    only_as_system_message: bool | None = None


class BashOutputAudienceNote(Note, tag="bash_output_audience_note"):
    """Who sees the output."""

    tool_use_id: str | None = field(default=None, name="toolUseID")


class CompanionIntro(Note, tag="companion_intro"):
    """The companion introduces itself."""

    name: str | None = None
    species: str | None = None


class BatchingReminderSent(Note, tag="batching_reminder_sent"):
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


class BatchingReminder(Note, tag="batching_reminder"):
    """Batch your calls."""


class SecondaryReminder(Note, tag="secondary_reminder"):
    """Another reminder."""


class SecondaryReminderSent(Note, tag="secondary_reminder_sent"):
    """Another reminder, sent."""


class ElapsedTimeReminder(Note, tag="elapsed_time_reminder"):
    """How long it took."""


class OutputLimitNote(Note, tag="output_limit_note"):
    """How much may be written."""


class ForkBriefing(Note, tag="fork_briefing"):
    """What a fork should know."""


class PrefixDelta(Note, tag="prefix_delta"):
    """What changed at the start."""


class SandboxInstructions(Note, tag="sandbox_instructions"):
    """How the sandbox works."""


class DirSyncNotice(Note, tag="dir_sync_notice"):
    """A directory was synchronised."""


class ContextEfficiency(Note, tag="context_efficiency"):
    """How to save context."""


class AttentionBudget(Note, tag="attention_budget"):
    """How much attention is left."""


class Goals(Note, tag="goals"):
    """The goals."""


AnyNote = (
    TotalTokensReminder | ToolSearchUsageReminder | SilentTurnReminder | CriticalSystemReminder
    | BashOutputAudienceNote | CompanionIntro | BatchingReminderSent | ReadTruncationNotice | TodoReminder
    | TaskReminder | BatchingReminder | SecondaryReminder | SecondaryReminderSent | ElapsedTimeReminder | OutputLimitNote
    | ForkBriefing | PrefixDelta | SandboxInstructions | DirSyncNotice
    | ContextEfficiency | AttentionBudget | Goals
)  # fmt: skip
