"""Read the head of a log for its session, if its path does not name it, and no more than needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from tracklog.agents.base import Head
from tracklog.agents.claude_code import records as claude_records
from tracklog.agents.codex import records as codex_records
from tracklog.agents.registry import first_lines_of, reader_for
from tracklog.model.records import Record
from tracklog.sources.files import NotReadable, can_be_opened, opened_once
from tracklog.sources.log_file import LogFile

if TYPE_CHECKING:
    from tracklog.agents.codex.records.settings import SessionMeta

# Lazy imports: readers take long to load, and only heads of Codex need these records.

_MOST_LINES = 100  # as many as are asked whose they are
_CLAUDE_NAMES = 4  # how many lines are heard that name a session
_CODEX_LINES = 3  # its own meta line, and perhaps that of the thread it was copied from


def head_of(file: LogFile) -> Head:
    """What a file says of itself at its beginning; nothing, if it cannot be read."""
    return read_head(file) or Head()


def read_head(file: LogFile) -> Head | None:
    """What a file says of itself at its beginning; None if it cannot be read now, so that nobody keeps that."""
    with opened_once():
        head = _head_in(file)
        return None if head == Head() and not can_be_opened(file) else head


def _head_in(file: LogFile) -> Head:
    if file.agent == "codex":
        return _plain_codex_head(file) or _codex_head(list(first_records(file, _CODEX_LINES)))
    named = _plain_claude_names(file)
    if named is None:
        sessions = filter(None, map(claude_records.session_of, first_records(file, _MOST_LINES)))
        named = tuple(dict.fromkeys(islice(sessions, _CLAUDE_NAMES)))
    return Head(named[0] if named else None, named=named)


class _Named(Struct):
    """A line of Claude Code, as far as it names its session."""

    session_id: str | None = field(default=None, name="sessionId")


_named = msgspec.json.Decoder(_Named)


def _plain_claude_names(file: LogFile) -> tuple[str, ...] | None:
    """The sessions that the first lines name, without the readers of all records; None: look closer."""
    names: list[str] = []
    try:
        for line in islice(first_lines_of(file), _MOST_LINES):
            name = _named.decode(line.raw).session_id
            names += [name] if name else []
            if len(names) == _CLAUDE_NAMES:
                break
    except (NotReadable, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return tuple(dict.fromkeys(names))


class _Meta(Struct):
    """What most rollouts say of themselves."""

    id: str
    cwd: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    source: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    history_base: None = None


class _MetaLine(Struct, tag_field="type", tag="session_meta"):
    payload: _Meta


_plain_meta = msgspec.json.Decoder(_MetaLine)


def _plain_codex_head(file: LogFile) -> Head | None:
    """The head of a thread that comes from nowhere else, without the readers of all records; None: look closer."""
    try:
        lines = list(islice(first_lines_of(file), _CODEX_LINES))
        meta = _plain_meta.decode(lines[0].raw).payload
    except (NotReadable, IndexError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_alone = meta.session_id in (None, meta.id) and not (meta.forked_from_id or meta.parent_thread_id)
    if not is_alone or any(b"session_meta" in line.raw for line in lines[1:]):
        return None
    return Head(meta.id, cwd=meta.cwd, began_at=meta.timestamp)


def first_records(file: LogFile, most: int) -> Iterator[Record]:
    """The first records of a file, read in small bites; fewer where it cannot be read on."""
    pieces = reader_for(file).read(first_lines_of(file))
    try:
        yield from (piece.record for piece in islice(pieces, most))
    except NotReadable:
        return


def _codex_head(records: list[Record]) -> Head:
    from tracklog.agents.codex.records.envelope import SessionMetaLine
    from tracklog.agents.codex.records.settings import SessionSource

    metas = [record.payload for record in records if isinstance(record, SessionMetaLine)]
    if not metas:
        return Head(next(filter(None, map(codex_records.session_of, records)), None))
    own = metas[0]
    thread = own.id or own.session_id
    root = own.session_id if own.session_id != thread else None
    base = own.history_base.thread_id if own.history_base else None
    named = (own.forked_from_id, base, *(meta.id for meta in metas[1:]))
    return Head(
        thread,
        _parent_of(own),
        root,
        sources=tuple(name for name in named if name and name != thread),
        is_review=isinstance(own.source, SessionSource) and own.source.subagent == "review",
        cwd=own.cwd,
        began_at=own.timestamp,
    )


def _parent_of(meta: SessionMeta) -> str | None:
    """The thread above; that of a review or another inner thread is at times named only as what it was forked from."""
    from tracklog.agents.codex.records.settings import SessionSource, SubagentSource

    source = meta.source if isinstance(meta.source, SessionSource) else SessionSource()
    spawn = source.subagent.thread_spawn if isinstance(source.subagent, SubagentSource) else None
    is_inner = source.subagent is not None or source.internal is not None
    stated = meta.parent_thread_id or (spawn.parent_thread_id if spawn else None)
    return stated or (meta.forked_from_id if is_inner else None)
