"""The `attachment` records: context that the client adds by itself (docs/formats/claude_code.md#attachments).

One struct per kind. Lists and texts that only the model reads are kept as they are; what a program may ask
for (prompts, hooks, tasks, tokens) has typed fields. A new kind costs one class and its place in the union.
"""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.records.base import tag_of
from tracklog.records.claude_code.blocks import Content
from tracklog.records.claude_code.envelope import Camel, Envelope, Origin


class Attachment(Camel, tag_field="type"):
    """One piece of context."""


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


class FileContext(Attachment):
    """A file or directory whose content was added."""

    filename: str | None = None
    display_path: str | None = None
    path: str | None = None
    content: Raw = Raw()
    truncated: bool | None = None


class File(FileContext, tag="file"):
    """A file."""


class Directory(FileContext, tag="directory"):
    """A directory's listing."""


class AlreadyReadFile(FileContext, tag="already_read_file"):
    """A file that the model had read before."""


class PdfReference(FileContext, tag="pdf_reference"):
    """A PDF, by name."""

    page_count: int | None = None
    file_size: int | None = None


class CompactFileReference(FileContext, tag="compact_file_reference"):
    """A file that a compaction left out."""


class PlanFileReference(FileContext, tag="plan_file_reference"):
    """The plan."""

    plan_content: str | None = None
    plan_file_path: str | None = None


class EditedTextFile(FileContext, tag="edited_text_file"):
    """A file that changed since the model read it."""

    snippet: str | None = None


class EditedImageFile(FileContext, tag="edited_image_file"):
    """An image that changed."""


class IdeContext(FileContext):
    """What the editor shows."""

    ide_name: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    text: str | None = None


class SelectedLinesInIde(IdeContext, tag="selected_lines_in_ide"):
    """Lines selected in the editor."""


class SelectedLinesInDiff(IdeContext, tag="selected_lines_in_diff"):
    """Lines selected in a diff."""


class OpenedFileInIde(IdeContext, tag="opened_file_in_ide"):
    """The file open in the editor."""


class DiagnosticsContext(Attachment, tag="diagnostics"):
    """Errors and warnings of the editor."""

    files: Raw = Raw()
    is_new: bool | None = None


class Memory(Attachment):
    """Instructions from memory files."""

    path: str | None = None
    display_path: str | None = None
    content: Raw = Raw()
    memories: Raw = Raw()
    files: Raw = Raw()
    text: str | None = None


class NestedMemory(Memory, tag="nested_memory"):
    """A CLAUDE.md further down."""


class RelevantMemories(Memory, tag="relevant_memories"):
    """Memories that fit the prompt."""


class Instructions(Memory, tag="instructions"):
    """All instructions."""


class Reminder(Attachment):
    """A list the model is reminded of."""

    content: Raw = Raw()
    item_count: int | None = None


class TodoReminder(Reminder, tag="todo_reminder"):
    """The todo list."""


class TaskReminder(Reminder, tag="task_reminder"):
    """The task list."""


class SkillListing(Attachment, tag="skill_listing"):
    """The skills on offer."""

    content: str | None = None
    names: list[str] | None = None
    digests: list[str] | None = None
    skill_count: int | None = None
    is_initial: bool | None = None


class InvokedSkills(Attachment, tag="invoked_skills"):
    """The skills in use."""

    skills: Raw = Raw()


class DynamicSkill(Attachment, tag="dynamic_skill"):
    """Skills found in a directory."""

    skill_dir: str | None = None
    skill_names: list[str] | None = None
    display_path: str | None = None


class AgentListingDelta(Attachment, tag="agent_listing_delta"):
    """The kinds of subagents on offer."""

    added_types: list[str] | None = None
    added_lines: list[str] | None = None
    removed_types: list[str] | None = None
    built_in_types: list[str] | None = None
    built_in_plugin_types: list[str] | None = None
    is_initial: bool | None = None
    show_concurrency_note: bool | None = None


class DeferredTools(Attachment):
    """Tools that are loaded on demand."""

    added_names: list[str] | None = None
    added_lines: list[str] | None = None
    removed_names: list[str] | None = None
    readded_names: list[str] | None = None
    wire_hidden_names: list[str] | None = None
    pending_mcp_servers: Raw = Raw()
    needs_auth_mcp_servers: Raw = Raw()
    failed_mcp_servers: Raw = Raw()
    names: list[str] | None = None
    tools: Raw = Raw()


class DeferredToolsDelta(DeferredTools, tag="deferred_tools_delta"):
    """Changes of that list."""


class DeferredToolsRecord(DeferredTools, tag="deferred_tools_record"):
    """All of that list."""


