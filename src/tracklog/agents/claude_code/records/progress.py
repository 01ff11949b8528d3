"""The `progress` records of 2.1.0 to about 2.1.8x (docs/formats/claude_code.md#progress)."""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel, Envelope
from tracklog.agents.claude_code.records.messages import ApiMessage
from tracklog.model.records import tag_of


class Progress(Camel, tag_field="type"):
    """How something that runs is getting on. `server` and `tool` are keys of public descriptions only."""

    status: str | None = None
    tool_name: str | None = None
    server: str | None = None
    tool: str | None = None


class HookProgress(Progress, tag="hook_progress"):
    """A hook is running."""

    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None
    status_message: str | None = None
    prompt_text: str | None = None


class BashProgress(Progress, tag="bash_progress"):
    """A command is running."""

    output: str | None = None
    full_output: str | None = None
    elapsed_time_seconds: float | None = None
    total_lines: int | None = None
    total_bytes: int | None = None
    task_id: str | None = None
    timeout_ms: int | None = None
    command: str | None = None


class AgentMessage(Camel):
    """A record of a subagent, copied; its usage counts only where the original is missing."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    tool_use_result: Raw = Raw()
    message: ApiMessage | None = None
    is_meta: bool | None = None
    is_api_error_message: bool | None = None
    error: str | None = None


class AgentProgress(Progress, tag="agent_progress"):
    """A subagent is working."""

    agent_id: str | None = None
    prompt: str | None = None
    message: AgentMessage | None = None
    normalized_messages: Raw = Raw()
    resume: str | bool | None = None


class McpProgress(Progress, tag="mcp_progress"):
    """An MCP tool is running."""

    server_name: str | None = None
    elapsed_time_ms: float | None = None
    progress: float | None = None
    total: float | None = None
    progress_message: str | None = None


class WaitingForTask(Progress, tag="waiting_for_task"):
    """Waiting for a background task."""

    task_description: str | None = None
    task_type: str | None = None


class QueryUpdate(Progress, tag="query_update"):
    """A web search was sent."""

    query: str | None = None


class SearchResultsReceived(Progress, tag="search_results_received"):
    """A web search was answered."""

    query: str | None = None
    result_count: int | None = None


AnyProgress = (
    HookProgress
    | BashProgress
    | AgentProgress
    | McpProgress
    | WaitingForTask
    | QueryUpdate
    | SearchResultsReceived
)


class ProgressLine(Envelope, tag="progress", tag_field="type", kw_only=True):
    """A sign of life of a tool, a hook or a subagent."""

    data: AnyProgress
    tool_use_id: str | None = field(default=None, name="toolUseID")
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")

    @property
    def kind(self) -> str:
        return f"progress/{tag_of(type(self.data))}"
