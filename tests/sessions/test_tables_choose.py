"""Choosing among sessions: what a facet counts is what choosing it shows, in every combination of filters."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.made_lists import Use, lists_of, table_session
from tracklog.clock import NO_TIME
from tracklog.ledger.stored.tables_costs import SessionCost
from tracklog.model.session_rules import is_tool
from tracklog.sessions.listed import NONE, SORTS, Cursor, FacetCount, Month, SessionFilter, TableSession, fits
from tracklog.sessions.tables_choose import SessionSelection

DAY = 86_400_000
BEGAN = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000)


def session(
    n: int, *, uses: frozenset[Use] = frozenset(), **more: Any
) -> tuple[TableSession, frozenset[Use]]:
    times = {"started_ms": BEGAN + n * DAY, "last_ms": BEGAN + n * DAY + 1000}
    return table_session(n, **{**times, **more}), uses


def ids(chosen: SessionSelection, sort: str = "last", *, is_descending: bool = True) -> list[str]:
    return [one.id for one in chosen.page(sort, is_descending=is_descending, after=None, most=1000).sessions]


TABLE = lists_of(
    [
        session(1, uses=frozenset({("Bash", "ok"), ("Bash", "error"), ("Read", "ok")})),
        session(2, project="Beta", projects=("beta", "alpha"), folders=("/work/Beta", "/work/Alpha")),
        session(3, agent="codex", models=("gpt-5", "gpt-5-codex"), uses=frozenset({("mcp__a__x", "ok")})),
        session(
            4,
            models=("gpt-5-codex",),
            state="unknown",
            uses=frozenset({("mcp__a__y", "error"), ("bash", "ok")}),
        ),
        session(
            5,
            project=None,
            projects=(),
            folders=(),
            models=(),
            title=None,
            started_ms=NO_TIME,
            last_ms=NO_TIME,
        ),
        session(6, title="Fix the Walk", started_ms=BEGAN - 40 * DAY, last_ms=BEGAN + 6 * DAY),
    ],
    {
        "id-1": SessionCost(
            cost_pico_usd=5, most_pico_usd=9, is_lower_bound=True, tokens=30, output_tokens=3, requests=1
        )
    },
)


def test_the_last_alive_comes_first_and_who_says_no_time_last() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter())) == ["id-6", "id-4", "id-3", "id-2", "id-1", "id-5"]


def test_a_project_is_meant_by_its_name_in_any_letters_or_by_a_folder() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(project="ALPHA"))) == [
        "id-6",
        "id-4",
        "id-3",
        "id-2",
        "id-1",
    ]
    assert ids(SessionSelection(TABLE, SessionFilter(project="/work/Beta/"))) == ["id-2"]
    assert ids(SessionSelection(TABLE, SessionFilter(project="/work/Bet"))) == []
    assert ids(SessionSelection(TABLE, SessionFilter(project=NONE))) == ["id-5"]


def test_a_model_is_meant_by_its_name_or_if_none_is_called_so_by_a_part_of_it() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(model="GPT-5"))) == ["id-3"]
    assert ids(SessionSelection(TABLE, SessionFilter(model="gpt"))) == ["id-4", "id-3"]
    assert ids(SessionSelection(TABLE, SessionFilter(model="codex"))) == ["id-4", "id-3"]
    assert SessionSelection(TABLE, SessionFilter()).models() == [
        FacetCount("claude-opus-4-6", "claude-opus-4-6", 3),
        FacetCount("gpt-5-codex", "gpt-5-codex", 2),
        FacetCount(NONE, NONE, 1),
        FacetCount("gpt-5", "gpt-5", 1),
    ]


def test_tool_and_verdict_together_mean_one_call_that_has_both() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(tool="bash"))) == ["id-4", "id-1"]
    assert ids(SessionSelection(TABLE, SessionFilter(verdict="error"))) == ["id-4", "id-1"]
    assert ids(SessionSelection(TABLE, SessionFilter(tool="Bash", verdict="error"))) == ["id-1"]
    assert ids(SessionSelection(TABLE, SessionFilter(tool="Read", verdict="error"))) == []


def test_all_tools_of_a_server_are_meant_by_its_name() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(tool="mcp__a"))) == ["id-4", "id-3"]
    assert ids(SessionSelection(TABLE, SessionFilter(tool="mcp__a", verdict="ok"))) == ["id-3"]
    assert is_tool("mcp__a__x", "MCP__A__")
    assert not is_tool("mcp__ab__x", "mcp__a")


def test_a_span_means_every_session_that_lived_in_it() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(since_ms=BEGAN + 4 * DAY))) == ["id-6", "id-4"]
    assert ids(SessionSelection(TABLE, SessionFilter(until_ms=BEGAN))) == ["id-6"]
    assert ids(
        SessionSelection(TABLE, SessionFilter(since_ms=BEGAN + DAY + 1000, until_ms=BEGAN + 2 * DAY))
    ) == [
        "id-6",
        "id-1",
    ]
    assert SessionSelection(TABLE, SessionFilter()).months() == [
        (Month(2026, 3), 5),
        (Month(2026, 2), 1),
        (Month(2026, 1), 1),
    ]


def test_words_are_looked_for_in_title_and_project() -> None:
    assert ids(SessionSelection(TABLE, SessionFilter(words=("walk", "FIX")))) == ["id-6"]
    assert ids(SessionSelection(TABLE, SessionFilter(words=("session", "beta")))) == ["id-2"]


def test_what_a_session_does_now_counts_and_not_what_the_index_knew() -> None:
    now = {("claude", "id-1"): "working", ("claude", "id-4"): "ended", ("claude", "not-there"): "waiting"}
    chosen = SessionSelection(TABLE, SessionFilter(), states=now)
    assert chosen.state_facet() == [FacetCount("ended", "ended", 5), FacetCount("working", "working", 1)]
    assert ids(SessionSelection(TABLE, SessionFilter(state="working"), states=now)) == ["id-1"]
    assert chosen.state_of(table_session(1)) == "working"


def test_what_they_come_to_is_summed_over_those_that_are_meant() -> None:
    sums = SessionSelection(TABLE, SessionFilter(agent="claude", project="alpha")).sums()
    assert sums._asdict() == {
        "sessions": 4,
        "active_ms": 4000.0,
        "wall_ms": 3000 + 46 * DAY,
        "turns": 4,
        "calls": 8,
        "errors": 0,
        "subagents": 0,
        "copies": 0,
        "tokens": 30,
        "output_tokens": 3,
        "cost_pico_usd": 5,
        "most_pico_usd": 9,
        "is_lower_bound": True,
        "partial_requests": 0,
        "unpriced": 0,
    }


VALUES: dict[str, list[Any]] = {
    "project": [None, "alpha", "Beta", NONE],
    "agent": [None, "claude", "codex", "nobody"],
    "model": [None, "gpt-5", "opus"],
    "tool": [None, "Bash", "mcp__a"],
    "verdict": [None, "error", "ok"],
    "state": [None, "unknown"],
    "since_ms": [None, BEGAN + 2 * DAY],
    "until_ms": [None, BEGAN + 4 * DAY],
}


def test_a_facet_counts_what_choosing_it_shows_whatever_else_is_chosen() -> None:
    n_checked = 0
    for values in product(*VALUES.values()):
        wanted = SessionFilter(**dict(zip(VALUES, values, strict=True)))
        chosen = SessionSelection(TABLE, wanted)
        for name, facets in (
            ("project", chosen.projects()),
            ("agent", chosen.agents()),
            ("model", chosen.models()),
            ("tool", chosen.tools()),
            ("verdict", chosen.verdicts()),
            ("state", chosen.state_facet()),
        ):
            for facet in facets:
                given: dict[str, Any] = {name: facet.value}
                shown = SessionSelection(TABLE, wanted._replace(**given))
                assert (shown.total, len(ids(shown))) == (facet.n, facet.n), (wanted, name, facet)
                n_checked += 1
    assert n_checked > 2000


SESSIONS = st.lists(
    st.builds(
        lambda n, cost, title: (n, cost, title),
        st.integers(0, 40),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from(["a", "b", "B"]),
    ),
    unique_by=lambda one: one[0],
    max_size=25,
)


@given(SESSIONS, st.sampled_from(sorted(SORTS)), st.booleans(), st.integers(1, 7), st.integers(41, 60))
def test_pages_follow_one_another_without_gap_or_repetition_while_new_sessions_come(
    made: list[tuple[int, int | None, str | None]], sort: str, is_descending: bool, most: int, new: int
) -> None:
    table = _table(made)
    later = _table([*made, (new, new % 4, "b")])
    whole = ids(SessionSelection(table, SessionFilter()), sort, is_descending=is_descending)
    walked: list[str] = []
    after: Cursor | None = None
    for n in range(60):
        asked = table if n == 0 else later  # a session came in while somebody looked at the first page
        page = SessionSelection(asked, SessionFilter()).page(
            sort, is_descending=is_descending, after=after, most=most
        )
        walked += [one.id for one in page.sessions]
        after = page.next
        if after is None:
            break
        assert fits(sort, after)
    assert [one for one in walked if one != f"id-{new}"] == whole


def _table(made: list[tuple[int, int | None, str | None]]) -> sqlite3.Connection:
    spent = {f"id-{n}": SessionCost(cost_pico_usd=cost, requests=1) for n, cost, _ in made}
    return lists_of([session(n, title=title, calls=n % 3) for n, _, title in made], spent)


def test_a_page_says_where_it_stands() -> None:
    chosen = SessionSelection(TABLE, SessionFilter())
    first = chosen.page("last", is_descending=True, after=None, most=2)
    second = chosen.page("last", is_descending=True, after=first.next, most=2)
    assert (first.total, first.n_before, second.n_before) == (6, 0, 2)
    assert first.next == Cursor(BEGAN + 4 * DAY + 1000, "claude", "id-4")


def test_a_cursor_of_another_order_does_not_fit() -> None:
    assert not fits("last", Cursor("a", "claude", "x"))
    assert not fits("title", Cursor(1, "claude", "x"))
    assert not fits("cost", Cursor(True, "claude", "x"))
    assert fits("title", Cursor(None, "claude", "x"))


def test_of_no_sessions_there_is_nothing_to_list() -> None:
    chosen = SessionSelection(lists_of(), SessionFilter(since_ms=1))
    assert (ids(chosen), chosen.total, chosen.months(), chosen.newest_without()) == ([], 0, [], None)
    assert chosen.sums().sessions == 0


def test_a_session_with_a_wrong_clock_does_not_fill_the_calendar() -> None:
    table = lists_of([session(1, started_ms=0, last_ms=200_000_000_000_000)])
    assert len(SessionSelection(table, SessionFilter()).months()) == 1200


def test_months_begin_and_end_as_the_clock_of_this_machine_says(monkeypatch: pytest.MonkeyPatch) -> None:
    begins = int(
        datetime(2026, 3, 1, tzinfo=ZoneInfo("Asia/Kathmandu")).timestamp() * 1000
    )  # 5:45 before UTC
    sessions = [
        session(n, started_ms=begins + late, last_ms=begins + late) for n, late in enumerate((-1, 0, 1))
    ]
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    there = SessionSelection(lists_of(sessions), SessionFilter()).months()
    assert there == [(Month(2026, 3), 2), (Month(2026, 2), 1)]
