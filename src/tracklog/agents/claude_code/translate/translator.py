"""From the records of Claude Code to events.

Rules
  1. Each kind of record has its function in the table, or is silent on purpose (`SILENT`); a test walks the kinds.
  2. A record on the tree always leads to an event with its node, if only `NodeSeen`: its children hang on it.
  3. Read the type first: `api-request-blob` and its kin repeat prompts and results, and are silent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracklog.agents.claude_code.records import metadata, progress, side_files, system
from tracklog.agents.claude_code.records.context import attachments, state
from tracklog.agents.claude_code.records.context.attachments import AttachmentLine, QueuedCommand
from tracklog.agents.claude_code.records.envelope import Envelope
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.claude_code.translate.replies import assistant_replied
from tracklog.agents.claude_code.translate.side_records import (
    agent_progressed,
    api_failed,
    compacted,
    hook_progressed,
    hook_ran,
    informed,
    leaf_marked,
    local_command,
    noted,
    progressed,
    prompt_queued,
    queue_changed,
    refused,
    result_printed,
    stop_hooks_ran,
    system_said,
    task_status,
    thread_described,
    workflow_agent_started,
    worktree_changed,
)
from tracklog.agents.claude_code.translate.user import user_said
from tracklog.agents.reader import with_odd_fields
from tracklog.model.events import (
    HistoryInherited,
    LinkMade,
    LogEvent,
    ModeChanged,
    NodeSeen,
    Place,
    SessionDescribed,
    SessionTitled,
    StrangeSeen,
    ThreadDescribed,
    TurnEnded,
)
from tracklog.model.ids import NodeId, ThreadId
from tracklog.model.records import Blank, Broken, Piece, Record, Unknown

Where = dict[str, Any]


Translate = Callable[[Any, Where], list[LogEvent]]


class ClaudeTranslator:
    """Translates one file. It remembers only how the last record described itself, to say that once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._described: tuple[str | None, ...] = ()

    def translate(self, piece: Piece) -> list[LogEvent]:
        """What a piece tells, in order; never raises, whatever the log holds."""
        events = self._translate(piece)
        return with_odd_fields(events, piece, self._path) if piece.odd else events

    def _translate(self, piece: Piece) -> list[LogEvent]:
        record, at = piece.record, piece.at
        place = Place(self._path, piece.line)
        if isinstance(record, Envelope):
            where = _where(record, place, at)
            translate = TABLE.get(_key(record))
            events = translate(record, where) if translate else []
            if not events and record.uuid:
                events = [NodeSeen(**where, kind=record.kind)]
            described = self._describe(record, place, at)
            return described + events if described else events
        if isinstance(record, (Unknown, Broken)):
            return _strange(record, place, at)
        translate = TABLE.get(type(record))
        if translate is None:
            return []
        where = {"place": place, "at": at}
        if isinstance(record, metadata.Metadata) and record.agent_id:
            where["thread"] = ThreadId(record.agent_id)
        return translate(record, where)

    def _describe(self, record: Envelope, place: Place, at: str | None) -> list[LogEvent]:
        described = (
            record.session_id,
            record.cwd,
            record.git_branch,
            record.version,
            record.entrypoint,
            record.agent_id,
            record.team_name,
            record.agent_name,
        )
        if described == self._described and record.forked_from is None:
            return []
        self._described = described
        session, cwd, branch, version, entrypoint, agent_id, team, name = described
        event = SessionDescribed(
            place=place,
            at=at,
            session=session,
            cwd=cwd,
            branch=branch,
            version=version,
            entrypoint=entrypoint,
            agent_id=agent_id,
            team=team,
            name=name,
        )
        if record.forked_from is None or not record.forked_from.session_id:
            return [event]
        source = record.forked_from.session_id
        return [event, HistoryInherited(place=place, at=at, source=source)]


def _where(record: Envelope, place: Place, at: str | None) -> Where:
    """Only what differs from an event's defaults: each word costs, for each line."""
    where: Where = {"place": place, "at": at, "node": record.uuid, "parent": record.parent_uuid}
    if record.is_sidechain:
        where["is_sidechain"] = True
        where["thread"] = record.agent_id
    if isinstance(record, UserLine):
        where["is_message"] = True
        where["turn"] = record.prompt_id
    elif isinstance(record, AssistantLine):
        where["is_message"] = True
    if record.team_name or record.is_meta:
        where["is_aside"] = True
    return where


def _key(record: Envelope) -> type:
    kind = type(record)
    if kind is AssistantLine or kind is UserLine:
        return kind
    if isinstance(record, AttachmentLine):
        return type(record.attachment)
    return type(record.data) if isinstance(record, progress.ProgressLine) else kind


def _strange(record: Unknown | Broken, place: Place, at: str | None) -> list[LogEvent]:
    body = record.body if isinstance(record, Unknown) and isinstance(record.body, dict) else {}
    node, parent = body.get("uuid"), body.get("parentUuid")
    return [
        StrangeSeen(
            place=place,
            at=at,
            node=NodeId(node) if isinstance(node, str) else None,
            parent=NodeId(parent) if isinstance(parent, str) else None,
            is_sidechain=body.get("isSidechain") is True,
            is_aside=True,
            kind=record.kind,
            problem=record.why,
        )
    ]


def _bare_result(record: metadata.BareToolResult, where: Where) -> list[LogEvent]:
    return user_said(UserLine(message=record.message, tool_use_result=record.tool_use_result), where)


