"""Sums in the index: what is alike is summed up, nothing is lost, and nothing overflows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracklog.home import Home
from tracklog.ledger.stored.tables import EntryRow, SettledLog, put_logs
from tracklog.ledger.stored.tables_sums import (
    QUARTER_MS,
    Cut,
    Kind,
    Pile,
    SumFilter,
    SumRow,
    awaited_at,
    days_in,
    models_in,
    put_sums,
    quarters_in,
    sums_by,
    sums_of,
    untimed_in,
)
from tracklog.store.database import writing

HOUR = 3_600_000
DAY = 24 * HOUR
LOG = SettledLog(1, 1, 10, "/logs/a.jsonl", "claude", "one", "main", True, True, 1)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(Home(tmp_path)) as database:
        put_logs(database.db, [LOG, LOG._replace(file=2, path="/logs/b.jsonl", session="two")])
        yield database.db


def entry(at_ms: int | None, **values: object) -> EntryRow:
    known = EntryRow(
        *(1, "msg_1", "claude", "one", "main", at_ms, "opus", "", "cli", "final"),
        *(1, 2, 0, 3, 0, 3, 4, 0, 1, 0),
    )
    return known._replace(**values)  # type: ignore[arg-type]


def pile_of(*entries: EntryRow) -> Pile:
    pile = Pile(lambda *asked: int(asked[2] > 100))
    for one in entries:
        pile.add(one)
    return pile


def test_requests_that_are_alike_are_one_row(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(5), entry(QUARTER_MS - 1), entry(QUARTER_MS)))
    assert quarters_in(db, SumFilter()) == [0, 1]
    rows = sums_by(db, Cut(is_by_quarter=True), SumFilter())
    assert [(row.quarter, row.requests, row[8:16]) for row in rows] == [
        (0, 2, (2, 4, 0, 6, 0, 6, 8, 0)),
        (1, 1, (1, 2, 0, 3, 0, 3, 4, 0)),
    ]
    assert [(row.first_ms, row.last_ms) for row in rows] == [(5, QUARTER_MS - 1), (QUARTER_MS, QUARTER_MS)]


def test_a_pile_is_summed_up_as_the_rows_of_the_index_are(db: sqlite3.Connection) -> None:
    pile = pile_of(
        entry(5, certainty="partial", output=9),
        entry(6, certainty="missing"),
        entry(7, input=1000, stated_pico_usd=17),
        entry(8, beside='[["advisor", "haiku", [1, 2, 3, 4, 5, 6, 7, 8]]]'),
        entry(None, file=2, session="two"),
    )
    put_sums(db, pile)
    for cut in (Cut(), Cut("thread", has_sessions=True, has_askers=True), Cut("agent", [(0, 8)])):
        assert sorted(map(str, sums_of(db, pile, cut))) == sorted(map(str, sums_by(db, cut, SumFilter())))


def test_partial_and_missing_requests_are_told_apart(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(5, certainty="partial", output=9), entry(6, certainty="missing", input=7)))
    (row,) = sums_by(db, Cut(), SumFilter())
    assert (row.requests, row.partial, row.missing, row.partial_output, row.longest) == (2, 1, 1, 9, 9)
    assert row[8:16] == (1, 9, 0, 3, 0, 3, 4, 0)


def test_what_an_advisor_used_is_no_request_and_knows_who_asked(db: sqlite3.Connection) -> None:
    advice = (
        '[["advisor", "haiku", [1, 2, 3, 4, 5, 6, 7, 8]], ["compaction", null, [9, 9, 9, 9, 9, 9, 9, 9]]]'
    )
    put_sums(db, pile_of(entry(5, beside=advice)))
    of_haiku = [row for row in sums_by(db, Cut(has_askers=True), SumFilter()) if row.model == "haiku"]
    assert [(row.asked_by, row.requests, row[8:16]) for row in of_haiku] == [
        ("opus", 0, (1, 2, 3, 4, 5, 6, 7, 8))
    ]


def test_steps_of_prices_are_told_apart(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(5), entry(6, input=1000)))
    assert [(row.step, row.requests) for row in sums_by(db, Cut(), SumFilter())] == [(0, 1), (1, 1)]


def test_days_are_those_of_the_zone(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(DAY - HOUR), entry(DAY + HOUR), entry(2 * DAY - HOUR)))
    assert days_in(db, SumFilter()) == [0, 1]
    an_hour_ahead = sums_by(db, Cut(offsets=[(0, 4)]), SumFilter())
    assert [(row.day, row.requests) for row in an_hour_ahead] == [(1, 1), (1, 1), (2, 1)]
    ahead_from_the_second_day_on = sums_by(db, Cut(offsets=[(0, 0), (96, 4)]), SumFilter())
    assert [row.day for row in ahead_from_the_second_day_on] == [0, 1, 2]
    behind = sums_by(db, Cut(offsets=[(0, -8)]), SumFilter())
    assert [row.day for row in behind] == [0, 0, 1]


def test_a_moment_before_the_first_local_day_is_the_day_before(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(0)))
    assert [row.day for row in sums_by(db, Cut(offsets=[(0, -8)]), SumFilter())] == [-1]


def test_a_part_is_a_time_and_some_logs(db: sqlite3.Connection) -> None:
    put_sums(db, pile_of(entry(0), entry(DAY, file=2), entry(None)))
    assert [row.quarter for row in sums_by(db, Cut(), SumFilter(since_ms=HOUR))] == [96]
    assert [row.quarter for row in sums_by(db, Cut(), SumFilter(until_ms=HOUR))] == [0]
    assert [row.requests for row in sums_by(db, Cut(), SumFilter(frozenset({2})))] == [1]
    assert (untimed_in(db, SumFilter()), untimed_in(db, SumFilter(frozenset({2})))) == (1, 0)


def test_what_logs_state_may_be_more_than_a_column_holds(db: sqlite3.Connection) -> None:
    most = 10**18 - 1
    put_sums(db, pile_of(*(entry(5, stated_pico_usd=most) for _ in range(30))))
    (row,) = sums_by(db, Cut(), SumFilter())
    assert (row.stated_pico_usd, row.stated_requests) == (30 * most, 30)


def test_a_request_that_is_waited_for_stands_alone(db: sqlite3.Connection) -> None:
    pile = pile_of(entry(5))
    kind = Kind(1, 0, "main", None, "opus", "", is_awaited=True)
    pile.wait(kind, 7)
    put_sums(db, pile)
    assert awaited_at(db, 0, 8) == [(kind, 7)]
    assert awaited_at(db, 0, 7) == []
    rows: list[SumRow] = sums_by(db, Cut("entrypoint"), SumFilter())
    assert [(row.key, row.requests, row.awaited) for row in rows] == [(None, 0, 1), ("cli", 1, 0)]
    assert models_in(db) == [("opus", "")]
