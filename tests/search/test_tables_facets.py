from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime

import pytest

from tests.search.test_query import read
from tests.search.test_search import AT_MS, CLAUDE, DAY_MS, db, put_call, put_log, put_session, text
from tests.store.made_index import put
from tracklog.search.query import Query, parse
from tracklog.search.query_edit import with_filters
from tracklog.search.tables import search
from tracklog.search.tables_facets import Facets, FacetValue, Span, facets_of, sessions_seen
from tracklog.store.text import ROLES, put_texts, worded
from tracklog.store.values import SearchableText

__all__ = ["db"]  # a fixture


def moment(text: str, *, is_end: bool) -> datetime:
    day = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return datetime.fromtimestamp(day.timestamp() + 86_400 * is_end, UTC)


def facets(db: sqlite3.Connection, query: Query) -> Facets:
    hits = search(db, query, limit=1000).hits
    names = [(hit.agent, hit.session) for hit in hits if hit.agent and hit.session]
    return facets_of(db, hits, sessions_seen(db, names))


def test_hits_are_counted_by_what_they_have_in_common(db: sqlite3.Connection) -> None:
    assert facets(db, read("parser")) == Facets(
        agent=[FacetValue("claude", 3), FacetValue("codex", 1)],
        project=[FacetValue("app", 3), FacetValue("lib", 1)],
        role=[FacetValue("result", 2), FacetValue("answer", 1), FacetValue("prompt", 1)],
        tool=[FacetValue("Bash", 1), FacetValue("mcp__files__read", 1)],
        verdict=[FacetValue("error", 1), FacetValue("ok", 1)],
        spans=[
            Span("Mon 2 Mar", date(2026, 3, 2), date(2026, 3, 2), 1),
            Span("Sun 1 Mar", date(2026, 3, 1), date(2026, 3, 1), 3),
        ],
    )


@pytest.fixture
def many(db: sqlite3.Connection) -> sqlite3.Connection:
    """More of everything: copies of a call, tools of one server, capitals, folders, texts without a time, years."""
    put_log(db, 3, f"{CLAUDE}/projects/-app/three.jsonl", CLAUDE, "claude", "3333")
    put(
        db,
        "session_rows",
        id=3,
        agent="claude",
        session="3333",
        cwd="/w/App",
        cwds='["/w/App", "/w/lib", "C:\\\\x\\\\Win"]',
        is_settled=1,
        is_listed=1,
        only_here=0,
    )
    put_log(db, 4, f"{CLAUDE}/projects/-app/four.jsonl", CLAUDE, "claude", "4444")
    put_session(db, 4, "claude", "4444", "/w/my app", "[]")
    put_call(db, 3, 3, "call_1", "Bash", "lost", did="")
    put_call(db, 4, 3, "call_3", "mcp__files", "denied", did="")
    put_call(db, 5, 4, "call_4", "bash", "ok", did="")
    put_call(db, 6, 4, "call_5", "100%_odd", "ok", did="")
    put_texts(
        db,
        [
            (3, text(1, "input", "parser", name="mcp__files", call="call_3")),
            (3, text(2, "result", "parser", call="call_1", day=40)),
            (
                3,
                worded(
                    SearchableText(3, 300, 0, ROLES["context"], None, None, None, "parser without a time")
                ),
            ),
            (4, text(1, "input", "parser", name="bash", call="call_4", day=400)),
            (4, text(2, "input", "parser", name="100%_odd", call="call_5", day=1100)),
            (
                4,
                worded(
                    SearchableText(3, 300, 0, ROLES["context"], 10, None, None, "parser of a clock never set")
                ),
            ),
        ],
    )
    return db


@pytest.mark.parametrize("query", ["parser", "parser -role:prompt", "parser until:2026-05-01"])
def test_every_count_is_what_the_search_with_that_filter_finds(many: sqlite3.Connection, query: str) -> None:
    told = facets(many, parse(query, moment))
    asked = 0
    for key in ("agent", "project", "role", "tool", "verdict"):
        for value, n in getattr(told, key):
            narrowed = with_filters(query, (key, value))
            assert narrowed is not None
            assert (narrowed, search(many, parse(narrowed, moment)).total) == (narrowed, n)
            asked += 1
    for _, first, last, n in told.spans if "until" not in query else ():
        narrowed = with_filters(query, ("since", str(first)), ("until", str(last)))
        assert narrowed is not None
        assert (narrowed, search(many, parse(narrowed, moment)).total) == (narrowed, n)
        asked += 1
    assert asked > 10


def test_the_time_of_hits_is_told_in_days_months_or_years(many: sqlite3.Connection) -> None:
    assert [span.words for span in facets(many, read("parser")).spans] == ["2029", "2027", "2026", "1970"]
    few = Query(groups=read("parser").groups, since_ms=AT_MS, until_ms=AT_MS + 50 * DAY_MS)
    assert [span.words for span in facets(many, few).spans] == ["Apr 2026", "Mar 2026"]


def test_nothing_has_no_facets(db: sqlite3.Connection) -> None:
    assert facets(db, read("nowhere")) == Facets([], [], [], [], [], [])
