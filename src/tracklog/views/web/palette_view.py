"""What the palette offers for some words: pages, sessions, what can be done here, and the search itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from tracklog.pipeline.board import BoardRow
from tracklog.store.database import Database
from tracklog.store.session_names import NamedSession, sessions_named
from tracklog.views.html.numbers import when
from tracklog.views.html.plain import gist, shown
from tracklog.views.web.board_names import named
from tracklog.views.web.frame import NAV, session_address
from tracklog.views.web.session_lists import title_of
from tracklog.views.web.site import Site

LONGEST = 200  # letters that are looked at
_SESSIONS = 10
_AT_REST = 6  # sessions that are offered to somebody who has typed nothing
_ACTIONS = (("theme", "Change the colours", "theme dark light auto"), ("help", "Keys on this page", "help ?"))
_RUNS = ("waiting", "working")


class Option(NamedTuple):
    """One thing to choose."""

    words: str
    note: str = ""
    address: str | None = None
    action: str | None = None  # what the script does, where there is no address
    state: str | None = None  # of a session that runs
    waiting_for: str | None = None
    when: Markup | None = None


class OptionGroup(NamedTuple):
    """Things of a kind."""

    title: str
    options: list[Option]


def palette_groups(site: Site, database: Database | None, text: str) -> list[OptionGroup]:
    """What fits some words; without any, what is most likely wanted."""
    text = text[:LONGEST].strip()
    groups = [
        OptionGroup("Pages", list(_pages(text))),
        OptionGroup("Sessions", _sessions(site, database, text)),
        OptionGroup("Here", list(_actions(text))),
        OptionGroup("Search", list(_searches(text))),
    ]
    if not text:
        groups[0], groups[1] = groups[1], groups[0]
    return [group for group in groups if group.options]


def _pages(text: str) -> Iterator[Option]:
    for _, address, name in NAV:
        if name.lower().startswith(text.lower()):
            yield Option(name, address=address)


def _actions(text: str) -> Iterator[Option]:
    for action, words, also in _ACTIONS:
        if text.lower() in f"{words} {also}".lower():
            yield Option(words, action=action)


def _searches(text: str) -> Iterator[Option]:
    if text:
        yield Option(f"Search for {gist(text, 60)}", "in all sessions", f"/search?{urlencode({'q': text})}")


def _sessions(site: Site, database: Database | None, text: str) -> list[Option]:
    """Those that run first, then the last used."""
    limit, now = _SESSIONS if text else _AT_REST, site.now()
    running = [row for row in site.live.snapshot().rows if row.state.state in _RUNS]
    running = [row for row in named(running, database) if _fits(row, text)]
    found = {(row.agent, row.id): _of_row(row, now) for row in running[:limit]}
    if database is not None:
        for one in sessions_named(database.db, text, scope=site.scope, limit=limit):
            found.setdefault((one.agent, one.id), _of_named(one, now))
    return list(found.values())[:limit]


def _fits(row: BoardRow, text: str) -> bool:
    told = f"{row.title or ''} {row.project or ''}".lower()
    return all(word in told or row.id.lower().startswith(word) for word in text.lower().split())


def _of_row(row: BoardRow, now: datetime) -> Option:
    at = datetime.fromtimestamp(max(row.last_ms, 0) / 1000, UTC).isoformat()
    return Option(
        title_of(row.title) or shown(row.id),
        _note(row.project, row.agent, row.id),
        session_address(row.agent, row.id),
        state=row.state.state,
        waiting_for=row.state.waiting_for,
        when=when(at, now),
    )


def _of_named(one: NamedSession, now: datetime) -> Option:
    note = _note(one.project, one.agent, one.id)
    address = session_address(one.agent, one.id)
    return Option(title_of(one.title) or shown(one.id), note, address, when=when(one.last_at, now))


def _note(*parts: str | None) -> str:
    *words, id = parts
    return " · ".join([*_legible(words), gist((id or "")[:8], 8)])


def _legible(words: Iterable[str | None]) -> Iterator[str]:
    return (gist(word, 40) for word in words if word)
