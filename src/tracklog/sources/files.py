"""Open and read logs, whatever is at the path by now.

Rules
  1. Only regular files are read. The file is opened first and looked at afterwards, so nothing can be swapped in
     between; opening never waits, for a FIFO or anything else.
  2. Memory does not grow with the file, nor with what a small compressed file claims to hold.
  3. Damage in a compressed file comes after the good bytes: everything before it has been yielded when it is raised.
  4. Damage stays until the file changes. Any other refusal may pass (permissions, a file that is moved, a disk or network
     that fails): it says nothing about the log and is never stored as if the log were empty. Neither does damage of
     the archive's copy: the log itself may come back.
  5. Within `opened_once` a log stays open from one reader to the next. Each reader has a position of its own.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tracklog.errors import IMPOSSIBLE_NAME, why_failed, why_not_regular
from tracklog.sources.log_file import LogFile, is_compressed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20
Chunk = TypeVar("Chunk", bytes, bytes | memoryview)
_MOST_KEPT = 64  # a session may have more files than a process may open
_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW

_kept: ContextVar[_Descriptors | None] = ContextVar("kept", default=None)


class NotReadable(Exception):  # noqa: N818 - named for what it says of the file, as everything here
    """A file, or the rest of it, that cannot be read; `why` says so in plain words."""

    def __init__(self, path: Path, why: str, *, is_transient: bool = True) -> None:
        super().__init__(path, why)
        self.path = path
        self.why = why
        self.is_transient = is_transient  # False: the bytes of the log are damaged


def can_be_opened(file: LogFile | Path) -> bool:
    """Whether it is a regular file that we may read, at its path or in the archive."""
    try:
        with _descriptors().lent(stored_path(file)):
            return True
    except NotReadable:
        return False


def open_log(file: LogFile | Path) -> io.FileIO:
    """The file's stored bytes, unbuffered; raises NotReadable for whatever is not a regular file.

    It never opens the archive's copy in place of a log: that one is compressed, which the caller would not know.
    """
    return os.fdopen(_opened(stored_path(file)), "rb", buffering=0)


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, _OPEN_FILE)
    except OSError as error:
        raise NotReadable(path, why_failed(error)) from error
    except ValueError as error:  # a NUL, or text that this system cannot encode as a name
        raise NotReadable(path, IMPOSSIBLE_NAME) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotReadable(path, why_not_regular(mode))
    return descriptor


@contextmanager
def opened_once() -> Iterator[None]:
    """Open each log once for all that is read of it in this block: every step sees the same file.

    Of those that nothing reads at the moment, at most _MOST_KEPT stay open, the ones that were read last.
    """
    if _kept.get() is not None:
        yield
        return
    kept = _Descriptors(_MOST_KEPT)
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)
        kept.close_all()


class _Descriptors:
    """Open files. They have no position of their own: each reader says where it reads."""

    def __init__(self, most_idle: int) -> None:
        self._most_idle = most_idle
        self._used: dict[Path, tuple[int, int]] = {}  # descriptor, and how many read it
        self._idle: dict[Path, int] = {}  # the one that was read last at the end

    @contextmanager
    def lent(self, path: Path, fallback: Path | None = None) -> Iterator[tuple[Path, int]]:
        """The file at a path, or the one to fall back to, with its descriptor for one reader. Raises NotReadable."""
        try:
            descriptor, n_users = self._take(path)
        except NotReadable as error:
            if fallback is None:
                raise
            try:
                descriptor, n_users = self._take(fallback)
            except NotReadable:
                raise error from None
            path = fallback
        self._used[path] = descriptor, n_users + 1
        try:
            yield path, descriptor
        finally:
            descriptor, n_users = self._used.pop(path)
            if n_users > 1:
                self._used[path] = descriptor, n_users - 1
            else:
                self._idle[path] = descriptor
                self._close_idle(self._most_idle)

    def close_all(self) -> None:
        """Close what nothing reads, and the rest when its reader has ended."""
        self._most_idle = 0
        self._close_idle(0)

    def _take(self, path: Path) -> tuple[int, int]:
        used = self._used.get(path)
        if used is not None:
            return used
        descriptor = self._idle.pop(path, None)
        return (_opened(path) if descriptor is None else descriptor), 0

    def _close_idle(self, most: int) -> None:
        while len(self._idle) > most:
            os.close(self._idle.pop(next(iter(self._idle))))


@contextmanager
def readable(file: LogFile | Path) -> Iterator[tuple[LogFile | Path, int]]:
    """The log as it can be read now, at its path or as the archive has it, and its descriptor."""
    fallback = file.fallback if isinstance(file, LogFile) and file.stored is None else None
    with _descriptors().lent(stored_path(file), fallback) as (path, descriptor):
        yield (
            file._replace(stored=path) if isinstance(file, LogFile) and path == fallback else file,
            descriptor,
        )


def _descriptors() -> _Descriptors:
    return _kept.get() or _Descriptors(0)


def chunks(file: LogFile | Path, start: int = 0, *, size: int = CHUNK) -> Iterator[bytes]:
    """The log's contents from byte `start` on, in pieces of at most `size`; .zst files are decompressed."""
    contents = _contents(file, start, size=size)
    until = file.until if isinstance(file, LogFile) else None
    return contents if until is None else _first(contents, max(until - start, 0))


