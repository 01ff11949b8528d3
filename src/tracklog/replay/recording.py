"""A session's files as a recording: when each line was written, and what the client did beside writing.

Rules
  1. A line without a time was written with the line before it; lines of one file never change their order.
  2. What is no log was there when a line first named it: a subagent's card before its log, an output before its result.
  3. Each file has a place in a home of its agent, also where the recording stands in a plain folder or an archive.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import PurePosixPath
from typing import NamedTuple

from tracklog.agents.registry import lines_of, reader_for, translator_of
from tracklog.agents.supported import support_for
from tracklog.clock import NO_TIME, moment_ms
from tracklog.errors import UserError
from tracklog.model.events import LogEvent, SessionDescribed
from tracklog.reading.session_files import SessionFiles, thread_of
from tracklog.replay.cues import Cue, ThreadCues
from tracklog.sources.files import NotReadable
from tracklog.sources.lines import Line
from tracklog.sources.log_file import UUID, Agent, FileKind, LogFile

_LOGS = (FileKind.TRANSCRIPT, FileKind.SUBAGENT, FileKind.JOURNAL, FileKind.OTHER)
_WITH_CUES = (FileKind.TRANSCRIPT, FileKind.SUBAGENT)


class RecordedWrite(NamedTuple):
    """What was written at once: a line with its newline, or a whole file that is no log."""

    at_ms: int
    n_bytes: int


class RecordedFile(NamedTuple):
    """A file of the recording, its place in a home, and its parts in order."""

    file: LogFile
    place: PurePosixPath
    parts: list[RecordedWrite]

    @property
    def is_log(self) -> bool:
        """Whether it grew line by line."""
        return self.file.kind in _LOGS


@dataclass
class Recording:
    """A session that can be played again."""

    id: str  # the one that it is played under
    agent: Agent
    files: list[RecordedFile]
    cues: list[Cue]
    ids: dict[bytes, bytes] = field(
        default_factory=dict
    )  # the old and new ids of the session and its threads
    cwd: str = ""
    version: str | None = None
    entrypoint: str | None = None

    @property
    def first_ms(self) -> int:
        """When its first line was written."""
        return min(part.at_ms for file in self.files for part in file.parts)

    @property
    def last_ms(self) -> int:
        """When its last line was written."""
        return max(part.at_ms for file in self.files for part in file.parts)

    @property
    def moments(self) -> Iterator[int]:
        """Whenever something happened."""
        yield from (part.at_ms for file in self.files for part in file.parts)
        yield from (cue.at_ms for cue in self.cues)

    @property
    def transcript(self) -> PurePosixPath:
        """The place of the main thread's log."""
        return self.files[0].place

    def renamed(self, data: bytes) -> bytes:
        """The bytes with the new ids in place of the old ones."""
        for old, new in self.ids.items():
            data = data.replace(old, new)
        return data


@dataclass
class _ReadLog:
    """What one log tells."""

    file: LogFile
    times: list[int] = field(default_factory=list)  # of each line; NO_TIME where it says none
    lengths: list[int] = field(default_factory=list)
    cues: list[Cue] = field(default_factory=list)
    named: dict[bytes, int] = field(
        default_factory=dict
    )  # files beside the log, and when a line first named them
    described: SessionDescribed | None = None

    @property
    def parts(self) -> list[RecordedWrite]:
        """The lines in order, none before the one in front of it."""
        known = [time for time in self.times if time != NO_TIME]
        begin = known[0] if known else self.file.mtime_ns // 1_000_000
        return list(
            map(RecordedWrite, accumulate((max(begin, time) for time in self.times), max), self.lengths)
        )


def recording_of(session: SessionFiles, *, as_id: str | None = None) -> Recording:
    """The session as a recording, to be played under its own id or another one."""
    beside = [file for file in session.files if file.kind not in _LOGS]
    names = _any_of(file.path.name.encode() for file in beside)
    logs = [_read_log(file, names, session) for file in session.files if file.kind in _LOGS]
    logs = [one for one in logs if one.lengths]
    if not logs:
        raise UserError(f"there is nothing to replay in the session {session.id}")
    described = next((one.described for one in logs if one.described), None)
    cwd = (described and described.cwd) or ""
    ids = _new_ids(session, as_id) if as_id else {}
    files = [RecordedFile(one.file, _place(one.file, session, cwd), one.parts) for one in logs]
    files += [
        RecordedFile(file, _place(file, session, cwd), [_at_once(file, logs)]) for file in beside if file.size
    ]
    return Recording(
        id=as_id or session.id,
        agent=session.agent,
        files=_each_place_once(files, ids),
        cues=sorted((cue for one in logs for cue in one.cues), key=lambda cue: cue.at_ms),
        ids=ids,
        cwd=cwd,
        version=described.version if described else None,
        entrypoint=described.entrypoint if described else None,
    )


