"""Choose the reader and translator of a log, and detect the agent of a file outside of all homes.

Rules
  1. Damage does not hide the agent: torn, deep and overlong lines are asked for whatever they still show.
  2. A file with JSON objects, but none of an agent we know, belongs to a stranger, and each of its lines is
     unknown: what would break one format may be right in another. A file without any object is broken.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tracklog.agents import reader
from tracklog.agents.base import Translator
from tracklog.agents.claude_code import records
from tracklog.agents.codex import records as codex_records
from tracklog.agents.discovery import find_at
from tracklog.agents.hooks import records as hooks_records
from tracklog.agents.reader import Reader, Value, unknown
from tracklog.errors import UserError
from tracklog.model.json_text import WHITE, is_json, loads, outline
from tracklog.model.records import Blank, Piece, Record
from tracklog.sources.files import NotReadable, chunks, opened_once
from tracklog.sources.lines import KEPT_BYTES, Line, cut, whole
from tracklog.sources.log_file import Agent, FileKind, LogFile, Skipped
from tracklog.sources.spool import is_of_spool

# Lazy imports: a translator takes long to load, and a log has one agent.

_LINES_LOOKED_AT = 50
_STRANGE = "of an agent that we do not know"


class DetectedLog(NamedTuple):
    """The agent and format of a file, from its first lines."""

    agent: str | None
    has_objects: bool


def tell_agent(lines: Iterable[Line]) -> DetectedLog:
    """Looks at lines until one tells its writer, or enough of them told nothing. Blank ones do not count."""
    has_objects, n_looked_at = False, 0
    for line in lines:
        if not line.raw.strip(WHITE + b"\0"):
            continue
        for value in _objects_in(line):
            has_objects = True
            agent = _writer_of(value)
            if agent is not None:
                return DetectedLog(agent, has_objects)
        n_looked_at += 1
        if n_looked_at >= _LINES_LOOKED_AT:
            break
    return DetectedLog(None, has_objects)


def _writer_of(value: Value) -> str | None:
    if codex_records.is_codex(value):
        return "codex"
    return "claude" if records.is_claude(value) else None


def _objects_in(line: Line) -> Iterator[Value]:
    """The objects in a line; of one that cannot be parsed, what its outermost strings tell."""
    try:
        value = loads(line.raw)[0] if line.whole else None
    except (ValueError, RecursionError):
        value = None
        for (start, end), good in reader.split(line.raw, _is_typed, may_be_record=_is_typed):
            if good and end - start < len(line.raw):
                yield from _objects_in(Line(line.number, start, end - start, line.raw[start:end]))
    if isinstance(value, dict):
        yield value
    elif value is None and (known := outline(line.raw).known):
        yield {**known, "payload": {}}


def _is_typed(value: Value) -> bool:
    return isinstance(value.get("type"), str)


def _name_of(value: Value) -> str:
    return str(value["type"]) if _is_typed(value) else "untyped"


def _refuse(raw: bytes) -> Record:  # noqa: ARG001 (a decoder takes bytes)
    raise msgspec.DecodeError("nothing of a stranger is decoded as a record")


def _strange(value: Value) -> Record:
    return unknown(value, _name_of(value), _STRANGE, body=value)


class StrangerReader(Reader):
    """Reads files of agents that we do not know: each line is one piece."""

    def read(self, lines: Iterable[Line]) -> Iterator[Piece]:
        for line in lines:
            yield Piece(line.number, line.offset, line.length, line.raw, _read_strange(line))


def _read_strange(line: Line) -> Record:
    if line.length == len(line.raw) and not line.raw.strip(WHITE):
        return Blank()
    value: Any = None
    try:
        value, _ = loads(line.raw) if line.whole else (None, "")
    except (ValueError, RecursionError):
        return unknown({}, "text", _STRANGE, body=None)
    return _strange(value) if isinstance(value, dict) else unknown({}, "text", _STRANGE, body=value)


STRANGER = StrangerReader(None, _refuse, read_value=_strange, name_of=_name_of, is_record=_is_typed)
WRECKAGE = Reader(None, _refuse, read_value=_strange, name_of=_name_of, is_record=_is_typed)
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
_LINES_PEEKED = 100
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
    "claude": lambda record: records.session_of(record),
    "codex": lambda record: codex_records.session_of(record),
}


@cache
def readers_of(agent: str) -> dict[FileKind, Reader]:
    """The readers of one agent: those of the other are not loaded for it."""
    if agent == "claude":
        return {
            FileKind.TRANSCRIPT: records.READER,
            FileKind.SUBAGENT: records.READER,
            FileKind.OTHER: records.READER,
            FileKind.DOCUMENT: records.READER,
            FileKind.JOURNAL: records.JOURNAL_READER,
            FileKind.META: records.META_READER,
            FileKind.REGISTRY: records.REGISTRY_READER,
            FileKind.HISTORY: records.HISTORY_READER,
            FileKind.WORKFLOW: records.WORKFLOW_READER,
            FileKind.TITLE: records.TITLE_READER,
            FileKind.PROJECT_INDEX: records.PROJECT_INDEX_READER,
        }
    if agent == "codex":
        return {
            FileKind.TRANSCRIPT: codex_records.READER,
            FileKind.OTHER: codex_records.READER,
            FileKind.DOCUMENT: codex_records.DOCUMENT_READER,
            FileKind.HISTORY: codex_records.HISTORY_READER,
            FileKind.SESSION_INDEX: codex_records.SESSION_INDEX_READER,
        }
    return {FileKind.SPOOL: hooks_records.READER}


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
    with opened_once():
        try:
            told = tell_agent(first_lines_of(file))
            is_stranger = told.has_objects or _is_document(file)
        except NotReadable:
            return file  # its reader reports it
        if told.agent is None:
            return file if is_stranger else file._replace(kind=FileKind.OTHER)
        known = file._replace(agent="codex" if told.agent == "codex" else "claude")
        return known._replace(session=_session_in(known) or file.session)


def read_records(path: str | os.PathLike[str]) -> Iterator[Piece]:
    """Yields every piece of the log at `path`: the typed record, its bytes, and its place."""
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
    for piece in itertools.islice(reader_for(file).read(first_lines_of(file)), _LINES_PEEKED):
        session = session_of(piece.record)
        if session:
            return session
    return None


def translator_of(file: LogFile) -> Translator:
    """The translator for the agent that wrote a log."""
    return translators_of(file.agent)(str(file.path))


def translators_of(agent: str | None) -> Callable[[str], Translator]:
    """Makes the translators of one agent; loads their modules now."""
    if agent == "claude":  # each is slow to load, and seldom both are needed
        from tracklog.agents.claude_code.translate.translator import ClaudeTranslator

        return ClaudeTranslator
    from tracklog.agents.codex.translate.translator import CodexTranslator

    return CodexTranslator
