"""Choosing among calls, and how tools do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.made_lists import lists_of_calls
from tracklog.sessions.listed import SessionFilter
from tracklog.sessions.tables_choose import SessionSelection
from tracklog.sessions.tables_choose_calls import CallCursor, CallSelection, Sort, ToolFigures, WantedCalls
from tracklog.sessions.tables_columns import CallLine


def call(
    n: int, tool: str = "Bash", verdict: str = "ok", took_ms: float | None = 1.0, row: int = 1
) -> CallLine:
    return CallLine(n * 10, row, n, tool, verdict, took_ms, None if took_ms is None else "stated")


CALLS = [
    CallLine(-1, 3, 0, "Read", "ok", None, None),
    call(1, took_ms=5.0),
    call(2, verdict="error", took_ms=1.0),
    call(3, "Read", took_ms=2.0, row=2),
    call(4, took_ms=9.0, row=2),
    call(5, verdict="denied", took_ms=None),
    call(6, "mcp__a__x", took_ms=2.0),
]
TABLE = lists_of_calls(CALLS, {(2, 4)})


def places(chosen: CallSelection, sort: Sort = "time", *, is_descending: bool = True) -> list[int]:
    return [one.line.n for one in chosen.page(sort, is_descending=is_descending, after=None, most=99).calls]


def test_filters_hold_together() -> None:
    for wanted, found in (
        (WantedCalls(), [6, 5, 4, 3, 2, 1, 0]),
        (WantedCalls(tool="bash"), [5, 4, 2, 1]),
        (WantedCalls(tool="mcp__a"), [6]),
        (WantedCalls(verdict="error"), [2]),
        (WantedCalls(session="id-2"), [4, 3]),
        (WantedCalls(session="nobody"), []),
        (WantedCalls(since_ms=20, until_ms=40), [3, 2]),
        (WantedCalls(until_ms=20), [1]),
        (WantedCalls(min_ms=2.0), [6, 4, 3, 1]),
        (WantedCalls(is_timed=False), [5, 0]),
        (WantedCalls(is_timed=True, tool="Read"), [3]),
        (WantedCalls(is_own=True, session="id-2"), [3]),
    ):
        assert places(CallSelection(TABLE, wanted)) == found, wanted


def test_the_slowest_come_first_and_those_of_unknown_time_last() -> None:
    chosen = CallSelection(TABLE, WantedCalls())
    assert places(chosen, "duration") == [4, 1, 6, 3, 2, 5, 0]
    assert places(chosen, "duration", is_descending=False) == [2, 3, 6, 1, 4, 0, 5]


def test_figures_of_a_tool_are_those_of_its_calls() -> None:
    chosen = CallSelection(TABLE, WantedCalls())
    assert chosen.tools[0] == ToolFigures(
        tool="Bash",
        n=4,
        errors=1,
        unknown=1,
        p50_ms=5.0,
        p95_ms=9.0,
        max_ms=9.0,
        total_ms=15.0,
        n_from_p50=2,
        n_from_p95=1,
        n_at_max=1,
    )
    assert [(one.tool, one.n) for one in chosen.tools] == [("Bash", 4), ("Read", 2), ("mcp__a__x", 1)]
    assert (chosen.all_tools.n, chosen.all_tools.total_ms, chosen.n_tools) == (7, 19.0, 3)
    assert chosen.verdicts == [("ok", 5), ("denied", 1), ("error", 1)]


def test_figures_of_selected_sessions_are_those_of_their_calls() -> None:
    every = CallSelection(TABLE, WantedCalls())
    for same in (
        CallSelection(TABLE, WantedCalls(session="id-")),
        CallSelection(TABLE, WantedCalls(), SessionSelection(TABLE, SessionFilter(agent="claude"))),
    ):
        assert (same.tools, same.all_tools) == (every.tools, every.all_tools)
    [bash, read] = CallSelection(TABLE, WantedCalls(session="id-2")).tools
    assert (bash.p50_ms, bash.n_from_p50, read.p95_ms, read.n_at_max) == (9.0, 1, 2.0, 1)


def test_a_tool_of_which_no_time_is_known_has_no_percentile() -> None:
    chosen = CallSelection(lists_of_calls([call(1, took_ms=None)]), WantedCalls())
    [figures] = chosen.tools
    assert (figures.p50_ms, figures.p95_ms, figures.max_ms, figures.unknown) == (None, None, None, 1)


def test_a_figure_counts_what_its_filters_show() -> None:
    for wanted in (
        WantedCalls(),
        WantedCalls(verdict="ok"),
        WantedCalls(tool="Read"),
        WantedCalls(min_ms=2.0),
    ):
        for one in CallSelection(TABLE, wanted).tools:
            mine = wanted._replace(tool=one.tool)
            assert CallSelection(TABLE, mine).total == one.n
            assert CallSelection(TABLE, mine._replace(is_timed=False)).total == one.unknown
            assert CallSelection(TABLE, mine._replace(min_ms=one.p50_ms)).total == (one.n_from_p50 or one.n)
            assert CallSelection(TABLE, mine._replace(min_ms=one.p95_ms)).total == (one.n_from_p95 or one.n)
            assert CallSelection(TABLE, mine._replace(min_ms=one.max_ms)).total == (one.n_at_max or one.n)
        for verdict, n in CallSelection(TABLE, wanted).verdicts:
            assert CallSelection(TABLE, wanted._replace(verdict=verdict)).total == n


def test_names_that_differ_in_capitals_are_one_tool_called_as_it_is_written_most() -> None:
    table = lists_of_calls([call(1, "bash"), call(2, "Bash"), call(3, "Bash", took_ms=None), call(4, "Read")])
    assert [(one.tool, one.n, one.unknown) for one in CallSelection(table, WantedCalls()).tools] == [
        ("Bash", 3, 1),
        ("Read", 1, 0),
    ]
    assert places(CallSelection(table, WantedCalls(tool="Bash"))) == [3, 2, 1]


def test_a_tool_that_is_called_like_its_server_counts_all_tools_of_it() -> None:
    calls = [call(1, "mcp__a"), call(2, "mcp__a__x"), call(3, "MCP__A__x"), call(4, "mcp__ab")]
    chosen = CallSelection(lists_of_calls(calls), WantedCalls())
    assert [(one.tool, one.n) for one in chosen.tools] == [("MCP__A__x", 2), ("mcp__a", 3), ("mcp__ab", 1)]
    for one in chosen.tools:
        assert CallSelection(lists_of_calls(calls), WantedCalls(tool=one.tool)).total == one.n


MADE = st.lists(st.tuples(st.integers(-1, 6), st.none() | st.sampled_from([0.0, 1.0, 2.5])), max_size=25)


@given(MADE, st.sampled_from(["time", "duration"]), st.booleans(), st.integers(1, 7))
def test_pages_follow_one_another_without_gap_or_repetition(
    made: list[tuple[int, float | None]], sort: Sort, is_descending: bool, most: int
) -> None:
    calls = sorted(CallLine(at, n % 3, n, "Bash", "ok", took, None) for n, (at, took) in enumerate(made))
    chosen = CallSelection(lists_of_calls(calls), WantedCalls())
    whole = places(chosen, sort, is_descending=is_descending)
    walked: list[int] = []
    after: CallCursor | None = None
    for _ in range(40):
        page = chosen.page(sort, is_descending=is_descending, after=after, most=most)
        assert page.n_before == len(walked)
        walked += [one.line.n for one in page.calls]
        after = page.next
        if after is None:
            break
    assert walked == whole


def test_sessions_are_meant_by_their_id_or_the_beginning_of_it_and_calls_by_their_place() -> None:
    assert places(CallSelection(TABLE, WantedCalls(session="id-"))) == [6, 5, 4, 3, 2, 1, 0]
    assert places(CallSelection(TABLE, WantedCalls(session="id-3"))) == [0]
    assert places(CallSelection(TABLE, WantedCalls(places=frozenset({(1, 2), (2, 2)})))) == [2]
    assert (
        places(CallSelection(TABLE, WantedCalls(), SessionSelection(TABLE, SessionFilter(agent="codex"))))
        == []
    )


def test_a_call_says_whether_it_is_a_copy() -> None:
    found = CallSelection(TABLE, WantedCalls()).page("time", is_descending=True, after=None, most=99)
    assert [one.line.n for one in found.calls if one.is_copy] == [4]
