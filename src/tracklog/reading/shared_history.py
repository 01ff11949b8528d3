"""What the beginning and the end of a log, and a search of its bytes, tell of sessions that may share its history.

Rules of this room
  1. Bytes are searched, not parsed, but for the first ids of a log. Of the head and the tail HEAD_BYTES are read.
  2. The caches are keyed by the whole `LogFile`: a log that was written, replaced or moved is read again.
  3. A log that cannot be read gives nothing now, and is not cached: it is tried again at the next question.
  4. Cached ids are hashes of 8 bytes. Two that collide make a session too many, which costs little.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tracklog.agents.claude_code.records.envelope import Envelope
from tracklog.agents.claude_code.records.messages import AssistantLine
from tracklog.agents.headers import first_records
from tracklog.reading.session_files import SessionFiles
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.log_file import LogFile

HEAD_BYTES = 1 << 16
_LINES_ASKED = 200  # for the first ids of a file
_OVERLAP = 512  # longer than any id with its key: what two chunks cut is found in the second
_CACHED_LOGS = 16_384
_IDS = re.compile(rb'"(?:uuid|id)"\s{0,2}:\s{0,2}"((?!toolu_)[^"\\]{1,256})"')
_NAMED = re.compile(rb'"(?:sessionId|continuedInSessionId|parentSessionId)"\s*:\s*"([^"\\]{1,128})"')
# After /clear, lines name the session that their process began with; also after some forks. So it is only a hint.
_HINTED = re.compile(rb'"session_id"\s*:\s*"([^"\\]{1,128})"')


class Glance(NamedTuple):
    """The beginning and the end of a log, or of all transcripts of a session."""

    begins: tuple[bytes, ...] = ()  # the first uuid and the first message's id of each
    holds: frozenset[bytes] = frozenset()  # the ids of lines and messages in the head
    named: frozenset[str] = frozenset()  # sessions from which lines came, or in which they go on
    hinted: frozenset[str] = frozenset()


class ShortGlance(NamedTuple):
    """A glance that is small enough to be cached: ids are hashes."""

    begins: tuple[int, ...] = ()
    holds: array[int] = array("q")
    named: frozenset[str] = frozenset()
    hinted: frozenset[str] = frozenset()


def glance_at(session: SessionFiles) -> Glance:
    """The glance at all transcripts of a session; for readers that look at each session once."""
    glances = []
    for file in session.mains:
        try:
            glances.append(_read_glance(file))
        except NotReadable:
            continue
    return Glance(
        tuple(dict.fromkeys(key for one in glances for key in one.begins)),
        frozenset().union(*(one.holds for one in glances)),
        frozenset().union(*(one.named for one in glances)),
        frozenset().union(*(one.hinted for one in glances)),
    )


def short_glance_at(session: SessionFiles) -> ShortGlance:
    """The cached glance at all transcripts of a session."""
    glances = []
    for file in session.mains:
        try:
            glances.append(_short_glance(file))
        except NotReadable:
            continue
    if len(glances) == 1:
        return glances[0]
    holds = array("q")
    for one in glances:
        holds.extend(one.holds)
    return ShortGlance(
        tuple(dict.fromkeys(key for one in glances for key in one.begins)),
        holds,
        frozenset().union(*(one.named for one in glances)),
        frozenset().union(*(one.hinted for one in glances)),
    )


def ids_inside(session: SessionFiles) -> Iterator[int]:
    """The hashes of all ids of lines and messages in the transcripts of a session, cached by log."""
    for file in session.mains:
        try:
            yield from _ids_in(file)
        except NotReadable:
            continue


@lru_cache(maxsize=_CACHED_LOGS)
def _short_glance(file: LogFile) -> ShortGlance:
    glance = _read_glance(file)
    return ShortGlance(
        tuple(map(hash, glance.begins)), array("q", map(hash, glance.holds)), glance.named, glance.hinted
    )


@lru_cache(maxsize=_CACHED_LOGS)
def _ids_in(file: LogFile) -> array[int]:
    return array("q", {hash(key) for text in _pieces(file) for key in _IDS.findall(text)})


def _read_glance(file: LogFile) -> Glance:
    head = _bytes_at(file, 0)
    tail = _bytes_at(file, file.size - HEAD_BYTES) if file.size > HEAD_BYTES else b""
    return Glance(
        tuple(dict.fromkeys(_first_ids(file))),
        frozenset(_IDS.findall(head)),
        _names(_NAMED, head) | _names(_NAMED, tail),
        _names(_HINTED, head) | _names(_HINTED, tail),
    )


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


def _pieces(file: LogFile) -> Iterator[bytes]:
    """The contents of a log, each piece with the end of the one before it."""
    rest = b""
    for chunk in chunks(file):
        yield rest + chunk
        rest = chunk[-_OVERLAP:]
