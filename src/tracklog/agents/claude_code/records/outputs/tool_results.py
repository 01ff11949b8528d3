"""The shapes of `toolUseResult`, by tool (docs/formats/claude_code.md#tool-results).

It is an object, a list (MCP), a string (errors) or absent. Only the call says which tool it belongs to, so pass
the tool's name where it is known.

Rules
  1. A tool has one or more shapes; of those that fit, the one with the fewest unnamed keys is taken.
  2. Strings and lists stay as they are, and so does the result of an MCP tool. An object of an unknown tool, or
     one that fits no shape of its tool, is an `UnknownPart`.
  3. Without a tool's name all shapes are tried.
"""

from typing import Any

import msgspec
from msgspec import Raw, field

from tracklog.agents.claude_code.records.outputs.agents import (
    AgentOutput,
    CronOutput,
    ListAgentsOutput,
    MonitorOutput,
    RemoteTriggerOutput,
    SendMessageOutput,
    ShellOutput,
    TaskListOutput,
    TaskOutput,
    TaskOutputOutput,
    TaskStopOutput,
    TaskUpdateOutput,
    TeammateOutput,
    TeamOutput,
    TodoWriteOutput,
    WakeupOutput,
    WorkflowOutput,
)
from tracklog.agents.claude_code.records.outputs.work import (
    BashOutput,
    EditOutput,
    GlobOutput,
    GrepOutput,
    LspOutput,
    NotebookEditOutput,
    ReadOutput,
    ReplOutput,
    ToolOutput,
    WriteOutput,
)
from tracklog.agents.drift import Stray, joined, shape_of
from tracklog.model.records import Named, UnknownPart, opened


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
Reading = msgspec.Struct | UnknownPart | str | list[Any] | dict[str, Any] | None
_ALL: Shapes = tuple(dict.fromkeys(shape for shapes in SHAPES.values() for shape in shapes))


def read_tool_result(raw: msgspec.Raw, tool: str | None = None) -> Reading:
    """What the tool reported, typed where we know the tool."""
    value = opened(raw)
    if not isinstance(value, dict) or _is_free(tool):
        return value  # type: ignore[no-any-return]  # plain JSON, as the union says
    struct, _ = _best_shape(value, tool)
    if struct is None:
        why = "no shape of this tool fits" if tool in SHAPES else "unknown tool"
        return UnknownPart(name=tool or "", why=why, body=value)
    reading: msgspec.Struct = msgspec.convert(shape_of(struct).mend(value, []), struct)
    return reading


def strays_of_tool_result(value: Any, tool: str | None) -> list[Stray]:
    """The keys of a parsed `toolUseResult` that no shape of its tool names; `()` if none fits at all."""
    if not isinstance(value, dict) or _is_free(tool):
        return []
    struct, strays = _best_shape(value, tool)
    if struct is None:
        return [(f"toolUseResult({tool or '?'})", value)]
    return [(joined(f"toolUseResult({tool or struct.__name__})", path), stray) for path, stray in strays]


def _is_free(tool: str | None) -> bool:
    return tool is not None and tool.startswith("mcp__")


def _best_shape(value: dict[str, Any], tool: str | None) -> tuple[type[msgspec.Struct] | None, list[Stray]]:
    best: tuple[type[msgspec.Struct] | None, list[Stray]] = (None, [])
    for struct in _ALL if tool is None else SHAPES.get(tool, ()):
        shape = shape_of(struct)
        strays = shape.strays(value)
        if best[0] is not None and len(strays) >= len(best[1]):
            continue
        if _fits(shape.mend(value, []), struct):
            best = (struct, strays)
            if not strays:
                break
    return best


def _fits(value: Any, struct: type[msgspec.Struct]) -> bool:
    try:
        msgspec.convert(value, struct)
    except msgspec.ValidationError:
        return False
    return True
