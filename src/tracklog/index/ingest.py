"""Read logs into the index: reader processes send messages, one writer commits them in transactions.

Rules
  1. A unit of work is a family of sessions, or some files that belong to no session. Each of its logs is read
     once, for the archive, the search and the sessions.
  2. Each message is complete in itself, so a commit may come between any two. What a killed process had not
     committed is read again.
  3. A log on which our code fails is reported and skipped until it changes; the other logs are still read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType

import msgspec

from tracklog.archive.files import make_durable
from tracklog.archive.tables import put_archived
from tracklog.index.log_pass import Archiving, LogReading
from tracklog.ledger.scan import Work
from tracklog.ledger.stored.refresh import blocks_read
from tracklog.ledger.stored.tables import put_read_block
from tracklog.liveness.sessions import SessionLives
from tracklog.reading.family import Kinship
from tracklog.reading.session_files import SessionFiles
from tracklog.reading.session_reader import SpoolReader, Told, read_session, told_by
from tracklog.sessions.rows import rows_of
from tracklog.sessions.tables_write import knows_more, mark_only_here, mark_settled, put_session
from tracklog.sources.files import NotReadable, opened_once
from tracklog.sources.gc_pause import no_collecting
from tracklog.sources.log_file import LogFile
from tracklog.sources.workers import Send, messages_of
from tracklog.store.catalogue import change_file, put_out_of_reach, put_reading
from tracklog.store.database import Database, DiskFull, StoreError
from tracklog.store.text import drop_texts, put_texts
from tracklog.store.values import (
    Archived,
    BlockRead,
    FileRead,
    KnownFile,
    OutOfReach,
    Refused,
    SessionRows,
    UnreadLogs,
    WordedText,
)

Message = FileRead | SessionRows | BlockRead | OutOfReach | UnreadLogs | Refused
OnRead = Callable[[int], None]
_WORTH_READERS = 24_000_000  # bytes from which on readers beside pay
_COMMIT_BYTES = 40_000_000  # each commit makes a segment of words, and many small ones cost twice
_LEAST_COMMIT_BYTES = (
    4_000_000  # towards the end: the less is left to write when all is read, the less is waited for
)
_COMMIT_S = 5.0
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Message).decode


@dataclass
class Unit:
    """Logs that are read together."""

    sessions: list[SessionFiles] = field(default_factory=list)  # to be settled; they share history
    kin: list[SessionFiles] = field(default_factory=list)  # all that they share it with
    files: list[LogFile] = field(default_factory=list)  # to be read for themselves
    size: int = 0


@dataclass
class Plan:
    """The logs to read, and what the index has of them."""

    units: list[Unit]
    known: Mapping[str, KnownFile]  # by path: the logs to be read
    archived: Mapping[int, Archived]  # by log: how much of it is in the archive
    numbers: Mapping[str, int]  # of all logs, by path
    archive: Path | None  # None: nothing is archived
    archive_to_read: Path  # also where nothing is archived any more
    spool: SpoolReader | None = None  # payloads of our own hook
    lives: SessionLives | None = (
        None  # which processes live; None: they are looked at when a session needs it
    )

    @property
    def size(self) -> int:
        """How many bytes are to be read."""
        return sum(unit.size for unit in self.units)


def ingest(plan: Plan, database: Database, *, on_read: OnRead | None = None) -> list[str]:
    """Read the planned logs; return the problems as texts. Raises StoreError if the disk is full."""
    problems: list[str] = []
    paths = {number: path for path, number in plan.numbers.items()}
    with no_collecting(), IndexWriter(database, plan.size) as writer:
        for message in _messages(plan):
            if isinstance(message, Refused):
                raise (DiskFull if message.is_full else StoreError)(message.why)
            if isinstance(message, UnreadLogs):
                problems += [f"{paths.get(file, '?')}: {message.why}" for file in message.files]
            n_bytes = writer.add(message)
            if on_read is not None:
                on_read(n_bytes)
    return problems


def _messages(plan: Plan) -> Iterator[Message]:
    if plan.size < _WORTH_READERS or not hasattr(os, "fork"):
        for unit in plan.units:
            yield from _read_here(plan, unit)
        return
    done: set[int] = set()
    for body in messages_of(len(plan.units), lambda n, send: _read_there(plan, n, send)):
        if len(body) == 4:
            done.add(int.from_bytes(body, "little"))
        else:
            yield _decode(body)
    for n, unit in enumerate(plan.units):  # what a reader that died had not finished
        if n not in done:
            yield from _read_here(plan, unit)


def _read_here(plan: Plan, unit: Unit) -> Iterator[Message]:
    held: list[Message] = []
    _UnitReading(plan, unit, held.append).read()
    return iter(held)


def _read_there(plan: Plan, n: int, send: Send) -> None:
    with no_collecting():
        _UnitReading(plan, plan.units[n], lambda message: send(_encode(message))).read()
    send(n.to_bytes(4, "little"))


class _UnitReading:
    """Read one unit and emit its messages."""

    def __init__(self, plan: Plan, unit: Unit, emit: Callable[[Message], None]) -> None:
        self._plan = plan
        self._unit = unit
        self._emit = emit
        self._is_told: set[Path] = set()
        self._unread: set[int] = set()
        self._usage: Work | None = None  # of the whole family
        self._plan.lives = self._plan.lives or SessionLives()

    def read(self) -> None:
        """Read all logs of the unit. An outer boundary: if our code fails on one log, the others are still read."""
        kin = Kinship(self._unit.kin, on_refused=self._note_refused) if self._unit.kin[1:] else None
        with opened_once():
            for session in self._unit.sessions:
                self._guarded(session.files, partial(self._settle, session, kin))
            for file in self._unit.files:
                self._guarded((file,), partial(self._read, file))

    def _guarded(self, files: Sequence[LogFile], work: Callable[[], None]) -> None:
        try:
            work()
        except StoreError as error:
            self._emit(Refused(str(error), isinstance(error, DiskFull)))
        except (OSError, EOFError, KeyboardInterrupt):
            raise
        except Exception as error:  # a mistake of ours must not cost the other logs
            numbers = [
                self._plan.numbers[str(file.path)] for file in files if str(file.path) in self._plan.known
            ]
            self._emit(UnreadLogs(numbers, f"{type(error).__name__}: {error}"))

    def _settle(self, session: SessionFiles, kin: Kinship | None) -> None:
        spool = self._plan.spool
        whole = read_session(
            session,
            kin,
            lives=self._plan.lives,
            now=datetime.now(UTC),
            with_text=False,
            tell=self._tell,
            spool=spool,
        )
        for file in session.files:
            if file.path not in self._is_told:
                self._read(file)
        rows = rows_of(whole, self._plan.numbers)
        numbers = {self._plan.numbers.get(str(file.path)) for file in session.files}
        rows.unread = sorted(self._unread & numbers)
        self._emit(rows)
        read = {
            path: row.id for file in session.files if (row := self._plan.known.get(path := str(file.path)))
        }
        if read:
            self._usage = self._usage or Work(
                self._unit.kin or self._unit.sessions, "ours", with_tools=False, kinship=kin
            )
            for file_number, inputs, body in blocks_read(self._usage, session, read):
                self._emit(BlockRead(file_number, inputs, body))

    def _tell(self, file: LogFile) -> Told:
        self._is_told.add(file.path)
        known = self._plan.known.get(str(file.path))
        if known is None:
            return told_by(file, on_refused=self._note_refused)
        return self._reading(file, known).read_events(from_beginning=True)

    def _note_refused(self, file: LogFile, error: NotReadable) -> None:
        """A log that was read before and cannot be read now: its sessions are made again when it can."""
        number = self._plan.numbers.get(str(file.path))
        if error.is_transient and number is not None:
            self._emit(OutOfReach(number, error.why))
        self._note_unread(file, error)

    def _note_unread(self, file: LogFile, error: NotReadable) -> None:
        number = self._plan.numbers.get(str(file.path))
        if error.is_transient and number is not None:
            self._unread.add(number)

    def _read(self, file: LogFile) -> None:
        known = self._plan.known.get(str(file.path))
        if known is not None:
            self._reading(file, known).read()

    def _reading(self, file: LogFile, known: KnownFile) -> LogReading:
        return LogReading(
            file,
            known,
            emit=self._emit,
            archiving=self._archiving(file, known),
            archive=self._plan.archive_to_read,
            on_refused=self._note_unread,
        )

    def _archiving(self, file: LogFile, known: KnownFile) -> Archiving | None:
        if self._plan.archive is None or file.stored is not None:
            return None
        return Archiving(self._plan.archive, file, known, self._plan.archived.get(known.id))


class IndexWriter:
    """Write what was read into the index, in batches."""

    def __init__(self, database: Database, size: int) -> None:
        self._database = database
        self._left = size
        self._held: list[Message] = []
        self._n_bytes = 0
        self._since = time.monotonic()
        self._read_to: dict[int, int] = {}
        self._has_committed = False

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, (KeyboardInterrupt, GeneratorExit)):
            self.commit()

    def add(self, message: Message) -> int:
        """Add a message; return how many bytes of logs it covers."""
        self._held.append(message)
        if not isinstance(message, FileRead):
            return 0
        n_bytes = message.contents_bytes - self._read_to.get(message.file, message.starts_at)
        self._read_to[message.file] = message.contents_bytes
        self._n_bytes += n_bytes
        self._left -= n_bytes
        most = (
            _COMMIT_BYTES if self._has_committed else _LEAST_COMMIT_BYTES
        )  # a caller may wait for the newest
        enough = max(min(most, self._left // 2), _LEAST_COMMIT_BYTES)
        if self._n_bytes >= enough or time.monotonic() - self._since >= _COMMIT_S:
            self.commit()
        return max(n_bytes, 0)

    def commit(self) -> None:
        """Writes all that was taken, at once."""
        held, self._held, self._n_bytes = self._held, [], 0
        archived = [one.archived.name for one in held if isinstance(one, FileRead) and one.archived]
        make_durable(self._database.home.archive, archived)  # before the index says that it is there
        with self._database.transaction() as db:
            texts: list[tuple[int, WordedText]] = []
            for message in held:
                if isinstance(message, FileRead):
                    drop_texts(db, message.file, from_offset=message.starts_at)
                    texts += [(message.file, text) for text in message.texts]
                    put_reading(db, message)
                    if message.archived is not None:
                        put_archived(db, message.file, message.archived)
                elif isinstance(message, SessionRows):
                    if knows_more(db, message):
                        mark_settled(db, message.agent, message.session)
                    else:
                        put_session(db, message, only_here=False)
                elif isinstance(message, BlockRead):
                    put_read_block(db, message.file, inputs=message.inputs, body=message.body)
                elif isinstance(message, OutOfReach):
                    put_out_of_reach(db, message.file, message.why)
                elif isinstance(message, UnreadLogs):
                    for file in message.files:
                        change_file(db, file, problem=message.why)
            put_texts(db, texts)
            mark_only_here(db, [(one.agent, one.session) for one in held if isinstance(one, SessionRows)])
        self._since = time.monotonic()
        self._has_committed = True
