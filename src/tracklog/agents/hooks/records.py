"""Records of the hook format: lines of our own spool, and how settings name hooks.

See docs/formats/claude_code.md#hooks for the payload on stdin and the answer on stdout.

Rules
  1. The payload is an agent's, and is read as tolerantly as its logs: an unknown payload is `Unknown`, and bytes
     that are no JSON object are kept as `garbage`.
  2. Codex's hooks get the same payload as Claude Code's; only its older `notify` has a payload of its own
     (`TurnNotice`).
"""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, field

from tracklog.agents.drift import Drift, Stray, joined, shape_of
from tracklog.agents.reader import Reader, Value, fit, unknown
from tracklog.model.json_text import loads
from tracklog.model.records import Named, Record, Unknown, WithOddFields, utc


class HookInput(Record, kw_only=True):
    """The payload of a hook event; which fields are there depends on the event. Codex tells its hooks the same way."""

    hook_event_name: str
    session_id: str | None = None
    transcript_path: str | None = None  # of the main thread, also inside a subagent
    cwd: str | None = None
    permission_mode: str | None = None
    prompt_id: str | None = None
    turn_id: str | None = None  # Codex; of Claude Code only MessageDisplay has one
    effort: Raw = Raw()
    agent_id: str | None = None
    agent_type: str | None = None

    # SessionStart, SessionEnd, Setup, PreCompact, PostCompact, ConfigChange
    model: str | None = None
    source: str | None = None
    reason: str | None = None  # also of PermissionDenied
    trigger: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None
    custom_instructions: str | None = None
    compact_summary: str | None = None

    # UserPromptSubmit, UserPromptExpansion
    prompt: str | None = None
    expansion_type: str | None = None
    command_name: str | None = None
    command_args: str | None = None
    command_source: str | None = None

    # PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch
    tool_name: str | None = None
    tool_input: Raw = Raw()
    tool_use_id: str | None = None
    tool_response: Raw = Raw()
    tool_calls: Raw = Raw()
    permission_suggestions: Raw = Raw()
    duration_ms: float | None = None
    error: str | None = None  # also of StopFailure
    error_details: Raw = Raw()
    is_interrupt: bool | None = None

    # Stop, StopFailure, SubagentStart, SubagentStop
    stop_hook_active: bool | None = None
    last_assistant_message: str | None = None
    background_tasks: Raw = Raw()
    session_crons: Raw = Raw()
    agent_transcript_path: str | None = None

    # Notification, MessageDisplay
    message: str | None = None
    title: str | None = None
    notification_type: str | None = None
    message_id: str | None = None
    index: int | None = None
    final: bool | None = None
    delta: str | None = None

    # TaskCreated, TaskCompleted, TeammateIdle
    task_id: str | None = None
    task_subject: str | None = None
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None

    # InstructionsLoaded, CwdChanged, DirectoryAdded, FileChanged, WorktreeCreate, WorktreeRemove
    file_path: str | None = None
    memory_type: str | None = None
    load_reason: str | None = None
    globs: Raw = Raw()
    trigger_file_path: str | None = None
    parent_file_path: str | None = None
    old_cwd: str | None = None
    new_cwd: str | None = None
    directory: str | None = None
    event: str | None = None
    name: str | None = None
    worktree_path: str | None = None

    # Elicitation, ElicitationResult
    mcp_server_name: str | None = None
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: Raw = Raw()
    action: str | None = None
    content: Raw = Raw()

    @property
    def kind(self) -> str:
        return f"hook/{self.hook_event_name}"


class HookOutput(Record):
    """What a hook decided. `decision: "allow"` is of public descriptions; clients know `block`."""

    decision: str | None = None
    reason: str | None = None
    additional_context: str | None = field(default=None, name="additionalContext")
    continue_: bool | None = field(default=None, name="continue")
    stop_reason: str | None = field(default=None, name="stopReason")
    system_message: str | None = field(default=None, name="systemMessage")
    suppress_output: bool | None = field(default=None, name="suppressOutput")
    hook_specific_output: Raw = field(default=Raw(), name="hookSpecificOutput")
    async_: bool | None = field(default=None, name="async")
    async_timeout: float | None = field(default=None, name="asyncTimeout")

    @property
    def kind(self) -> str:
        return "hook-output"


class HookHandler(Named):
    """One thing to run for an event."""

    type: str | None = None
    command: str | None = None
    args: list[str] | None = None
    timeout: float | None = None
    async_: bool | None = field(default=None, name="async")
    async_rewake: bool | None = field(default=None, name="asyncRewake")
    shell: str | None = None
    if_: str | None = field(default=None, name="if")
    once: bool | None = None
    status_message: str | None = field(default=None, name="statusMessage")
    url: str | None = None
    headers: Raw = Raw()
    allowed_env_vars: list[str] | None = field(default=None, name="allowedEnvVars")
    server: str | None = None
    tool: str | None = None
    input: Raw = Raw()
    prompt: str | None = None
    model: str | None = None
    continue_on_block: bool | None = field(default=None, name="continueOnBlock")


