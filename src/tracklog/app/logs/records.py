"""Every line of one log, and how it was read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tracklog.agents.registry import lines_of, reader_for
from tracklog.app.scope.resolve import find_logs, session_named
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import tracklog_home
from tracklog.model.records import Piece
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import LogFile


def log_named(text: str, roots: Sequence[Path], *, home: Path | None, talk: Talk = QUIET) -> LogFile:
    """The log that a person means: a file of any agent, or that of a session."""
    if os.path.isdir(text):
        raise UserError(f"{text} is a directory: name one of the files in it")
    if _may_be_a_file(text):
        found = find_logs([Path(text)])
        if found.skipped:
            raise UserError(f"cannot read {text}: {found.skipped[0].why}")
        return found.files[0]
    matches = session_named(text, find_logs(roots, home=tracklog_home(home), talk=talk))
    if not matches:
        raise NotThere(f"no file and no session {text}: `tracklog places` shows where logs are")
    return matches[0]


def pieces_of(log: LogFile, *, extra: bool) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
    """Each piece as it is read; with `extra` also the keys that no record of ours names, with their values."""
    reader = reader_for(log)
    drift = reader.drift()
    try:
        for piece in reader.read(lines_of(log)):
            yield piece, dict(drift.strays(piece)) if extra else None
    except NotReadable as refusal:
        raise NotThere(f"cannot read {refusal.path}: {refusal.why}") from refusal


def _may_be_a_file(text: str) -> bool:
    try:
        os.lstat(text)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # the code that opens it will meet the same refusal and report it
    return True
