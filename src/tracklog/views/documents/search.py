"""The document of `search`, and the address of a hit in the browser."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from tracklog.app.search import SearchAnswer, SearchHit

SOURCE_WORDS = {"log": "tool's report", "file": "output file", "archive": "archived output"}


def search_document(found: SearchAnswer) -> dict[str, Any]:
    """The document of `search`."""
    hits = [_hit_row(hit) for hit in found.hits]
    return {"total": found.total, "exact": found.is_exact, "hits": hits}


def _hit_row(hit: SearchHit) -> dict[str, Any]:
    return {
        "session": hit.session,
        "agent": hit.agent,
        "path": hit.path,
        "line": hit.line,
        "kind": hit.role,
        "source": hit.source if hit.role == "result" else None,
        "at": hit.at,
        "snippet": hit.snippet,
        "url": _url_of(hit),
        "marks": [list(mark) for mark in hit.marks],
    }


def _url_of(hit: SearchHit) -> str | None:
    """The address of a hit in the browser: stays the same if the log is moved."""
    if hit.session is None or hit.agent is None:
        return None
    session, name = (
        quote(part, safe="", errors="surrogateescape") for part in (hit.session, PurePath(hit.path).name)
    )
    return f"/s/{hit.agent}/{session}?file={name}#L{hit.line}"
