"""What looking for logs gives: files worth reading, and what was left alone with the reason."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Agent = Literal["claude", "codex"]
AGENTS: tuple[Agent, ...] = get_args(Agent)
UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # how both agents name sessions
COMPRESSED = ".zst"
LINE_SUFFIXES = (".jsonl", f".jsonl{COMPRESSED}")


class FileKind(StrEnum):
    """What a file is for, as far as its name and its folder can tell."""

    TRANSCRIPT = "transcript"  # the main line of a session
    SUBAGENT = "subagent"  # Claude Code's agent-*.jsonl
    JOURNAL = "journal"  # journal.jsonl of a workflow run
    WORKFLOW = "workflow"  # wf_*.json, the summary of a finished run
    META = "meta"  # *.meta.json beside a subagent's file
    TOOL_RESULT = "tool_result"  # output too long for the transcript
    TITLE = "title"  # custom-title.json, written by /rename
    PROJECT_INDEX = "project_index"  # sessions-index.json of early 2026; never beats the transcripts
    REGISTRY = "registry"  # sessions/<pid>.json of a running Claude Code
    HISTORY = "history"  # history.jsonl, the typed prompts; both agents have one
    SESSION_INDEX = "session_index"  # Codex's session_index.jsonl, the names of threads
    DOCUMENT = "document"  # one JSON document: old Codex rollouts and other .json that may be sessions
    SPOOL = "spool"  # what agents told our own hook
    OTHER = "other"  # a .jsonl in an agent's home at a place no format page names


class FileStamp(NamedTuple):
    """What a listing shows of a file: nobody wrote to it as long as all of it is as it was.

    Without the device: some systems number their devices otherwise each time they are mounted.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        """The stamp of a file with this status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class LogFile(NamedTuple):
    """A regular file as the folder listing saw it."""

    agent: Agent | None  # None: only the records can tell
    kind: FileKind
    path: Path
    root: Path
    session: str | None  # as the path states it; what the records say wins
    size: int
    mtime_ns: int
    device: int
    inode: int
    ctime_ns: int = 0
    stored: Path | None = None  # where its bytes are, if no longer at its path
    fallback: Path | None = None  # the archive's copy, read while the file at its path cannot be opened
    copy_bytes: int | None = None  # how much of its contents the archive's copy must hold
    until: int | None = None  # how many bytes of its contents count; None: all

    @property
    def stamp(self) -> FileStamp:
        """Its stamp when it was listed."""
        return FileStamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)


class Skipped(NamedTuple):
    """Something that was seen and deliberately not opened."""

    path: Path
    why: str


class Root(NamedTuple):
    """Where to look; `agent` is None for a plain folder of logs, or for a single file."""

    path: Path
    agent: Agent | None
    part: str | None = None  # one folder of the home; None: all of it


class PathFacts(NamedTuple):
    """What the place of a file in an agent's home says about it."""

    kind: FileKind
    session: str | None = None


class LogFolder(NamedTuple):
    """All files of one kind under one root."""

    agent: Agent | None
    path: Path
    kind: FileKind
    files: int
    bytes: int


MAIN_KINDS = frozenset({FileKind.TRANSCRIPT, FileKind.DOCUMENT})
THREAD_KINDS = MAIN_KINDS | {FileKind.SUBAGENT}
NOT_THERE = -1  # the time of a folder that is not there
_TOO_FRESH_NS = 100_000_000  # within the same tick of the clock, a folder may change and keep its time
_UNCERTAIN = -2


def is_compressed(path: Path) -> bool:
    """Whether a file holds a log compressed, as its name says: its offsets are not those of the log."""
    return path.suffix == COMPRESSED


def plain_name(name: str) -> str:
    """The name, or path, that a log has uncompressed."""
    return name.removesuffix(COMPRESSED)


def are_as_listed(folders: Mapping[str, int], files: Iterable[LogFile]) -> bool:
    """Whether folders have the times that were noted, and files are those that were listed."""
    return all(folder_time(path) == at for path, at in folders.items()) and all(map(_is_as_listed, files))


def _is_as_listed(file: LogFile) -> bool:
    try:
        status = os.lstat(file.path)
    except OSError:
        return False
    return FileStamp.of(status) == file.stamp


def folder_time(folder: str) -> int:
    """When a folder changed last."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return NOT_THERE


def settled_times(folders: Mapping[str, int], began_ns: int) -> dict[str, int]:
    """The times of folders as they can be relied upon: what changed just now is looked at again."""
    return {path: at if at < began_ns - _TOO_FRESH_NS else _UNCERTAIN for path, at in folders.items()}


def now_ns() -> int:
    """The clock of the file system, as near as we know it."""
    return time.time_ns()
