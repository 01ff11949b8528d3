"""What a line of Codex shows of the descent of its log."""

from __future__ import annotations

import re

from tracklog.model.lineage import Trace
from tracklog.records.base import Piece
from tracklog.records.codex.envelope import EnvelopeLine, SessionMetaLine
from tracklog.sources.found import UUID

_THREAD_ID = re.compile(UUID)


def look_at_codex(trace: Trace, piece: Piece) -> None:
    """Adds what a line shows to the trace of its log."""
    record, line = piece.record, piece.line
    if isinstance(record, SessionMetaLine):
        _look_at_meta(trace, record, line)
    if isinstance(record, EnvelopeLine) and record.ordinal is not None:
        trace.counted(record.ordinal, line)
    payload = getattr(record, "payload", None)
    for kind, id in (
        ("turn", getattr(payload, "turn_id", None)),
        ("call", getattr(payload, "call_id", None)),
    ):
        if isinstance(id, str) and id:
            trace.saw(f"{kind}:{id}", line, piece.at)


def _look_at_meta(trace: Trace, record: SessionMetaLine, line: int) -> None:
    meta = record.payload
    if line > 1:
        if meta.id and _THREAD_ID.fullmatch(meta.id):
            trace.marked(meta.id, line=line)
        return
    base = meta.history_base.thread_id if meta.history_base else None
    source = meta.forked_from_id or base
    if source:
        trace.marked(source, is_referring=meta.history_base is not None)
    if meta.subagent_history_start_ordinal is not None and meta.parent_thread_id:
        trace.marked(meta.parent_thread_id, own_from_ordinal=meta.subagent_history_start_ordinal)
