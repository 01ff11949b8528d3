"""The folder in which each session began: the first that a log of its main thread names.

The scan for tokens looks at answers alone; a session may have gone elsewhere by its first answer. So the heads of logs
are read where projects are asked for. With an index its sessions say it (`store.ledger_rows.folders_in`).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tracklog.ledger.ledger import Ledger
from tracklog.reading.session_files import SessionFiles
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.json_text import loads
from tracklog.sources.lines import cut
from tracklog.sources.log_file import LogFile

_HEAD = 1 << 20  # bytes of a log in which a folder is looked for


class _Line(msgspec.Struct):
    timestamp: str | None = None
    cwd: str | None = None


_line = msgspec.json.Decoder(_Line)


def settle_folders(ledger: Ledger, sessions: Iterable[SessionFiles]) -> None:
    """Says in the ledger where each session of Claude Code began; Codex says it in its first line."""
    for session in sessions:
        if session.agent == "claude":
            begun = [found for file in session.mains if (found := _begun_in(file)) is not None]
            if begun:
                ledger.folders[session.id] = min(begun)[2]


def _begun_in(file: LogFile) -> tuple[str, str, str] | None:
    """When and where a log begins, with its path in between; None if its head names no folder."""
    try:
        for line in cut(chunks(file)):
            if b'"cwd"' in line.raw and (said := _said(line.raw)) is not None and said.cwd:
                return said.timestamp or "", str(file.path), said.cwd
            if line.offset > _HEAD:
                return None
    except NotReadable:
        return None  # whoever counts it meets the same refusal and reports it
    return None


def _said(raw: bytes) -> _Line | None:
    try:
        return _line.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _tolerantly_said(raw)


def _tolerantly_said(raw: bytes) -> _Line | None:
    """The same of a line that only the tolerant reader of records can read."""
    try:
        return msgspec.convert(loads(raw)[0], _Line)
    except (ValueError, RecursionError):
        return None
