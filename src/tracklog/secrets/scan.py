"""Looks through logs for secrets: over the index only what is new, both cores, wherever their bytes are now.

Rules
  1. What is found leaves as kind, line and keyed hash. No value is kept, sent, shown or put into an error.
  2. How far a log was looked through and what was found up to there go together: a commit may come between any two parts.
  3. A last line that no newline ended is looked through, and again when it has grown.
  4. In doubt a log was not looked through: one that cannot be read to its end, or is no longer what the index knows, is
     said, and nobody may call it clean.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.archive import tables
from tracklog.archive.locate import known_log
from tracklog.errors import SYMBOLIC_LINK, why_failed, why_not_regular
from tracklog.secrets.find import BEFORE, ScanWindow, SecretMatch, find, windows
from tracklog.secrets.redact import Redactor, hash_of
from tracklog.secrets.rules import RuleBook, shipped_rules
from tracklog.secrets.tables import LoggedSecret, Since, Which, drop_past, put_scanned, to_scan
from tracklog.sources.files import NotReadable, chunks, open_log
from tracklog.sources.log_file import LogFile, Skipped
from tracklog.sources.tail.identity import FileIdentity
from tracklog.sources.workers import Send, messages_of
from tracklog.store import catalogue
from tracklog.store.database import Database
from tracklog.store.values import KnownFile, Scanned, SecretSeen

OnPlan = Callable[[int], None]  # how many bytes are to be looked through
OnRead = Callable[[int], None]
_PART_BYTES = 8 << 20
_WORTH_READERS = 8_000_000  # bytes from which on readers beside pay
_COMMIT_BYTES = 40_000_000
_COMMIT_S = 5.0
_CHANGED = "changed since the index read it: run it again"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Scanned).decode
_NEVER_READ = frozenset(
    {
        *map(
            why_not_regular,
            (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFDIR),
        ),
        why_not_regular(0),
        "another name of a file already found",  # agents/discovery.py
        why_failed(FileNotFoundError(2, "")),
    }
)


class Looking:
    """With what is looked: the rules, and the key of the hashes."""

    def __init__(self, key: bytes, book: RuleBook | None = None) -> None:
        self._key = key
        self.book = book if book is not None else shipped_rules()
        self.shown = cache(Redactor(key=key, book=self.book).text)  # a path as it may be shown

    @cached_property
    def rules(self) -> str:
        """How the index knows them: with another key the hashes would be others, too."""
        return f"{self.book.version}.{hash_of(self._key, b'which key')[:8]}"

    def find(self, window: ScanWindow) -> list[SecretMatch]:
        """What reaches into the window's own bytes or begins there."""
        found = find(window.data, self.book).found
        return [one for one in found if one.start < window.end and one.end > window.begin]

    def hash(self, found: SecretMatch) -> str:
        """By which the value is known again."""
        return hash_of(self._key, found.value)


class Log(NamedTuple):
    """A log that is to be looked through, and from where on."""

    number: int
    generation: int
    file: LogFile
    since: Since = Since(0, 0)
    until: int | None = None  # so much of it the index knows; None: all that there is
    identity: FileIdentity | None = None  # as the index knows it; None: it need not be the same

    @property
    def size(self) -> int:
        """How many bytes that are."""
        return max((self.file.size if self.until is None else self.until) - self.since.position, 0)


class Scan(NamedTuple):
    """What was found in logs that the index does not have."""

    standing: list[LoggedSecret]
    not_scanned: list[Skipped]
    n_files: int
    n_bytes: int


def is_harmless(skipped: Skipped, scanned: Collection[str] = (), roots: Iterable[Path] = ()) -> bool:
    """Whether what was left alone is no log, or another name of what was looked through.

    A link is another name if it leads to one of the logs that were looked through, or into a root.
    """
    if skipped.why != SYMBOLIC_LINK:
        return skipped.why in _NEVER_READ
    real = os.path.realpath(skipped.path)
    if not os.path.exists(real) or real in scanned:
        return True
    return os.path.isdir(real) and any(Path(real).is_relative_to(os.path.realpath(root)) for root in roots)


