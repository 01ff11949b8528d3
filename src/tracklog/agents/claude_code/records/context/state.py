"""Attachments about the state of the session: model, date, modes, budgets, tasks."""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Attachment, Camel


class BudgetAttachment(Attachment):
    """How much of a budget is used."""

    used: float | None = None
    total: float | None = None
    remaining: float | None = None


class TokenUsageAttachment(BudgetAttachment, tag="token_usage"):
    """Tokens."""


class BudgetUsd(BudgetAttachment, tag="budget_usd"):
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
    changes: Raw = Raw()


class SessionContext(Attachment, tag="session_context"):
    """Who the person is: may hold an e-mail address."""

    context: Raw = Raw()
    changed: Raw = Raw()
    reason: str | None = None


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
    custom_instructions: str | None = None


class PlanMode(PlanState, tag="plan_mode"):
    """It is on."""


class PlanModeExit(PlanState, tag="plan_mode_exit"):
    """It was left."""


class PlanModeReentry(PlanState, tag="plan_mode_reentry"):
    """It is on again."""


class AutoModeState(Attachment):
    """Auto mode."""

    auto_mode_consent_flow: bool | None = None
    bash_first: bool | None = None
    bash_first_steer: str | None = None
    bypass: bool | None = None
    finish_exposed_work: bool | None = None
    steer_only: bool | None = None
    reminder_type: str | None = None


class AutoMode(AutoModeState, tag="auto_mode"):
    """It is on."""


class AutoModeExit(AutoModeState, tag="auto_mode_exit"):
    """It is off."""


class GoalStatus(Attachment, tag="goal_status"):
    """How far the goal is reached."""

    content: Raw = Raw()
    met: bool | None = None
    failed: bool | None = None
    sentinel: bool | None = None
    condition: str | None = None
    reason: str | None = None
    iterations: int | None = None
    duration_ms: float | None = None
    tokens: int | None = None


class StructuredOutput(Attachment, tag="structured_output"):
    """The answer in the asked-for shape."""

    data: Raw = Raw()
    tool_use_id: str | None = field(default=None, name="toolUseID")


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

    model: str | None = None
    request_id: str | None = None
    query_source: str | None = None
    requested_behavior: str | None = None
    client_change: Raw = Raw()
    block_hashes: Raw = Raw()
    newly_dropped: int | None = None
    thinking_blocks_sent: int | None = None
    thinking_turns_sent: int | None = None
    first_report_for_thread_in_process: bool | None = None


class ThinkingStripped(ThinkingChange, tag="thinking_stripped"):
    """It was stripped."""

    scope: str | None = None
    from_: Raw = field(default=Raw(), name="from")


class TaskStatus(Attachment, tag="task_status"):
    """How a background task is doing."""

    task_id: str | None = None
    task_type: str | None = None
    status: str | None = None
    description: str | None = None
    delta_summary: str | None = None
    output_file_path: str | None = None
    can_continue_agent: bool | None = None
    shell: Raw = Raw()


class OutputStyle(Attachment, tag="output_style"):
    """How to write."""

    style: str | None = None
    turn_reminder: str | None = None


class MaxTurnsReached(Attachment, tag="max_turns_reached"):
    """The limit of turns ended the run."""

    max_turns: int | None = None
    turn_count: int | None = None
    exit_committed: bool | None = None


class UltrathinkEffort(Effort, tag="ultrathink_effort"):
    """It was asked for by a word."""


class AdvisorStripped(ThinkingChange, tag="advisor_stripped"):
    """The advisor's words were stripped."""


class ToolResultsCut(Attachment, tag="tool_results_cut"):
    """Old results that are no longer sent."""

    call_ids: list[str] | None = None
    rough_tokens: int | None = None
    stand_in: str | None = None


class OutputTokenUsage(BudgetAttachment, tag="output_token_usage"):
    """Output tokens."""

    turn: float | None = None
    session: float | None = None
    budget: float | None = None


class CredentialOrg(Attachment, tag="credential_org"):
    """The organisation that pays."""

    organization_uuid: str | None = None


class Language(Attachment, tag="language"):
    """In which language to answer."""

    language: str | None = None


class OutputStyleInstructions(Attachment, tag="output_style_instructions"):
    """How to write, in full."""

    style: Raw = Raw()


class CoordinatorContext(Attachment, tag="coordinator_context"):
    """What a coordinator should know."""

    content: str | None = None
    changed: bool | None = None


class ContextSections(Attachment, tag="context_sections"):
    """The parts of the context."""

    sections: Raw = Raw()


class PromptRenderPoint(Attachment, tag="prompt_render_point"):
    """From here on the prompt is composed again."""

    cause: str | None = None


class ThreadState(Attachment, tag="thread_state"):
    """The state of the thread."""

    state: Raw = Raw()


class Proactivity(Attachment, tag="proactivity"):
    """How much to do unasked."""

    level: str | None = None
    status: str | None = None
    tools: Raw = Raw()


class PollEvents(Attachment, tag="poll_events"):
    """What came in while the model worked."""

    envelopes: Raw = Raw()
    kinds: Raw = Raw()
    delivered_via: str | None = None
    poll_call: Raw = Raw()
    provenance: Raw = Raw()
    remaining_wake_count: int | None = None
    timestamp: str | None = None
    tools_used: Raw = Raw()


class ProjectsThreadAsk(Attachment, tag="projects_thread_ask"):
    """A question to another thread."""

    call: Raw = Raw()
    after: Raw = Raw()
    message_id: str | None = None
    over_own_work: bool | None = None


class SessionCronCarry(Attachment, tag="session_cron_carry"):
    """Scheduled tasks carried over."""

    tasks: Raw = Raw()


class WorkflowKeywordRequest(Attachment, tag="workflow_keyword_request"):
    """The prompt asked for a workflow."""


class WorkflowSizeGuidelineChange(Attachment, tag="workflow_size_guideline_change"):
    """How large workflows may be."""

    size: str | None = None


class ArtifactOpeningPrefetch(Attachment, tag="artifact_opening_prefetch"):
    """An artifact read ahead."""

    artifact_kind: str | None = field(default=None, name="kind")
    content: Raw = Raw()


class ClaudeAppNotice(Attachment, tag="claude_app_notice"):
    """Something about an app."""

    app: str | None = None
    lines: Raw = Raw()


class WidgetContextHint(Attachment, tag="widget_context_hint"):
    """What widgets show."""

    views: Raw = Raw()
    more: int | None = None


AnyStateContext = (
    TokenUsageAttachment | BudgetUsd | Date | DateChange | Model | Environment | SessionContext | PromptSnapshot
    | RemoteSessionChange | PlanMode | PlanModeExit | PlanModeReentry | AutoMode | AutoModeExit | GoalStatus
    | StructuredOutput | UltraEffortEnter | UltraEffortExit | UltrathinkEffort | ThinkingDrop | ThinkingStripped
    | AdvisorStripped | ToolResultsCut | TaskStatus | OutputStyle | OutputStyleInstructions | OutputTokenUsage
    | MaxTurnsReached | CredentialOrg | Language | CoordinatorContext | ContextSections | PromptRenderPoint
    | ThreadState | Proactivity | PollEvents | ProjectsThreadAsk | SessionCronCarry | WorkflowKeywordRequest
    | WorkflowSizeGuidelineChange | ArtifactOpeningPrefetch | ClaudeAppNotice | WidgetContextHint
)  # fmt: skip
