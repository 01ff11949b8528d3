"""A page of a list in the browser: what is selected, a part of it in order, and details of the rows in that part."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from tracklog.app.old_lists.call_tables import CallCursor, CallPage, ChosenCalls, Sort, WantedCalls
from tracklog.app.old_lists.choice import Cursor, Page, SessionFilter, SessionSelection
from tracklog.app.old_lists.sets import Name
from tracklog.app.old_lists.tables import Shot, Tables
from tracklog.home import Home
from tracklog.ledger.pricing import RequestFilter
from tracklog.sessions.tables_columns import CallDetails as CallDetails
from tracklog.sessions.tables_columns import CallLine as CallLine
from tracklog.sessions.tables_columns import SubagentLine as SubagentLine
from tracklog.store.database import reading


class SessionsPage(NamedTuple):
    """The selected sessions, a page of them, and the subagents of those on it."""

    chosen: SessionSelection
    page: Page
    subagents: Mapping[int, list[SubagentLine]]


def sessions_page(
    home: Home,
    tables: Tables,
    shot: Shot,
    wanted: SessionFilter,
    *,
    states: Mapping[Name, str],
    sort: str,
    is_descending: bool,
    after: Cursor | None,
    most: int,
) -> SessionsPage:
    """A page of the sessions that fit; with a period, they cost what was spent in it."""
    table = shot.sessions
    with reading(home) as database:
        if wanted.has_period and database is not None:
            period = RequestFilter(_moment(wanted.since_ms), _moment(wanted.until_ms))
            table = table.with_spent(tables.spent_during(database, period))
        chosen = SessionSelection(table, wanted, states)
        page = chosen.page(sort, is_descending=is_descending, after=after, most=most)
        rows = [one.row for one in page.sessions if one.subagents]
        subagents = shot.subagents(database, rows) if database is not None else {}
    return SessionsPage(chosen, page, subagents)


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


class CallsPage(NamedTuple):
    """The selected calls, a page of them, and the details of those on it."""

    chosen: ChosenCalls
    page: CallPage
    details: Mapping[tuple[int, int], CallDetails]


def calls_page(
    home: Home,
    shot: Shot,
    wanted: WantedCalls,
    *,
    thread: str | None,
    sort: Sort,
    is_descending: bool,
    after: CallCursor | None,
    most: int,
) -> CallsPage:
    """A page of the calls that fit, of all threads or of one."""
    with reading(home) as database:
        if thread:
            wanted = wanted._replace(places=shot.in_thread(database, wanted.rows or (), thread))
        chosen = shot.calls.chosen(wanted)
        page = chosen.page(sort, is_descending=is_descending, after=after, most=most)
        details = shot.details(database, page.calls) if database is not None else {}
    return CallsPage(chosen, page, details)