TABLE: dict[type[Any], Translate] = {
    AssistantLine: assistant_replied,
    UserLine: user_said,
    metadata.BareToolResult: _bare_result,
    QueuedCommand: prompt_queued,
    state.TaskStatus: task_status,
    attachments.HookSuccess: hook_ran("success"),
    attachments.HookAdditionalContext: hook_ran("context"),
    attachments.HookSystemMessage: hook_ran("message"),
    attachments.HookNonBlockingError: hook_ran("error"),
    attachments.HookBlockingError: hook_ran("blocked"),
    attachments.HookErrorDuringExecution: hook_ran("failed"),
    attachments.HookCancelled: hook_ran("cancelled"),
    attachments.HookPermissionDecision: hook_ran("decided"),
    attachments.HookStoppedContinuation: hook_ran("stopped"),
    attachments.AsyncHookResponse: hook_ran("success"),
    attachments.HookDeferredTool: hook_ran("deferred"),
    progress.HookProgress: hook_progressed,
    progress.AgentProgress: agent_progressed,
    progress.BashProgress: progressed,
    progress.McpProgress: progressed,
    progress.WaitingForTask: progressed,
    progress.QueryUpdate: progressed,
    progress.SearchResultsReceived: progressed,
    system.SystemText: system_said,
    system.CompactBoundary: compacted,
    system.TurnDuration: lambda record, where: [TurnEnded(**where, took_ms=record.duration_ms)],
    system.StopHookSummary: stop_hooks_ran,
    system.LocalCommand: local_command,
    system.ApiErrorRetry: api_failed,
    system.PlainError: api_failed,
    system.Informational: informed,
    system.AwaySummary: noted("away_summary"),
    system.PostTurnSummary: noted("turn_summary"),
    system.ScheduledTaskFire: noted("schedule"),
    system.ModelRefusalFallback: refused,
    system.ModelConsentFallback: refused,
    system.ApiRefusal: refused,
    system.ModelRefusalNoFallback: refused,
    system.ModelFallback: refused,
    metadata.Summary: lambda record, where: [
        SessionTitled(
            **where,
            title=record.summary,
            source="summary",
            leaf=NodeId(record.leaf_uuid) if record.leaf_uuid else None,
        )
    ],
    metadata.CustomTitle: lambda record, where: [
        SessionTitled(**where, title=record.custom_title, source="custom")
    ],
    metadata.AiTitle: lambda record, where: [SessionTitled(**where, title=record.ai_title, source="ai")],
    metadata.AgentName: lambda record, where: [
        SessionTitled(**where, title=record.agent_name, source="name")
    ],
    metadata.Mode: lambda record, where: [ModeChanged(**where, what="mode", value=record.mode)],
    metadata.PermissionMode: lambda record, where: [
        ModeChanged(**where, what="permission", value=record.permission_mode)
    ],
    metadata.LastPrompt: leaf_marked,
    metadata.QueueOperation: queue_changed,
    metadata.PrLink: lambda record, where: [
        LinkMade(**where, what="pull_request", target=record.pr_url or str(record.pr_number or ""))
    ],
    metadata.FrameLink: lambda record, where: [
        LinkMade(**where, what="artifact", target=record.frame_url or record.path or "")
    ],
    metadata.WorktreeState: worktree_changed,
    metadata.Relocated: lambda record, where: [
        LinkMade(**where, what="moved_to", target=record.relocated_cwd)
    ],
    metadata.ContinuedIn: lambda record, where: [
        LinkMade(**where, what="continued_in", target=record.continued_in_session_id)
    ],
    metadata.ForkContextRef: lambda _, where: [ThreadDescribed(**where, is_fork=True)],
    side_files.AgentMeta: thread_described,
    side_files.ResultLine: result_printed,
    side_files.JournalStarted: workflow_agent_started,
}
"""What each kind of record tells. Kinds on the tree that are missing here only hold their place (`NodeSeen`)."""


SILENT: dict[type[Record], str] = {
    Blank: "nothing stands there",
    metadata.AgentColor: "looks",
    metadata.AgentSetting: "which definition the session runs; the meta file says so too",
    metadata.Tag: "a label of the person's, without a place in the conversation",
    metadata.FileHistorySnapshot: "saved files, not conversation",
    metadata.FileHistoryDelta: "saved files, not conversation",
    metadata.BridgeSession: "remote control; holds ids of the account",
    metadata.HistorySuppression: "what is shown, not what happened",
    metadata.CostState: "the client's running totals",
    metadata.ContentReplacement: "what the model sees of old results; the results stay as they were",
    metadata.AtisLatch: "meaning unknown",
    metadata.IsolationLatch: "meaning unknown",
    metadata.ObserverRef: "who watches",
    metadata.EndedByModel: "the last answer says it",
    metadata.ArtifactAutoreactLedger: "bookkeeping",
    metadata.ArtifactCommentMonitor: "bookkeeping",
    metadata.ApiRequest: "repeats what was sent",
    metadata.ApiRequestShape: "repeats what was sent",
    metadata.ApiRequestBlob: "repeats what was sent: never count results here",
    metadata.ToolsUsed: "a list of names",
    metadata.AttributionSnapshot: "internal",
    metadata.SpeculationAccept: "internal",
    metadata.TaskSummary: "internal",
    metadata.DevMods: "internal",
    metadata.MemoryMode: "internal",
    metadata.ResumeHeadVouch: "internal",
    metadata.DataFlowRecords: "internal",
    metadata.DataFlowIncomplete: "internal",
    metadata.DerivedFrom: "internal",
    metadata.SessionOwner: "ids of the account",
    metadata.CollapseCommit: "internal",
    metadata.CollapseSnapshot: "internal",
    metadata.CollapseReset: "internal",
    side_files.JournalLaunched: "a mark without contents",
    side_files.JournalResult: "the agent's own file holds it",
    side_files.JournalFailed: "the agent's own file holds it",
}
