"""Open the thread of a session that the browser shows: its rows, calls, lines, turns, branches and cost.

Rules
  1. The page shows the rows that conversation/ makes, in the order of the log; `show` lists the same things.
  2. A raw line leaves with its secrets masked, unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tracklog.app.live.site import Site

# what views draw
from tracklog.conversation.branches import LIVING as LIVING
from tracklog.conversation.branches import BranchPath as BranchPath
from tracklog.conversation.branches import OpenedTurn as OpenedTurn
from tracklog.conversation.branches import PlacedTurn as PlacedTurn
from tracklog.conversation.branches import VisibleBranch as VisibleBranch
from tracklog.conversation.branches import seen_from
from tracklog.conversation.lines import LineAt as LineAt
from tracklog.conversation.lines import ThreadLines as ThreadLines
from tracklog.conversation.navigate import NextLine as NextLine
from tracklog.conversation.navigate import What as What
from tracklog.conversation.navigate import find_in as find_in
from tracklog.conversation.navigate import next_line
from tracklog.conversation.rows import EventRow as EventRow
from tracklog.conversation.rows import Kind as Kind
from tracklog.conversation.session import (
    OpenSession,
    placed_turns,
    sides_of,
    spent_by,
    ways_through,
)
from tracklog.conversation.session import SessionHead as SessionHead
from tracklog.conversation.session import ThreadUsage as ThreadUsage
from tracklog.conversation.thread_reader import ThreadReading, all_of_row
from tracklog.conversation.window import CallDetail as CallDetail
from tracklog.conversation.window import ShownRow as ShownRow
from tracklog.conversation.window import ThreadContext, call_detail, window
from tracklog.conversation.window import is_quiet as is_quiet
from tracklog.live.board.board import BoardRow as BoardRow
from tracklog.liveness.sessions import life_in
from tracklog.model.ids import MAIN
from tracklog.model.states import NOT_LOOKED
from tracklog.secrets.redact import NotClean, redactor_of
from tracklog.sessions.tables_session import calls_called, sessions_beginning_with
from tracklog.store.database import Database
from tracklog.store.database import reading as open_index


class ThreadQuery(NamedTuple):
    """Which thread to open: the one with this id, else the one that holds a log or a call, else the main one."""

    agent: str
    id: str
    thread: str | None = None
    file: str | None = None
    call: str | None = None
    branch: str = LIVING


class NotFound(Exception):  # noqa: N818 - a state
    """There is no such session, or no log of the thread that is given."""


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
    def lines(self) -> ThreadLines:
        """Its lines."""
        return self.reading.lines

    @property
    def n(self) -> int:
        """The number of its lines."""
        return self.reading.lines.n

    @property
    def live(self) -> BoardRow | None:
        """The row of its session on the board."""
        return self.site.live_row(self.head.agent, self.head.id)

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

    def rows(self, first: int, last: int) -> list[ShownRow]:
        """The rows of some lines, each call with its outcome."""
        cwd = self.head.facts.get("cwd")
        return window(self.asked, self.reading, first, last, seen=self.seen(), cwd=cwd)

    def call(self, seq: int, n: int) -> CallDetail | None:
        """The call in a row of a line, with its input, results and hooks."""
        return call_detail(self.asked, self.reading, seq, n) if 1 <= seq <= self.n else None

    def whole_text(self, seq: int, n: int, *, call: str | None = None) -> tuple[Kind, str] | None:
        """The kind and whole text of a row of a line: the one with number `n`, or that of a call's result."""
        return all_of_row(self.reading, seq, n, call=call)

    def next_line(
        self, what: What, *, after: int | None, before: int | None, with_left: bool = False
    ) -> NextLine:
        """The next prompt or error; `with_left`: also on branches that are not followed."""
        if self.database is None:
            return NextLine()
        seen = None if with_left else self.seen()
        return next_line(
            self.database.db, self.head, self.reading, what, after=after, before=before, seen=seen
        )

    def usage(self) -> ThreadUsage | None:
        """What it used and cost; None until it was counted."""
        if self.database is None:
            return None
        return spent_by(self.database.db, self.head, self.site.prices(), thread=self.thread)

    def place_of_call(self, id: str) -> tuple[str, int] | None:
        """The log and the line of a call, also of another thread."""
        return _place_of_call(self.database, self.head, id)

    def line(self, seq: int) -> LineAt | None:
        """A line by its number; None if there is no such line."""
        return next(self.lines.between(seq, seq), None)

    def masked(self, data: bytes) -> bytes:
        """The bytes of a line without the secrets in them."""
        try:
            return redactor_of(self.site.home).clean(data)
        except NotClean:
            return b"(more secrets than can be masked stand here)"


@contextmanager
def opened_thread(site: Site, asked: ThreadQuery, *, fresh: bool = False) -> Iterator[OpenedThread]:
    """Opens a thread; `fresh`: without the cache of sessions. Raises NotFound."""
    with open_index(site.home) as database:
        session = site.threads.session(
            database, asked.agent, asked.id, roots=site.roots, scope=site.scope, fresh=fresh
        )
        if session is None:
            raise NotFound
        head = session.head
        thread = asked.thread or _thread_holding(asked, database, head) or MAIN
        reading = site.threads.reading(head, thread)
        if reading is None:
            raise NotFound(thread)
        branches = head.branches if thread == MAIN else ()
        is_known = any(one.id == asked.branch and not one.is_active for one in branches)
        branch = asked.branch if is_known else LIVING
        yield OpenedThread(site, database, session, thread, reading, _context(site, database, head), branch)


def sessions_named_alike(site: Site, id: str) -> list[tuple[str, str]]:
    """The agents and ids of sessions whose ids begin alike."""
    with open_index(site.home) as database:
        return sessions_beginning_with(database.db, id[:8], site.scope) if database is not None and id else []


def _thread_holding(asked: ThreadQuery, database: Database | None, head: SessionHead) -> str | None:
    """The thread that holds the log or the call of the query."""
    if asked.file:
        return head.thread_with(asked.file)
    place = _place_of_call(database, head, asked.call) if asked.call else None
    return None if place is None else head.thread_with(place[0])


def _place_of_call(database: Database | None, head: SessionHead, id: str) -> tuple[str, int] | None:
    if database is None or head.known is None:
        return None
    paths = {number: path for path, number in head.numbers.items()}
    for found in calls_called(database.db, head.known, [id]):
        if found.file in paths and found.line is not None:
            return paths[found.file], found.line
    return None


def _context(site: Site, database: Database | None, head: SessionHead) -> ThreadContext:
    row = site.live_row(head.agent, head.id)
    life = NOT_LOOKED if row is None else life_in(row.state)
    db = database.db if database is not None else None
    return ThreadContext(head.agent, head.id, head.known, db, head.is_settled, life, site.now())
