"""A search hit as a row of the JSON document, and its link."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tracklog.clock import NO_TIME, moment_text
from tracklog.search.find import Shown
from tracklog.search.tables import Hit

SOURCE_WORDS = {"log": "tool's report", "file": "output file", "archive": "archived output"}


def hit_row(shown: Shown) -> dict[str, Any]:
    """The fields of a hit; `marks` are the ranges of the snippet that match."""
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
    """The time of a hit's text."""
    return moment_text(NO_TIME if hit.at_ms is None else hit.at_ms)


def url_of(hit: Hit) -> str | None:
    """The address of a hit in the browser: stays the same if the log is moved."""
    if hit.session is None or hit.agent is None:
        return None
    session, name = (
        quote(part, safe="", errors="surrogateescape") for part in (hit.session, PurePath(hit.path).name)
    )
    return f"/s/{hit.agent}/{session}?file={name}#L{hit.line}"
