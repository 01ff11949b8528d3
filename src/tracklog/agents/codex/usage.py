"""The usage topic of Codex (`AgentUsage`).

Rules
  1. A count names no request. In the index, its place tells which one it belongs to (`ledger.stored.tables_names`).
  2. A fork copies the counts of its original, without ids that would give them away. The head of a log says whether it
     may hold such copies.
  3. The scan is imported when it is asked for: an answer from the index does not need it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracklog.agents.base import AgentUsage, UsageScan
from tracklog.sources.files import NotReadable, chunks_in

if TYPE_CHECKING:
    from tracklog.sources.log_file import LogFile

_OF_COPIES = re.compile(
    rb'"forked_from_id"\s*:\s*"|"history_base"\s*:\s*\{|"subagent_history_start_ordinal"\s*:\s*\d'
)
_WORDS_OF_COPIES = (b'"forked_from_id"', b'"history_base"', b'"subagent_history_start_ordinal"')
_META = b'"session_meta"'


class CodexUsage(AgentUsage):
    """Codex counts without naming the request, and a fork begins with the counts of its original."""

    counts_name_requests = False
    shares_usage_in_family = True

    @property
    def scan(self) -> UsageScan:
        from tracklog.agents.codex.usage_scan import scan  # sums in the index need no scan

        return scan

    def may_repeat_usage(self, file: LogFile, buffer: memoryview) -> bool:
        """Whether it has a second `session_meta`, or names the history that it goes on with."""
        from stringzilla import find  # not loaded for an answer from the index

        try:
            head = next(chunks_in(buffer, file), b"")
        except NotReadable:
            return False
        first = find(head, _META)
        if first >= 0 and find(head, _META, first + 1) >= 0:
            return True
        places = [place for word in _WORDS_OF_COPIES if (place := find(head, word)) >= 0]
        return bool(places) and _OF_COPIES.search(head, min(places)) is not None

    def request_id(self, key: str, session: str) -> str:
        """Its key has the session's name before that of the request."""
        return key.removeprefix(f"{session}:")


USAGE = CodexUsage()
