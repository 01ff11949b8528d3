"""Lineage of a Codex log: what its lines show of it, and the parent of a review thread that names none.

Before 0.137 the thread of a review does not name the thread that it reviews. Its parent is the one thread that
entered review mode in the same folder and was still being written when the review began. If several threads fit,
the review stays a session of its own.
"""

from __future__ import annotations

import re

from tracklog.agents.base import Head
from tracklog.agents.codex.records.envelope import EnvelopeLine, SessionMetaLine
from tracklog.model.lineage.trace import Trace
from tracklog.model.records import Piece, utc
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import UUID, LogFile

_THREAD_ID = re.compile(UUID)


def look_at(trace: Trace, piece: Piece) -> None:
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


_SIGN = b'"entered_review_mode"'
Headed = tuple[LogFile, Head]


def with_reviewed(heads: list[Headed]) -> list[Headed]:
    """The same files; a review that names no parent gets the one that it surely has."""
    signs: dict[LogFile, bool] = {}
    return [
        (
            file,
            _joined(file, head, heads, signs) if head.is_review and not (head.parent or head.root) else head,
        )
        for file, head in heads
    ]


def _joined(file: LogFile, review: Head, heads: list[Headed], signs: dict[LogFile, bool]) -> Head:
    near = [
        (other, head)
        for other, head in heads
        if other.root == file.root and _may_be_above(head, other, review)
    ]
    for other, _ in near:
        if other not in signs:
            signs[other] = _has_sign(other)
    above = {head.session for other, head in near if signs[other]}
    return review._replace(parent=above.pop()) if len(above) == 1 else review


def _may_be_above(head: Head, file: LogFile, review: Head) -> bool:
    if head.is_review or head.cwd != review.cwd or not (head.began_at and review.began_at):
        return False
    written = utc(file.mtime_ns / 1e9) or ""
    return head.began_at <= review.began_at <= written


def _has_sign(file: LogFile) -> bool:
    rest = b""
    try:
        for chunk in chunks(file):
            if _SIGN in rest + chunk:
                return True
            rest = chunk[-len(_SIGN) :]
    except NotReadable:
        return False
    return False
