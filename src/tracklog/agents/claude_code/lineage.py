"""Lineage of a Claude Code log: the ids at its ends and anywhere in it, and what each line shows.

Rules
  1. Bytes are searched, not parsed, except for the first ids of a log. Of the head and the tail HEAD_BYTES are
     read.
  2. Most forks have no marker (docs/formats/claude_code.md): copied lines are recognised by the ids that they
     keep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracklog.agents.base import SharedIds
from tracklog.agents.claude_code.records.envelope import Envelope, ToolResult, ToolUse
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.claude_code.records.metadata import ContinuedIn, HistorySuppression
from tracklog.agents.headers import first_records
from tracklog.model.lineage.trace import Trace
from tracklog.model.records import Piece
from tracklog.sources.files import chunks, opened_once
from tracklog.sources.log_file import LogFile

HEAD_BYTES = 1 << 16
_LINES_ASKED = 200  # for the first ids of a file
_OVERLAP = 512  # longer than any id with its key: what two chunks cut is found in the second
_IDS = re.compile(rb'"(?:uuid|id)"\s{0,2}:\s{0,2}"((?!toolu_)[^"\\]{1,256})"')
_NAMED = re.compile(rb'"(?:sessionId|continuedInSessionId|parentSessionId)"\s*:\s*"([^"\\]{1,128})"')
# After /clear, lines name the session that their process began with; also after some forks. So it is only a hint.
_HINTED = re.compile(rb'"session_id"\s*:\s*"([^"\\]{1,128})"')


def shared_ids(file: LogFile) -> SharedIds:
    """The ids at the ends of a log: the first uuid and the first message's id, those in its head, sessions named."""
    with opened_once():
        head = _bytes_at(file, 0)
        tail = _bytes_at(file, file.size - HEAD_BYTES) if file.size > HEAD_BYTES else b""
        first = _first_ids(file)
    return SharedIds(
        tuple(dict.fromkeys(first)),
        frozenset(_IDS.findall(head)),
        _names(_NAMED, head) | _names(_NAMED, tail),
        _names(_HINTED, head) | _names(_HINTED, tail),
    )


def ids_inside(file: LogFile) -> Iterator[bytes]:
    """The ids of all lines and messages in a log; some come more than once."""
    rest = b""
    for chunk in chunks(file):
        yield from _IDS.findall(rest + chunk)
        rest = chunk[-_OVERLAP:]


def _names(pattern: re.Pattern[bytes], text: bytes) -> frozenset[str]:
    return frozenset(name.decode("utf-8", "replace") for name in pattern.findall(text))


def _bytes_at(file: LogFile, start: int) -> bytes:
    return next(chunks(file, max(start, 0), size=HEAD_BYTES), b"")


def _first_ids(file: LogFile) -> list[bytes]:
    """The ids of the first line on the tree, and of the first answer."""
    uuid = message = None
    for record in first_records(file, _LINES_ASKED):
        uuid = uuid or (record.uuid if isinstance(record, Envelope) else None)
        message = message or (record.message.id if isinstance(record, AssistantLine) else None)
        if uuid and message:
            break
    return [name.encode() for name in (uuid, message) if name]


def look_at(trace: Trace, piece: Piece) -> None:
    """Adds what a line shows to the trace of its log."""
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
