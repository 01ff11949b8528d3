"""Claude Code: its transcripts, from 1.0.x to the newest client, and the files beside them.

`messages` has the lines of the conversation and `envelope` their blocks, `system`, `metadata`, `progress` and `context/`
the other lines, `outputs/` the results of tools, `side_files` the files beside. `usage_lines` reads tokens only.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracklog.agents.claude_code.records.reader import (
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


def __getattr__(name: str) -> Any:
    """The readers of all records, when one of them is asked for: totals are read without them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tracklog.agents.claude_code.records import reader  # version_of needs none of it

    return getattr(reader, name)
