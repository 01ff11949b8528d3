"""Whose work a review of an early Codex looked at: before 0.137 its thread names nobody.

The thread above it entered review mode in the same folder and was still written when the review began. Where only one
such thread is at hand, it is the one; else the review stays a session of its own.
"""

from __future__ import annotations

from tracklog.pipeline.heads import Head
from tracklog.records.base import utc
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import LogFile

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
