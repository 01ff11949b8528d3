"""Records off the conversation tree: titles, modes, checkpoints, links (docs/formats/claude_code.md#metadata).

Clients append most of them again and again; the last one counts. Only SDK-written ones have a uuid, and none of
these but `tool_result` (seen in one tool's files) is a node of the tree.
"""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel, CamelRecord, Content, Envelope
from tracklog.agents.claude_code.records.messages import UserMessage


class Metadata(CamelRecord, tag_field="type"):
    """What these records share. SDK-written ones do carry a uuid and a timestamp."""

    session_id: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    version: str | None = None

    @property
    def ident(self) -> str | None:
        return self.uuid

    @property
    def at(self) -> str | None:
        return self.timestamp


class Summary(Metadata, tag="summary", kw_only=True):
    """A title of 2025; its leaf may be in another file."""

    summary: str
    leaf_uuid: str | None = None


class CustomTitle(Metadata, tag="custom-title", kw_only=True):
    """The title that the person gave."""

    custom_title: str


class AiTitle(Metadata, tag="ai-title", kw_only=True):
    """The title that a model gave."""

    ai_title: str


class AgentName(Metadata, tag="agent-name", kw_only=True):
    """The session's name."""

    agent_name: str


class AgentColor(Metadata, tag="agent-color", kw_only=True):
    """The session's colour."""

    agent_color: str


class AgentSetting(Metadata, tag="agent-setting", kw_only=True):
    """Which agent definition the session runs."""

    agent_setting: str


class Tag(Metadata, tag="tag", kw_only=True):
    """The session's tag; an empty one clears it."""

    tag: str


class Mode(Metadata, tag="mode", kw_only=True):
    """`normal` or `coordinator`."""

    mode: str


class PermissionMode(Metadata, tag="permission-mode", kw_only=True):
    """What is allowed without asking."""

    permission_mode: str


class LastPrompt(Metadata, tag="last-prompt"):
    """The newest prompt, cut short, and the leaf from which a resume goes on."""

    last_prompt: str | None = None
    leaf_uuid: str | None = None
    explicit: bool | None = None
    rewound: bool | None = None
    cut_uuid: str | None = None


class QueueOperation(Metadata, tag="queue-operation", kw_only=True):
    """A prompt or notice was put into the queue or taken out of it."""

    operation: str
    content: Content | None = None
    reason: str | None = None
    command_uuid: str | None = None
    delivery_id: str | None = None


class FileBackup(Camel):
    """The saved state of one file. The last three keys are those of public descriptions."""

    backup_file_name: str | None = None
    version: int | None = None
    backup_time: str | None = None
    real_parent_dir: str | None = None
    path: str | None = None
    original_content: str | None = None
    backup_path: str | None = None


class Snapshot(Camel):
    """All files saved at one moment."""

    message_id: str | None = None
    tracked_file_backups: dict[str, FileBackup] | None = None
    timestamp: str | None = None
    has_untracked_changes: bool | None = None  # since 2.1.327


class FileHistorySnapshot(Metadata, tag="file-history-snapshot"):
    """A checkpoint for rewinding."""

    message_id: str | None = None
    snapshot: Snapshot | None = None
    is_snapshot_update: bool | None = None

    @property
    def at(self) -> str | None:
        return self.timestamp or (self.snapshot.timestamp if self.snapshot else None)


class FileHistoryDelta(Metadata, tag="file-history-delta"):
    """One file more in a checkpoint."""

    message_id: str | None = None
    snapshot_message_id: str | None = None
    tracking_path: str | None = None
    backup: FileBackup | None = None


class PrLink(Metadata, tag="pr-link"):
    """A pull request of this session."""

    pr_number: int | None = None
    pr_url: str | None = None
    pr_repository: str | None = None


class FrameLink(Metadata, tag="frame-link"):
    """An artifact of this session."""

    path: str | None = None
    frame_url: str | None = None
    title: str | None = None
    artifact_count: int | None = None


