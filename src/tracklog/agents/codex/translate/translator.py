"""From the records of Codex to events, of all generations of its files.

Rules
  1. Each kind of record, of response item, of event and of turn item has its function in a table, or is silent on
     purpose; a test walks the kinds.
  2. What a file holds twice becomes one event. The model's words count as response items, the person's as what the
     client shows, the end of a call as both: `ToolReturned` is what the model read, `CallReported` what the client knew.
  3. Codex keeps no tree: what is no longer part of a conversation follows from rollbacks, forks and turn ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracklog.agents.codex.records import envelope, events, reader, tool_events, turn_items
from tracklog.agents.codex.records.items import Item
from tracklog.agents.codex.translate import acts, sessions
from tracklog.agents.codex.translate.items import ITEMS, SILENT_ITEMS
from tracklog.agents.codex.translate.messages import mail
from tracklog.agents.codex.translate.state import Memory, Where
from tracklog.agents.reader import with_odd_fields
from tracklog.model.events import LogEvent, SessionDescribed, StrangeSeen, TextInjected
from tracklog.model.records import Blank, Broken, Piece, Unknown, UnknownPart

Translate = Callable[[Any, Where, Memory], list[LogEvent]]


class CodexTranslator:
    """Translates one file, line by line."""

    def __init__(self, path: str) -> None:
        self._memory = Memory(path)

    def translate(self, piece: Piece) -> list[LogEvent]:
        """What a piece tells, in order; never raises, whatever the log holds."""
        events = self._translate(piece)
        return with_odd_fields(events, piece, self._memory.path) if piece.odd else events

    def _translate(self, piece: Piece) -> list[LogEvent]:
        record, memory = piece.record, self._memory
        memory.arrive(piece)
        if isinstance(record, envelope.EventLine) and type(record.payload) not in EVENTS:
            return []
        if isinstance(record, (Unknown, Broken)):
            return [StrangeSeen(**memory.where(piece), kind=record.kind, problem=record.why)]
        if isinstance(record, Item):
            memory.is_bare = True
        translate = TABLE.get(type(record))
        return translate(record, memory.where(piece), memory) if translate else []


def _response_item(line: envelope.ResponseItemLine, where: Where, memory: Memory) -> list[LogEvent]:
    memory.is_summary = bool(line.metadata and line.metadata.compaction_output)
    translate = ITEMS.get(type(line.payload))
    return translate(line.payload, where, memory) if translate else []


def _event(line: envelope.EventLine, where: Where, memory: Memory) -> list[LogEvent]:
    turn = getattr(line.payload, "turn_id", None)
    if turn is not None:
        where["turn"] = turn
    return EVENTS[type(line.payload)](line.payload, where, memory)


def _item_completed(done: events.ItemCompleted, where: Where, memory: Memory) -> list[LogEvent]:
    translate = ACTS.get(type(done.item))
    return translate(done, where, memory) if translate else []


def _document(document: reader.Document, where: Where, memory: Memory) -> list[LogEvent]:
    """All of a one-document file; its items have neither lines nor times of their own."""
    session = document.session.id
    memory.thread, memory.is_bare = session, True
    memory.described["session"] = session
    told: list[LogEvent] = [SessionDescribed(**where, session=session)]
    for number, item in enumerate(document.items, 1):
        memory.mark = f"1.{number}"
        at = {**where, "at": None}
        if isinstance(item, UnknownPart):
            told.append(StrangeSeen(**at, kind=item.name, problem=item.why))
        elif translate := ITEMS.get(type(item)):
            told += translate(item, at, memory)
    return told


def _usage(_: envelope.TokenUsageLine, __: Where, memory: Memory) -> list[LogEvent]:
    memory.end_request()
    return []


def _agent_mail(line: envelope.AgentMailLine, where: Where, memory: Memory) -> list[LogEvent]:
    memory.end_request()
    memory.mail_triggers = memory.mail_triggers or bool(line.payload.trigger_turn)
    return mail(line.payload.content, where, memory)


def _mail_metadata(line: envelope.AgentMailMetadataLine, _: Where, memory: Memory) -> list[LogEvent]:
    memory.mail_triggers = line.payload.trigger_turn
    return []


def _spoken(line: envelope.RealtimeItemLine, where: Where, _: Memory) -> list[LogEvent]:
    text = line.payload.text
    return [TextInjected(**where, why="spoken", text=text)] if text else []


def _activity(event: tool_events.SubAgentActivity, where: Where, memory: Memory) -> list[LogEvent]:
    return acts.activity(event.event_id, event, where, memory)


def _entered(done: events.ItemCompleted, where: Where, memory: Memory) -> list[LogEvent]:
    return sessions.entered_review(done.item, where, memory)


TABLE: dict[type, Translate] = {
    **ITEMS,  # the lines of the first JSONL generation
    envelope.SessionMetaLine: sessions.session_meta,
    envelope.ResponseItemLine: _response_item,
    envelope.EventLine: _event,
    envelope.TurnContextLine: sessions.turn_context,
    envelope.CompactedLine: sessions.compacted,
    envelope.TokenUsageLine: _usage,
    envelope.AgentMailLine: _agent_mail,
    envelope.AgentMailMetadataLine: _mail_metadata,
    envelope.RealtimeItemLine: _spoken,
    reader.MetaLine: sessions.meta_line,
    reader.Document: _document,
    reader.SessionIndexLine: sessions.index_line,
}
EVENTS: dict[type, Translate] = {
    events.TaskStarted: sessions.task_started,
    events.TurnStarted: sessions.task_started,
    events.TaskComplete: sessions.task_complete,
    events.TurnComplete: sessions.task_complete,
    events.TurnAborted: sessions.turn_aborted,
    events.ThreadRolledBack: sessions.rolled_back,
    events.ThreadSettingsApplied: sessions.settings_applied,
    events.ThreadNameUpdated: sessions.renamed,
    events.UserMessageEvent: sessions.user_message,
    events.UndoCompleted: sessions.undone,
    events.EnteredReviewMode: sessions.entered_review,
    events.ExitedReviewMode: sessions.exited_review,
    events.ErrorRaised: sessions.failed,
    events.ItemCompleted: _item_completed,
    tool_events.ExecCommandEnd: acts.end_event,
    tool_events.PatchApplyEnd: acts.end_event,
    tool_events.McpToolCallEnd: acts.end_event,
    tool_events.WebSearchEnd: acts.search_end,
    tool_events.ImageGenerationEnd: acts.end_event,
    tool_events.ViewImageToolCall: acts.end_event,
    tool_events.DynamicToolCallResponse: acts.end_event,
    tool_events.GuardianAssessment: acts.guardian,
    tool_events.CollabAgentSpawnEnd: acts.spawned,
    tool_events.CollabAgentInteractionEnd: acts.spoken_to,
    tool_events.CollabWaitingEnd: acts.spoken_to,
    tool_events.CollabCloseEnd: acts.spoken_to,
    tool_events.CollabResumeEnd: acts.spoken_to,
    tool_events.SubAgentActivity: _activity,
}
ACTS: dict[type, Translate] = {
    turn_items.UserMessageItem: sessions.user_item,
    turn_items.EnteredReviewModeItem: _entered,
    turn_items.ExitedReviewModeItem: sessions.exited_review,
    turn_items.HookPromptItem: acts.act,
    turn_items.CommandExecutionItem: acts.act,
    turn_items.FileChangeItem: acts.act,
    turn_items.McpToolCallItem: acts.act,
    turn_items.DynamicToolCallItem: acts.act,
    turn_items.CollabAgentToolCallItem: acts.act,
    turn_items.SubAgentActivityItem: acts.act,
    turn_items.WebSearchItem: acts.act,
    turn_items.ImageViewItem: acts.act,
    turn_items.ImageGenerationItem: acts.act,
    turn_items.SleepItem: acts.act,
    turn_items.ExtensionItem: acts.act,
}
SILENT: set[type] = {
    *SILENT_ITEMS,
    Blank,  # empty
    envelope.WorldStateLine,  # what the client remembers to have told the model
    envelope.RetainedContextLine,  # the same; an answer that it keeps is the output of its call, too
    envelope.DynamicToolsLine,  # which tools the model is offered
    envelope.SecurityRiskScoreLine,  # the client's own bookkeeping, as the next
    envelope.SessionStateLine,
    reader.StateLine,
    reader.CodexHistoryLine,  # prompts of all sessions, for the arrow keys; the transcripts have them too
    events.TokenCount,  # accounting: repeated, recomputed, and never a request
    events.AgentMessageEvent,  # mirror of a response item, as the next two
    events.AgentReasoning,
    events.AgentReasoningRawContent,
    events.ContextCompactedEvent,  # companion of a `compacted` line
    events.ThreadGoalUpdated,  # a goal's counters; a call or an injected text says who set it
    tool_events.DynamicToolCallRequest,  # the call is a response item
    turn_items.AgentMessageItem,  # mirror of a response item, as the next
    turn_items.ReasoningItem,
    turn_items.PlanItem,  # the model's message has it
    turn_items.FunctionCallOutputItem,  # mirror of an output
    turn_items.ContextCompactionItem,  # companion of a `compacted` line
}