def _any_of(names: Iterable[bytes]) -> re.Pattern[bytes] | None:
    words = b"|".join(map(re.escape, sorted(names)))
    return re.compile(words) if words else None


def _read_log(file: LogFile, names: re.Pattern[bytes] | None, session: SessionFiles) -> _ReadLog:
    """Reads a log once; of one that is damaged, what can be read."""
    log = _ReadLog(file)
    is_main = file in session.mains
    cues = ThreadCues(support_for(session.agent).replay, thread=None if is_main else str(thread_of(file)))
    translator = translator_of(file)
    now_ms = NO_TIME
    try:
        for piece in reader_for(file).read(_noted(lines_of(file), log)):
            at_ms = moment_ms(piece.at)
            log.times[piece.line - 1] = max(log.times[piece.line - 1], at_ms)
            now_ms = max(now_ms, at_ms)
            for name in names.findall(piece.raw) if names else ():
                log.named.setdefault(name, now_ms)
            for event in translator.translate(piece) if file.kind in _WITH_CUES else ():
                log.described = log.described or _description(event)
                cues.add(event, piece.raw, now_ms)
    except NotReadable:
        pass  # the bytes before the damage are what is played
    begins_ms = log.parts[0].at_ms if log.lengths else 0
    log.cues = [cue._replace(at_ms=max(cue.at_ms, begins_ms)) for cue in cues.finish()]
    return log


def _noted(lines: Iterable[Line], log: _ReadLog) -> Iterator[Line]:
    for line in lines:
        log.lengths.append(line.length + line.ended)
        log.times.append(NO_TIME)
        yield line


def _description(event: LogEvent) -> SessionDescribed | None:
    return event if isinstance(event, SessionDescribed) and event.cwd else None


def _at_once(file: LogFile, logs: list[_ReadLog]) -> RecordedWrite:
    """A file beside the logs: there before the log it belongs to, or the line that names it; else at the end."""
    stem = file.path.name.partition(".")[0]
    if file.kind is FileKind.META:
        for one in logs:
            if one.file.path.parent == file.path.parent and one.file.path.name.partition(".")[0] == stem:
                return RecordedWrite(one.parts[0].at_ms, file.size)
    named = [one.named[name] for one in logs if (name := file.path.name.encode()) in one.named]
    return RecordedWrite(min(named) if named else max(one.parts[-1].at_ms for one in logs), file.size)


def _new_ids(session: SessionFiles, as_id: str) -> dict[bytes, bytes]:
    """A new id of the same length for the session, and with it for each thread that has one of its own."""
    if not re.fullmatch(UUID, as_id) or not re.fullmatch(UUID, session.id):
        raise UserError("a session can be replayed under another id only if both ids are UUIDs")
    ids = {session.id.encode(): as_id.encode()}
    if support_for(session.agent).logs.has_id_per_thread:
        threads = {file.session for file in session.files if file.session and file.session != session.id}
        ids |= {one.encode(): str(uuid.uuid5(uuid.UUID(as_id), one)).encode() for one in threads}
    return ids


def _place(file: LogFile, session: SessionFiles, cwd: str) -> PurePosixPath:
    replay = support_for(session.agent).replay
    return replay.place_of(file, session.id, is_main=file in session.mains, cwd=cwd)


def _each_place_once(files: list[RecordedFile], ids: dict[bytes, bytes]) -> list[RecordedFile]:
    """Of copies in several roots the longest; places named with the new ids."""
    chosen: dict[PurePosixPath, RecordedFile] = {}
    for file in files:
        name = str(file.place)
        for old, new in ids.items():
            name = name.replace(old.decode(), new.decode())
        renamed = file._replace(place=PurePosixPath(name))
        known = chosen.get(renamed.place)
        if known is None or sum(part.n_bytes for part in known.parts) < sum(
            part.n_bytes for part in file.parts
        ):
            chosen[renamed.place] = renamed
    return list(chosen.values())
