"""From a file to its records: which reader fits, and who wrote a file that stands in no agent's home."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tracklog.errors import UserError
from tracklog.records import claude_code, codex
from tracklog.records.base import Piece, Record
from tracklog.records.detect import STRANGER, agent_of
from tracklog.records.json_text import is_json
from tracklog.records.reading import Reader
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import Agent, FileKind, LogFile, Skipped
from tracklog.sources.lines import Line, cut, whole
from tracklog.sources.places import find_at

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
_LINES_LOOKED_AT = 50
_BYTES_LOOKED_AT = 1 << 20

_READERS: dict[tuple[str, FileKind], Reader] = {
    ("claude", FileKind.TRANSCRIPT): claude_code.READER,
    ("claude", FileKind.SUBAGENT): claude_code.READER,
    ("claude", FileKind.OTHER): claude_code.READER,
    ("claude", FileKind.JOURNAL): claude_code.JOURNAL_READER,
    ("claude", FileKind.META): claude_code.META_READER,
    ("claude", FileKind.REGISTRY): claude_code.REGISTRY_READER,
    ("claude", FileKind.HISTORY): claude_code.HISTORY_READER,
    ("claude", FileKind.WORKFLOW): claude_code.WORKFLOW_READER,
    ("claude", FileKind.TITLE): claude_code.TITLE_READER,
    ("claude", FileKind.PROJECT_INDEX): claude_code.PROJECT_INDEX_READER,
    ("codex", FileKind.TRANSCRIPT): codex.READER,
    ("codex", FileKind.OTHER): codex.READER,
    ("codex", FileKind.DOCUMENT): codex.DOCUMENT_READER,
    ("codex", FileKind.HISTORY): codex.HISTORY_READER,
    ("codex", FileKind.SESSION_INDEX): codex.SESSION_INDEX_READER,
}
_SESSION_OF: dict[str, Callable[[Record], str | None]] = {
    "claude": claude_code.session_of,
    "codex": codex.session_of,
}


def lines_of(file: LogFile) -> Iterator[Line]:
    """The lines of a file; a file that is one JSON document is one line."""
    if file.kind in ONE_DOCUMENT:
        document = whole(chunks(file))
        if file.kind is not FileKind.DOCUMENT or not document.whole or is_json(document.raw):
            return iter([document])
    return cut(chunks(file))


def reader_for(file: LogFile) -> Reader:
    """The reader for a file whose agent is known; lines of strangers are all unknown."""
    return _READERS.get((file.agent or "", file.kind), STRANGER)


def pieces_of(file: LogFile) -> Iterator[Piece]:
    """All pieces of a file, in order. Raises NotReadable, behind the good ones, if the file is damaged."""
    return reader_for(file).read(lines_of(file))


def identified(file: LogFile) -> LogFile:
    """The file with its agent and session as its own first records tell, where the place does not."""
    if file.agent is not None or file.kind in NOT_RECORDS:
        return file
    try:
        first = list(itertools.islice(_first_lines(file), _LINES_LOOKED_AT))
    except NotReadable:
        return file  # whoever reads it will meet the same refusal and report it
    agent = agent_of(line.raw for line in first)
    if agent is None:
        return file
    known: Agent = "codex" if agent == "codex" else "claude"
    named = file._replace(agent=known)
    return named._replace(session=file.session or _session_in(named, first))


def read_records(path: str | os.PathLike[str]) -> Iterator[Piece]:
    """Yields every piece of the log at `path`: the typed record, its bytes, and where they stand."""
    found = next(find_at(Path(path)), None)
    if os.path.isdir(path) or found is None:
        raise UserError(f"{os.fspath(path)} is a directory: name one of the files in it")
    if isinstance(found, Skipped):
        raise UserError(f"cannot read {os.fspath(path)}: {found.why}")
    return pieces_of(identified(found))


def _first_lines(file: LogFile) -> Iterator[Line]:
    if file.kind in ONE_DOCUMENT:
        return lines_of(file)
    looked_at = itertools.islice(chunks(file, size=_BYTES_LOOKED_AT // 4), 4)
    return cut(looked_at)


def _session_in(file: LogFile, lines: list[Line]) -> str | None:
    session_of = _SESSION_OF[file.agent or ""]
    for piece in reader_for(file).read(lines):
        session = session_of(piece.record)
        if session:
            return session
    return None
