"""The files of the archive: the bytes of every log, kept for good, in one plain `.zst` per log.

Rules
  1. A file of the archive only grows, by whole frames (archive/frames.py). What the index knows of it is committed
     after the bytes were written; bytes beyond that come from a process that was killed, and are cut off.
  2. No file is overwritten. A log that was rewritten gets a new file for its new generation. Where the name of a new
     file is taken, the existing file is replaced only if the new one begins with all of its contents.
  3. Each file states which log it holds, so the archive outlives the index.
  4. Names are derived from the path of the log (archive/locate.py).
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from tracklog.archive.frames import about_frame, compressor, contents_of, frames_of
from tracklog.archive.locate import SUFFIX as SUFFIX
from tracklog.archive.locate import mark_of
from tracklog.home import make_private_folder, open_private
from tracklog.sources.files import CHUNK, NotReadable, open_log
from tracklog.sources.zstd import DamagedStream
from tracklog.store.database import DiskFull, StoreError
from tracklog.store.values import Archived, Frame

FRAME_BYTES = 1 << 20  # of contents; what is read from the middle of a log begins at a frame
_LEVEL = 2  # a quarter faster than 3, for a hundredth of the size of logs; what is cold is compressed again
_SYNCED_ONE_BY_ONE = 32


class Missing(Exception):  # noqa: N818 - a state of the archive
    """A file of the archive is gone, or holds less than the index says: the log must be archived again."""


class ArchiveEntry(NamedTuple):
    """A log as the archive alone describes it."""

    archived: Archived  # with all its frames
    about: dict[str, Any]  # path, root, agent, kind, session, generation, mtime_ns
    is_whole: bool  # False: more bytes follow, which are no whole frame


class Appender:
    """Appends the next bytes of a log to its file in the archive.

    `about` says which log it is (path, root, agent, kind, session, generation, mtime_ns). Raises Missing if the file
    is not what `at` says, StoreError if the disk does not take the bytes.
    """

    def __init__(self, folder: Path, name: str, *, at: Archived | None, about: dict[str, Any]) -> None:
        self._folder = folder
        self._about = about
        self._held = bytearray()
        self._frames: list[Frame] = []
        self._contents = self._stored = 0
        self._is_going_on = at is not None
        self._aside: Path | None = None
        self._in_the_way: _InTheWay | None = None
        with disk_trouble(folder):
            if at is None:
                self._begin(name)
            else:
                self._go_on(at)

    def __enter__(self) -> Appender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, chunk: bytes) -> None:
        """Takes the next bytes of the log, any number."""
        with disk_trouble(self._folder):
            if self._in_the_way is not None:
                self._in_the_way.compare(chunk)
            if not self._held and len(chunk) == FRAME_BYTES:  # as most are: nothing to put together
                self._put(chunk)
                return
            self._held += chunk
            while len(self._held) >= FRAME_BYTES:
                with memoryview(self._held) as view, view[:FRAME_BYTES] as piece:
                    self._put(piece)
                del self._held[:FRAME_BYTES]

    def end(self, *, is_last: bool = True) -> Archived:
        """Writes the rest, so that the file holds all bytes given; `is_last=False`: the log goes on beyond them."""
        with disk_trouble(self._folder):
            if self._held:
                self._put(self._held)
                self._held = bytearray()
            if self._is_going_on:
                self._put_about({"mtime_ns": self._about.get("mtime_ns")})
            self._stream.flush()
            self._take_place(is_last=is_last)
            self._stream.close()
        return Archived(self._name, self._contents, self._stored, self._frames)

    def close(self) -> None:
        """Discards what `end` did not finish; what the index knows stays in the file."""
        with suppress(OSError):
            self._stream.close()
        if self._aside is not None:
            self._aside.unlink(missing_ok=True)
            self._aside = None

    def _begin(self, name: str) -> None:
        self._name = name
        path = self._folder / name
        try:
            self._stream = new_file(self._folder, path)
        except FileExistsError:
            self._in_the_way = _InTheWay.at(path, self._about)
            self._aside = path.with_name(f".{os.getpid()}~{mark_of(name)}{SUFFIX}")
            self._aside.unlink(missing_ok=True)
            self._stream = new_file(self._folder, self._aside)
        self._put_about(self._about)

    def _go_on(self, at: Archived) -> None:
        self._name, self._contents, self._stored = at.name, at.contents_bytes, at.stored_bytes
        cut_off(self._folder, at)
        self._stream = open(_to_append(self._folder / at.name), "ab")  # noqa: SIM115 - closed by `end` or `close`

    def _put(self, piece: bytes | bytearray | memoryview) -> None:
        self._frames.append(Frame(self._contents, self._stored))
        self._stored += self._stream.write(compressor(_LEVEL).compress(piece))
        self._contents += len(piece)

    def _put_about(self, about: dict[str, Any]) -> None:
        self._stored += self._stream.write(about_frame(about))

    def _take_place(self, *, is_last: bool) -> None:
        """Moves a file that was written aside onto the one whose contents it continues, or onto a free name."""
        if self._aside is None:
            return
        path = self._folder / self._name
        if self._in_the_way is None or not self._in_the_way.is_contained:
            way = self._in_the_way
            if way is not None and (way.is_other or is_last):  # of a log that was rewritten since, or cut
                describe_again(path.parent, way.archived, about={"state": "past"})
            path = _free_path(path)
            self._name = path.relative_to(self._folder).as_posix()
        os.replace(self._aside, path)
        self._aside = None


class _InTheWay:
    """An existing file at the path of a new one, compared with the new contents as they are written."""

    def __init__(self, path: Path, archived: Archived) -> None:
        self.archived = archived
        self._left = archived.contents_bytes
        self._pieces = _pieces(path, self._left)
        self._held = b""
        self._is_same = True

    @classmethod
    def at(cls, path: Path, about: dict[str, Any]) -> _InTheWay | None:
        """The file at this path, if it states that it holds the same log in the same generation."""
        found = described(path.parent, path.name)
        if found is None or any(found.about.get(key) != about.get(key) for key in ("path", "generation")):
            return None
        return cls(path, found.archived)

    @property
    def is_contained(self) -> bool:
        """Whether the new file begins with the whole contents of this one."""
        return self._is_same and not self._left

    @property
    def is_other(self) -> bool:
        """Whether the contents of the two differ."""
        return not self._is_same

    def compare(self, chunk: bytes) -> None:
        """Takes the next bytes of the new file."""
        while chunk and self._left and self._is_same:
            self._held = self._held or next(self._pieces, b"")
            n = min(len(chunk), len(self._held))
            self._is_same = bool(n) and chunk[:n] == self._held[:n]
            chunk, self._held = chunk[n:], self._held[n:]
            self._left -= n


def describe_again(folder: Path, at: Archived, *, about: dict[str, Any]) -> Archived:
    """Appends newer facts about the log to its file, such as a new path."""
    cut_off(folder, at)
    frame = about_frame(about)
    with disk_trouble(folder), open(_to_append(folder / at.name), "ab") as stream:
        stream.write(frame)
    return Archived(at.name, at.contents_bytes, at.stored_bytes + len(frame))


def cut_off(folder: Path, at: Archived) -> None:
    """Cuts off what a killed process wrote beyond what the index knows; raises Missing if the file is shorter."""
    path = folder / at.name
    if not at.stored_bytes:  # it was pruned; a file of this name belongs to another log
        raise Missing(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Missing(path) from error
    except OSError as error:
        raise StoreError(f"cannot use the archive's file {path}: {error.strerror}") from error
    try:
        size = os.fstat(descriptor).st_size
        if size < at.stored_bytes:
            raise Missing(path)
        if size > at.stored_bytes:
            os.ftruncate(descriptor, at.stored_bytes)
    finally:
        os.close(descriptor)


def contents(
    folder: Path, archived: Archived, frames: Sequence[Frame] = (), start: int = 0, size: int = CHUNK
) -> Iterator[bytes]:
    """The bytes of a log from `start` on, in pieces of at most `size`; raises NotReadable where they are damaged.

    `frames` are those of the log in order; without them everything before `start` is decompressed too. A file that is
    smaller than the index says was recompressed by a process that was killed before it could update the index.
    """
    path = folder / archived.name
    position = 0
    try:
        with open_log(path) as stream:
            is_as_known = os.fstat(stream.fileno()).st_size >= archived.stored_bytes
            frame = _frame_before(start, (frames or archived.frames) if is_as_known else ())
            position = frame.contents_offset
            until = archived.stored_bytes if is_as_known else None
            left = archived.contents_bytes - position
            for block in contents_of(stream, frame.stored_offset, left, until=until):
                wanted = block[max(start - position, 0) :]
                position += len(block)
                for at in range(0, len(wanted), size):
                    yield wanted[at : at + size]
    except DamagedStream as damage:
        raise NotReadable(path, f"{damage} after {position} good bytes", is_transient=False) from damage


def _frame_before(start: int, frames: Sequence[Frame]) -> Frame:
    n = bisect_right(frames, start, key=lambda frame: frame.contents_offset)
    return frames[n - 1] if n else Frame(0, 0)


def archived_logs(folder: Path) -> Iterator[ArchiveEntry]:
    """Every log of the archive as its own file describes it, sorted by name; without half-written files."""
    for name in stored_names(folder):
        found = described(folder, name)
        if found is not None and found.about.get("path"):
            yield found


def stored_names(folder: Path, *, half_made: bool = False) -> Iterator[str]:
    """Names of the files of the archive, or of those that a killed process left half written."""
    for top, below, names in os.walk(folder / "logs"):
        below.sort()
        for name in sorted(names):
            if name.endswith(SUFFIX) and name.startswith(".") == half_made:
                yield Path(top, name).relative_to(folder).as_posix()


def described(folder: Path, name: str) -> ArchiveEntry | None:
    """The log that a file of the archive holds, as the file describes it; None if it cannot be opened."""
    try:
        stream = open_log(folder / name)
    except NotReadable:
        return None
    with stream:
        archived = Archived(name, 0, 0, [])
        about: dict[str, Any] = {}
        for seen in frames_of(stream):
            about |= seen.about or {}
            if seen.contents_bytes:
                archived.frames.append(Frame(archived.contents_bytes, seen.start))
            archived.contents_bytes += seen.contents_bytes
            archived.stored_bytes = seen.end
        return ArchiveEntry(archived, about, os.fstat(stream.fileno()).st_size == archived.stored_bytes)


def make_durable(folder: Path, names: Iterable[str]) -> None:
    """Flushes these files of the archive to the disk."""
    names = list(names)
    if len(names) > _SYNCED_ONE_BY_ONE:
        os.sync()
        return
    with disk_trouble(folder):
        for name in names:
            try:
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    with open_log(path) as stream, suppress(DamagedStream):
        yield from contents_of(stream, 0, size)


def _to_append(path: Path) -> int:
    return open_private(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)


def new_file(archive: Path, path: Path) -> BufferedWriter:
    """Creates a file of the archive, and its folders; raises FileExistsError if it exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = open_private(path, flags)
    except FileNotFoundError:
        _make_folders(archive, path.parent)
        descriptor = open_private(path, flags)
    return open(descriptor, "wb")


def _make_folders(archive: Path, folder: Path) -> None:
    """Makes each folder on the way private: `mkdir` gives those above the last one the usual permissions."""
    make_private_folder(archive)
    for part in folder.relative_to(archive).parts:
        archive /= part
        make_private_folder(archive)


def _free_path(path: Path) -> Path:
    n = 2
    while (free := path.with_name(f"{path.name.removesuffix(SUFFIX)}~x{n}{SUFFIX}")).exists():
        n += 1
    return free


@contextmanager
def disk_trouble(folder: Path) -> Iterator[None]:
    """Turns errors of the disk into messages that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"no space is left for the archive in {folder}: free some, then run the command again; nothing is lost"
            ) from error
        raise StoreError(f"cannot write to the archive in {folder}: {error.strerror}") from error
