"""Restore a deleted session's logs to their original paths.

Rules
  1. No file is overwritten: if one of the paths is taken, nothing at all is written. Each file is written under a
     temporary name and then linked to its own, which fails if another process was faster; then the files that were
     restored before it are deleted again.
  2. A path must lie below the root that the log was found in, and no symbolic link may lead there. The root itself and
     a folder directly in it may be links, as they may be for reading (sources/folders.py).
  3. A log keeps its modification time, unless its agent would delete it for its age at its next start: then it is now.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zstandard import ZstdCompressor

from tracklog.archive.files import contents
from tracklog.archive.tables import ArchivedLog, archived_rows
from tracklog.errors import UserError, why_failed
from tracklog.sources.files import NotReadable
from tracklog.store.database import Database

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_LEVEL = 3  # as Codex compresses its own


class RestoreError(UserError):
    """A session that cannot be restored, and why."""


class Restored(NamedTuple):
    """A log, the path to restore it to, and the modification time to give it."""

    log: ArchivedLog
    path: Path
    mtime_ns: int


class _Place(NamedTuple):
    root: Path
    folders: tuple[str, ...]
    name: str

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.folders, self.name)


def plan_restore(
    logs: Sequence[ArchivedLog], *, to: Path | None = None, kept_since_ns: int | None = None, now_ns: int
) -> list[Restored]:
    """Decides the path and time of each restored log; raises RestoreError if a path cannot be used. Writes nothing.

    A log older than `kept_since_ns` would be deleted by its agent, so its time becomes now.
    """
    plan = []
    for log in logs:
        place = _place_of(log, to)
        _refuse_if_taken(place)
        is_too_old = kept_since_ns is not None and log.mtime_ns < kept_since_ns
        plan.append(Restored(log, place.path, now_ns if is_too_old else log.mtime_ns))
    paths = [one.path for one in plan]
    if len(set(paths)) < len(paths):
        raise RestoreError("two logs of the session would stand at the same place: restore it with --to DIR")
    return plan


def restore(database: Database, plan: Sequence[Restored], *, to: Path | None = None) -> None:
    """Restores the logs, all of them or none."""
    made: list[Path] = []
    try:
        for one in plan:
            place = _place_of(one.log, to)
            with _refusals(place.path), _opened_folder(place) as folder:
                _write(database.home.archive, one, folder, place.name)
            made.append(place.path)
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def lost_logs(database: Database, files: Iterable[int]) -> list[ArchivedLog]:
    """Those of some logs that exist only in the archive, in their last generation."""
    logs = archived_rows(database.db, files=files)
    return [log for log in logs if log.is_current and log.state == "kept"]


def _place_of(log: ArchivedLog, to: Path | None) -> _Place:
    path, root = PurePosixPath(log.path), PurePosixPath(log.root)
    is_plain = all(
        one.is_absolute() and ".." not in one.parts and "\0" not in str(one) for one in (path, root)
    )
    if not is_plain or not path.is_relative_to(root):
        raise RestoreError(f"{log.path} does not lie in {log.root}, where it was found: not restored")
    inside = path.relative_to(root).parts
    if not inside:  # a root that is the log itself
        root, inside = root.parent, (root.name,)
    return _Place((to or Path(root)).absolute(), inside[:-1], inside[-1])


def _refuse_if_taken(place: _Place) -> None:
    if os.path.lexists(place.path):
        raise RestoreError(f"{place.path} exists already: nothing was restored; --to DIR restores elsewhere")
    for n in range(2, len(place.folders) + 1):  # a folder directly in the root may be a link
        folder = place.root.joinpath(*place.folders[:n])
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise RestoreError(f"{folder} is no folder of its own: nothing was restored")


@contextmanager
def _opened_folder(place: _Place) -> Iterator[int]:
    """A descriptor of the folder, made if missing; only the root and the folder directly in it may be links."""
    place.root.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    folder = os.open(place.root, _OPEN_FOLDER)
    try:
        for n, name in enumerate(place.folders):
            with suppress(FileExistsError):
                os.mkdir(name, _PRIVATE_FOLDER, dir_fd=folder)
            below = os.open(name, _OPEN_FOLDER | (os.O_NOFOLLOW if n else 0), dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _write(archive: Path, one: Restored, folder: int, name: str) -> None:
    aside = f".tracklog-{os.getpid()}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(aside, dir_fd=folder)
    descriptor = os.open(aside, _NEW_FILE, _PRIVATE_FILE, dir_fd=folder)
    try:
        with open(descriptor, "wb") as stream:
            for piece in _bytes_of(archive, one):
                stream.write(piece)
        os.utime(aside, ns=(one.mtime_ns, one.mtime_ns), dir_fd=folder, follow_symlinks=False)
        os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.unlink(aside, dir_fd=folder)


def _bytes_of(archive: Path, one: Restored) -> Iterator[bytes]:
    """The bytes to restore; a log that was compressed at its source is compressed again."""
    pieces = contents(archive, one.log.archived)
    if one.path.suffix != ".zst":
        yield from pieces
        return

    making = ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj(
        size=one.log.archived.contents_bytes
    )
    for piece in pieces:
        yield making.compress(piece)
    yield making.flush()


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise RestoreError(f"{path} exists already: nothing was restored") from error
    except NotReadable as error:
        raise RestoreError(
            f"the archive's copy of {path} is damaged ({error.why}): nothing was restored"
        ) from error
    except OSError as error:
        raise RestoreError(f"cannot write {path}: {why_failed(error)}; nothing was restored") from error
