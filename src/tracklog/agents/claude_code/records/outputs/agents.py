"""What tools report (`toolUseResult`) that start and steer agents, tasks and schedules."""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel
from tracklog.agents.claude_code.records.messages import Todo, Usage
from tracklog.agents.claude_code.records.outputs.work import ToolOutput
from tracklog.model.records import Named


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


class TeamOutput(Named):
    """TeamCreate, TeamDelete."""

    team_name: str | None = None
    team_file_path: str | None = None
    lead_agent_id: str | None = None
    success: bool | None = None
    message: str | None = None


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
