"""The payload of a hook, one class for each event. Fields are what agents send; what one does not send is None.

Rules
  1. Reading never fails for news: an event that nobody knows, or a known one in another shape, is an `OtherEvent`.
  2. `payload` is all of it, as it came; what has no field of its own is found there.
"""

from typing import Any

import msgspec

Payload = dict[str, Any]


class Event(msgspec.Struct, kw_only=True, tag_field="hook_event_name", tag=str):
    """What all events tell. `transcript_path` is the main thread's log, also inside a subagent."""

    session_id: str | None = None
    transcript_path: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    prompt_id: str | None = None
    turn_id: str | None = None  # Codex
    model: str | None = None
    effort: Any = None
    agent_id: str | None = None  # of the subagent in which it happened
    agent_type: str | None = None
    payload: Payload = {}

    @property
    def name(self) -> str:
        """The event's name, as settings spell it."""
        return type(self).__name__


class OtherEvent(Event):
    """An event, or a shape of one, that is not known here."""

    @property
    def name(self) -> str:
        return str(self.payload.get("hook_event_name") or "")


class SessionStart(Event):
    """A session starts: `startup`, `resume`, `clear`, `compact` or `fork`."""

    source: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None


class Setup(Event):
    """`claude --init` or `--maintenance`."""

    trigger: str | None = None


class SessionEnd(Event):
    """A session ends: `clear`, `resume`, `logout`, `prompt_input_exit`, `other` …"""

    reason: str | None = None


class UserPromptSubmit(Event):
    """A prompt is about to be sent; not always one that a person typed."""

    prompt: str
    session_title: str | None = None


class UserPromptExpansion(Event):
    """A command or a skill became a prompt."""

    prompt: str | None = None
    expansion_type: str | None = None
    command_name: str | None = None
    command_args: str | None = None
    command_source: str | None = None


class _OfTool(Event):
    tool_name: str
    tool_input: Any = None  # an object, of all tools that are known
    tool_use_id: str | None = None


class PreToolUse(_OfTool):
    """A tool is about to run."""


class PermissionRequest(_OfTool):
    """The person is about to be asked; it names no call."""

    permission_suggestions: Any = None


class PermissionDenied(_OfTool):
    """A call was refused without anybody being asked."""

    reason: str | None = None


class PostToolUse(_OfTool):
    """A tool ran and came back well."""

    tool_response: Any = None
    duration_ms: float | None = None


class PostToolUseFailure(_OfTool):
    """A tool ran and failed."""

    error: str | None = None
    is_interrupt: bool | None = None
    duration_ms: float | None = None


class PostToolBatch(Event):
    """All calls of an answer are over."""

    tool_calls: list[Payload] = []


class _OfStop(Event):
    stop_hook_active: bool = False  # a hook made it go on already: block again only with care
    last_assistant_message: str | None = None
    background_tasks: list[Any] | None = None
    session_crons: list[Any] | None = None


class Stop(_OfStop):
    """The agent is about to stop. It does not come after a refusal or an interrupt, and may come twice in a turn."""


class SubagentStop(_OfStop):
    """A subagent is about to stop."""

    agent_transcript_path: str | None = None


class SubagentStart(Event):
    """A subagent starts."""


class StopFailure(Event):
    """The turn ended with an error of the API."""

    error: str | None = None
    error_details: Any = None
    last_assistant_message: str | None = None


class Notification(Event):
    """The client notifies the person: `permission_prompt`, `idle_prompt` … seconds after the fact."""

    message: str | None = None
    title: str | None = None
    notification_type: str | None = None


class PreCompact(Event):
    """What was said so far is about to be summed up: `manual` or `auto`."""

    trigger: str | None = None
    custom_instructions: str | None = None


class PostCompact(Event):
    """It was summed up."""

    trigger: str | None = None
    compact_summary: str | None = None


class _OfTask(Event):
    task_id: str | None = None
    task_subject: str | None = None
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None


class TaskCreated(_OfTask):
    """A task is about to be put on the list."""


class TaskCompleted(_OfTask):
    """A task is about to be marked as done."""


class TeammateIdle(Event):
    """A teammate is about to rest."""

    teammate_name: str | None = None
    team_name: str | None = None


class InstructionsLoaded(Event):
    """A file of instructions was read."""

    file_path: str | None = None
    memory_type: str | None = None
    load_reason: str | None = None
    globs: Any = None
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


class ConfigChange(Event):
    """Settings changed."""

    source: str | None = None
    file_path: str | None = None


class CwdChanged(Event):
    """The working directory changed."""

    old_cwd: str | None = None
    new_cwd: str | None = None


class DirectoryAdded(Event):
    """Another directory may be worked in."""

    directory: str | None = None
    source: str | None = None


class FileChanged(Event):
    """A watched file changed."""

    file_path: str | None = None
    event: str | None = None


class WorktreeCreate(Event):
    """A worktree is wanted; what the hook prints is its path."""

    worktree_name: str | None = msgspec.field(default=None, name="name")


class WorktreeRemove(Event):
    """A worktree is to be removed."""

    worktree_path: str | None = None


class Elicitation(Event):
    """An MCP server wants to know something of the person."""

    mcp_server_name: str | None = None
    message: str | None = None
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: Any = None


class ElicitationResult(Event):
    """What the person answered to an MCP server."""

    mcp_server_name: str | None = None
    action: str | None = None
    content: Any = None


class MessageDisplay(Event):
    """A piece of the answer is about to be shown."""

    message_id: str | None = None
    index: int | None = None
    final: bool | None = None
    delta: str | None = None


KNOWN: dict[str, type[Event]] = {
    event.__name__: event
    for event in (
        SessionStart, Setup, SessionEnd, UserPromptSubmit, UserPromptExpansion, PreToolUse, PermissionRequest,
        PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch, Stop, SubagentStop, SubagentStart,
        StopFailure, Notification, PreCompact, PostCompact, TaskCreated, TaskCompleted, TeammateIdle,
        InstructionsLoaded, ConfigChange, CwdChanged, DirectoryAdded, FileChanged, WorktreeCreate, WorktreeRemove,
        Elicitation, ElicitationResult, MessageDisplay,
    )
}  # fmt: skip


def read_event(payload: Payload) -> Event:
    """The event of a payload."""
    name = payload.get("hook_event_name")
    try:
        event = msgspec.convert(payload, KNOWN.get(name, OtherEvent) if isinstance(name, str) else OtherEvent)
    except msgspec.ValidationError:
        event = OtherEvent()
    event.payload = payload
    return event
