"""The lines of a thread by their numbers, read from its logs as they are needed.

Rules
  1. A line has a `seq`: its position among all lines of the thread's logs, from 1. Only the requested lines are read;
     where each line begins is found once, and continued when a log has grown.
  2. A log that was rewritten or replaced (sources/tail/identity.py) begins a new generation: what was said of its lines
     before holds no more, and none of them is read from the new one.
  3. A last line without its newline is one when nobody has written to it for a moment.
  4. A compressed log, or one that only the archive has, is unpacked once into a file without a name: as much of it as
     the limits allow, and the rest is reported as damage.
  5. A log that cannot be read at the moment is reported as a problem, and has no lines.
  6. A line of a copy, with which a longer log begins, is the line of the same number of that one.
  7. Memory is bounded whatever a log holds: lines come one at a time, a long one whole only where there is room for it
     (`Room`) and by its head elsewhere, and of more lines than anybody reads the first ones are there.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple

from tracklog.agents.registry import ONE_DOCUMENT
from tracklog.errors import why_failed
from tracklog.sources.files import CHUNK, NotReadable, chunks, open_log
from tracklog.sources.lines import HEAD_BYTES, KEPT_BYTES, Cutter, Line
from tracklog.sources.log_file import LogFile, is_compressed
from tracklog.sources.tail.identity import GOES_ON, FileIdentity, IdentityTracker

_QUIET_S = 2.0
_MOST_LINES = 10_000_000  # of one log: where each begins is held in memory
_MOST_UNPACKED = 4 << 30  # bytes of one log
_REFUSED_FOR_S = 60.0  # a disk that was full is not filled again at once

_Fits = Callable[[int], bool]


class LineAt(NamedTuple):
    """A line, its number in the thread, and its log."""

    seq: int
    file: LogFile
    line: Line


class Room:
    """How many bytes of long lines may still be read for one answer, and kept in memory until it is given."""

    READ_BYTES = 256 << 20  # which bounds the time
    KEPT_BYTES = 64 << 20

    def __init__(self) -> None:
        self._to_read = self.READ_BYTES
        self._to_keep = self.KEPT_BYTES
        self.is_short = False  # whether a line was given by its head for want of room

    def fits(self, length: int) -> bool:
        """Whether a line of this length is given whole; one that is, is read."""
        if length <= HEAD_BYTES:
            return True
        if length > min(self._to_read, self._to_keep):
            self.is_short = True
            return False
        self._to_read -= length
        return True

    def keep(self, n_bytes: int) -> None:
        """Count the bytes that are kept of a line against the limit."""
        self._to_keep -= n_bytes


class ThreadLines:
    """The lines of some logs, one log after the other. Thread-safe."""

    def __init__(self, files: Sequence[LogFile], *, copies: Mapping[str, str] | None = None) -> None:
        self.files = list(files)
        self._copies = copies or {}  # path of a copy -> path of the log that is read in its place
        self._logs = [_Log(file) for file in files]
        self._lock = RLock()
        self.generation = 0
        self.problems: list[str] = []
        self.look()

    @property
    def n(self) -> int:
        """How many lines there are."""
        return sum(log.n for log in self._logs)

    def look(self) -> None:
        """Look for appended and rewritten lines."""
        with self._lock:
            self.problems = []
            for log in self._logs:
                try:
                    self.generation += log.look()
                except NotReadable as error:
                    self._tell(error)
                if log.damage is not None:
                    self.problems.append(f"{log.file.path}: {log.damage}")

    def _tell(self, error: NotReadable) -> None:
        words = f"{error.path}: {error.why}"
        if words not in self.problems:
            self.problems.append(words)

    def between(self, first: int, last: int, *, room: Room | None = None) -> Iterator[LineAt]:
        """The lines from one number to another, both among them, as far as they are there, one at a time."""
        with self._lock:
            wanted: list[tuple[int, _Log, _Spans]] = []
            before = 0
            for log in self._logs:
                low, high = max(first - before, 1), min(last - before, log.n)
                if low <= high:
                    wanted.append((before, log, log.spans(low, high)))
                before += log.n
        fits = room.fits if room is not None else _always
        for before, log, spans in wanted:
            try:
                for line in log.lines(spans, fits):
                    yield LineAt(before + line.number, log.file, line)
            except NotReadable as error:
                self._tell(error)

    def raw(self, seq: int) -> bytes:
        """The bytes of a line; nothing if there is no such line."""
        found = next(self.between(seq, seq), None)
        return found.line.raw if found is not None else b""

    def seq_of(self, name: str | None, line: int) -> int | None:
        """The number of a line of the log with this path or file name; of the first log without one."""
        name = self._copies.get(name, name) if name is not None else None
        before = 0
        for log in self._logs:
            if name is None or name in (str(log.file.path), log.file.path.name):
                return before + line if 1 <= line <= log.n else None
            before += log.n
        return None

    def place_of(self, seq: int) -> tuple[LogFile, int] | None:
        """The log of a line, and its number there."""
        before = 0
        for log in self._logs:
            if before < seq <= before + log.n:
                return log.file, seq - before
            before += log.n
        return None

    def begins(self) -> dict[int, LogFile]:
        """The lines with which a log begins that is not the first one."""
        with self._lock:
            before, found = 0, {}
            for log in self._logs:
                if before:
                    found[before + 1] = log.file
                before += log.n
            return found

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Everything, in blocks that end with a line: the number of the first line of each, and its bytes."""
        with self._lock:
            logs = [(log, log.n, log.known) for log in self._logs]
        before = 0
        for log, n, known in logs:
            try:
                yield from ((before + first, data) for first, data in log.blocks(n, known))
            except NotReadable as error:
                self._tell(error)
            before += n


