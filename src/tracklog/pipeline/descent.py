"""What a session shares with its family: the traces of all their logs, and what `model.lineage` makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tracklog.model.ids import SessionId
from tracklog.model.lineage import Descent, Trace, descents
from tracklog.pipeline.reading import pieces_of
from tracklog.pipeline.sessions import MAIN_KINDS, SessionFiles
from tracklog.records.base import Piece
from tracklog.records.claude_code.blocks import ToolResult, ToolUse
from tracklog.records.claude_code.envelope import Envelope
from tracklog.records.claude_code.messages import AssistantLine, UserLine
from tracklog.records.claude_code.metadata import ContinuedIn, HistorySuppression
from tracklog.sources.files import NotReadable
from tracklog.sources.found import FileKind, LogFile

OnRefused = Callable[[LogFile, NotReadable], None]
Look = Callable[[Trace, Piece], None]

_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}


class Kinship:
    """The sessions of one family, for whoever reads several of them.

    What they share is worked out when it is first asked for, from one look at each log; the traces are not kept.
    """

    def __init__(self, sessions: Iterable[SessionFiles], *, on_refused: OnRefused | None = None) -> None:
        self.sessions = tuple(sessions)
        self._on_refused = on_refused
        self._descents: dict[SessionId, Descent] | None = None

    def descent(self, session: str) -> Descent:
        """What one of them has in common with the others."""
        if self._descents is None:
            self._descents = descents(self._traces())
        return self._descents.get(SessionId(session)) or Descent()

    def _traces(self) -> Iterator[Trace]:
        for session in self.sessions:
            for file in session.files:
                if file.kind in _THREADS:
                    yield trace_of(file, session.id, on_refused=self._on_refused)


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
    from tracklog.pipeline.descent_codex import (
        look_at_codex,
    )  # who reads no log of Codex does without its records

    return look_at_codex