class McpInstructionsDelta(Attachment, tag="mcp_instructions_delta"):
    """Instructions of MCP servers."""

    added_names: list[str] | None = None
    added_blocks: Raw = Raw()
    removed_names: list[str] | None = None


class McpDroppedToolsDelta(Attachment, tag="mcp_dropped_tools_delta"):
    """Tools that MCP servers lost."""

    added_names: list[str] | None = None
    removed_names: list[str] | None = None
    dropped: Raw = Raw()


class CommandPermissions(Attachment, tag="command_permissions"):
    """What a slash command or skill allows."""

    allowed_tools: list[str] | None = None
    model: str | None = None


class HookRun(Attachment):
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


class HookSuccess(HookRun, tag="hook_success"):
    """It went well."""


class HookAdditionalContext(HookRun, tag="hook_additional_context"):
    """It added context."""


class HookSystemMessage(HookRun, tag="hook_system_message"):
    """It had a message for the person."""


class HookNonBlockingError(HookRun, tag="hook_non_blocking_error"):
    """It failed, and the work went on."""


class BlockingError(Camel):
    """The words of a hook that blocked."""

    blocking_error: str | None = None
    command: str | None = None


class HookBlockingError(HookRun, tag="hook_blocking_error"):
    """It blocked."""

    blocking_error: BlockingError | None = None


class HookErrorDuringExecution(HookRun, tag="hook_error_during_execution"):
    """It could not be run."""


class HookCancelled(HookRun, tag="hook_cancelled"):
    """It was cancelled."""

    timed_out: bool | None = None
    timeout_ms: float | None = None


class HookPermissionDecision(HookRun, tag="hook_permission_decision"):
    """It allowed or refused a call."""

    decision: str | None = None


class HookStoppedContinuation(HookRun, tag="hook_stopped_continuation"):
    """It ended the turn."""

    message: str | None = None


class AsyncHookResponse(HookRun, tag="async_hook_response"):
    """It answered later."""

    process_id: str | None = None
    response: Raw = Raw()


class Note(Attachment):
    """A text for the model."""

    text: str | None = None
    content: Raw = Raw()


class TotalTokensReminder(Note, tag="total_tokens_reminder"):
    """How many tokens are left."""


class ToolSearchUsageReminder(Note, tag="tool_search_usage_reminder"):
    """How to find tools."""


class SilentTurnReminder(Note, tag="silent_turn_reminder"):
    """Say something."""


class CriticalSystemReminder(Note, tag="critical_system_reminder"):
    """Something not to forget."""


class BashOutputAudienceNote(Note, tag="bash_output_audience_note"):
    """Who sees the output."""


class CompanionIntro(Note, tag="companion_intro"):
    """The companion introduces itself."""

    name: str | None = None
    species: str | None = None


class BatchingReminderSent(Note, tag="batching_reminder_sent"):
    """Batch your calls."""

    model: str | None = None


class ReadTruncationNotice(Attachment, tag="read_truncation_notice"):
    """A file was read in part."""

    banner: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")


class Spent(Attachment):
    """How much of a budget is used."""

    used: float | None = None
    total: float | None = None
    remaining: float | None = None


class TokenUsage(Spent, tag="token_usage"):
    """Tokens."""


class BudgetUsd(Spent, tag="budget_usd"):
    """Money."""


class Date(Attachment, tag="date"):
    """Today."""

    date: str | None = None


class DateChange(Attachment, tag="date_change"):
    """Midnight passed."""

    new_date: str | None = None


class ModelIdentity(Camel):
    """A model as the client describes it."""

    model_id: str | None = None
    marketing_name: str | None = None
    knowledge_cutoff: str | None = None


class Model(Attachment, tag="model"):
    """Which model is at work."""

    identity: ModelIdentity | None = None
    text: str | None = None


class EnvironmentSnapshot(Camel):
    """The machine."""

    working_directory: str | None = None
    additional_working_directories: list[str] | None = None
    is_git_repo: bool | None = None
    is_worktree: bool | None = None
    platform: str | None = None
    shell: str | None = None
    os_version: str | None = None


class Environment(Attachment, tag="environment"):
    """Where the model works."""

    snapshot: EnvironmentSnapshot | None = None


class SessionContext(Attachment, tag="session_context"):
    """Who the person is: may hold an e-mail address."""

    context: Raw = Raw()


class PromptSnapshot(Attachment, tag="prompt_snapshot"):
    """The system prompt and tools, whole."""

    system_prompt: Raw = Raw()
    tools: Raw = Raw()
    cli_prefix: str | None = None
    context_rendering: str | None = None
    echo_wire_tool_inputs: bool | None = None
    inline_tools: bool | None = None
    kept_reminders: bool | None = None
    reminder_fold: bool | None = None
    system_turns: bool | None = None
    tool_change_header: bool | None = None


