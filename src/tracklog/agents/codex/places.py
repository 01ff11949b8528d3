"""Where Codex keeps its logs (docs/formats/codex.md#locations).

Rules
  1. The root and the folders `sessions` and `archived_sessions` in it may be links; nothing below is followed.
  2. A rollout may be plain or compressed, and flips between the two: where both are, the plain one is read.
  3. A .jsonl in these folders that is no rollout is found as `other`; `*.tmp` is Codex's work in progress.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tracklog.sources.folders import list_folder, log_file, walk
from tracklog.sources.log_file import LINE_SUFFIXES, UUID, FileKind, LogFile, PathFacts, Skipped, plain_name

_ROLLOUT_NAME = re.compile(
    rf"rollout-\d{{4}}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?-(?P<thread>{UUID})(?:_(?P<rollout>{UUID}))?"
    r"\.(?:jsonl|jsonl\.zst|json)"
)
_DAY = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)")
_DATE_FOLDERS_DEPTH = 8  # YYYY/MM/DD, and room for a later layout
_LOG_FOLDERS = ("sessions", "archived_sessions")
_LOG_FILES = {"history.jsonl": FileKind.HISTORY, "session_index.jsonl": FileKind.SESSION_INDEX}


class RolloutName(NamedTuple):
    """The ids in a rollout's file name; they differ only after a thread was reverted."""

    thread: str
    rollout: str


def find(root: Path, *, part: str | None = None) -> Iterator[LogFile | Skipped]:
    """Everything Codex wrote about its sessions under this home, or in one of its folders."""
    top = list_folder(root, may_be_link=True)
    yield from (odd for odd in top.skipped if odd.path == root or odd.path.name in _LOG_FILES)
    for name, status in top.files.items():
        if part is None and name in _LOG_FILES:
            kind = _LOG_FILES[name]
            yield log_file(root / name, status, kind=kind, agent="codex", root=root, session=None)
    for name in _LOG_FOLDERS:
        if part in (None, name) and name in top.folders + top.links:
            yield from _find_rollouts(root / name, root)


def standing_of(inside: Sequence[str]) -> PathFacts | None:
    """What a file is by its path from the home on, None if it is no log."""
    match inside:
        case [name] if name in _LOG_FILES:
            return PathFacts(_LOG_FILES[name])
        case [folder, *_, name] if folder in _LOG_FOLDERS:
            kind = _kind_in_sessions(name)
            return PathFacts(kind, session_of(name)) if kind else None
    return None


def rollout_name(name: str) -> RolloutName | None:
    """The ids that a file name states, None if it is not exactly a rollout's name."""
    match = _ROLLOUT_NAME.fullmatch(name)
    return RolloutName(match["thread"], match["rollout"] or match["thread"]) if match else None


def kind_of(name: str) -> FileKind | None:
    """The kind of a file that only Codex names so."""
    if name.startswith("rollout-"):
        if name.endswith(LINE_SUFFIXES):
            return FileKind.TRANSCRIPT
        if name.endswith(".json"):
            return FileKind.DOCUMENT
    return _LOG_FILES.get(name)


def session_of(name: str) -> str | None:
    """The thread a rollout's name states."""
    ids = rollout_name(name)
    return ids.thread if ids else None


def place_in_home(file: LogFile) -> PurePosixPath:
    """Where in its home the client writes a rollout while it runs, wherever it was put later."""
    name = plain_name(file.path.name)
    day = _DAY.match(name)
    return PurePosixPath("sessions", *day.groups(), name) if day else PurePosixPath("sessions", name)


def _find_rollouts(top: Path, root: Path) -> Iterator[LogFile | Skipped]:
    for folder, listing in walk(top, max_depth=_DATE_FOLDERS_DEPTH, may_be_link=True):
        yield from listing.skipped
        for name, status in listing.files.items():
            kind, plain = _kind_in_sessions(name), plain_name(name)
            if plain != name and plain.endswith(".jsonl") and plain in listing.files:
                yield Skipped(folder / name, "the same log stands uncompressed beside it")
            elif kind is not None:
                thread = session_of(name)
                yield log_file(folder / name, status, kind=kind, agent="codex", root=root, session=thread)


def _kind_in_sessions(name: str) -> FileKind | None:
    return kind_of(name) or (FileKind.OTHER if name.endswith(LINE_SUFFIXES) else None)
