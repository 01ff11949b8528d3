"""Temporary files of `hooks install` and `uninstall`, and the removal of those that a killed process left.

Rules of this room
  1. The name says whose file it is and what was in it: `.part` while it is written, then digests of the bytes before
     and after the change.
  2. A file is removed only if it holds what we wrote or what we had read (of which our home has a copy), or if it is
     another name of the settings file itself. Other bytes may be an edit of the user, and stay.
  3. Nothing is removed without the lock of the folder: a living process of ours that writes there holds it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(
    r"\.(?P<target>.+)\.tracklog-[0-9a-f]{12}(?:\.part|-(?P<before>[0-9a-f]{16})-(?P<after>[0-9a-f]{16}))",
    re.DOTALL,
)


def name_while_written(target: Path) -> Path:
    """A new name for a file that is not complete yet."""
    return target.with_name(f".{target.name}.tracklog-{os.urandom(6).hex()}.part")


def name_when_written(part: Path, *, before: bytes | None, after: bytes | None) -> Path:
    """The name of a complete file, which says what it may hold before and after it takes the place of the target."""
    return part.with_name(f"{part.name.removesuffix('.part')}-{_digest(before)}-{_digest(after)}")


def remove_left_files(folder: Path) -> set[Path]:
    """Remove our temporary files from this folder, which must be locked; returns the files that they were for."""
    removed = set()
    for name in _names_in(folder):
        found = _NAME.fullmatch(name)
        if found is not None and _is_known(folder / name, found):
            with suppress(OSError):
                (folder / name).unlink()
                removed.add(folder / found["target"])
    return removed


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_known(path: Path, name: re.Match[str]) -> bool:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return False
        if name["before"] is None or _is_same_file(status, path.with_name(name["target"])):
            return True
        return _digest(path.read_bytes()) in (name["before"], name["after"])
    except OSError:
        return False


def _is_same_file(status: os.stat_result, target: Path) -> bool:
    try:
        return os.path.samestat(status, target.lstat())
    except OSError:
        return False


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()[:16]
