"""Translate session facts: the thread of a file, its settings, and where turns begin and end.

Rules
  1. The first `session_meta` is the file's identity. One with another id is a copy of the history it came from.
  2. A `turn_context` is repeated after compactions: it tells what changed, and never that a turn began.
  3. While a review runs, the turns in the main file are the review's own.
"""

from __future__ import annotations

from typing import Any

from tracklog.agents.codex.records import envelope, events, reader, settings, turn_items
from tracklog.agents.codex.records.parts import Variant
from tracklog.agents.codex.translate.items import changed_modes
from tracklog.agents.codex.translate.state import Memory, Where
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    HistoryInherited,
    HistoryRolledBack,
    LogEvent,
    Origin,
    PromptGiven,
    RequestFailed,
    SessionDescribed,
    SessionTitled,
    ThreadDescribed,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import ThreadId
from tracklog.model.records import opened

_OF_THE_CLIENT = {"review", "compact", "memory_consolidation", "guardian"}
_HEADLESS = {"exec", "mcp"}


def session_meta(line: envelope.SessionMetaLine, where: Where, memory: Memory) -> list[LogEvent]:
    """Whose file it is, and what of another it continues."""
    meta = line.payload
    thread = meta.id or meta.session_id
    if memory.thread is not None and thread != memory.thread:
        return [HistoryInherited(**where, source=thread, why="copy")]
    is_first, memory.thread = memory.thread is None, thread
    described = _describe(
        where,
        memory,
        session=thread,
        cwd=meta.cwd,
        branch=meta.git.branch if meta.git else None,
        version=meta.cli_version,
        entrypoint=meta.originator or word(meta.source),
    )
    if not is_first:
        return described
    memory.origin, memory.agent_path = _origin(meta), meta.agent_path
    memory.own_from_ordinal = meta.subagent_history_start_ordinal
    return [*described, *_thread(meta, where), *_inherited(meta, where)]


def turn_context(line: envelope.TurnContextLine, where: Where, memory: Memory) -> list[LogEvent]:
    """The settings of a turn."""
    context = line.payload
    if context.turn_id is not None and not memory.is_reviewing:
        memory.turn = where["turn"] = context.turn_id
    sandbox = context.sandbox_policy
    modes = changed_modes(
        where,
        memory,
        model=context.model,
        effort=context.effort,
        permission=word(context.approval_policy),
        sandbox=(sandbox.type or sandbox.mode) if sandbox else None,
        mode=context.collaboration_mode.mode if context.collaboration_mode else None,
    )
    return [*_describe(where, memory, cwd=context.cwd), *modes]


def settings_applied(event: events.ThreadSettingsApplied, where: Where, memory: Memory) -> list[LogEvent]:
    """The settings of the thread."""
    applied = event.thread_settings
    modes = changed_modes(
        where,
        memory,
        model=applied.model,
        effort=applied.reasoning_effort,
        permission=word(applied.approval_policy),
        mode=applied.collaboration_mode.mode if applied.collaboration_mode else None,
    )
    return [*_describe(where, memory, cwd=applied.cwd), *modes]


def task_started(event: events.TaskStarted, where: Where, memory: Memory) -> list[LogEvent]:
    """A turn began."""
    if memory.is_reviewing:
        return []
    memory.end_request()
    memory.begin_epoch()
    memory.turn = event.turn_id
    return [TurnBegan(**{**where, "turn": event.turn_id})]


def task_complete(event: events.TaskComplete, where: Where, memory: Memory) -> list[LogEvent]:
    """A turn ended."""
    settled = _close(event.turn_id, where, memory)
    ended = TurnEnded(
        **where,
        took_ms=event.duration_ms,
        error=event.error.message if event.error else None,
        text=event.last_agent_message,
    )
    if event.error is None:
        return [*settled, ended]
    return [*settled, RequestFailed(**where, text=event.error.message, is_final=True), ended]


