"""Lists folders without ever leaving them.

Rules of this room
  1. A symbolic link is named, never followed; only a caller that says `may_be_link` (for a root, or one of the
     well-known folders directly in it) gets its target listed.
  2. Whatever cannot be listed becomes a Skipped with its reason; the rest is still found.
  3. The order is that of the names, so two runs over the same tree give the same answer.
  4. One stat per log, none for what is no log: the kinds of entries come from the listing itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tracklog.sources.found import Agent, FileKind, LogFile, Skipped
from tracklog.sources.reasons import IMPOSSIBLE_NAME, SYMBOLIC_LINK, why_failed, why_not_regular

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(slots=True)
class Listing:
    """The names in one folder, by what they are; links and other oddities stand in `skipped` too."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def list_folder(folder: Path, *, may_be_link: bool = False) -> Listing:
    """The folder's contents, sorted; a folder that cannot be listed is itself the skipped one."""
    listing = Listing()
    try:
        _read_folder(folder, 0 if may_be_link else os.O_NOFOLLOW, listing)
    except OSError as error:
        listing.skipped.append(Skipped(folder, why_failed(error)))
    except ValueError:  # a NUL in a name the user gave
        listing.skipped.append(Skipped(folder, IMPOSSIBLE_NAME))
    for names in (listing.files, listing.folders, listing.links):
        names.sort()
    listing.skipped.sort()
    return listing


def walk(top: Path, *, max_depth: int, may_be_link: bool = False) -> Iterator[tuple[Path, Listing]]:
    """Every folder from `top` down with its listing, parents first."""
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        listing = list_folder(folder, may_be_link=may_be_link and depth == 0)
        below = [folder / name for name in listing.folders]
        if depth < max_depth:
            pending.extend((path, depth + 1) for path in reversed(below))
        else:
            listing.skipped.extend(Skipped(path, f"more than {max_depth} folders deep") for path in below)
        yield folder, listing


def log_file(
    path: Path, kind: FileKind, *, agent: Agent | None, root: Path, session: str | None
) -> LogFile | Skipped:
    """The file with its size and age, unless it went away or turned into something else since it was listed."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return Skipped(path, why_failed(error))
    except ValueError:
        return Skipped(path, IMPOSSIBLE_NAME)
    if not stat.S_ISREG(status.st_mode):
        return Skipped(path, why_not_regular(status.st_mode))
    return LogFile(
        agent, kind, path, root, session, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino
    )


def _read_folder(folder: Path, extra_flags: int, listing: Listing) -> None:
    descriptor = os.open(folder, _OPEN_FOLDER | extra_flags)
    try:
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
    elif entry.is_file(follow_symlinks=False):
        listing.files.append(entry.name)
    else:
        listing.skipped.append(Skipped(folder / entry.name, _why_odd(entry)))


def _why_odd(entry: os.DirEntry[str]) -> str:
    try:
        return why_not_regular(entry.stat(follow_symlinks=False).st_mode)
    except OSError as error:
        return why_failed(error)
