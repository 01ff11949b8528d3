"""What happened, in the past tense: one vocabulary for all agents.

Rules
  1. An event is a fact of one piece of a log and knows its place. What follows from several is the fold's work.
  2. Nothing here is agent-specific; a field that only one agent fills says nothing about the others.
  3. Big things (inputs and reports of tools) stay the bytes that they were, and are parsed where they are needed.
"""

from typing import Literal

import msgspec
from msgspec import Raw

from tracklog.model.ids import CallId, NodeId, RequestId, TaskId, ThreadId

Origin = Literal["typed", "queued", "slash", "shell", "sdk", "agent"]
Said = Literal[
    "ok",
    "error",
    "rejected",  # refused or interrupted: the words are the same for both
    "cancelled",  # with a call beside it, which was refused or interrupted
    "denied",
    "blocked",
    "interrupted",
    "cut_off",  # killed with the client, or by itself: only what follows can tell
    "timed_out",
    "sibling_error",
    "backgrounded",
    "outcome_unknown",  # written by a later resume in place of a result
]
End = Literal["ok", "error", "killed", "running"]
GroupedBy = Literal["message_id", "request_id", "adjacency"]  # what joins the lines of an answer
TextSource = Literal["result", "preview", "log", "file", "archive"]  # where a text of a result comes from


class Place(msgspec.Struct, frozen=True, gc=False, order=True):
    """The file and line of a fact."""

    path: str
    line: int


class LogEvent(msgspec.Struct, kw_only=True, gc=False):
    """A fact. `node` and `parent` are its record's place on the conversation tree, where the agent keeps one."""

    place: Place
    at: str | None = None
    node: NodeId | None = None
    parent: NodeId | None = None
    thread: ThreadId | None = None  # the subagent that the record names, where it names one
    turn: str | None = None  # the agent's own word for the turn: `promptId`, `turn_id`
    is_sidechain: bool = False
    is_copy: bool = False  # is in another file too, where that is kept
    is_aside: bool = False  # of a teammate, or made by the client: never where a session goes on
    is_message: bool = False  # its record is a message of the conversation, not context or a note beside it


class PromptGiven(LogEvent, kw_only=True):
    """A person, a program in its name, or the agent above a subagent asked for something."""

    text: str
    origin: Origin = "typed"
    n_images: int = 0
    n_documents: int = 0
    permission_mode: str | None = None


class TextInjected(LogEvent, kw_only=True):
    """The client put words into the conversation that nobody typed."""

    why: str  # meta, command_output, hook, notification, environment, instructions, skill, summary, reminder, peer …
    text: str


class ModelReplied(LogEvent, kw_only=True):
    """A part of a model's answer reached the disk."""

    request: RequestId | None
    model: str | None = None
    text: str = ""
    last_text: str = ""  # the last block of text, where the part holds more than one
    thinking: str = ""
    has_hidden_thought: bool = False  # thinking of which only a signature or cipher is kept
    stop_reason: str | None = None
    is_by_request_id: bool = False  # the message has no id: `request` is the id that the API gave the request
    is_last: bool = False  # the model calls it its answer to the prompt: the turn ends behind it
    is_synthetic: bool = False  # made by the client, not by a model
    api_error: str | None = None
    effort: str | None = None


class ToolCalled(LogEvent, kw_only=True):
    """The model wished to run a tool."""

    call: CallId
    name: str
    input: Raw = Raw()  # JSON; a free text is a JSON string
    ran_input: Raw = Raw()  # what ran in its place, where this record already says so
    request: RequestId | None = None
    is_server_side: bool = False
    server: str | None = None  # of a tool that an MCP server offers
    parent_call: CallId | None = None  # the script that made this call, where the log lets one see it


class ToolReturned(LogEvent, kw_only=True):
    """A result reached the model."""

    call: CallId | None
    said: Said
    why: str = ""  # the rule by which we read it so
    text: str = ""
    is_error: bool | None = None
    report: Raw = Raw()  # what the tool reports to programs
    exit_code: int | None = None
    is_code_only_of_shell: bool = (
        False  # read from words in which any text may end: no code unless the tool is a shell
    )
    task: TaskId | None = None  # what goes on in the background
    agent: ThreadId | None = None  # the subagent that did the work
    timed_out: bool | None = None  # a time limit moved it to the background; None: the log does not say
    took_ms: float | None = None  # as stated
    decision: str | None = None  # who decided, such as `reject hook:PreToolUse`
    feedback: str | None = None  # the person's words with a refusal
    side_file: str | None = None  # the file that holds the whole output, as the log names it
    full_text: str = ""  # where `text` is only a preview: the longest text there is of what came back
    text_source: TextSource = (
        "result"  # of the fullest text: the result itself, only its preview, the report, the file
    )
    is_text_whole: bool = True  # False: there was more than the fullest text
    whole_tokens: int | None = None  # of the whole output, as the client counted it
    whole_lines: int | None = None
    envelope_bytes: int = 0  # of the client's own words around the text: the model reads them, too
    n_images: int = 0
    is_headless: bool = False  # nobody could have been asked
    is_sure: bool = True  # False: read from words that a command could have printed too

    @property
    def is_preview(self) -> bool:
        """Whether the model saw only the beginning of what came back."""
        return self.text_source != "result"

    @property
    def fullest_text(self) -> str:
        """The longest text there is of what came back."""
        return self.full_text or self.text


class CallReported(LogEvent, kw_only=True):
    """The client noted beside the result how a call ended (Codex: items and end events)."""

    call: CallId
    end: End
    what: str  # command, patch, mcp, agent, image, search …
    exit_code: int | None = None
    took_ms: float | None = None
    text: str = ""
    is_denied: bool = False
    report: Raw = Raw()


