"""Codex: its transcripts, from the one-document files of 2025 to the newest client, and the files beside them.

`envelope` has the lines, `events` and `tool_events` what is in an `event_msg`, `items` and `turn_items` what is in the
others, `settings` sessions and turns, `token_counts` and `parts` what several of them share. `usage_lines` reads tokens only.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracklog.agents.codex.records.reader import (
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


def __getattr__(name: str) -> Any:
    """The readers of all records, when one of them is asked for: totals are read without them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tracklog.agents.codex.records import reader  # version_of needs none of it

    return getattr(reader, name)
