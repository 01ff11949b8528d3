"""Codex: its transcripts, from the one-document files of 2025 to the newest client, and the files beside them."""

from tracklog.records.codex.reader import (
    DOCUMENT_READER,
    HISTORY_READER,
    READER,
    SESSION_INDEX_READER,
    is_codex,
    session_of,
    version_of,
)

__all__ = [
    "DOCUMENT_READER",
    "HISTORY_READER",
    "READER",
    "SESSION_INDEX_READER",
    "is_codex",
    "session_of",
    "version_of",
]