class HookMatcher(Named):
    """Which calls or causes of an event a list of handlers is for; none means all."""

    matcher: str | None = None
    hooks: list[HookHandler] | None = None


class Settings(Record):
    """The part of a settings file that names hooks; the rest is the client's."""

    hooks: dict[str, list[HookMatcher]] | None = None

    @property
    def kind(self) -> str:
        return "settings"


NOTIFY = "notify"


class TurnNotice(Record, kw_only=True, rename="kebab"):
    """What Codex gives the program that `notify` names: a turn is over."""

    type: str
    thread_id: str | None = None
    turn_id: str | None = None
    cwd: str | None = None
    client: str | None = None
    input_messages: list[str] | None = None
    last_assistant_message: str | None = None

    @property
    def kind(self) -> str:
        return f"notify/{self.type}"


if TYPE_CHECKING:
    Payload = HookInput | TurnNotice | Unknown
else:
    Payload = Any  # msgspec takes no union of structs without tags; it never decodes this one


class Spooled(Record, kw_only=True):
    """One call of our hook."""

    at_ms: int = field(name="at")
    v: int = 1
    agent: str | None = None
    pid: int | None = None  # of the hook itself
    ppid: int | None = None  # of the process that ran it: the agent, or a shell that it started
    via: str | None = None
    payload: Payload | None = None  # None: it was garbage
    garbage: str | None = None
    n_bytes: int | None = None  # of the garbage, of which only the head is kept

    @property
    def kind(self) -> str:
        return f"spool/{self.payload.kind if self.payload is not None else 'garbage'}"

    @property
    def at(self) -> str | None:
        return utc(self.at_ms / 1000)

    @property
    def session(self) -> str | None:
        """The session that the payload names."""
        told = self.payload
        if isinstance(told, HookInput):
            return told.session_id
        return told.thread_id if isinstance(told, TurnNotice) else None


class _Envelope(msgspec.Struct, kw_only=True):
    at_ms: int = field(name="at")
    v: int = 1
    agent: str | None = None
    pid: int | None = None
    ppid: int | None = None
    via: str | None = None
    payload: Raw = Raw()
    garbage: str | None = None
    n_bytes: int | None = None


_envelope = msgspec.json.Decoder(_Envelope)
_hook_input = msgspec.json.Decoder(HookInput)
_notice = msgspec.json.Decoder(TurnNotice)
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(raw: bytes) -> Spooled:
    """The spooled call in `raw`; raises what msgspec raises where our own part of the line is of no known shape."""
    line = _envelope.decode(raw)
    return Spooled(
        at_ms=line.at_ms,
        v=line.v,
        agent=line.agent,
        pid=line.pid,
        ppid=line.ppid,
        via=line.via,
        payload=_payload(line.payload, line.via) if line.payload else None,
        garbage=line.garbage,
        n_bytes=line.n_bytes,
    )


def _payload(raw: Raw, via: str | None) -> Payload:
    try:
        return _notice.decode(raw) if via == NOTIFY else _hook_input.decode(raw)
    except _REFUSALS:
        return _read_tolerantly(raw, via)


def _read_tolerantly(raw: Raw, via: str | None) -> Payload:
    name = "notify" if via == NOTIFY else "hook"
    try:
        value, _ = loads(bytes(raw))
    except (ValueError, RecursionError) as error:
        return Unknown(name=name, why=f"a payload that cannot be read: {error}")
    if not isinstance(value, dict):
        return Unknown(name=name, why="a payload that is no JSON object", body=value)
    read = fit(value, TurnNotice if via == NOTIFY else HookInput, name)
    read = read.record if isinstance(read, WithOddFields) else read
    assert isinstance(read, (HookInput, TurnNotice, Unknown))
    return read


def _read_value(value: Value) -> Record:
    """The spooled call that a parsed object is."""
    if not _is_spooled(value):
        return unknown(value, "spool", "no line of a spool", body=value)
    try:
        return decode(msgspec.json.encode(value))
    except (*_REFUSALS, msgspec.ValidationError, UnicodeEncodeError) as error:
        return unknown(value, "spool", str(error), body=value)


def _is_spooled(value: dict[str, Any]) -> bool:
    return "v" in value and "at" in value and ("payload" in value or "garbage" in value)


class SpoolDrift(Drift):
    """Finds the strays of a spool: those of the payloads, too."""

    def strays_of(self, record: Record, value: Any) -> list[Stray]:
        found = super().strays_of(record, value)
        told = record.payload if isinstance(record, Spooled) else None
        if isinstance(told, (HookInput, TurnNotice)):
            strays = shape_of(type(told)).strays(value["payload"])
            found += [(joined("payload", path), stray) for path, stray in strays]
            again = fit(value["payload"], type(told), "payload")
            odd = again.odd if isinstance(again, WithOddFields) else []
            found += [(joined("payload", f"{path} (odd)"), stray) for path, stray in odd]
        return found


READER = Reader(
    None,
    decode,
    read_value=_read_value,
    name_of=lambda _: "spool",
    is_record=_is_spooled,
    drift=SpoolDrift,
)
