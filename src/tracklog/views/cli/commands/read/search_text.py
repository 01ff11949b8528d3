"""Hits on a terminal: by session, each with its moment, its kind, its line, and its words marked."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from datetime import datetime

from rich.text import Text

from tracklog.home import tilde
from tracklog.search.find import SearchResults, Shown
from tracklog.search.snippets import Snippet
from tracklog.search.tables import Titled, titles_of
from tracklog.views.cli.output.drawing import line, painted, paragraphs
from tracklog.views.documents.search import SOURCE_WORDS, at_of
from tracklog.views.text.numbers import when
from tracklog.views.text.printing import count, excerpt, safe, short, short_id

_MARKED = "bold yellow"
_LONGEST_TITLE = 60
_LONGEST_PROJECT = 20

_Name = tuple[str | None, str | None]


def show_hits(db: sqlite3.Connection, found: SearchResults, *, now: datetime) -> None:
    """All hits, the sessions in the order of their first one."""
    sessions: dict[_Name, list[Shown]] = defaultdict(list)
    for shown in found.hits:
        sessions[shown.hit.agent, shown.hit.session].append(shown)
    titles = titles_of(db, ((agent, session) for agent, session in sessions if agent and session))
    for n, (name, hits) in enumerate(sessions.items()):
        if n:
            line("")
        _show_session(name, hits, titles.get((name[0] or "", name[1] or "")))
        paragraphs([_cells(shown, now=now) for shown in hits])
    _show_rest(found)


def _show_session(name: _Name, hits: list[Shown], titled: Titled | None) -> None:
    agent, session = name
    title = excerpt(titled.title, _LONGEST_TITLE) if titled and titled.title else ""
    project = short(titled.project, _LONGEST_PROJECT) if titled and titled.project else ""
    id_ = short_id(session) if session else short(tilde(hits[0].hit.path), _LONGEST_TITLE)
    parts = [
        painted(id_, "cyan"),
        painted(agent or "", "dim"),
        painted(project, ""),
        painted(title, "bold"),
    ]
    line(Text("  ").join(part for part in parts if part.plain))


def _cells(shown: Shown, *, now: datetime) -> list[Text]:
    hit = shown.hit
    return [
        painted(f"  {when(at_of(hit), now=now)}", "dim"),
        painted(hit.role, "green"),
        painted(" ".join(filter(None, [f"L{hit.line}", SOURCE_WORDS.get(shown.source, "")])), "dim"),
        marked(shown.snippet),
    ]


def marked(snippet: Snippet) -> Text:
    """The snippet, safe, with its marks in colour."""
    text, position = Text(), 0
    for first, last in snippet.marks:
        text.append(safe(snippet.text[position:first]))
        text.append(safe(snippet.text[first:last]), style=_MARKED)
        position = last
    text.append(safe(snippet.text[position:]))
    return text


def _show_rest(found: SearchResults) -> None:
    n_more = found.total - len(found.hits)
    if n_more > 0 or not found.is_exact:
        total = count(found.total, "hit")
        said = total if found.is_exact else f"{total} or more"
        line(painted(f"… {said}: --limit N shows more, since:7d or another filter fewer", "dim"))
