"""From a file to its records: which reader fits, and who wrote a file that stands in no agent's home."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from tracklog.errors import UserError
from tracklog.records import claude_code, codex, spool
from tracklog.records.base import Piece, Record
from tracklog.records.detect import STRANGER, WRECKAGE, tell_agent
from tracklog.records.json_text import is_json
from tracklog.records.reading import Reader
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import Agent, FileKind, LogFile, Skipped
from tracklog.sources.lines import KEPT_BYTES, Line, cut, whole
from tracklog.sources.places import find_at
from tracklog.sources.spool import is_of_spool

ONE_DOCUMENT = frozenset(
    {
        FileKind.DOCUMENT,
        FileKind.META,
        FileKind.REGISTRY,
        FileKind.WORKFLOW,
        FileKind.TITLE,
        FileKind.PROJECT_INDEX,
    }
)
NOT_RECORDS = frozenset({FileKind.TOOL_RESULT})  # plain output of tools
_LINES_LOOKED_AT = 100
_FIRST_BYTES = 2 * KEPT_BYTES  # of which the first lines of a log are; a longer line tells nothing anyway
_BITE = 1 << 16
_WRITTEN_BY: dict[FileKind, Agent] = {
    FileKind.JOURNAL: "claude",
    FileKind.META: "claude",
    FileKind.PROJECT_INDEX: "claude",
    FileKind.REGISTRY: "claude",
    FileKind.TITLE: "claude",
    FileKind.WORKFLOW: "claude",
    FileKind.SESSION_INDEX: "codex",
}

_SESSION_OF: dict[str, Callable[[Record], str | None]] = {
    "claude": lambda record: claude_code.session_of(record),
    "codex": lambda record: codex.session_of(record),
}


@cache
def readers_of(agent: str) -> dict[FileKind, Reader]:
    """The readers of one agent: those of the other are not loaded for it."""
    if agent == "claude":
        return {
            FileKind.TRANSCRIPT: claude_code.READER,
            FileKind.SUBAGENT: claude_code.READER,
            FileKind.OTHER: claude_code.READER,
            FileKind.DOCUMENT: claude_code.READER,
            FileKind.JOURNAL: claude_code.JOURNAL_READER,
            FileKind.META: claude_code.META_READER,
            FileKind.REGISTRY: claude_code.REGISTRY_READER,
            FileKind.HISTORY: claude_code.HISTORY_READER,
            FileKind.WORKFLOW: claude_code.WORKFLOW_READER,
            FileKind.TITLE: claude_code.TITLE_READER,
            FileKind.PROJECT_INDEX: claude_code.PROJECT_INDEX_READER,
        }
    if agent == "codex":
        return {
            FileKind.TRANSCRIPT: codex.READER,
            FileKind.OTHER: codex.READER,
            FileKind.DOCUMENT: codex.DOCUMENT_READER,
            FileKind.HISTORY: codex.HISTORY_READER,
            FileKind.SESSION_INDEX: codex.SESSION_INDEX_READER,
        }
    return {FileKind.SPOOL: spool.READER}


def lines_of(file: LogFile, source: Iterable[bytes] | None = None) -> Iterator[Line]:
    """The lines of a file; a file that is one JSON document is one line. `source` is its bytes, if they are at hand."""
    source = chunks(file) if source is None else source
    if file.kind not in ONE_DOCUMENT:
        return cut(source)
    document = whole(source)
    if file.kind is FileKind.DOCUMENT and document.whole and _is_many(document.raw):
        return cut([document.raw])
    return iter([document] if document.length else [])


def first_lines_of(file: LogFile) -> Iterator[Line]:
    """The lines in the first _FIRST_BYTES of a file, read in small bites; of a JSON document all."""
    source = chunks(file, size=_BITE)
    return lines_of(file, source if file.kind in ONE_DOCUMENT else _first_bytes(source))


def _first_bytes(source: Iterable[bytes]) -> Iterator[bytes]:
    n_bytes = 0
    for piece in source:
        yield piece
        n_bytes += len(piece)
        if n_bytes >= _FIRST_BYTES:
            return


def _is_many(raw: bytes) -> bool:
    """Whether a file named like a document holds a log of lines."""
    first, newline, rest = raw.partition(b"\n")
    return bool(newline and rest.strip()) and is_json(first) and not is_json(raw)


def reader_for(file: LogFile) -> Reader:
    """The reader for a file whose agent is known; lines of strangers are all unknown."""
    fallback = WRECKAGE if file.kind is FileKind.OTHER else STRANGER
    return readers_of(file.agent or "").get(file.kind, fallback)


def pieces_of(file: LogFile) -> Iterator[Piece]:
    """All pieces of a file, in order. Raises NotReadable, behind the good ones, if the file is damaged."""
    return reader_for(file).read(lines_of(file))


def identified(file: LogFile) -> LogFile:
    """The file with its agent and session as its own first records tell, where the place does not.

    A file without any whole JSON in it belongs to nobody: its kind is `other`, its lines are broken.
    """
    if file.agent is not None or file.kind in NOT_RECORDS:
        return file
    if is_of_spool(file.path):
        return file._replace(kind=FileKind.SPOOL)
    if file.kind in _WRITTEN_BY:
        return file._replace(agent=_WRITTEN_BY[file.kind])
    try:
        told = tell_agent(first_lines_of(file))
        is_stranger = told.has_objects or _is_document(file)
    except NotReadable:
        return file  # whoever reads it will meet the same refusal and report it
    if told.agent is None:
        return file if is_stranger else file._replace(kind=FileKind.OTHER)
    known = file._replace(agent="codex" if told.agent == "codex" else "claude")
    return known._replace(session=_session_in(known) or file.session)


def read_records(path: str | os.PathLike[str]) -> Iterator[Piece]:
    """Yields every piece of the log at `path`: the typed record, its bytes, and where they stand."""
    if not os.fspath(path):
        raise UserError("which log? the path is empty")
    found = next(find_at(Path(path)), None)
    if os.path.isdir(path) or found is None:
        raise UserError(f"{os.fspath(path)} is a directory: name one of the files in it")
    if isinstance(found, Skipped):
        raise UserError(f"cannot read {os.fspath(path)}: {found.why}")
    return pieces_of(identified(found))


def _is_document(file: LogFile) -> bool:
    """Whether the file is empty, or one JSON value over many lines, as some agents write it."""
    if file.size > KEPT_BYTES:
        return False  # too long to be decoded
    document = whole(chunks(file))
    return not document.length or (document.whole and is_json(document.raw))


def _session_in(file: LogFile) -> str | None:
    session_of = _SESSION_OF[file.agent or ""]
    for piece in itertools.islice(reader_for(file).read(first_lines_of(file)), _LINES_LOOKED_AT):
        session = session_of(piece.record)
        if session:
            return session
    return None