class TurnInterrupted(LogEvent, kw_only=True):
    """The person or a signal stopped the turn."""

    in_tool: bool = False
    request: RequestId | None = None  # the answer that was cut short, where the log says so
    is_headless: bool = False


class TurnBegan(LogEvent, kw_only=True):
    """The client opened a turn (agents that say so)."""


class TurnEnded(LogEvent, kw_only=True):
    """The client closed a turn, or said how long it took."""

    took_ms: float | None = None
    error: str | None = None
    text: str | None = None  # the answer, as the client states it
    is_result: bool = False  # said by the `result` object of a headless run


class HookRan(LogEvent, kw_only=True):
    """A hook came to its end."""

    hook_event: str | None
    name: str | None
    # success, context, message, error, blocked, failed, cancelled, decided, stopped, progress;
    # of an event from our hook, the state of the call then: asked, began, denied, ok, error, timed_out, interrupted, told
    outcome: str
    call: CallId | None = None
    command: str | None = None
    text: str = ""
    exit_code: int | None = None
    took_ms: float | None = None
    decision: str | None = None  # allow, deny, ask
    ran_input: Raw = Raw()  # the input that the hook put in place of the model's
    is_heard: bool = False  # from our own hook: it is in the spool, not in a log
    call_took_ms: float | None = None  # of the hook's call, as stated


class CallProgressed(LogEvent, kw_only=True):
    """A running call gave a sign of life."""

    call: CallId | None
    what: str
    agent: ThreadId | None = None
    description: str | None = None


class TaskSeen(LogEvent, kw_only=True):
    """A report on a background task: how it is doing, or how it ended."""

    task: TaskId | None
    end: End
    call: CallId | None = None  # the call that had started it
    asked_by: CallId | None = None  # the call that asked for it, or stopped it
    is_by_words: bool = (
        False  # read from a text that a command could have printed too: the asking call decides
    )
    description: str | None = None
    exit_code: int | None = None
    text: str = ""


class QueueChanged(LogEvent, kw_only=True):
    """A prompt or notice was put into the queue or taken out."""

    operation: str
    text: str = ""
    reason: str | None = None


class CommandRun(LogEvent, kw_only=True):
    """The person ran a command of the client: `/compact`, or a shell line with `!`."""

    kind: Literal["slash", "shell"]
    name: str
    arguments: str = ""


class CommandPrinted(LogEvent, kw_only=True):
    """Such a command had something to say."""

    text: str
    is_error: bool = False


class ContextCompacted(LogEvent, kw_only=True):
    """What was said before was summed up."""

    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    took_ms: float | None = None
    logical_parent: NodeId | None = None
    kept_head: NodeId | None = None
    kept_anchor: NodeId | None = None
    kept_tail: NodeId | None = None
    kept: list[NodeId] = []
    summary: str = ""


class MessagesRetracted(LogEvent, kw_only=True):
    """Records that stay in the file are no longer part of the conversation."""

    nodes: list[NodeId]
    why: str


class HistoryRolledBack(LogEvent, kw_only=True):
    """The last turns were taken back (agents without a tree): so many, or all from a line on."""

    n_turns: int = 0
    path: str | None = None
    from_line: int | None = None


class RequestFailed(LogEvent, kw_only=True):
    """The API did not answer, and is perhaps asked again."""

    text: str
    status: int | None = None
    attempt: int | None = None
    of_attempts: int | None = None
    is_final: bool = False


class LeafMarked(LogEvent, kw_only=True):
    """The client noted from which record a resume goes on."""

    leaf: NodeId | None
    prompt: str | None = None
    explicit: bool = False


class SessionTitled(LogEvent, kw_only=True):
    """The session got a title; an empty one takes it away."""

    title: str
    source: Literal["custom", "ai", "summary", "name", "last_prompt"]
    leaf: NodeId | None = None


class SessionDescribed(LogEvent, kw_only=True):
    """A record said where and how it was written; comes where that differs from the record before."""

    session: str | None = None
    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    agent_id: str | None = None
    team: str | None = None
    name: str | None = None


class ThreadDescribed(LogEvent, kw_only=True):
    """A log, or a file beside it, said whose work it holds."""

    parent_thread: ThreadId | None = None
    parent_call: CallId | None = None
    type: str | None = None
    description: str | None = None
    name: str | None = None
    model: str | None = None
    depth: int | None = None
    is_fork: bool = False
    worktree: str | None = None
    stopped_by_user: bool = False
    is_internal: bool = False  # work of the client for itself: reviews, compactions, memory


class HistoryInherited(LogEvent, kw_only=True):
    """A log said that its beginning is another thread's history."""

    source: str | None = None  # the thread or session that it came from
    own_from_ordinal: int | None = None  # lines with a lower one are copies
    base_ordinal: int | None = None  # how much of the source comes before this file
    base_offset: int | None = None
    why: Literal["fork", "subagent", "revert", "copy"] = "fork"


class ModeChanged(LogEvent, kw_only=True):
    """Another permission mode, model, or way of working."""

    what: Literal["permission", "mode", "model", "effort", "sandbox"]
    value: str


class LinkMade(LogEvent, kw_only=True):
    """The session is linked to something outside of it."""

    what: Literal["pull_request", "artifact", "continued_in", "worktree", "moved_to", "forked_from", "team"]
    target: str


class NodeSeen(LogEvent, kw_only=True):
    """A record on the tree that says nothing else; its children must stay reachable."""

    kind: str


class StrangeSeen(LogEvent, kw_only=True):
    """A line that we cannot name or read. It is counted, and its place is kept."""

    kind: str
    problem: str