class WorktreeSession(Camel):
    """A session's own worktree."""

    original_cwd: str | None = None
    pre_enter_original_cwd: str | None = None
    worktree_path: str | None = None
    worktree_name: str | None = None
    worktree_branch: str | None = None
    original_branch: str | None = None
    original_head_commit: str | None = None
    session_id: str | None = None
    hook_based: bool | None = None
    entered_existing: bool | None = None
    tmux_session_name: str | None = None
    extension_root: str | None = None


class WorktreeState(Metadata, tag="worktree-state"):
    """The session entered a worktree, or left it (null)."""

    worktree_session: WorktreeSession | None = None


class Relocated(Metadata, tag="relocated", kw_only=True):
    """The session moved to another directory."""

    relocated_cwd: str


class ContinuedIn(Metadata, tag="continued-in", kw_only=True):
    """The conversation goes on in another file, unless turns follow here."""

    continued_in_session_id: str


class BridgeSession(Metadata, tag="bridge-session"):
    """Remote control; holds ids of the owner's account."""

    bridge_session_id: str | None = None
    last_sequence_num: int | None = None
    declared_dialog_kinds: list[str] | None = None
    session_grouping_id: str | None = None
    no_history_backfill: bool | None = None
    owner_account_uuid: str | None = None
    owner_organization_uuid: str | None = None


class HistorySuppression(Metadata, tag="history-suppression"):
    """Copied history that is not shown."""

    cause: str | None = None
    ts: str | float | None = None
    vetoed_against_account_uuid: str | None = None


class ModelCost(Camel):
    """What one model did, summed up over the session."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation_ephemeral_5m_input_tokens: int | None = field(
        default=None, name="cacheCreationEphemeral5mInputTokens"
    )
    cache_creation_ephemeral_1h_input_tokens: int | None = field(
        default=None, name="cacheCreationEphemeral1hInputTokens"
    )
    web_search_requests: int | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    context_window: int | None = None
    max_output_tokens: int | None = None


class CostState(Metadata, tag="cost-state"):
    """The client's own running totals."""

    total_cost_usd: float | None = field(default=None, name="totalCostUSD")
    total_api_duration: float | None = field(default=None, name="totalAPIDuration")
    total_api_duration_without_retries: float | None = field(
        default=None, name="totalAPIDurationWithoutRetries"
    )
    total_tool_duration: float | None = None
    total_lines_added: int | None = None
    total_lines_removed: int | None = None
    total_duration: float | None = None
    start_time: float | None = None
    model_usage: dict[str, ModelCost] | None = None
    has_unknown_model_cost: bool | None = None


class Replacement(Camel):
    """What the model sees in place of a stored result."""

    kind: str | None = None
    tool_use_id: str | None = None
    replacement: Raw = Raw()


class ContentReplacement(Metadata, tag="content-replacement"):
    """Old results that were replaced in the model's view."""

    replacements: list[Replacement] | None = None


class ForkContextRef(Metadata, tag="fork-context-ref"):
    """A forked subagent starts from its parent's context."""

    parent_session_id: str | None = None
    parent_last_uuid: str | None = None
    context_length: int | None = None


class AtisLatch(Metadata, tag="atis-latch"):
    """Meaning unknown."""

    atis: str | None = None


class IsolationLatch(Metadata, tag="isolation-latch"):
    """Which side an isolation is on."""

    side: str | None = None


class ObserverRef(Metadata, tag="observer-ref"):
    """A task that observes the session."""

    observer_task_id: str | None = None
    observer_agent_type: str | None = None


class EndedByModel(Metadata, tag="ended-by-model"):
    """The model ended the conversation."""


class Artifacts(Metadata):
    """Bookkeeping of artifacts; may hold an account id."""

    v: int | None = None
    account_uuid: str | None = None
    artifacts: Raw = Raw()


class ArtifactAutoreactLedger(Artifacts, tag="artifact-autoreact-ledger"):
    """Reactions to artifacts."""


class ArtifactCommentMonitor(Artifacts, tag="artifact-comment-monitor"):
    """Comments on artifacts."""


class ApiRequest(Metadata, tag="api-request"):
    """How a request was put together from shapes and blobs."""

    id: str | None = None
    base: str | None = None
    keep: int | None = None
    tail: list[str] | None = None
    shape_hash: str | None = None
    request_digest: str | None = None
    query_source: str | None = None
    params: Raw = Raw()
    cache_control: Raw = Raw()

    @property
    def ident(self) -> str | None:
        return self.id