class RemoteSessionChange(Attachment, tag="remote_session_change"):
    """The cloud side of a session changed."""

    commit: str | None = None
    pr: str | None = None
    url: str | None = None
    managed_commit: bool | None = None
    managed_pr: bool | None = None
    send_user_file_hint: bool | None = None


class PlanState(Attachment):
    """Plan mode."""

    reminder_type: str | None = None
    is_sub_agent: bool | None = None
    plan_file_path: str | None = None
    plan_exists: bool | None = None


class PlanMode(PlanState, tag="plan_mode"):
    """It is on."""


class PlanModeExit(PlanState, tag="plan_mode_exit"):
    """It was left."""


class PlanModeReentry(PlanState, tag="plan_mode_reentry"):
    """It is on again."""


class AutoMode(Attachment, tag="auto_mode"):
    """Auto mode is on."""

    auto_mode_consent_flow: bool | None = None
    bash_first: bool | None = None
    bash_first_steer: str | None = None
    bypass: bool | None = None
    finish_exposed_work: bool | None = None
    steer_only: bool | None = None
    reminder_type: str | None = None


class GoalStatus(Attachment, tag="goal_status"):
    """How far the goal is reached."""

    content: Raw = Raw()
    met: bool | None = None
    condition: str | None = None
    reason: str | None = None
    iterations: int | None = None
    duration_ms: float | None = None
    tokens: int | None = None


class StructuredOutput(Attachment, tag="structured_output"):
    """The answer in the asked-for shape."""

    data: Raw = Raw()


class Effort(Attachment):
    """The largest effort."""

    reminder_type: str | None = None


class UltraEffortEnter(Effort, tag="ultra_effort_enter"):
    """It is on."""


class UltraEffortExit(Effort, tag="ultra_effort_exit"):
    """It is off."""


class ThinkingChange(Attachment):
    """Thinking that is no longer sent."""

    reason: str | None = None
    count: int | None = None


class ThinkingDrop(ThinkingChange, tag="thinking_drop"):
    """It was dropped."""


class ThinkingStripped(ThinkingChange, tag="thinking_stripped"):
    """It was stripped."""


class TaskStatus(Attachment, tag="task_status"):
    """How a background task is doing."""

    task_id: str | None = None
    task_type: str | None = None
    status: str | None = None
    description: str | None = None
    delta_summary: str | None = None
    output_file_path: str | None = None


class OutputStyle(Attachment, tag="output_style"):
    """How to write."""

    style: str | None = None


class MaxTurnsReached(Attachment, tag="max_turns_reached"):
    """The limit of turns ended the run."""

    max_turns: int | None = None
    turn_count: int | None = None


AnyAttachment = (
    QueuedCommand | File | Directory | AlreadyReadFile | PdfReference | CompactFileReference | PlanFileReference
    | EditedTextFile | EditedImageFile | SelectedLinesInIde | SelectedLinesInDiff | OpenedFileInIde
    | DiagnosticsContext | NestedMemory | RelevantMemories | Instructions | TodoReminder | TaskReminder
    | SkillListing | InvokedSkills | DynamicSkill | AgentListingDelta | DeferredToolsDelta | DeferredToolsRecord
    | McpInstructionsDelta | McpDroppedToolsDelta | CommandPermissions | HookSuccess | HookAdditionalContext
    | HookSystemMessage | HookNonBlockingError | HookBlockingError | HookErrorDuringExecution | HookCancelled
    | HookPermissionDecision | HookStoppedContinuation | AsyncHookResponse | TotalTokensReminder
    | ToolSearchUsageReminder | SilentTurnReminder | CriticalSystemReminder | BashOutputAudienceNote
    | CompanionIntro | BatchingReminderSent | ReadTruncationNotice | TokenUsage | BudgetUsd | Date | DateChange
    | Model | Environment | SessionContext | PromptSnapshot | RemoteSessionChange | PlanMode | PlanModeExit
    | PlanModeReentry | AutoMode | GoalStatus | StructuredOutput | UltraEffortEnter | UltraEffortExit
    | ThinkingDrop | ThinkingStripped | TaskStatus | OutputStyle | MaxTurnsReached
)  # fmt: skip


class AttachmentLine(Envelope, tag="attachment", tag_field="type", kw_only=True):
    """A piece of context and where it stands in the conversation."""

    attachment: AnyAttachment
    rendered: Raw = Raw()
    rendered_role: str | None = None
    rendered_beside_tool_result: bool | None = None

    @property
    def kind(self) -> str:
        return f"attachment/{tag_of(type(self.attachment))}"
