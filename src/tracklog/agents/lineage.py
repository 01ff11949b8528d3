from __future__ import annotations

from collections.abc import Callable

from tracklog.agents.claude_code.records.envelope import Envelope, ToolResult, ToolUse
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.claude_code.records.metadata import ContinuedIn, HistorySuppression
from tracklog.agents.registry import pieces_of
from tracklog.model.lineage.trace import Trace
from tracklog.model.records import Piece
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import FileKind, LogFile

OnRefused = Callable[[LogFile, NotReadable], None]
Look = Callable[[Trace, Piece], None]


def trace_of(file: LogFile, session: str, *, on_refused: OnRefused | None = None) -> Trace:
    """What one log shows of its descent; of a damaged one, what could be read."""
    is_codex = file.agent == "codex"
    thread = file.session if is_codex and file.session != session else None
    if file.kind is FileKind.SUBAGENT:
        thread = file.path.name.partition(".")[0]
    trace = Trace(str(file.path), session, thread=thread, says_copies=is_codex)
    look = _codex_look() if is_codex else _look_at_claude
    try:
        for piece in pieces_of(file):
            n_known = len(trace.keys)
            look(trace, piece)
            if len(trace.keys) == n_known:
                trace.noted(piece.line, piece.at)
    except NotReadable as error:
        if on_refused is not None:
            on_refused(file, error)
        return trace  # whoever reads the session meets the same refusal and reports it
    return trace


def _look_at_claude(trace: Trace, piece: Piece) -> None:
    record, line, at = piece.record, piece.line, piece.at
    if isinstance(record, Envelope):
        if record.uuid:
            trace.saw(f"uuid:{record.uuid}", line, at)
        if record.forked_from and record.forked_from.message_uuid and record.forked_from.session_id:
            trace.marked(record.forked_from.session_id, line=line)
        if record.session_id:
            trace.hinted(record.session_id)
        if record.session_kind == "bg":
            trace.marked_background()
    if isinstance(record, AssistantLine) and record.message.id:
        trace.saw(f"message:{record.message.id}", line, at)
    if isinstance(record, (AssistantLine, UserLine)) and isinstance(record.message.content, list):
        for block in record.message.content:
            call = block.id if isinstance(block, ToolUse) else None
            call = block.tool_use_id if isinstance(block, ToolResult) else call
            if call:
                trace.saw(f"call:{call}", line, at)
    if isinstance(record, ContinuedIn):
        trace.went_on_in(record.continued_in_session_id)
    if isinstance(record, HistorySuppression) and record.cause == "fork_inherit":
        trace.marked_background()


def _codex_look() -> Look:
    from tracklog.agents.codex.lineage import (
        look_at_codex,  # who reads no log of Codex does without its records
    )

    return look_at_codex
