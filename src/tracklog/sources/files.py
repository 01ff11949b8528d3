"""Open and read logs, whatever is at the path by now.

Rules
  1. Only regular files are read. The file is opened first and looked at afterwards, so nothing can be swapped in
     between; opening never waits, for a FIFO or anything else.
  2. Memory does not grow with the file, nor with what a small compressed file claims to hold.
  3. Damage in a compressed file comes after the good bytes: everything before it has been yielded when it is raised.
  4. Damage stays until the file changes. Any other refusal may pass (permissions, a file that is moved, a disk or network
     that fails): it says nothing about the log and is never stored as if the log were empty. Neither does damage of
     the archive's copy: the log itself may come back.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tracklog.errors import IMPOSSIBLE_NAME, why_failed, why_not_regular
from tracklog.sources.log_file import LogFile

CHUNK = 1 << 20
Chunk = TypeVar("Chunk", bytes, bytes | memoryview)
_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


class NotReadable(Exception):  # noqa: N818 - named for what it says of the file, as everything here
    """A file, or the rest of it, that cannot be read; `why` says so in plain words."""

    def __init__(self, path: Path, why: str, *, is_transient: bool = True) -> None:
        super().__init__(path, why)
        self.path = path
        self.why = why
        self.is_transient = is_transient  # False: the bytes of the log are damaged


def where_readable(file: LogFile) -> LogFile:
    """The log as it can be read now: at its path, or else as the archive has it."""
    if file.fallback is None or file.stored is not None or can_be_opened(file.path):
        return file
    return file._replace(stored=file.fallback) if can_be_opened(file.fallback) else file


def can_be_opened(file: LogFile | Path) -> bool:
    """Whether it is a regular file that we may read, at its path or in the archive."""
    try:
        open_log(file).close()
    except NotReadable:
        return False
    return True


def open_log(file: LogFile | Path) -> io.FileIO:
    """The file's stored bytes, unbuffered; raises NotReadable for whatever is not a regular file.

    It never opens the archive's copy in place of a log: that one is compressed, which the caller would not know.
    """
    return os.fdopen(_opened(_path_of(file)), "rb", buffering=0)


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


def chunks(file: LogFile | Path, start: int = 0, *, size: int = CHUNK) -> Iterator[bytes]:
    """The log's contents from byte `start` on, in pieces of at most `size`; .zst files are decompressed."""
    file = _readable(file)
    if _path_of(file).suffix == ".zst":
        contents = _decompressed_chunks(file, start, size=size)
    else:
        contents = stored_chunks(file, start, size=size)
    until = file.until if isinstance(file, LogFile) else None
    return contents if until is None else _first(contents, max(until - start, 0))


def buffer_of(size: int) -> memoryview:
    """Memory for `chunks_in` that begins with a page, as the system's own copies of files do.

    Where it begins a few bytes later, as Python's own objects do, some processors copy into it four times as slowly.
    """
    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def chunks_in(buffer: memoryview, file: LogFile | Path) -> Iterator[bytes | memoryview]:
    """The log's contents in pieces that lie in one buffer: each is good until the next one is asked for."""
    file = _readable(file)
    if isinstance(file, LogFile) and file.until is not None:
        yield from _first(chunks_in(buffer, file._replace(until=None)), file.until)
        return
    path = _path_of(file)
    if path.name.endswith(".zst"):
        yield from _decompressed_chunks(file, 0, size=len(buffer))
        return
    descriptor, into = _opened(path), [buffer]
    try:
        while n := os.readv(descriptor, into):
            yield buffer[:n]
    except OSError as error:
        raise NotReadable(path, why_failed(error)) from error
    finally:
        os.close(descriptor)


def _first(contents: Iterator[Chunk], n_bytes: int) -> Iterator[Chunk]:
    for chunk in contents:
        yield chunk[:n_bytes]
        n_bytes -= len(chunk)
        if n_bytes <= 0:
            return


def stored_chunks(file: LogFile | Path, start: int = 0, *, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes as they are on the disk, compressed or not."""
    with open_log(file) as stream, _refusals_of(_path_of(file)):
        stream.seek(start)
        while piece := stream.read(size):
            yield piece


def _decompressed_chunks(file: LogFile | Path, start: int, *, size: int) -> Iterator[bytes]:
    # imported here because most homes hold no compressed log, and the decoder is slow to load
    from tracklog.sources.zstd import DamagedStream, decompressed_blocks, decompressed_frames

    is_ours = isinstance(file, LogFile) and file.stored is not None  # frames of the archive are small
    decompressed = decompressed_frames if is_ours else decompressed_blocks

    path = _path_of(file)
    position = 0
    try:
        with open_log(file) as stream, _refusals_of(path):
            for block in decompressed(stream):
                wanted = block[max(start - position, 0) :]
                position += len(block)
                for at in range(0, len(wanted), size):
                    yield wanted[at : at + size]
    except DamagedStream as damage:
        raise NotReadable(path, f"{damage} after {position} good bytes", is_transient=is_ours) from damage
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


@contextmanager
def _refusals_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotReadable(path, why_failed(error)) from error


def _readable(file: LogFile | Path) -> LogFile | Path:
    return where_readable(file) if isinstance(file, LogFile) else file


def _path_of(file: LogFile | Path) -> Path:
    return (file.stored or file.path) if isinstance(file, LogFile) else file
