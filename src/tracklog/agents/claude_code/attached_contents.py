"""The part of an attachment of Claude Code that the model saw, and its size.

Since 2.1.3xx the log holds the very words that were sent (`rendered`). Before, the client made them from the
attachment when it sent it; what it made nothing of is listed here, as its own code has it (2.1.100).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from tracklog.agents.base import Attached, LogContents
from tracklog.agents.claude_code.records.context.attachments import AttachmentLine
from tracklog.agents.claude_code.records.envelope import Envelope
from tracklog.agents.registry import pieces_of
from tracklog.model.events import Place
from tracklog.model.ids import NodeId
from tracklog.model.records import Piece, opened
from tracklog.sources.log_file import MAIN_KINDS, LogFile

NOT_SENT = frozenset(
    {
        "already_read_file",
        "command_permissions",
        "deferred_tools_record",  # what the tools look like; they are no part of the conversation
        "edited_image_file",
        "hook_cancelled",
        "hook_deferred_tool",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "hook_system_message",
        "max_turns_reached",
        "prompt_snapshot",  # what comes before the conversation
        "queued_command",  # a prompt, or injected: told as such
        "session_context",
        "structured_output",
    }
)
_SENT_ON_SUCCESS = ("SessionStart", "UserPromptSubmit")
_NAMES = (
    "displayPath",
    "filename",
    "path",
    "filePath",
    "planFilePath",
    "hookName",
    "skillName",
    "uri",
    "name",
)


def attached(piece: Piece, path: str) -> Attached | None:
    """The attachment of a record; None if it has none that the model saw."""
    if not isinstance(piece.record, AttachmentLine):
        return None
    line = opened(Raw(piece.raw))
    given = line.get("attachment") if isinstance(line, dict) else None
    if not isinstance(given, dict) or not isinstance(line, dict):
        return None
    what = piece.record.kind.partition("/")[2]
    sent = line["rendered"] if "rendered" in line else _sent(what, given)
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in _texts(sent))
    if not n_bytes or what == "queued_command":
        return None
    name = next((given[key] for key in _NAMES if isinstance(given.get(key), str) and given[key]), "")
    return Attached(Place(path, piece.line), what, name, n_bytes)


def _sent(what: str, given: dict[str, Any]) -> Any:
    if what == "hook_success":
        return given.get("content") if given.get("hookEvent") in _SENT_ON_SUCCESS else None
    return None if what in NOT_SENT else given.get("content", given.get("snippet", given))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, however deep; pictures and documents are no text."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict) and one.get("type") not in ("image", "document", "base64"):
            waiting += one.values()


def add_contents(file: LogFile, contents: LogContents, known: set[str]) -> None:
    """Add the records and attachments of a log; a record of an earlier log of the session counts there."""
    path, is_main = str(file.path), file.kind in MAIN_KINDS
    for piece in pieces_of(file):
        record = piece.record
        if not isinstance(record, Envelope) or (is_main and record.is_sidechain):
            continue
        if record.uuid:
            contents.nodes[Place(path, piece.line)] = NodeId(record.uuid)
        found = attached(piece, path) if not record.uuid or record.uuid not in known else None
        if found is not None:
            contents.attached.append(found)
        if record.uuid:
            known.add(record.uuid)