def turn_aborted(event: events.TurnAborted, where: Where, memory: Memory) -> list[LogEvent]:
    """A turn was stopped: by the person, or by a limit."""
    settled = _close(event.turn_id, where, memory)
    is_by_person = event.reason in ("interrupted", "replaced")
    error = event.error.message if event.error else None if is_by_person else event.reason
    ended = TurnEnded(**where, took_ms=event.duration_ms, error=error)
    if not is_by_person:
        return [*settled, ended]
    is_headless = memory.origin == "sdk"
    stopped = TurnInterrupted(**where, in_tool=memory.is_in_tool, is_headless=is_headless)
    return [*settled, stopped, ended]


def compacted(line: envelope.CompactedLine, where: Where, memory: Memory) -> list[LogEvent]:
    """The past was summed up."""
    memory.end_request()
    return [ContextCompacted(**where, summary=line.payload.message)]


def rolled_back(event: events.ThreadRolledBack, where: Where, memory: Memory) -> list[LogEvent]:
    """The last turns were taken back."""
    memory.end_request()
    return [HistoryRolledBack(**where, n_turns=event.num_turns)]


def renamed(event: events.ThreadNameUpdated, where: Where, memory: Memory) -> list[LogEvent]:
    """The thread got a name."""
    if memory.is_foreign(event.thread_id):
        return []
    return [SessionTitled(**where, title=event.thread_name or "", source="name")]


def failed(event: events.ErrorRaised, where: Where, memory: Memory) -> list[LogEvent]:
    """The API, or the client, gave up."""
    memory.end_request()
    status = event.http_status_code
    for detail in event.codex_error_info.values() if isinstance(event.codex_error_info, dict) else []:
        found = opened(detail)
        said = found.get("http_status_code") if isinstance(found, dict) else None
        status = said if isinstance(said, int) else status
    return [RequestFailed(**where, text=event.message, status=status, is_final=True)]


def undone(event: events.UndoCompleted, where: Where, _: Memory) -> list[LogEvent]:
    """The person took back what a turn did to the files."""
    printed = CommandPrinted(**where, text=event.message or "", is_error=not event.success)
    return [CommandRun(**where, kind="slash", name="/undo"), printed]


def entered_review(event: Any, where: Where, memory: Memory) -> list[LogEvent]:
    """The person asked for a review, which is another thread."""
    memory.is_reviewing = True
    memory.turn = where["turn"] or memory.turn
    hint = event.user_facing_hint or ""
    return [CommandRun(**where, kind="slash", name="/review", arguments=hint)]


def exited_review(_: Any, where: Where, memory: Memory) -> list[LogEvent]:
    """The review is over."""
    memory.is_reviewing, memory.is_after_review = False, True
    memory.turn = where["turn"] or memory.turn
    return []


def user_message(event: events.UserMessageEvent, where: Where, memory: Memory) -> list[LogEvent]:
    """What the client shows as said by the person (until 0.146)."""
    n_images = len(event.images or []) + len(event.local_images or []) + len(event.file_ids or [])
    if event.kind not in (None, "plain"):
        return []  # until 0.47 injected texts had mirrors too
    if not event.message and n_images and memory.n_picture_mirrors_due:
        memory.n_picture_mirrors_due -= 1
        return []
    return _prompt(event.message, n_images, where, memory)


def user_item(done: events.ItemCompleted, where: Where, memory: Memory) -> list[LogEvent]:
    """What the client shows as said by the person (since 0.144)."""
    item = done.item
    if not isinstance(item, turn_items.UserMessageItem):
        return []
    if memory.is_foreign(done.thread_id):
        if not memory.is_reviewing:
            return []
        where = {**where, "turn": memory.turn}
    texts = [part.text for part in item.content if isinstance(part, turn_items.TypedText)]
    pictures = (turn_items.PastedImage, turn_items.LocalImage)
    n_images = sum(isinstance(part, pictures) for part in item.content)
    return _prompt("\n".join(texts), n_images, where, memory)


def meta_line(line: reader.MetaLine, where: Where, memory: Memory) -> list[LogEvent]:
    """Whose file it is, in the first JSONL generation."""
    memory.thread, memory.is_bare = memory.thread or line.id, True
    return _describe(where, memory, session=line.id, branch=line.git.branch if line.git else None)


