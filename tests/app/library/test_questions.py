"""Usage, search and SQL for callers in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

import tracklog
from tracklog.app.library.parameters import filters_of, home_in, paths_in

pytestmark = pytest.mark.usefixtures("demo")


def test_usage_is_the_same_from_logs_and_from_the_index() -> None:
    before = tracklog.usage("session")
    assert tracklog.search("tally").total > 0  # makes the index
    assert tracklog.usage("session") == before
    assert before.total.cost_pico_usd == sum(row.cost_pico_usd for row in before.rows) > 0


def test_usage_takes_days_of_a_zone_and_filters() -> None:
    days = [row.key for row in tracklog.usage(zone="UTC").rows]
    later = [row.key for row in tracklog.usage(zone=timezone(timedelta(hours=14))).rows]
    assert days == ["2026-11-15"] != later
    assert [row.key for row in tracklog.usage("agent", agent="codex").rows] == ["codex"]
    assert tracklog.usage(since=date(2030, 1, 1)).rows == []


def test_search_finds_a_pattern_and_honours_filters() -> None:
    assert {hit.agent for hit in tracklog.search("tally", agent="codex").hits} == {"codex"}
    assert tracklog.search(r"CHANGE\w+", pattern=True).total > 0
    assert tracklog.search("tally", since=date(2030, 1, 1)).total == 0
    with pytest.raises(tracklog.UserError):
        tracklog.search("(", pattern=True)


def test_without_an_index_nothing_is_made_unless_it_may_be(tmp_path: Path) -> None:
    with pytest.raises(tracklog.NotThere, match="no index"):
        tracklog.sql("select 1", syncs=False)
    assert not (tmp_path / "ours/index.db").exists()


def test_an_answer_of_sql_says_when_rows_were_cut_off() -> None:
    answer = tracklog.sql("select name from calls order by name", limit=2)
    assert (answer.columns, len(answer.rows), answer.is_truncated) == (["name"], 2, True)
    with pytest.raises(tracklog.UserError):
        tracklog.sql("delete from calls")


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        (datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (date(2026, 3, 1), datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T10:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_moment_may_be_written_in_three_ways(given: date | str, moment: datetime) -> None:
    asked = filters_of(since=given, until=None, project=None, model=None, zone=UTC)
    assert asked.since == moment


def test_the_last_day_is_meant_whole() -> None:
    asked = filters_of(since=None, until=date(2026, 3, 1), project=None, model=None, zone=UTC)
    assert asked.until == datetime(2026, 3, 2, tzinfo=UTC)


def test_what_is_no_time_is_a_user_error() -> None:
    with pytest.raises(tracklog.UserError, match="since='soon' is no time"):
        filters_of(since="soon", until=None, project=None, model=None)


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: tracklog.read("@last", agent="gemini"), "agent='gemini' is none of claude, codex"),
        (lambda: tracklog.sessions(agent="gemini"), "agent='gemini' is none"),
        (lambda: tracklog.calls(agent="gemini"), "agent='gemini' is none"),
        (lambda: tracklog.calls(verdicts=["ok", "oops"]), "verdicts='oops' is none of ok, "),  # type: ignore[list-item]
        (lambda: tracklog.calls(limit=-1), "limit=-1 is below zero"),
        (lambda: tracklog.usage("hourly"), "group='hourly' is none of daily, "),  # type: ignore[arg-type]
        (lambda: tracklog.usage(rule="mine"), "rule='mine' is none of ours, "),  # type: ignore[arg-type]
        (lambda: tracklog.usage(zone="Mars/Base"), "'Mars/Base' is no time zone"),
        (lambda: tracklog.usage(zone="../etc"), "'../etc' is no time zone"),
        (lambda: tracklog.usage(agent="gemini"), "agent='gemini' is none"),
        (lambda: tracklog.search("x", by="luck"), "by='luck' is none of time, relevance"),  # type: ignore[arg-type]
        (lambda: tracklog.search("x", limit=-1), "limit=-1 is below zero"),
        (lambda: tracklog.search("x", agent="gemini"), "agent='gemini' is none"),
        (lambda: tracklog.sql("select 1", engine="x"), "engine='x' is none of sqlite, duckdb"),  # type: ignore[arg-type]
        (lambda: tracklog.sql("select 1", limit=-1), "limit=-1 is below zero"),
        (lambda: next(tracklog.watch(agent="gemini")), "agent='gemini' is none"),
        (lambda: next(tracklog.watch(after=-1)), "after=-1 is below zero"),
    ],
)
def test_what_a_parameter_does_not_take_is_a_user_error_and_no_empty_answer(
    ask: Callable[[], object], why: str
) -> None:
    with pytest.raises(tracklog.UserError, match=re.escape(why)):
        ask()


def test_paths_may_be_one_or_several(tmp_path: Path) -> None:
    assert paths_in("/a") == [Path("/a")]
    assert paths_in(["/a", Path("/b")]) == [Path("/a"), Path("/b")]
    assert (home_in(None), home_in("/there")) == (tmp_path / "ours", Path("/there"))
