"""The usage topic of Claude Code (`AgentUsage`), with the folder where a session began.

The parts that read whole logs are imported when they are asked for: an answer from the index needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from tracklog.agents.base import AgentUsage, LogContents, UsageScan
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.lines import cut

if TYPE_CHECKING:
    from tracklog.sources.log_file import LogFile

USUAL_WINDOW, LONG_WINDOW = 200_000, 1_000_000  # tokens; only clients that ask for it go beyond the first
_HEAD = 1 << 20  # bytes of a log in which a folder is looked for


class ClaudeUsage(AgentUsage):
    """Claude Code counts each answer with its id, and names neither the context window nor the first folder."""

    counts_in_blocks = True

    @property
    def scan(self) -> UsageScan:
        from tracklog.agents.claude_code.usage_scan import scan  # sums in the index need no scan

        return scan

    def first_folder(self, mains: Iterable[LogFile]) -> str | None:
        """The first folder that a log of the main thread names: a session may have gone elsewhere by its first answer."""
        begun = [found for file in mains if (found := _begun_in(file)) is not None]
        return min(begun)[2] if begun else None

    def context_window(self, largest_prompt: int) -> int | None:
        return LONG_WINDOW if largest_prompt > USUAL_WINDOW else USUAL_WINDOW

    def add_contents(self, file: LogFile, contents: LogContents, known: set[str]) -> None:
        # only for what things in the context cost
        from tracklog.agents.claude_code.attached_contents import add_contents

        add_contents(file, contents, known)


USAGE = ClaudeUsage()


class _Line(msgspec.Struct):
    timestamp: str | None = None
    cwd: str | None = None


_line = msgspec.json.Decoder(_Line)


def _begun_in(file: LogFile) -> tuple[str, str, str] | None:
    """When and where a log begins, with its path in between; None if its head names no folder."""
    try:
        for line in cut(chunks(file)):
            if b'"cwd"' in line.raw and (head := _decoded(line.raw)) is not None and head.cwd:
                return head.timestamp or "", str(file.path), head.cwd
            if line.offset > _HEAD:
                return None
    except NotReadable:
        return None  # the scan of this log reports it
    return None


def _decoded(raw: bytes) -> _Line | None:
    try:
        return _line.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _tolerantly_decoded(raw)


def _tolerantly_decoded(raw: bytes) -> _Line | None:
    """The same of a line that only the tolerant reader of records can read."""
    from tracklog.model.json_text import loads  # seldom needed

    try:
        return msgspec.convert(loads(raw)[0], _Line)
    except (ValueError, RecursionError):
        return None
