"""Which release of Claude Code was used last, as its newest log says: an old one must not be told of new events."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

KNOWS_OUR_EVENTS = (2, 1, 100)  # the first release seen to know them all; 2.0.30 does not
_TAIL_BYTES = 256 << 10
_VERSION = re.compile(rb'"version":"(\d{1,4})\.(\d{1,4})\.(\d{1,6})"')

Release = tuple[int, int, int]


def last_release(home: Path) -> Release | None:
    """The release that wrote the newest transcript in this home; None if there is none that says so."""
    newest = max(_transcripts(home / "projects"), default=None)
    found = _VERSION.findall(_tail(newest[1])) if newest else []
    return (int(found[-1][0]), int(found[-1][1]), int(found[-1][2])) if found else None


def is_too_old(release: Release | None) -> bool:
    """Whether this release would ignore settings that name our events."""
    return release is not None and release < KNOWS_OUR_EVENTS


def _transcripts(projects: Path) -> Iterator[tuple[int, str]]:
    """The transcripts of all projects with the time of their last change; links are not followed."""
    for project in _entries(projects):
        if project.is_dir(follow_symlinks=False):
            for entry in _entries(project.path):
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime_ns, entry.path


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # no such folder, or not to be entered: then nothing is known
        return []


def _tail(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            return stream.read(_TAIL_BYTES)
    except OSError:
        return b""
