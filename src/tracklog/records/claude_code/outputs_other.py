"""What the other tools report (`toolUseResult`): the web, questions, plans, skills, MCP, artifacts."""

from msgspec import Raw, field

from tracklog.records.base import Named
from tracklog.records.claude_code.outputs_work import ToolOutput


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
    original_cwd_missing: bool | None = None
    restored_cwd: str | None = None
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


class SendUserFileOutput(ToolOutput, kw_only=True):
    """SendUserFile."""

    attachments: Raw
    caption: str | None = None
    display: Raw = Raw()


class McpResourceOutput(ToolOutput, kw_only=True):
    """ReadMcpResource."""

    contents: Raw
    error: str | None = None


class PushNotificationOutput(ToolOutput):
    """PushNotification."""

    message: str | None = None
    push_sent: bool | None = None
    local_sent: bool | None = None
    disabled_reason: str | None = None


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
