"""A hit as the JSON document has it, and the link that leads to it."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tracklog.clock import NO_TIME, moment_text
from tracklog.search.find import Shown
from tracklog.search.tables import Hit

SOURCE_WORDS = {"log": "tool's report", "file": "output file", "archive": "archived output"}


def hit_row(shown: Shown) -> dict[str, Any]:
    """The fields of a hit; `marks` are the parts of the snippet that were looked for, as positions in it."""
    hit, snippet, source = shown
    return {
        "session": hit.session,
        "agent": hit.agent,
        "path": hit.path,
        "line": hit.line,
        "kind": hit.role,
        "source": source if hit.role == "result" else None,
        "at": at_of(hit),
        "snippet": snippet.text,
        "url": url_of(hit),
        "marks": [list(mark) for mark in snippet.marks],
    }


def at_of(hit: Hit) -> str | None:
    """When it was said."""
    return moment_text(NO_TIME if hit.at_ms is None else hit.at_ms)


def url_of(hit: Hit) -> str | None:
    """Where a hit can be seen in the browser: stays the same wherever the log is moved to."""
    if hit.session is None or hit.agent is None:
        return None
    session, name = (
        quote(part, safe="", errors="surrogateescape") for part in (hit.session, PurePath(hit.path).name)
    )
    return f"/s/{hit.agent}/{session}?file={name}#L{hit.line}"
