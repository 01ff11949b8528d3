"""Resolve which session, thread and line a request names, and what it names that does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.pages.session import (
    LIVING,
    NotFound,
    OpenedThread,
    ThreadQuery,
    opened_thread,
    sessions_named_alike,
)
from tracklog.model.ids import MAIN
from tracklog.views.html.legible import shown
from tracklog.views.web.frame import NextLink as Link
from tracklog.views.web.frame import problem, session_address
from tracklog.views.web.site import site_of


class ThreadPage(OpenedThread):
    """A thread that is opened for a request, with its addresses."""

    __slots__ = ()

    @property
    def address(self) -> str:
        """The address of its session's page."""
        return session_address(self.head.agent, self.head.id)

    def query(self, **more: Any) -> str:
        """The query part of an address of this thread, ready for more parameters."""
        given = {} if self.thread == MAIN else {"thread": self.thread}
        followed = {} if self.branch == LIVING else {"branch": self.branch}
        words = urlencode({**given, **followed, **more}, errors="replace")
        return f"?{words}&" if words else "?"


@contextmanager
def opened(request: Request, *, fresh: bool = False) -> Iterator[ThreadPage]:
    """Opens the thread of a request; `fresh`: without the cache. Raises NotFound."""
    asked, path = request.query_params, request.path_params
    query = ThreadQuery(
        path["agent"],
        path["id"],
        asked.get("thread") or None,
        asked.get("file") or None,
        asked.get("call") or None,
        asked.get("branch", LIVING),
    )
    with opened_thread(site_of(request), query, fresh=fresh) as one:
        yield ThreadPage(*one)


def line_asked(request: Request, one: ThreadPage) -> int | None:
    """The number of the line that an address names: by a line of a log, a turn, or a call's id."""
    asked = request.query_params
    lines = one.lines
    if line := number_in(request, "line"):
        return lines.seq_of(asked.get("file") or None, line)
    if turn := number_in(request, "turn"):
        return next((known.seq for known in one.turns() if known.turn.n == turn), None)
    if id := asked.get("call"):
        place = one.place_of_call(id)
        return None if place is None else lines.seq_of(*place)
    return None


def other_thread_asked(request: Request, one: ThreadPage) -> str | None:
    """The other thread that the named call belongs to, if any."""
    id = request.query_params.get("call")
    place = one.place_of_call(id) if id else None
    thread = one.head.thread_with(place[0]) if place is not None else None
    return thread if thread != one.thread else None


def number_in(request: Request, name: str) -> int | None:
    """A number in an address; None if it is invalid."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def words_of_missing(request: Request, one: ThreadPage) -> list[str]:
    """Messages for the logs, lines, turns, calls and branches that an address names but that do not exist."""
    told = [*_missing_lines(request, one)]
    if one.head.is_settled:  # else the index does not know its newest turns and calls yet
        told += _missing_parts(request, one)
    return [shown(words) for words in told]


def _missing_lines(request: Request, one: ThreadPage) -> Iterator[str]:
    asked, lines = request.query_params, one.lines
    there = f"this thread has {one.n:,} line{'' if one.n == 1 else 's'}"
    file, line = asked.get("file") or None, number_in(request, "line")
    is_log = file is None or lines.seq_of(file, 1) or any(log.path.name == file for log in lines.files)
    if file and not is_log:
        yield f"No log of this thread is called {file[:200]}."
    elif asked.get("line") and (line is None or lines.seq_of(file, line) is None):
        yield f"Line {_spelled(asked['line'])} is not there: {there}."
    for name in ("at", "seq"):
        if asked.get(name) and not 1 <= (number_in(request, name) or 0) <= one.n:
            yield f"Line {_spelled(asked[name])} is not there: {there}."


def _missing_parts(request: Request, one: ThreadPage) -> Iterator[str]:
    asked = request.query_params
    turn, call, branch = asked.get("turn"), asked.get("call"), asked.get("branch")
    if turn and not any(placed.turn.n == number_in(request, "turn") for placed in one.turns()):
        yield f"There is no turn {_spelled(turn)}."
    if call and one.place_of_call(call) is None:
        yield f"There is no call {call[:120]}."
    if branch and one.branch == LIVING and not _is_living(one, branch):
        yield f"There is no branch {branch[:120]}: this is the living one."


def _is_living(one: ThreadPage, branch: str) -> bool:
    return branch == LIVING or any(known.id == branch and known.is_active for known in one.head.branches)


def _spelled(asked: str) -> str:
    return f"{int(asked):,}" if asked.isascii() and asked.isdigit() and len(asked) < 12 else asked[:40]


def not_found(request: Request, missing: NotFound) -> Response:
    """The page for a session or thread that does not exist, with what may have been meant."""
    site = site_of(request)
    agent, id = request.path_params["agent"], request.path_params["id"]
    if missing.args:
        text = "Its log is not here: it was never written, is gone, or is part of the log of the main thread."
        link = Link(session_address(agent, id), "the main thread of this session")
        return problem(request, 404, "There is no log of this subagent", text, ways=[link])
    near = sessions_named_alike(site, id)
    links = [Link(session_address(*name), f"{name[0]} {name[1]}") for name in near]
    is_reading = site.indexing.status().state == "reading"
    words = " The logs are being read at this moment: it may be there soon." if is_reading else ""
    return problem(
        request,
        404,
        "There is no such session",
        f"No log of {agent[:40]} is called {id[:120]}.{words}",
        ways=[*links, Link("/sessions", "all sessions")],
    )


def gone() -> Response:
    """The response for a part of a page whose session does not exist."""
    return Response("There is no such session.", status_code=404, media_type="text/plain")
