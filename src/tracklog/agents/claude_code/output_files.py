"""Output that Claude Code put into a file of its own, because it was too long for the log.

Rules
  1. A log only gives the name of such a file. Its folder is where the format puts it: `tool-results` in the session's
     own folder. A path that a log names is never followed.
  2. No link is followed on the way: not the session's folder, not `tool-results`, not the file.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import ExitStack
from pathlib import Path

from tracklog.agents.base import OutputRead
from tracklog.sources.log_file import UUID, FileKind, LogFile

_FOLDER = "tool-results"
_SESSION = re.compile(UUID)
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


def output_path(log: LogFile, name: str) -> Path | None:
    """Where the output file of this name belongs for the session of a log; None where no such place is known."""
    folder = session_folder(log)
    is_name = name not in ("", ".", "..") and not any(letter in name for letter in "/\\\0")
    return folder / _FOLDER / name if folder is not None and is_name else None


def session_folder(log: LogFile) -> Path | None:
    """The folder beside the transcript: subagents, also those of workflows, share that of their session."""
    path = log.path
    if log.kind is not FileKind.SUBAGENT:
        return path.parent / path.name.partition(".json")[0]
    inside = [folder for folder in path.parents if folder.name == "subagents"]
    if inside:
        return inside[-1].parent
    session = log.session or ""
    return path.parent / session if _SESSION.fullmatch(session) else None


def read_output(path: Path, most: int) -> OutputRead | None:
    """The first bytes of the output file at a path that `output_path` made; None if there is none that may be read."""
    try:
        with ExitStack() as opened:
            descriptor = os.open(path.parent.parent, _OPEN_FOLDER)
            opened.callback(os.close, descriptor)
            descriptor = os.open(path.parent.name, _OPEN_FOLDER, dir_fd=descriptor)
            opened.callback(os.close, descriptor)
            descriptor = os.open(path.name, _OPEN_FILE, dir_fd=descriptor)
            opened.callback(os.close, descriptor)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return _read(descriptor, most)
    except (OSError, ValueError):  # not there, not ours to read, or a name that no file can have
        return None


def _read(descriptor: int, most: int) -> OutputRead:
    held, left = bytearray(), most + 1
    while left and (piece := os.read(descriptor, min(left, 1 << 20))):
        held += piece
        left -= len(piece)
    return OutputRead(bytes(held[:most]), left > 0)