class ApiRequestShape(Metadata, tag="api-request-shape"):
    """The system prompt and tools of requests."""

    shape_hash: str | None = None
    shape: Raw = Raw()


class ApiRequestBlob(Metadata, tag="api-request-blob"):
    """A message as it was sent. It repeats prompts and results: never count them here."""

    hash: str | None = None
    message: Raw = Raw()


class ToolsUsed(Metadata, tag="tools-used"):
    """The tools that the session has used."""

    tools: list[str] | None = None


class Rare(Metadata):
    """Known by name, rare or internal."""

    data: Raw = Raw()


class AttributionSnapshot(Rare, tag="attribution-snapshot"):
    """Who wrote which lines."""


class SpeculationAccept(Rare, tag="speculation-accept"):
    """A guessed prompt was accepted."""


class TaskSummary(Rare, tag="task-summary"):
    """What a task did."""

    summary: str | None = None


class DevMods(Rare, tag="dev-mods"):
    """A folder of changes to the client."""

    folder: str | None = None


class MemoryMode(Rare, tag="memory-mode"):
    """How memory is used from a record on."""

    mode: str | None = None
    after_uuid: str | None = None
    reason: str | None = None
    account: Raw = Raw()
    account_choice: Raw = Raw()


class ResumeHeadVouch(Metadata, tag="resume-head-vouch"):
    """A checksum of what a resume started from."""

    sum: Raw = Raw()


class DataFlow(Metadata):
    """Bookkeeping of where data went."""

    v: int | None = None
    records: Raw = Raw()
    snapshot: Raw = Raw()


class DataFlowRecords(DataFlow, tag="data-flow-records"):
    """What went where."""


class DataFlowIncomplete(DataFlow, tag="data-flow-incomplete"):
    """Some of it is not known."""


class DerivedFrom(Metadata, tag="derived-from"):
    """The sessions that this one came from."""

    v: int | None = None
    sessions: Raw = Raw()


class SessionOwner(Metadata, tag="session-owner"):
    """Whose session it is: may hold account ids."""

    account_uuid: str | None = None
    organization_uuid: str | None = None


class Collapse(Metadata):
    """A part of the context that was collapsed."""

    collapse_id: str | None = None
    summary_uuid: str | None = None
    summary_content: Raw = Raw()
    summary: str | None = None
    first_archived_uuid: str | None = None
    last_archived_uuid: str | None = None


class CollapseCommit(Collapse, tag="marble-origami-commit"):
    """It was collapsed."""


class CollapseSnapshot(Collapse, tag="marble-origami-snapshot"):
    """What is collapsed now."""


class CollapseReset(Collapse, tag="marble-origami-reset"):
    """Nothing is collapsed any more."""


class BareToolResult(Envelope, tag="tool_result", tag_field="type", kw_only=True):
    """A tool's result as a record of its own (seen in one tool's files)."""

    message: UserMessage
    tool_use_result: Raw = Raw()


AnyMetadata = (
    Summary | CustomTitle | AiTitle | AgentName | AgentColor | AgentSetting | Tag | Mode | PermissionMode
    | LastPrompt | QueueOperation | FileHistorySnapshot | FileHistoryDelta | PrLink | FrameLink | WorktreeState
    | Relocated | ContinuedIn | BridgeSession | HistorySuppression | CostState | ContentReplacement
    | ForkContextRef | AtisLatch | IsolationLatch | ObserverRef | EndedByModel | ArtifactAutoreactLedger
    | ArtifactCommentMonitor | ApiRequest | ApiRequestShape | ApiRequestBlob | ToolsUsed | AttributionSnapshot
    | SpeculationAccept | TaskSummary | DevMods | MemoryMode | ResumeHeadVouch
    | DataFlowRecords | DataFlowIncomplete | DerivedFrom | SessionOwner | CollapseCommit | CollapseSnapshot
    | CollapseReset | BareToolResult
)  # fmt: skip