def _always(length: int) -> bool:  # noqa: ARG001 (of any)
    return True


class _Span(NamedTuple):
    """The offsets of a line, without its newline."""

    number: int
    start: int
    end: int


class _Spans(NamedTuple):
    """Where some lines of a log are, as long as it is the one in which they were found."""

    known: FileIdentity | None
    lines: list[_Span]


class _Log:
    """One log: where its lines begin."""

    def __init__(self, file: LogFile) -> None:
        self.file = file
        self._is_document = file.kind in ONE_DOCUMENT
        self._starts = array("Q")
        self._end = 0  # behind the last newline
        self._size = 0
        self._has_rest = False  # a last line without newline that counts
        self._tracker = (
            IdentityTracker()
        )  # of the lines that are ended: the last one may be cut and written again
        self.known: FileIdentity | None = None  # as far as they go; None before the first look
        self._unpacked: int | None = None  # descriptor of a file without a name
        self.damage: str | None = None  # why not all of it is there
        self.refused: tuple[float, str] | None = None  # when it could not be unpacked, and why

    def __del__(self) -> None:
        if self._unpacked is not None:
            os.close(self._unpacked)

    @property
    def n(self) -> int:
        if self._is_document:
            return 1 if self._size else 0
        return len(self._starts) + self._has_rest

    def look(self) -> bool:
        """Goes on from where the last look ended; says whether the log is another one now."""
        with _Open(self) as descriptor:
            is_other = not self._goes_on(descriptor, self.known)
            if is_other:
                self._starts, self._end, self.damage = array("Q"), 0, None
                self._tracker = IdentityTracker()
            facts = os.fstat(descriptor)
            self._size = facts.st_size
            if self._is_document:
                self._tracker = IdentityTracker.at(descriptor, self._size)
            else:
                self._scan(descriptor)
            self.known = self._tracker.identity(facts)
            has_rest = self._size > self._end and not self._is_full
            self._has_rest = has_rest and time.time() - facts.st_mtime > _QUIET_S
        return is_other

    def _goes_on(self, descriptor: int, known: FileIdentity | None) -> bool:
        """Whether lines that were found in a known log are where they were."""
        if known is None:
            return True
        answer = known.compare_open(descriptor)
        return answer == "same" if self._is_document else answer in GOES_ON

    @property
    def _is_full(self) -> bool:
        return len(self._starts) >= _MOST_LINES

    def _scan(self, descriptor: int) -> None:
        at = start = self._end
        tracker = self._tracker.copy()
        while (
            at < self._size
            and not self._is_full
            and (data := os.pread(descriptor, min(CHUNK, self._size - at), at))
        ):
            found = data.find(b"\n")
            while found >= 0:
                self._starts.append(start)
                start = at + found + 1
                found = data.find(b"\n", found + 1)
            n_ended = max(start - at, 0)
            tracker.add(data[:n_ended])
            if n_ended:
                self._tracker = tracker.copy()
            tracker.add(data[n_ended:])
            at += len(data)
        self._end = start
        if self._is_full and self._size > self._end:
            self.damage = f"only its first {len(self._starts):,} lines are shown"

    def spans(self, first: int, last: int) -> _Spans:
        """The offsets of the lines with these numbers, which must exist."""
        spans = [_Span(number, *self._span(number)) for number in range(first, last + 1)]
        return _Spans(self.known, spans)

    def lines(self, spans: _Spans, fits: _Fits) -> Iterator[Line]:
        """The lines at these offsets; of those that do not fit, the heads."""
        with self._open_as_known(spans.known) as descriptor:
            for span in spans.lines:
                yield (
                    _document(descriptor, span, fits) if self._is_document else _line(descriptor, span, fits)
                )

    @contextmanager
    def _open_as_known(self, known: FileIdentity | None) -> Iterator[int]:
        """A descriptor of the contents in which the lines are where they were found."""
        with _Open(self) as descriptor:
            if not self._goes_on(descriptor, known):
                raise NotReadable(self.file.path, "was rewritten at this moment")
            yield descriptor

    def _span(self, number: int) -> tuple[int, int]:
        if number > len(self._starts):
            return self._end, self._size
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else self._end
        return start, end - 1

    def blocks(self, n: int, known: FileIdentity | None) -> Iterator[tuple[int, bytes]]:
        """The first lines, some MB at a time; of an endless one the head."""
        with self._open_as_known(known) as descriptor:
            first = 1
            while first <= n:
                start = self._span(first)[0]
                last = max(bisect_right(self._starts, start + 4 * CHUNK), first)
                last = min(last, n)
                length = self._span(last)[1] - start
                if length > KEPT_BYTES and last > first:  # by its last line, which comes by itself
                    last -= 1
                    length = self._span(last)[1] - start
                is_endless = length > KEPT_BYTES and last == first
                yield first, os.pread(descriptor, HEAD_BYTES if is_endless else length, start) + b"\n"
                first = last + 1


