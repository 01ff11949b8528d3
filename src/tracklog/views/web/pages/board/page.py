"""The page of the board: which sessions need you, work, or are quiet.

A session is named by the title or first prompt that the index has, as in every list; until it is indexed, by what the
watcher has seen: a title, else its last prompt.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.demo import MARK
from tracklog.app.index.open import asked_roots
from tracklog.app.live.board import BoardShot, LatestSession, latest_sessions, named_shot
from tracklog.clock import moment_text
from tracklog.views.html import numbers
from tracklog.views.html.legible import shown
from tracklog.views.web.frame import fragment, page, session_address
from tracklog.views.web.pages.board.rows import BoardGroup, groups_of
from tracklog.views.web.site import Site, site_of

_LATEST = 5
_ACTIVE = ("needs", "working")


def board(request: Request) -> Response:
    """The whole page."""
    return page(request, "board.html", nav="board", **_values(request))


def rows(request: Request) -> Response:
    """The part of the page that changes."""
    return fragment("_board.html", **_values(request))


def _values(request: Request) -> dict[str, Any]:
    site = site_of(request)
    shot, shows_all = named_shot(site.live.snapshot(), site.home), request.query_params.get("all") == "1"
    groups = groups_of(shot, shows_all=shows_all)
    is_active = any(group.rows for group in groups if group.name in _ACTIVE)
    is_empty = not any(group.n for group in groups)
    latest = []
    if not is_active and shot.is_ready:
        latest = [_listed(one) for one in latest_sessions(site.home, site.scope, _LATEST)]
    now_ms = shot.at_ms or int(site.now().timestamp() * 1000)
    return {
        "shot": shot,
        "groups": groups,
        "shows_all": shows_all,
        "is_active": is_active,
        "last": None if is_active else _last(groups, latest),
        "latest": latest if is_empty else [],
        "own_places": _own_places() if _is_sample(site) else [],
        "places": [shown(str(root.path)) for root in site.roots] if is_empty else [],
        "problems": _problems(site, shot),
        "ago": lambda ms: _ago(ms, now_ms),
        "lasted": lambda ms: lasted(now_ms - ms),
        "money": numbers.money,
        "tokens": numbers.tokens,
    }


def _is_sample(site: Site) -> bool:
    """Whether all sessions shown are the sample that comes with tracklog."""
    marked = [any((one / MARK).is_file() for one in (root.path, root.path.parent)) for root in site.roots]
    return bool(marked) and all(marked)


def _own_places() -> list[str]:
    """The folders in which this user's sessions are searched."""
    return [shown(path) for path in dict.fromkeys(str(root.path) for root in asked_roots(()))]


def _last(groups: list[BoardGroup], latest: list[dict[str, Any]]) -> dict[str, Any] | None:
    quiet = max(groups[-1].rows, key=lambda row: row.last_ms, default=None)
    if quiet is not None:
        return {"address": quiet.address, "title": quiet.title, "last_ms": quiet.last_ms}
    return latest[0] if latest else None


def _listed(one: LatestSession) -> dict[str, Any]:
    moment = numbers.moment_of(one.last_at)
    return {
        "address": session_address(one.agent, one.id),
        "title": shown(one.title or one.id, most=160),
        "project": shown(one.project, most=40) if one.project else None,
        "last_ms": None if moment is None else int(moment.timestamp() * 1000),
    }


def _problems(site: Site, shot: BoardShot) -> list[str]:
    status = site.indexing.status()
    of_index = [f"the index: {status.why or 'could not be made'}"] if status.state == "failed" else []
    return [shown(one) for one in (*shot.problems, *of_index)]


def _ago(ms: int | None, now_ms: int) -> Markup:
    return numbers.when(moment_text(ms) if ms else None, datetime.fromtimestamp(now_ms / 1000, UTC))


def lasted(ms: int) -> str:
    """A duration in the words of times.js: `8s`, `1m 12s`, `2h 05m`, `3d 4h`."""
    seconds = max(ms // 1000, 0)
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02d}s"
    if seconds < 86_400:
        return f"{seconds // 3600}h {seconds % 3600 // 60:02d}m"
    return f"{seconds // 86_400}d {seconds % 86_400 // 3600}h"
