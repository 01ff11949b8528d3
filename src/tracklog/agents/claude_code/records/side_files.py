"""Claude Code's files beside the transcripts: sidecars, registry, prompt history, workflow journals."""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import CamelRecord
from tracklog.agents.claude_code.records.messages import Usage
from tracklog.model.records import utc


class AgentMeta(CamelRecord):
    """`agent-<id>.meta.json`: what a subagent is and which call spawned it."""

    agent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_agent_id: str | None = None
    spawn_depth: int | None = None
    name: str | None = None
    model: str | None = None
    picked_effort_model: str | None = None
    request_shape: str | None = None
    request_non_interactive: bool | None = None
    is_built_in: bool | None = None
    is_fork: bool | None = None
    launched_with_defaults: bool | None = None
    finished: bool | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    spawned_with_worktree: bool | None = None
    worktree_cleanly_removed: bool | None = None
    stopped_by_user: bool | None = None
    workflow_phase: str | None = None
    in_workflow_run: bool | None = None  # since 2.1.326

    @property
    def kind(self) -> str:
        return "meta"


class Registry(CamelRecord, kw_only=True):
    """`sessions/<pid>.json`: a process that lives, or did."""

    pid: int
    session_id: str
    cwd: str | None = None
    started_at: int | None = None
    proc_start: str | None = None
    version: str | None = None
    peer_protocol: int | None = None
    peer_features: list[str] | None = None
    kind_: str | None = field(default=None, name="kind")
    entrypoint: str | None = None
    status: str | None = None
    waiting_for: str | None = None
    updated_at: int | None = None
    status_updated_at: int | None = None
    pid_domain: str | None = None
    tmux: str | None = None
    messaging_socket_path: str | None = None
    name: str | None = None
    name_source: str | None = None
    name_since: int | None = None
    bridge_session_id: str | None = None
    host_session_id: str | None = None
    agent: str | None = None
    log_path: str | None = None
    asks_for_converted_skills: bool | None = None

    @property
    def kind(self) -> str:
        return "registry"

    @property
    def ident(self) -> str | None:
        return self.session_id


class ClaudeHistoryLine(CamelRecord, kw_only=True):
    """`history.jsonl`: a prompt that was typed."""

    display: str
    timestamp: int
    pasted_contents: Raw = Raw()
    project: str | None = None
    session_id: str | None = None

    @property
    def kind(self) -> str:
        return "history"

    @property
    def at(self) -> str | None:
        return utc(self.timestamp / 1000)


class JournalLine(CamelRecord, tag_field="type"):
    """`journal.jsonl` of a workflow."""

    key: str | None = None
    agent_id: str | None = None
    label: str | None = None
    phase: str | None = None
    timestamp: str | None = None

    @property
    def at(self) -> str | None:
        return self.timestamp


class JournalLaunched(JournalLine, tag="launched"):
    """The workflow started."""

    run_id: str | None = None


class JournalStarted(JournalLine, tag="started"):
    """An agent of it started."""


class JournalResult(JournalLine, tag="result"):
    """An agent of it gave its result."""

    result: Raw = Raw()
    tools_used: Raw = Raw()
    remote_control_device_report: Raw = Raw()
    session_id: str | None = None  # since 2.1.327


class JournalFailed(JournalLine, tag="failed"):
    """An agent of it failed."""

    error: Raw = Raw()
    reason: Raw = Raw()


class WorkflowRun(CamelRecord, kw_only=True):
    """`workflows/wf_<id>.json`: what a workflow did, written at its end."""

    run_id: str
    timestamp: str | None = None
    task_id: str | None = None
    script: str | None = None
    script_path: str | None = None
    result: Raw = Raw()
    agent_count: int | None = None
    logs: Raw = Raw()
    duration_ms: float | None = None
    summary: str | None = None
    workflow_name: str | None = None
    status: str | None = None
    error: str | None = None
    start_time: int | None = None
    phases: Raw = Raw()
    default_model: str | None = None
    workflow_progress: Raw = Raw()
    total_tokens: int | None = None
    total_tool_calls: int | None = None

    @property
    def kind(self) -> str:
        return "workflow"


class TitleFile(CamelRecord, kw_only=True):
    """`custom-title.json`: the title that the person gave."""

    custom_title: str

    @property
    def kind(self) -> str:
        return "title"


class ProjectIndex(CamelRecord, kw_only=True):
    """`sessions-index.json` of early 2026; never trusted over the transcripts."""

    entries: Raw
    version: int | None = None
    original_path: str | None = None

    @property
    def kind(self) -> str:
        return "project-index"


class ResultLine(CamelRecord, tag="result", tag_field="type", rename=None, kw_only=True):
    """The closing object of a headless run, kept as a log."""

    subtype: str
    is_error: bool | None = None
    result: str | None = None
    errors: Raw = Raw()
    session_id: str | None = None
    uuid: str | None = None
    num_turns: int | None = None
    duration_ms: float | None = None
    duration_api_ms: float | None = None
    total_cost_usd: float | None = None
    cost_usd: float | None = None
    usage: Usage | None = None
    model_usage: Raw = field(default=Raw(), name="modelUsage")
    permission_denials: Raw = Raw()
    stop_reason: str | None = None
    terminal_reason: str | None = None
    api_error_status: int | str | None = None
    structured_output: Raw = Raw()
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    ttft_ms: float | None = None
    ttft_stream_ms: float | None = None
    time_to_request_ms: float | None = None
    request_sent_wall_ms: float | None = None
    queued_turn_count: int | None = None
    result_index: int | None = None
    safety_stops: int | None = None
    subagent_stats: Raw = Raw()
    model_usage_since_last_result: Raw = Raw()
    user_message_uuid: str | None = None
    deferred_tool_use: Raw = Raw()
    origin: Raw = Raw()

    @property
    def ident(self) -> str | None:
        return self.uuid
