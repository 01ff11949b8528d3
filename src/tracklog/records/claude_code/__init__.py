"""Claude Code: its transcripts, from 1.0.x to the newest client, and the files beside them."""

from tracklog.records.claude_code.reader import (
    HISTORY_READER,
    HOOK_INPUT_READER,
    HOOK_OUTPUT_READER,
    JOURNAL_READER,
    META_READER,
    PROJECT_INDEX_READER,
    READER,
    REGISTRY_READER,
    SETTINGS_READER,
    TITLE_READER,
    WORKFLOW_READER,
    is_claude,
    session_of,
    version_of,
)

__all__ = [
    "HISTORY_READER",
    "HOOK_INPUT_READER",
    "HOOK_OUTPUT_READER",
    "JOURNAL_READER",
    "META_READER",
    "PROJECT_INDEX_READER",
    "READER",
    "REGISTRY_READER",
    "SETTINGS_READER",
    "TITLE_READER",
    "WORKFLOW_READER",
    "is_claude",
    "session_of",
    "version_of",
]
