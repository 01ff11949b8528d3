"""What the find bar of a session's page is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracklog.pipeline.session_finding import find_in
from tracklog.pipeline.thread_lines import ThreadLines


def found(lines: ThreadLines, text: str, *, start: int = 1, archive: Path | None = None) -> dict[str, Any]:
    """The lines that hold a text, from one line on; `to` says how far that is sure, and `all` whether it is to the end."""
    answer = find_in(lines, text, start=max(start, 1), archive=archive)
    return {
        "n": lines.n,
        "hits": answer.seqs,
        "counts": answer.counts,
        "to": answer.checked_to,
        "all": answer.is_all,
    }