def scan_index(
    database: Database,
    which: Which,
    looking: Looking,
    *,
    on_plan: OnPlan | None = None,
    on_read: OnRead | None = None,
) -> int:
    """Looks through what is new in the logs of the index; how many bytes that were."""
    logs = logs_to_scan(database, which, looking)
    if on_plan is not None:
        on_plan(sum(log.size for log in logs))
    writer = _Writer(database, looking.rules)
    with database.transaction() as db:
        drop_past(db)
    n_bytes = 0
    try:
        for part, n_new in _counted(_parts(logs, looking), logs):
            n_bytes += n_new
            writer.add(part, n_new)
            if on_read is not None:
                on_read(n_new)
    except KeyboardInterrupt:
        writer.commit()
        raise
    writer.commit()
    return n_bytes


def scan_files(
    files: Sequence[LogFile],
    looking: Looking,
    *,
    on_plan: OnPlan | None = None,
    on_read: OnRead | None = None,
) -> Scan:
    """Looks through logs from their beginning to their end; nothing is remembered."""
    logs = [Log(n, 1, file) for n, file in enumerate(files)]
    if on_plan is not None:
        on_plan(sum(log.size for log in logs))
    seen: dict[int, list[SecretSeen]] = {}
    problems: dict[int, str | None] = {}
    n_bytes = 0
    for part, n_new in _counted(_parts(logs, looking), logs):
        kept = [one for one in seen.get(part.file, ()) if one.line <= part.from_line]
        seen[part.file] = [*kept, *part.seen]
        problems[part.file] = part.problem
        n_bytes += n_new
        if on_read is not None:
            on_read(n_new)
    standing = [_standing(files[n], one) for n in sorted(seen) for one in seen[n]]
    unread = [Skipped(files[n].path, why) for n, why in sorted(problems.items()) if why is not None]
    return Scan(standing, unread, len(files), n_bytes)


def logs_to_scan(database: Database, which: Which, looking: Looking) -> list[Log]:
    """The logs of the index in which something was not looked through yet, the longest first."""
    stale = to_scan(database.db, which, rules=looking.rules)
    if not stale:
        return []
    at = tables.archived(database.db)
    rows = [row for row in catalogue.all_files(database.db) if row.id in stale]
    logs = [_log(row, known_log(row, at.get(row.id), database.home.archive), stale[row.id]) for row in rows]
    return sorted(logs, key=lambda log: -log.size)


def out_of_reach(database: Database, found: Iterable[LogFile]) -> list[Skipped]:
    """Of the logs that were found, those that differ from what the index knows because nobody can read them now."""
    known = {row.path: row for row in catalogue.all_files(database.db)}
    unread = []
    for file in found:
        row = known.get(str(file.path))
        if row is not None and row.stamp != file.stamp:
            why = _why_closed(file.path)
            if why is not None:
                unread.append(Skipped(file.path, why))
    return unread


def _why_closed(path: Path) -> str | None:
    try:
        open_log(path).close()
    except NotReadable as error:
        return error.why
    return None


def _log(row: KnownFile, file: LogFile, since: Since) -> Log:
    if row.problem is not None:  # the index knows less than there may be
        return Log(row.id, row.generation, file)
    identity = None if file.stored is not None else row.identity
    return Log(row.id, row.generation, file, since, row.contents_bytes, identity)


def _standing(file: LogFile, one: SecretSeen) -> LoggedSecret:
    is_kept = file.stored is not None
    return LoggedSecret(
        one.kind, str(file.path), one.line, one.count, one.hash, file.session, file.agent, is_kept
    )


def _parts(logs: Sequence[Log], looking: Looking) -> Iterator[Scanned]:
    if sum(log.size for log in logs) < _WORTH_READERS or len(logs) < 2 or not hasattr(os, "fork"):
        for log in logs:
            yield from _parts_of(log, looking)
        return
    done: set[int] = set()

    def work(n: int, send: Send) -> None:
        for part in _parts_of(logs[n], looking):
            send(_encode(part))
        send(n.to_bytes(4, "little"))

    for body in messages_of(len(logs), work):
        if len(body) == 4:
            done.add(int.from_bytes(body, "little"))
        else:
            yield _decode(body)
    for n, log in enumerate(logs):  # what a reader that died had not finished
        if n not in done:
            yield from _parts_of(log, looking)