def index_line(line: reader.SessionIndexLine, where: Where, _: Memory) -> list[LogEvent]:
    """A name given to a thread, in the file beside the transcripts."""
    titled = SessionTitled(**where, title=line.thread_name or "", source="name")
    return [SessionDescribed(**where, session=line.id), titled]


def word(said: Variant | settings.SessionSource | None) -> str | None:
    """The name of a setting that may come with details."""
    if isinstance(said, settings.SessionSource):
        return said.custom or said.internal or ("subagent" if said.subagent else None)
    return next(iter(said), None) if isinstance(said, dict) else said


def _prompt(text: str, n_images: int, where: Where, memory: Memory) -> list[LogEvent]:
    memory.end_request()
    memory.begin_epoch()
    origin: Origin = "slash" if memory.is_reviewing else memory.origin
    return memory.prompts.mirrored(PromptGiven(**where, text=text, origin=origin, n_images=n_images))


def _close(turn: str | None, where: Where, memory: Memory) -> list[LogEvent]:
    where["turn"] = turn or memory.turn
    memory.is_after_review, memory.is_turn_over = False, True
    memory.end_request()
    return memory.prompts.settle()


def _describe(where: Where, memory: Memory, **facts: str | None) -> list[LogEvent]:
    """Says who and where, if a line tells something new about it."""
    news = {key: value for key, value in facts.items() if value is not None}
    if all(memory.described.get(key) == value for key, value in news.items()):
        return []
    memory.described.update(news)
    return [SessionDescribed(**where, **memory.described)]


def _origin(meta: settings.SessionMeta) -> Origin:
    source = meta.source
    if meta.parent_thread_id or (
        isinstance(source, settings.SessionSource) and (source.subagent or source.internal)
    ):
        return "agent"
    return "sdk" if source in _HEADLESS else "typed"


def _thread(meta: settings.SessionMeta, where: Where) -> list[LogEvent]:
    source = meta.source if isinstance(meta.source, settings.SessionSource) else settings.SessionSource()
    subagent = source.subagent
    spawn = subagent.thread_spawn if isinstance(subagent, settings.SubagentSource) else None
    parent = meta.parent_thread_id or (spawn.parent_thread_id if spawn else None)
    kind = _kind(meta, source)
    if parent is None and kind is None:
        return []
    return [
        ThreadDescribed(
            **where,
            parent_thread=ThreadId(parent) if parent else None,
            type=kind,
            description=meta.agent_path or (spawn.agent_path if spawn else None),
            name=meta.agent_nickname or (spawn.agent_nickname if spawn else None),
            depth=spawn.depth if spawn else None,
            is_fork=meta.forked_from_id is not None or meta.subagent_history_start_ordinal is not None,
            is_internal=kind in _OF_THE_CLIENT or source.internal is not None,
        )
    ]


def _kind(meta: settings.SessionMeta, source: settings.SessionSource) -> str | None:
    role, subagent = meta.agent_role or meta.agent_type, source.subagent
    if isinstance(subagent, settings.SubagentSource):
        spawn = subagent.thread_spawn
        role = role or (spawn.agent_role or spawn.agent_type if spawn else None)
        return role or subagent.other or "thread_spawn"
    return subagent or source.internal or role


def _inherited(meta: settings.SessionMeta, where: Where) -> list[LogEvent]:
    base, own_from = meta.history_base, meta.subagent_history_start_ordinal
    if base is None and own_from is None and meta.forked_from_id is None:
        return []
    parent = meta.forked_from_id or meta.parent_thread_id
    return [
        HistoryInherited(
            **where,
            source=parent or (base.thread_id if base else None),
            own_from_ordinal=own_from,
            base_ordinal=base.end_ordinal_exclusive if base else None,
            base_offset=base.end_byte_offset if base else None,
            why="subagent" if own_from is not None else "fork" if meta.forked_from_id else "revert",
        )
    ]
