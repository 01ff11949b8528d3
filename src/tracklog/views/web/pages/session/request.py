"""Resolve which session, thread and line a request names, and what it names that does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from tracklog.conversation.branches import LIVING, BranchPath, PlacedTurn, VisibleBranch, seen_from
from tracklog.conversation.session import OpenSession, SessionHead, placed_turns, sides_of, ways_through
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.conversation.window import ThreadContext
from tracklog.liveness.sessions import life_in
from tracklog.model.ids import MAIN
from tracklog.model.states import NOT_LOOKED
from tracklog.sessions.tables_session import calls_called, sessions_beginning_with
from tracklog.store.database import Database
from tracklog.views.html.legible import shown
from tracklog.views.web.frame import NextLink as Link
from tracklog.views.web.frame import problem, session_address
from tracklog.views.web.site import Site, site_of


class OpenedThread(NamedTuple):
    """A thread of a session, ready to be read."""

    site: Site
    database: Database | None
    session: OpenSession
    thread: str
    reading: ThreadReading
    asked: ThreadContext
    branch: str = LIVING  # the one that is followed

    @property
    def head(self) -> SessionHead:
        """What is known of the session."""
        return self.session.head

    @property
    def address(self) -> str:
        """The address of its session's page."""
        return session_address(self.head.agent, self.head.id)

    @property
    def n(self) -> int:
        """The number of its lines."""
        return self.reading.lines.n

    @property
    def cwd(self) -> str | None:
        """The folder that the session worked in."""
        return self.head.facts.get("cwd")

    def turns(self) -> list[PlacedTurn]:
        """Its outline, as far as the index knows it."""
        return placed_turns(self.database, self.session, self.reading, self.thread)

    def ways(self) -> list[BranchPath]:
        """Its branches."""
        return ways_through(self.database, self.session, self.reading, self.thread)

    def seen(self) -> VisibleBranch:
        """The thread as seen from the followed branch."""
        sides = sides_of(self.session, self.reading, self.thread)
        return seen_from(self.ways(), self.turns(), sides, self.branch)

    @property
    def is_aside(self) -> bool:
        """Whether a branch other than the living one is followed."""
        return any(way.name == self.branch != LIVING and way.seq for way in self.ways())

    def query(self, **more: Any) -> str:
        """The query part of an address of this thread, ready for more parameters."""
        given = {} if self.thread == MAIN else {"thread": self.thread}
        followed = {} if self.branch == LIVING else {"branch": self.branch}
        words = urlencode({**given, **followed, **more}, errors="replace")
        return f"?{words}&" if words else "?"


class NotFound(Exception):  # noqa: N818 - a state
    """There is no such session, or no log of the thread that it names."""


@contextmanager
def opened(request: Request, *, anew: bool = False) -> Iterator[OpenedThread]:
    """Opens the thread of a request; `anew`: without the cache. Raises NotFound."""
    site = site_of(request)
    agent, id = request.path_params["agent"], request.path_params["id"]
    asked = request.query_params
    with site.reading() as database:
        session = site.threads.session(database, agent, id, roots=site.roots, scope=site.scope, anew=anew)
        if session is None:
            raise NotFound
        head = session.head
        thread = asked.get("thread") or _thread_meant(request, database, head) or MAIN
        reading = site.threads.reading(head, thread)
        if reading is None:
            raise NotFound(thread)
        branch = asked.get("branch", LIVING)
        is_known = thread == MAIN and any(one.id == branch and not one.is_active for one in head.branches)
        asking = _asked(site, database, head)
        yield OpenedThread(site, database, session, thread, reading, asking, branch if is_known else LIVING)


def _thread_meant(request: Request, database: Database | None, head: SessionHead) -> str | None:
    """The thread with the log or the call that an address names."""
    asked = request.query_params
    if file := asked.get("file"):
        return head.thread_with(file)
    place = _place_of_call(database, head, asked["call"]) if asked.get("call") else None
    return None if place is None else head.thread_with(place[0])


def _place_of_call(database: Database | None, head: SessionHead, id: str) -> tuple[str, int] | None:
    """The log and the line of a call."""
    if database is None or head.known is None:
        return None
    paths = {number: path for path, number in head.numbers.items()}
    for found in calls_called(database.db, head.known, [id]):
        if found.file in paths and found.line is not None:
            return paths[found.file], found.line
    return None


def _asked(site: Site, database: Database | None, head: SessionHead) -> ThreadContext:
    row = site.live_row(head.agent, head.id)
    life = NOT_LOOKED if row is None else life_in(row.state)
    db = database.db if database is not None else None
    return ThreadContext(head.agent, head.id, head.known, db, head.is_settled, life, site.now())


def line_asked(request: Request, one: OpenedThread) -> int | None:
    """The number of the line that an address names: by a line of a log, a turn, or a call's id."""
    asked = request.query_params
    lines = one.reading.lines
    if line := number_in(request, "line"):
        return lines.seq_of(asked.get("file") or None, line)
    if turn := number_in(request, "turn"):
        return next((known.seq for known in one.turns() if known.turn.n == turn), None)
    if id := asked.get("call"):
        place = _place_of_call(one.database, one.head, id)
        return None if place is None else lines.seq_of(*place)
    return None


def other_thread_asked(request: Request, one: OpenedThread) -> str | None:
    """The other thread that the named call belongs to, if any."""
    id = request.query_params.get("call")
    place = _place_of_call(one.database, one.head, id) if id else None
    thread = one.head.thread_with(place[0]) if place is not None else None
    return thread if thread != one.thread else None


def number_in(request: Request, name: str) -> int | None:
    """A number in an address; None if it is invalid."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def words_of_missing(request: Request, one: OpenedThread) -> list[str]:
    """Messages for the logs, lines, turns, calls and branches that an address names but that do not exist."""
    told = [*_missing_lines(request, one)]
    if one.head.is_settled:  # else the index does not know its newest turns and calls yet
        told += _missing_parts(request, one)
    return [shown(words) for words in told]


def _missing_lines(request: Request, one: OpenedThread) -> Iterator[str]:
    asked, lines = request.query_params, one.reading.lines
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


def _missing_parts(request: Request, one: OpenedThread) -> Iterator[str]:
    asked = request.query_params
    turn, call, branch = asked.get("turn"), asked.get("call"), asked.get("branch")
    if turn and not any(placed.turn.n == number_in(request, "turn") for placed in one.turns()):
        yield f"There is no turn {_spelled(turn)}."
    if call and _place_of_call(one.database, one.head, call) is None:
        yield f"There is no call {call[:120]}."
    if branch and one.branch == LIVING and not _is_living(one, branch):
        yield f"There is no branch {branch[:120]}: this is the living one."


def _is_living(one: OpenedThread, branch: str) -> bool:
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
    with site.reading() as database:
        near = sessions_beginning_with(database.db, id[:8], site.scope) if database is not None and id else []
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
