"""What of a session's logs its story leaves out: which record stands where, and what the client attached."""

from __future__ import annotations

from tracklog.model.carried import Contents
from tracklog.model.events import Place
from tracklog.model.ids import NodeId
from tracklog.model.translate.claude_code_attached import attached
from tracklog.pipeline.reading import pieces_of
from tracklog.pipeline.sessions import MAIN_KINDS, SessionFiles
from tracklog.records.claude_code.envelope import Envelope
from tracklog.sources.files import NotReadable
from tracklog.sources.found import FileKind, LogFile

_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}


def contents_of(session: SessionFiles) -> Contents:
    """The contents of all its logs; agents without a tree have none that the story does not tell."""
    contents = Contents()
    seen: set[str] = set()
    for file in session.files:
        if file.agent == "claude" and file.kind in _THREADS:
            try:
                _look_at(file, contents, seen)
            except NotReadable:
                continue  # whoever reads the session meets the same refusal and reports it
    return contents


def _look_at(file: LogFile, contents: Contents, seen: set[str]) -> None:
    """Takes in a log; a record that stands in an earlier one of the session, too, counts there."""
    path, is_main = str(file.path), file.kind in MAIN_KINDS
    for piece in pieces_of(file):
        record = piece.record
        if not isinstance(record, Envelope) or (is_main and record.is_sidechain):
            continue
        if record.uuid:
            contents.nodes[Place(path, piece.line)] = NodeId(record.uuid)
        found = attached(piece, path) if not record.uuid or record.uuid not in seen else None
        if found is not None:
            contents.attached.append(found)
        if record.uuid:
            seen.add(record.uuid)
