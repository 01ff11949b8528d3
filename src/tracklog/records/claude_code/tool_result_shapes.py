"""The shapes of `toolUseResult`, one struct per form, and the table that says which tool writes which."""

import msgspec
from msgspec import Raw, field

from tracklog.records.base import Named
from tracklog.records.claude_code.envelope import Camel
from tracklog.records.claude_code.messages import Todo, Usage


class ToolOutput(Camel):
    """What a tool reports to programs."""


class CommitMade(Named):
    """A commit that a command made."""

    sha: str | None = None
    kind: str | None = None
    branch: str | None = None


class PushMade(Named):
    """A push that a command made."""

    branch: str | None = None


class BranchChange(Named):
    """A branch that a command merged or rebased."""

    ref: str | None = None
    action: str | None = None


class PullRequest(Named):
    """A pull request that a command touched."""

    number: int | None = None
    url: str | None = None
    action: str | None = None


class GitOperation(Named):
    """What a command did to a repository."""

    commit: CommitMade | None = None
    push: PushMade | None = None
    branch: BranchChange | None = None
    pr: PullRequest | None = None


class BashOutput(ToolOutput, kw_only=True):
    """Bash, PowerShell."""

    stdout: str
    stderr: str = ""
    interrupted: bool | None = None
    is_image: bool | None = None
    no_output_expected: bool | None = None
    raw_output_path: str | None = None
    background_task_id: str | None = None
    backgrounded_by_user: bool | None = None
    assistant_auto_backgrounded: bool | None = None
    timed_out_after_ms: float | None = None
    background_cwd_hint: str | bool | None = None
    background_ends_with_final_response: bool | None = None
    dangerously_disable_sandbox: bool | None = None
    return_code_interpretation: str | None = None
    structured_content: Raw = Raw()
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None
    stale_read_file_state_hint: str | None = None
    gh_rate_limit_hint: str | None = None
    git_operation: GitOperation | None = None
    sandbox: bool | None = None
    summary: str | None = None
    token_saver_output: str | None = None
    is_error: bool | None = field(default=None, name="is_error")


class Dimensions(Camel):
    """The size of a picture."""

    original_width: int | None = None
    original_height: int | None = None
    display_width: int | None = None
    display_height: int | None = None
    width: int | None = None
    height: int | None = None


class ReadFile(Camel):
    """What was read: text, a picture, a notebook, a PDF."""

    file_path: str | None = None
    content: str | None = None
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None
    truncated_by_token_cap: bool | None = None
    base64: str | None = None
    type: str | None = None
    original_size: int | None = None
    dimensions: Dimensions | None = None
    cells: Raw = Raw()
    count: int | None = None
    output_dir: str | None = None


class ReadOutput(ToolOutput, kw_only=True):
    """Read."""

    type: str
    file: ReadFile
    source: str | None = None


