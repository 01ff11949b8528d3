"""What a log is called in the archive: as it stood below its root, so that a person finds it without the index.

Rules of this room
  1. A name leads nowhere but below the folder `logs` of the archive, whatever the path of the log holds.
  2. No part of it is too long for a file system, and no two paths share one: each ends in a mark of the whole path.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import PurePosixPath

SUFFIX = ".zst"
_LONGEST_PART = 120
_MOST_FOLDERS = 8
_KEPT_AS_THEY_ARE = frozenset("-_.@+=, ")
_HARMLESS = re.compile(r"[A-Za-z0-9_@+=, -][A-Za-z0-9_.@+=, -]*")


def archive_name(path: str, root: str, *, agent: str | None, generation: int = 1) -> str:
    """Where a log lies below the archive's folder: as it stood below its root, with a mark that no other path has."""
    try:
        inside = PurePosixPath(path).relative_to(root).parts
    except ValueError:
        inside = PurePosixPath(path).parts[-1:]
    *folders, name = inside or ("log",)
    mark = mark_of(path) if generation == 1 else f"{mark_of(path)}~{generation}"
    return "/".join(
        [
            "logs",
            _safe(agent or "other"),
            *map(_safe, folders[:_MOST_FOLDERS]),
            f"{_safe(name)}~{mark}{SUFFIX}",
        ]
    )


def mark_of(path: str) -> str:
    """Eight letters that another path hardly has."""
    return hashlib.blake2b(os.fsencode(path), digest_size=4).hexdigest()


def _safe(part: str) -> str:
    """A part of a path as a name that is harmless everywhere; what is cut off or changed, the mark still tells."""
    if len(part) <= _LONGEST_PART and _HARMLESS.fullmatch(part):
        return part
    made = ""
    for n, character in enumerate(part):
        keeps = character.isalnum() or (character in _KEPT_AS_THEY_ARE and (n or character != "."))
        piece = character if keeps else "".join(f"%{byte:02X}" for byte in os.fsencode(character))
        if len(made.encode()) + len(piece.encode()) > _LONGEST_PART:
            break
        made += piece
    return made or "%"
