"""Hits on a terminal: by session, each with its moment, its kind, its line, and its words marked."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from rich.text import Text

from tracklog.app.search import SearchAnswer, SearchHit
from tracklog.home import tilde
from tracklog.views.cli.output.drawing import line, painted, paragraphs
from tracklog.views.documents.search import SOURCE_WORDS
from tracklog.views.text.numbers import when
from tracklog.views.text.printing import count, excerpt, safe, short, short_id

_MARKED = "bold yellow"
_LONGEST_TITLE = 60
_LONGEST_PROJECT = 20


def show_hits(found: SearchAnswer, *, now: datetime) -> None:
    """All hits, the sessions in the order of their first one."""
    sessions: dict[tuple[str | None, str | None], list[SearchHit]] = defaultdict(list)
    for hit in found.hits:
        sessions[hit.agent, hit.session].append(hit)
    for n, hits in enumerate(sessions.values()):
        if n:
            line("")
        _show_session(hits[0])
        paragraphs([_cells(hit, now=now) for hit in hits])
    _show_rest(found)


def _show_session(hit: SearchHit) -> None:
    id_ = short_id(hit.session) if hit.session else short(tilde(hit.path), _LONGEST_TITLE)
    parts = [
        painted(id_, "cyan"),
        painted(hit.agent or "", "dim"),
        painted(short(hit.project, _LONGEST_PROJECT) if hit.project else "", ""),
        painted(excerpt(hit.title, _LONGEST_TITLE) if hit.title else "", "bold"),
    ]
    line(Text("  ").join(part for part in parts if part.plain))


def _cells(hit: SearchHit, *, now: datetime) -> list[Text]:
    return [
        painted(f"  {when(hit.at, now=now)}", "dim"),
        painted(hit.role, "green"),
        painted(" ".join(filter(None, [f"L{hit.line}", SOURCE_WORDS.get(hit.source, "")])), "dim"),
        _marked(hit),
    ]


def _marked(hit: SearchHit) -> Text:
    """The snippet, safe, with its marks in colour."""
    text, position = Text(), 0
    for first, last in hit.marks:
        text.append(safe(hit.snippet[position:first]))
        text.append(safe(hit.snippet[first:last]), style=_MARKED)
        position = last
    text.append(safe(hit.snippet[position:]))
    return text


def _show_rest(found: SearchAnswer) -> None:
    n_more = found.total - len(found.hits)
    if n_more > 0 or not found.is_exact:
        total = count(found.total, "hit")
        said = total if found.is_exact else f"{total} or more"
        line(painted(f"… {said}: --limit N shows more, since:7d or another filter fewer", "dim"))