class Hunk(Camel, kw_only=True):
    """A part of a diff; its lines start with a space, `-`, `+` or a backslash."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class WriteOutput(ToolOutput, kw_only=True):
    """Write."""

    file_path: str
    type: str | None = None
    content: str | None = None
    structured_patch: list[Hunk] | None = None
    original_file: str | None = None
    git_diff: Raw = Raw()
    user_modified: bool | None = None
    memdir_stamped: bool | None = None


class EditStep(Named):
    """One of several edits."""

    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool | None = None


class EditOutput(ToolOutput, kw_only=True):
    """Edit, MultiEdit."""

    file_path: str
    old_string: str | None = None
    new_string: str | None = None
    original_file: str | None = None
    original_file_contents: str | None = None
    structured_patch: list[Hunk] | None = None
    edits: list[EditStep] | None = None
    user_modified: bool | None = None
    replace_all: bool | None = None
    git_diff: Raw = Raw()
    stale_recovered: bool | None = None
    memdir_stamped: bool | None = None


class NotebookEditOutput(Named, kw_only=True):
    """NotebookEdit."""

    new_source: str
    old_source: str | None = None
    cell_id: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    error: str | None = None
    notebook_path: str | None = None
    original_file: str | None = None
    updated_file: str | None = None


class GlobOutput(ToolOutput, kw_only=True):
    """Glob."""

    filenames: list[str]
    num_files: int | None = None
    duration_ms: float | None = None
    truncated: bool | None = None
    total_matches: int | None = None
    count_is_complete: bool | None = None


class GrepOutput(ToolOutput, kw_only=True):
    """Grep."""

    filenames: list[str]
    mode: str | None = None
    num_files: int | None = None
    content: str | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    total_matches: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None


class AgentStats(Camel):
    """What a subagent did, in numbers."""

    read_count: int | None = None
    search_count: int | None = None
    bash_count: int | None = None
    edit_file_count: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    other_tool_count: int | None = None
    frame_count: int | None = None


class AgentOutput(ToolOutput):
    """Task, Agent: finished, launched in the background, or launched elsewhere."""

    status: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    prompt: str | None = None
    content: Raw = Raw()
    resolved_model: str | None = None
    models_used: list[str] | None = None
    total_tool_use_count: int | None = None
    total_duration_ms: float | None = None
    total_tokens: int | None = None
    usage: Usage | None = None
    tool_stats: AgentStats | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    was_interrupted: bool | None = None
    is_async: bool | None = None
    output_file: str | None = None
    can_read_output_file: bool | None = None
    can_continue_agent: bool | None = None
    tools_used: list[str] | None = None
    harness_note_count: int | None = None
    harness_tail_count: int | None = None
    harness_section_hash: str | None = None
    task_id: str | None = None
    session_url: str | None = None


class TeammateOutput(Named, kw_only=True):
    """Task, Agent: a teammate was started."""

    teammate_id: str
    status: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    name: str | None = None
    team_name: str | None = None
    model: str | None = None
    prompt: str | None = None
    color: str | None = None
    is_splitpane: bool | None = None
    plan_mode_required: bool | None = None
    tmux_pane_id: str | None = None
    tmux_session_name: str | None = None
    tmux_window_name: str | None = None


class WorkflowOutput(ToolOutput, kw_only=True):
    """Workflow."""

    status: str
    task_id: str | None = None
    task_type: str | None = None
    workflow_name: str | None = None
    run_id: str | None = None
    summary: str | None = None
    transcript_dir: str | None = None
    script_path: str | None = None
    session_url: str | None = None
    warning: str | None = None
    error: str | None = None


class TaskState(Named):
    """A background task."""

    task_id: str | None = None
    task_type: str | None = None
    status: str | None = None
    description: str | None = None
    output: str | None = None
    prompt: str | None = None
    result: str | None = None
    exit_code: int | None = field(default=None, name="exitCode")
    error: str | None = None


class TaskOutputOutput(Named, kw_only=True):
    """TaskOutput, AgentOutputTool."""

    retrieval_status: str
    task: TaskState | None = None


class ShellOutput(ToolOutput, kw_only=True):
    """BashOutput."""

    shell_id: str
    command: str | None = None
    status: str | None = None
    exit_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    stdout_lines: int | None = None
    stderr_lines: int | None = None
    timestamp: str | None = None
    filter_pattern: str | None = None


class TaskStopOutput(Named, kw_only=True):
    """TaskStop, KillShell, KillBash."""

    message: str
    task_id: str | None = None
    task_type: str | None = None
    command: str | None = None
    shell_id: str | None = None
    success: bool | None = None


class MonitorOutput(ToolOutput, kw_only=True):
    """Monitor."""

    task_id: str
    timeout_ms: float | None = None
    persistent: bool | None = None


class TodoWriteOutput(ToolOutput, kw_only=True):
    """TodoWrite."""

    new_todos: list[Todo]
    old_todos: list[Todo] | None = None
    verification_nudge_needed: bool | None = None


class Task(Camel):
    """An entry of a task list."""

    id: str | None = None
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    owner: str | None = None
    status: str | None = None
    blocks: list[str] | None = None
    blocked_by: list[str] | None = None
    metadata: Raw = Raw()


class TaskOutput(ToolOutput):
    """TaskCreate, TaskGet."""

    task: Task | None = None


class TaskListOutput(ToolOutput, kw_only=True):
    """TaskList."""

    tasks: list[Task]


class StatusChange(Named):
    """From one status to another."""

    from_: str | None = field(default=None, name="from")
    to: str | None = None


class TaskUpdateOutput(ToolOutput, kw_only=True):
    """TaskUpdate."""

    success: bool
    task_id: str | None = None
    updated_fields: list[str] | None = None
    error: str | None = None
    status_change: StatusChange | None = None
    verification_nudge_needed: bool | None = None


class WebFetchOutput(ToolOutput, kw_only=True):
    """WebFetch."""

    url: str
    bytes: int | None = None
    code: int | None = None
    code_text: str | None = None
    result: str | None = None
    duration_ms: float | None = None
    artifact_read: Raw = Raw()


class WebSearchOutput(ToolOutput, kw_only=True):
    """WebSearch."""

    query: str
    results: Raw = Raw()
    duration_seconds: float | None = None
    search_count: int | None = None


class AskOutput(ToolOutput, kw_only=True):
    """AskUserQuestion."""

    questions: Raw
    answers: Raw = Raw()
    response: str | None = None
    annotations: Raw = Raw()
    afk_timeout_ms: float | None = None


class ExitPlanOutput(ToolOutput):
    """ExitPlanMode."""

    plan: str | None = None
    is_agent: bool | None = None
    file_path: str | None = None
    has_task_tool: bool | None = None
    plan_was_edited: bool | None = None
    awaiting_leader_approval: bool | None = None
    request_id: str | None = None


class MessageOutput(ToolOutput, kw_only=True):
    """EnterPlanMode and others that only say something."""

    message: str


class WorktreeOutput(ToolOutput):
    """EnterWorktree, ExitWorktree."""

    message: str | None = None
    action: str | None = None
    original_cwd: str | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    discarded_files: int | None = None
    discarded_commits: int | None = None
    tmux_session_name: str | None = None


class SkillOutput(ToolOutput, kw_only=True):
    """Skill, SlashCommand."""

    success: bool
    command_name: str | None = None
    allowed_tools: list[str] | None = None
    model: str | None = None
    status: str | None = None
    agent_id: str | None = None
    result: str | None = None


class ToolSearchOutput(Named, kw_only=True):
    """ToolSearch."""

    matches: list[str]
    query: str | None = None
    total_deferred_tools: int | None = None
    pending_mcp_servers: Raw = Raw()


class SendMessageOutput(ToolOutput, kw_only=True):
    """SendMessage."""

    success: bool
    message: str | None = None
    msg_id: str | None = field(default=None, name="msg_id")
    request_id: str | None = field(default=None, name="request_id")
    target: str | None = None
    display: Raw = Raw()
    resumed_agent_id: str | None = None
    revived_agent_id: str | None = None
    pin: Raw = Raw()
    routing: Raw = Raw()


class ListAgentsOutput(ToolOutput, kw_only=True):
    """ListAgents."""

    listing: Raw
    sections: Raw = Raw()
    notes: Raw = Raw()


class SendUserFileOutput(ToolOutput, kw_only=True):
    """SendUserFile."""

    attachments: Raw
    caption: str | None = None
    display: Raw = Raw()


class TeamOutput(Named):
    """TeamCreate, TeamDelete."""

    team_name: str | None = None
    team_file_path: str | None = None
    lead_agent_id: str | None = None
    success: bool | None = None
    message: str | None = None


class McpResourceOutput(ToolOutput, kw_only=True):
    """ReadMcpResource."""

    contents: Raw
    error: str | None = None


class CronOutput(ToolOutput):
    """CronCreate, CronDelete, CronList."""

    id: str | None = None
    human_schedule: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: float | None = None
    jobs: Raw = Raw()


class WakeupOutput(ToolOutput):
    """ScheduleWakeup."""

    scheduled_for: float | None = None
    clamped_delay_seconds: float | None = None
    was_clamped: bool | None = None
    stopped: bool | None = None
    cancelled_wakeups: int | None = None


class RemoteTriggerOutput(ToolOutput):
    """RemoteTrigger."""

    status: int | str | None = None
    json: Raw = Raw()
    summary: str | None = None


class PushNotificationOutput(ToolOutput):
    """PushNotification."""

    message: str | None = None
    push_sent: bool | None = None
    local_sent: bool | None = None
    disabled_reason: str | None = None


class ReplOutput(ToolOutput, kw_only=True):
    """REPL."""

    code: str
    result: Raw = Raw()
    stdout: str | None = None
    stderr: str | None = None
    error: str | None = None
    images: Raw = Raw()
    documents: Raw = Raw()


class FindingsOutput(ToolOutput, kw_only=True):
    """ReportFindings."""

    findings: Raw
    count: int | None = None
    level: str | None = None


class ArtifactOutput(ToolOutput):
    """Artifact."""

    url: str | None = None
    path: str | None = None
    title: str | None = None
    version: Raw = Raw()
    updated: Raw = Raw()
    live_subscription: Raw = Raw()
    artifacts: Raw = Raw()


class ProjectsOutput(ToolOutput, kw_only=True):
    """Projects."""

    method: str
    data: Raw = Raw()


class StructuredAnswer(ToolOutput):
    """StructuredOutput."""

    data: Raw = Raw()
    structured_output: Raw = field(default=Raw(), name="structured_output")


class LspOutput(ToolOutput, kw_only=True):
    """LSP."""

    operation: str
    result: Raw = Raw()
    file_path: str | None = None
    result_count: int | None = None
    file_count: int | None = None


Shapes = tuple[type[msgspec.Struct], ...]

SHAPES: dict[str, Shapes] = {
    "Bash": (BashOutput,),
    "bash": (BashOutput,),
    "PowerShell": (BashOutput,),
    "Read": (ReadOutput,),
    "Write": (WriteOutput,),
    "Edit": (EditOutput,),
    "MultiEdit": (EditOutput,),
    "NotebookEdit": (NotebookEditOutput,),
    "Glob": (GlobOutput,),
    "Grep": (GrepOutput,),
    "Task": (AgentOutput, TeammateOutput),
    "Agent": (AgentOutput, TeammateOutput),
    "Workflow": (WorkflowOutput,),
    "TaskOutput": (TaskOutputOutput, ShellOutput),
    "AgentOutputTool": (TaskOutputOutput,),
    "BashOutput": (ShellOutput, TaskOutputOutput),
    "TaskStop": (TaskStopOutput,),
    "KillShell": (TaskStopOutput,),
    "KillBash": (TaskStopOutput,),
    "Monitor": (MonitorOutput,),
    "TodoWrite": (TodoWriteOutput,),
    "TaskCreate": (TaskOutput,),
    "TaskGet": (TaskOutput,),
    "TaskList": (TaskListOutput,),
    "TaskUpdate": (TaskUpdateOutput,),
    "WebFetch": (WebFetchOutput,),
    "WebSearch": (WebSearchOutput,),
    "AskUserQuestion": (AskOutput,),
    "ExitPlanMode": (ExitPlanOutput,),
    "EnterPlanMode": (MessageOutput,),
    "EnterWorktree": (WorktreeOutput,),
    "ExitWorktree": (WorktreeOutput,),
    "Skill": (SkillOutput,),
    "SlashCommand": (SkillOutput,),
    "ToolSearch": (ToolSearchOutput,),
    "SendMessage": (SendMessageOutput,),
    "ListAgents": (ListAgentsOutput,),
    "SendUserFile": (SendUserFileOutput,),
    "TeamCreate": (TeamOutput,),
    "TeamDelete": (TeamOutput,),
    "ReadMcpResourceTool": (McpResourceOutput,),
    "ReadMcpResource": (McpResourceOutput,),
    "CronCreate": (CronOutput,),
    "CronDelete": (CronOutput,),
    "CronList": (CronOutput,),
    "ScheduleWakeup": (WakeupOutput,),
    "RemoteTrigger": (RemoteTriggerOutput,),
    "PushNotification": (PushNotificationOutput,),
    "REPL": (ReplOutput,),
    "ReportFindings": (FindingsOutput,),
    "Artifact": (ArtifactOutput,),
    "Projects": (ProjectsOutput,),
    "StructuredOutput": (StructuredAnswer,),
    "LSP": (LspOutput,),
}