def _parts_of(log: Log, looking: Looking) -> Iterator[Scanned]:
    """The parts of one log. A door: whatever one log does to us, the others are looked through, and this one is said."""
    scanning = _Scanning(log, looking)
    problem: str | None = None
    try:
        if log.identity is not None and log.identity.compare(log.file) in ("rewritten", "replaced"):
            problem = _CHANGED
        else:
            yield from scanning.parts()
            is_short = log.until is not None and scanning.offset < log.until
            problem = _CHANGED if is_short else None
    except NotReadable as error:
        problem = error.why
    except OSError as error:
        problem = why_failed(error)
    except Exception as error:  # its words might hold what nobody is to see: the name of it must do
        problem = f"could not be looked through ({type(error).__name__})"
    yield scanning.rest(problem)


class _Scanning:
    """Goes through one log."""

    def __init__(self, log: Log, looking: Looking) -> None:
        self._log = log
        self._looking = looking
        self._seen: Counter[tuple[int, str, str]] = Counter()
        self._reaching: set[tuple[str, str]] = set()  # what reached over the end of the last window
        self.offset = log.since.position
        self._position, self._lines = log.since
        self._told_position, self._told_lines = log.since

    def parts(self) -> Iterator[Scanned]:
        """What was found, whenever much was looked through."""
        for window in windows(self._bytes(), before=min(BEFORE, self._log.since.position)):
            self._look(window)
            if self._position - self._told_position >= _PART_BYTES:
                yield self._part(self._position)

    def rest(self, problem: str | None) -> Scanned:
        """What is left, also of a last line that was not ended."""
        return self._part(self.offset, is_last=True, problem=problem)

    def _bytes(self) -> Iterator[bytes]:
        start = self._log.since.position
        first = start - min(BEFORE, start)
        left = None if self._log.until is None else self._log.until - first
        for chunk in chunks(self._log.file, first):
            yield chunk if left is None else chunk[:left]
            if left is not None:
                left -= len(chunk)
                if left <= 0:
                    return

    def _look(self, window: ScanWindow) -> None:
        data, counted, line = window.data, window.begin, self._line_at_offset
        reaching: set[tuple[str, str]] = set()
        for found in self._looking.find(window):
            what = (found.kind, self._looking.hash(found))
            if found.start >= window.begin:
                line += data.count(b"\n", counted, found.start)
                counted = found.start
            elif what in self._reaching:
                continue  # the window before has found it
            self._seen[line, *what] += 1
            if found.end > window.end:
                reaching.add(what)
        self._reaching = reaching
        self._pass(window)

    @property
    def _line_at_offset(self) -> int:
        return self._lines + 1

    def _pass(self, window: ScanWindow) -> None:
        last = window.data.rfind(b"\n", window.begin, window.end)
        if last >= 0:
            self._lines += window.data.count(b"\n", window.begin, window.end)
            self._position = self.offset + last + 1 - window.begin
        self.offset += window.end - window.begin

    def _part(self, contents_bytes: int, *, is_last: bool = False, problem: str | None = None) -> Scanned:
        told = [key for key in self._seen if is_last or key[0] <= self._lines]
        seen = [SecretSeen(*key, self._seen.pop(key)) for key in sorted(told)]
        part = Scanned(
            file=self._log.number,
            generation=self._log.generation,
            from_line=self._told_lines,
            position=self._position,
            lines=self._lines,
            contents_bytes=contents_bytes,
            seen=seen,
            problem=problem,
        )
        self._told_position, self._told_lines = self._position, self._lines
        return part


def _counted(parts: Iterable[Scanned], logs: Sequence[Log]) -> Iterator[tuple[Scanned, int]]:
    """Each part with how many bytes it adds."""
    reached = {log.number: log.since.position for log in logs}
    for part in parts:
        n_new = max(part.contents_bytes - reached[part.file], 0)
        reached[part.file] += n_new
        yield part, n_new


class _Writer:
    """Puts what was found into the index, some at a time."""

    def __init__(self, database: Database, rules: str) -> None:
        self._database = database
        self._rules = rules
        self._held: list[Scanned] = []
        self._n_bytes = 0
        self._since = time.monotonic()

    def add(self, part: Scanned, n_bytes: int) -> None:
        """Adds what was found in so many bytes."""
        self._held.append(part)
        self._n_bytes += n_bytes
        if self._n_bytes >= _COMMIT_BYTES or time.monotonic() - self._since >= _COMMIT_S:
            self.commit()

    def commit(self) -> None:
        """Writes all that was added, at once."""
        with self._database.transaction() as db:
            for part in self._held:
                put_scanned(db, part, rules=self._rules)
        self._held, self._n_bytes, self._since = [], 0, time.monotonic()