def _line(descriptor: int, span: _Span, fits: _Fits) -> Line:
    number, start, end = span
    length = end - start
    if length > KEPT_BYTES or not fits(length):
        return Line(number, start, length, os.pread(descriptor, HEAD_BYTES, start))
    raw = os.pread(descriptor, length, start)
    if raw[:1] == b"\0":
        cutter = Cutter(offset=start, number=number)
        return next(iter([*cutter.feed(raw + b"\n"), *cutter.end()]))
    return Line(number, start, len(raw), raw)


def _document(descriptor: int, span: _Span, fits: _Fits) -> Line:
    is_kept = span.end <= KEPT_BYTES and fits(span.end)
    raw = os.pread(descriptor, span.end if is_kept else HEAD_BYTES, 0)
    return Line(1, 0, span.end, raw, 0, False)


class _Open:
    """A descriptor of a log's contents: the file itself, or what was unpacked of it."""

    def __init__(self, log: _Log) -> None:
        self._log = log
        self._stream: io.FileIO | None = None

    def __enter__(self) -> int:
        log = self._log
        if log._unpacked is not None:
            return log._unpacked
        if is_compressed(log.file.stored or log.file.path):
            log._unpacked = _unpacked(log)
            return log._unpacked
        self._stream = open_log(log.file)
        return self._stream.fileno()

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()


def _unpacked(log: _Log) -> int:
    """The contents of a compressed log; of a damaged one those before the damage."""
    if log.refused is not None and time.monotonic() - log.refused[0] < _REFUSED_FOR_S:
        raise NotReadable(log.file.path, log.refused[1])
    try:
        with tempfile.TemporaryFile(prefix="tracklog-", buffering=0) as stream:
            try:
                _unpack(log.file, stream)
            except NotReadable as error:
                log.damage = error.why
            return os.dup(stream.fileno())
    except OSError as error:  # of the disk to which it is written: what was taken of it is given back
        log.refused = (time.monotonic(), f"cannot be unpacked: {why_failed(error)}")
        raise NotReadable(log.file.path, log.refused[1]) from error


def _unpack(file: LogFile, stream: io.FileIO) -> None:
    space = os.fstatvfs(stream.fileno())
    left = most = min(_MOST_UNPACKED, space.f_bavail * space.f_frsize // 2)
    for piece in chunks(file):
        rest = memoryview(piece)[:left]
        left -= len(piece)
        while rest:
            rest = rest[stream.write(rest) :]
        if left < 0:
            raise NotReadable(file.path, f"only its first {most:,} bytes were unpacked")