def _contents(file: LogFile | Path, start: int, *, size: int) -> Iterator[bytes]:
    with readable(file) as (log, descriptor):
        if is_compressed(stored_path(log)):
            yield from _decompressed_chunks(log, descriptor, start, size=size)
        else:
            yield from _pieces(stored_path(log), descriptor, start, size=size)


def buffer_of(size: int) -> memoryview:
    """Memory for `chunks_in` that begins with a page, as the system's own copies of files do.

    Where it begins a few bytes later, as Python's own objects do, some processors copy into it four times as slowly.
    """
    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def chunks_in(buffer: memoryview, file: LogFile | Path) -> Iterator[bytes | memoryview]:
    """The log's contents in pieces that lie in one buffer: each is good until the next one is asked for."""
    contents = _contents_in(buffer, file)
    until = file.until if isinstance(file, LogFile) else None
    return contents if until is None else _first(contents, until)


def _contents_in(buffer: memoryview, file: LogFile | Path) -> Iterator[bytes | memoryview]:
    with readable(file) as (log, descriptor):
        path = stored_path(log)
        if is_compressed(path):
            yield from _decompressed_chunks(log, descriptor, 0, size=len(buffer))
            return
        position, into = 0, [buffer]
        try:
            while n := os.preadv(descriptor, into, position):
                yield buffer[:n]
                position += n
        except OSError as error:
            raise NotReadable(path, why_failed(error)) from error


def _first(contents: Iterator[Chunk], n_bytes: int) -> Iterator[Chunk]:
    for chunk in contents:
        yield chunk[:n_bytes]
        n_bytes -= len(chunk)
        if n_bytes <= 0:
            return


def stored_chunks(file: LogFile | Path, *, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes as they are on the disk, compressed or not."""
    path = stored_path(file)
    with _descriptors().lent(path) as (_, descriptor):
        yield from _pieces(path, descriptor, 0, size=size)


def _pieces(path: Path, descriptor: int, start: int, *, size: int) -> Iterator[bytes]:
    try:
        while piece := os.pread(descriptor, size, start):
            yield piece
            start += len(piece)
    except OSError as error:
        raise NotReadable(path, why_failed(error)) from error


class _FromItsBeginning(io.RawIOBase):
    """A file that others read too, with a position of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer, /) -> int:
        n = os.preadv(self._descriptor, [into], self._position)
        self._position += n
        return n


def _decompressed_chunks(file: LogFile | Path, descriptor: int, start: int, *, size: int) -> Iterator[bytes]:
    # imported here because most homes hold no compressed log, and the decoder is slow to load
    from tracklog.sources.zstd import DamagedStream, decompressed_blocks, decompressed_frames

    is_ours = isinstance(file, LogFile) and file.stored is not None  # frames of the archive are small
    decompressed = decompressed_frames if is_ours else decompressed_blocks

    path = stored_path(file)
    position = 0
    try:
        for block in decompressed(_FromItsBeginning(descriptor)):
            wanted = block[max(start - position, 0) :]
            position += len(block)
            for at in range(0, len(wanted), size):
                yield wanted[at : at + size]
    except DamagedStream as damage:
        raise NotReadable(path, f"{damage} after {position} good bytes", is_transient=is_ours) from damage
    except OSError as error:
        raise NotReadable(path, why_failed(error)) from error
    if is_ours and isinstance(file, LogFile) and position < (file.copy_bytes or 0):
        raise NotReadable(path, f"the copy in the archive ends after {position} bytes")


def is_the_same(ours: Iterator[bytes], theirs: Iterator[bytes]) -> bool:
    """Whether two streams hold the same bytes, however they are cut."""
    a = b = b""
    while True:
        a, b = a or next(ours, b""), b or next(theirs, b"")
        n = min(len(a), len(b))
        if not n or a[:n] != b[:n]:
            return not a and not b
        a, b = a[n:], b[n:]


def stored_path(file: LogFile | Path) -> Path:
    """Where the bytes of a file are."""
    return (file.stored or file.path) if isinstance(file, LogFile) else file
