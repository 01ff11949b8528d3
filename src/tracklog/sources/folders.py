"""Lists folders without ever leaving them.

Rules
  1. A symbolic link is named, never followed; only a caller that says `may_be_link` (for a root, or one of the
     well-known folders directly in it) gets its target listed.
  2. Whatever cannot be listed becomes a Skipped with its reason; the rest is still found.
  3. The order is that of the names, so two runs over the same tree give the same answer.
  4. One stat per file, taken while its folder is open: the path is not walked a second time.
  5. Who wants to know later whether a listing still holds notes the folders and their times (`noted_folders`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from tracklog.errors import IMPOSSIBLE_NAME, SYMBOLIC_LINK, why_failed, why_not_regular
from tracklog.sources.log_file import NOT_THERE, Agent, FileKind, LogFile, Skipped

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_noted: ContextVar[dict[str, int] | None] = ContextVar("noted", default=None)


@contextmanager
def noted_folders() -> Iterator[dict[str, int]]:
    """Notes the time of the last change of each folder that is listed meanwhile; -1 for one that is not there."""
    folders: dict[str, int] = {}
    token = _noted.set(folders)
    try:
        yield folders
    finally:
        _noted.reset(token)


@dataclass(slots=True)
class Listing:
    """The names in one folder, by what they are; links and other oddities are in `skipped` too."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    inside: tuple[str, ...] = ()  # the folders from the top of the walk down to this one


def list_folder(folder: Path, *, may_be_link: bool = False) -> Listing:
    """The folder's contents, sorted; a folder that cannot be listed is itself the skipped one."""
    listing = Listing()
    noted = _noted.get()
    try:
        if noted is not None:
            noted[str(folder)] = NOT_THERE
        _read_folder(folder, 0 if may_be_link else os.O_NOFOLLOW, listing)
    except OSError as error:
        listing.skipped.append(Skipped(folder, why_failed(error)))
    except ValueError:  # a NUL in a name the user gave
        listing.skipped.append(Skipped(folder, IMPOSSIBLE_NAME))
    listing.files = dict(sorted(listing.files.items()))
    for names in (listing.folders, listing.links):
        names.sort()
    listing.skipped.sort()
    return listing


def walk(top: Path, *, max_depth: int, may_be_link: bool = False) -> Iterator[tuple[Path, Listing]]:
    """Every folder from `top` down with its listing, parents first."""
    pending: list[tuple[Path, tuple[str, ...]]] = [(top, ())]
    while pending:
        folder, inside = pending.pop()
        listing = list_folder(folder, may_be_link=may_be_link and not inside)
        listing.inside = inside
        below = [(folder / name, (*inside, name)) for name in listing.folders]
        if len(inside) < max_depth:
            pending.extend(reversed(below))
        else:
            listing.skipped.extend(Skipped(path, f"more than {max_depth} folders deep") for path, _ in below)
        yield folder, listing


def log_file(
    path: Path,
    status: os.stat_result,
    *,
    kind: FileKind,
    agent: Agent | None,
    root: Path,
    session: str | None,
) -> LogFile:
    """The file with what its listing said of it."""
    return LogFile(
        agent,
        kind,
        path,
        root,
        session,
        status.st_size,
        status.st_mtime_ns,
        status.st_dev,
        status.st_ino,
        status.st_ctime_ns,
    )


def stat_regular(path: Path) -> os.stat_result | Skipped:
    """What the disk says of a file that no listing gave us."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return Skipped(path, why_failed(error))
    except ValueError:
        return Skipped(path, IMPOSSIBLE_NAME)
    return status if stat.S_ISREG(status.st_mode) else Skipped(path, why_not_regular(status.st_mode))


def _read_folder(folder: Path, extra_flags: int, listing: Listing) -> None:
    descriptor = os.open(folder, _OPEN_FOLDER | extra_flags)
    try:
        noted = _noted.get()
        if noted is not None:  # before its names are read: what comes meanwhile changes the time
            noted[str(folder)] = os.fstat(descriptor).st_mtime_ns
        with os.scandir(descriptor) as entries:
            for entry in entries:
                _note(entry, folder, listing)
    finally:
        os.close(descriptor)


def _note(entry: os.DirEntry[str], folder: Path, listing: Listing) -> None:
    if entry.is_symlink():
        listing.links.append(entry.name)
        listing.skipped.append(Skipped(folder / entry.name, SYMBOLIC_LINK))
    elif entry.is_dir(follow_symlinks=False):
        listing.folders.append(entry.name)
    else:
        _note_file(entry, folder, listing)


def _note_file(entry: os.DirEntry[str], folder: Path, listing: Listing) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:  # it went away under our eyes
        listing.skipped.append(Skipped(folder / entry.name, why_failed(error)))
        return
    if stat.S_ISREG(status.st_mode):
        listing.files[entry.name] = status
    else:
        listing.skipped.append(Skipped(folder / entry.name, why_not_regular(status.st_mode)))
