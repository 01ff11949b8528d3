"""The report: every request in one row, the same total in every group, bounds that hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.test_ledger import NAMES, NOON, WORLDS, few_examples, ledger_of, sight
from tracklog.clock import NO_TIME, moment_ms, moment_text
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.report import NO_DAY, NO_TOOL, all_entries, report
from tracklog.ledger.sums import NO_NAME, added
from tracklog.model.events import Place
from tracklog.model.session_rules import last_part
from tracklog.model.usage import (
    GROUPS,
    NO_USAGE,
    Aside,
    Awaited,
    Beside,
    ClientTotals,
    Entry,
    Group,
    Sight,
    Source,
    Terms,
    Tokens,
    UsageBlock,
    UsageReport,
    UsageRow,
    pack,
)

PRICES = Prices.load()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HAIKU = 1
NUMBERS = [
    "requests",
    "cost_pico_usd",
    "unpriced_requests",
    "partial_requests",
    "missing_requests",
    "awaited_requests",
    "most_output",
    "most_cost_pico_usd",
    "uncached_cost_pico_usd",
]
each_group = pytest.mark.parametrize("group", GROUPS)
ZONES = st.sampled_from(["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "Europe/Berlin"]).map(
    ZoneInfo
)


def numbers(row: UsageRow) -> tuple[Any, ...]:
    return (*(getattr(row, name) for name in NUMBERS), row.tokens)


def sum_of(rows: list[UsageRow]) -> tuple[Any, ...]:
    tokens = Tokens()
    for row in rows:
        tokens = added(tokens, row.tokens)
    return (*(sum(getattr(row, name) for row in rows) for name in NUMBERS), tokens)


def asked(ledger: Ledger, group: Group = "daily", *, zone: tzinfo = UTC, **more: Any) -> UsageReport:
    return report(ledger, PRICES, group, zone=zone, **more)


def ledger(*rows: Sight, **more: Any) -> Ledger:
    """A ledger of one file with these requests."""
    keys = [b"%d" % n for n in range(len(rows))]
    told = UsageBlock(file=0, names=list(NAMES), keys=keys, rows=b"".join(pack(*row) for row in rows), **more)
    return ledger_of([told])


def keys_of(found: Ledger, group: Group, *, zone: tzinfo = UTC) -> list[str]:
    return [row.key for row in asked(found, group, zone=zone).rows]


@few_examples
@given(WORLDS)
def test_rows_add_up_to_the_total_in_every_group(told: tuple[UsageBlock, ...]) -> None:
    for group in GROUPS:
        found = asked(ledger_of(told), group)
        assert sum_of(found.rows) == numbers(found.total)
        assert len({row.key for row in found.rows}) == len(found.rows)


@few_examples
@given(WORLDS)
def test_the_total_is_the_same_in_every_group(told: tuple[UsageBlock, ...]) -> None:
    reports = [asked(ledger_of(told), group) for group in GROUPS]
    assert len({numbers(found.total) for found in reports}) == 1
    assert len({(found.total.first_at, found.total.last_at) for found in reports}) == 1
    assert all(found.hidden == reports[0].hidden for found in reports)
    assert all(found.unpriced_models == reports[0].unpriced_models for found in reports)


@few_examples
@given(WORLDS)
def test_entries_add_up_to_the_total(told: tuple[UsageBlock, ...]) -> None:
    made = ledger_of(told)
    entries, total = list(all_entries(made, PRICES)), asked(made).total
    tokens = Tokens()
    for entry in entries:
        for part in (entry.tokens, *(one.tokens for one in entry.beside if one.what == "advisor")):
            tokens = added(tokens, part) if entry.certainty != "missing" else tokens
    by_certainty = [sum(entry.certainty == kind for entry in entries) for kind in ("partial", "missing")]
    assert (len(entries) - total.awaited_requests, tokens) == (total.requests, total.tokens)
    assert by_certainty == [total.partial_requests, total.missing_requests]


@few_examples
@given(WORLDS, st.sampled_from([0, 5, 6, 8, 86_400_000, NOON, NOON + 1]))
def test_a_day_splits_all_requests_that_have_a_time(told: tuple[UsageBlock, ...], border: int) -> None:
    made, moment = ledger_of(told), EPOCH + timedelta(milliseconds=border)
    for group in GROUPS:
        before = asked(made, group, wanted=RequestFilter(until=moment)).total
        behind = asked(made, group, wanted=RequestFilter(since=moment)).total
        timed = asked(made, group, wanted=RequestFilter(since=EPOCH)).total
        assert sum_of([before, behind]) == numbers(timed)
    dateless = [row for row in asked(made, "daily").rows if row.key == NO_DAY]
    assert sum_of([timed, *dateless]) == numbers(asked(made).total)


@few_examples
@given(WORLDS)
def test_a_filter_by_model_takes_the_requests_of_its_row(told: tuple[UsageBlock, ...]) -> None:
    made = ledger_of([msgspec.structs.replace(block, asides={}, loose=[]) for block in told])
    rows = {row.key: numbers(row) for row in asked(made, "model").rows}
    for name, row in rows.items():
        if name != NO_NAME:
            assert numbers(asked(made, "daily", wanted=RequestFilter(model=name)).total) == row


@few_examples
@given(WORLDS)
def test_the_lower_bound_is_never_above_the_upper_one(told: tuple[UsageBlock, ...]) -> None:
    for group in GROUPS:
        found = asked(ledger_of(told), group)
        for row in (*found.rows, found.total):
            assert row.tokens.output <= row.most_output
            assert row.cost_pico_usd <= row.most_cost_pico_usd
            if not row.partial_requests:
                assert (row.tokens.output, row.cost_pico_usd) == (row.most_output, row.most_cost_pico_usd)


@few_examples
@given(WORLDS)
def test_the_uncertain_are_listed_one_by_one_when_asked_for(told: tuple[UsageBlock, ...]) -> None:
    made = ledger_of(told)
    found, silent = asked(made, with_uncertain=True), asked(made)
    assert found.uncertain == [entry for entry in all_entries(made, PRICES) if entry.certainty != "final"]
    assert silent.uncertain == []
    assert len(found.uncertain) == found.total.partial_requests + found.total.missing_requests


@given(st.lists(st.integers(86_400_000, 4_000_000_000_000), min_size=1, max_size=6), ZONES)
def test_days_weeks_and_months_are_those_of_the_zone(times: list[int], zone: ZoneInfo) -> None:
    made = ledger(*(sight(0, n, at=at, output=1) for n, at in enumerate(times)))
    local = [datetime.fromtimestamp(at / 1000, zone) for at in times]
    weeks = [moment.date().isocalendar() for moment in local]
    assert keys_of(made, "daily", zone=zone) == sorted({moment.date().isoformat() for moment in local})
    assert keys_of(made, "weekly", zone=zone) == sorted({f"{week.year}-W{week.week:02d}" for week in weeks})
    assert keys_of(made, "monthly", zone=zone) == sorted({moment.date().isoformat()[:7] for moment in local})


@pytest.mark.parametrize(
    ("zone", "midnight"),
    [
        ("Asia/Kathmandu", "2026-03-03T18:15:00Z"),
        ("America/St_Johns", "2026-03-04T03:30:00Z"),
        ("Australia/Eucla", "2026-03-03T15:15:00Z"),
        ("Europe/Berlin", "2026-03-03T23:00:00Z"),
    ],
)
def test_a_day_begins_at_midnight_in_the_zone_to_the_millisecond(zone: str, midnight: str) -> None:
    at = moment_ms(midnight)
    made = ledger(*(sight(0, n, at=at + step) for n, step in enumerate((0, -1, 1))))
    rows = [(row.key, row.requests) for row in asked(made, zone=ZoneInfo(zone)).rows]
    assert rows == [("2026-03-03", 1), ("2026-03-04", 2)]


@pytest.mark.parametrize("group", ["daily", "weekly", "monthly", "blocks"])
def test_a_request_without_a_time_has_a_row_of_its_own(group: Group) -> None:
    assert keys_of(ledger(sight(0, at=NO_TIME)), group) == [NO_DAY]


@each_group
def test_a_time_behind_all_days_breaks_no_report(group: Group) -> None:
    last = 253_402_300_799_000
    assert asked(ledger(sight(0, at=last)), group, zone=ZoneInfo("Pacific/Apia")).total.requests == 1


@each_group
def test_a_ledger_of_nothing_has_no_rows(group: Group) -> None:
    assert asked(ledger(), group) == UsageReport(group=group, rows=[], total=UsageRow(key="total"))


def test_blocks_begin_at_the_full_hour_and_last_five() -> None:
    minute = 60_000
    made = ledger(*(sight(0, n, at=NOON + at * minute) for n, at in enumerate([30, 299, 300, 1000])))
    starts = ["2026-03-04T12:00:00.000Z", "2026-03-04T17:00:00.000Z", "2026-03-05T04:00:00.000Z"]
    assert [(row.key, row.requests) for row in asked(made, "blocks").rows] == list(
        zip(starts, [2, 1, 1], strict=True)
    )


def test_a_filter_moves_no_block() -> None:
    made = ledger(sight(0, 0, at=NOON), sight(0, 1, at=NOON + 3 * 3_600_000))
    since = EPOCH + timedelta(milliseconds=NOON + 1)
    whole, part = asked(made, "blocks"), asked(made, "blocks", wanted=RequestFilter(since=since))
    assert [row.key for row in part.rows] == [row.key for row in whole.rows]


def test_each_group_calls_a_request_by_its_own_name() -> None:
    row = sight(0, at=NOON, model=HAIKU, thread=5, entrypoint=3, output=1)
    made = ledger(row, cwd="/home/dev/project", asides={0: Aside(["Bash", "Edit"])})
    names = {group: keys_of(made, group) for group in GROUPS}
    assert names == {
        "daily": ["2026-03-04"],
        "weekly": ["2026-W10"],
        "monthly": ["2026-03"],
        "session": ["session-a"],
        "model": ["claude-haiku-5-5"],
        "project": ["project"],
        "agent": ["claude"],
        "thread": ["agent-1"],
        "tool": ["Bash + Edit"],
        "entrypoint": ["cli"],
        "blocks": ["2026-03-04T12:00:00.000Z"],
    }


def test_what_is_not_said_is_named_as_unknown() -> None:
    made = ledger(sight(0, at=NOON))
    names = [keys_of(made, group) for group in ("model", "project", "thread", "tool", "entrypoint")]
    assert names == [[NO_NAME], [NO_NAME], ["main"], [NO_TOOL], [NO_NAME]]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/a/b", "b"),
        ("/a/b/", "b"),
        ("C:\\a\\b", "b"),
        ("b", "b"),
        ("/", "/"),
        ("\\\\", "\\\\"),
        ("a\\b/c", "c"),
    ],
)
def test_a_project_is_called_by_the_last_part_of_its_folder(folder: str, name: str) -> None:
    assert last_part(folder) == name


def test_an_entry_tells_all_that_is_known() -> None:
    row = sight(0, 7, at=NOON, model=HAIKU, terms=6, thread=5, entrypoint=4, output=9, input=1, cache_write=2)
    row = row._replace(cache_write_5m=1, cache_write_1h=1, cache_read=3, reasoning=4, web_searches=5)
    aside = Aside(["Bash"], [("advisor", "claude-opus-4-5", (1, 2, 0, 0, 0, 0, 0, 0))], 77)
    told = [
        UsageBlock(file=0, names=list(NAMES), keys=[b"k"], rows=pack(*row), asides={0: aside}, cwd="/p"),
        UsageBlock(
            file=1, names=list(NAMES), keys=[b"k"], rows=pack(*row._replace(file=1, first_file=1, output=3))
        ),
    ]
    assert list(all_entries(ledger_of(told), PRICES)) == [
        Entry(
            key="k",
            id="k",
            agent="claude",
            session="session-a",
            thread="agent-1",
            place=Place("a", 7),
            at="2026-03-04T12:00:00.000Z",
            model="claude-haiku-5-5",
            tokens=Tokens(1, 9, 4, 2, 1, 1, 3, 5),
            certainty="final",
            terms=Terms("batch", None, "us"),
            cwd="/p",
            entrypoint="sdk",
            tools=("Bash",),
            beside=(Beside("advisor", "claude-opus-4-5", Tokens(1, 2)),),
            stated_pico_usd=77,
            inherited_by=("session-b",),
        )
    ]


def test_an_awaited_request_is_an_entry_without_tokens() -> None:
    made = ledger(awaited=Awaited(9, NOON, HAIKU))
    assert [(one.key, one.certainty, one.at, one.model) for one in all_entries(made, PRICES)] == [
        ("awaited:a", "missing", moment_text(NOON), "claude-haiku-5-5")
    ]
    total = asked(made).total
    assert (total.requests, total.missing_requests, total.awaited_requests) == (0, 1, 1)


@each_group
def test_an_awaited_request_fits_into_every_group(group: Group) -> None:
    made = ledger(awaited=Awaited(9, NOON, HAIKU))
    assert [(row.requests, row.missing_requests) for row in asked(made, group).rows] == [(0, 1)]


def test_another_model_or_another_day_changes_the_money_alone() -> None:
    made = ledger(
        sight(0, at=NOON, model=2, input=10, output=1), sight(0, 1, at=NO_TIME, model=HAIKU, output=1)
    )
    plain, dearer = asked(made, "model"), asked(made, "model", as_model="claude-opus-4-5")
    assert (plain.total.unpriced_requests, dearer.total.unpriced_requests) == (1, 0)
    assert dearer.total.cost_pico_usd == 10 * 5_000_000 + 2 * 25_000_000
    assert [(row.key, row.tokens) for row in plain.rows] == [(row.key, row.tokens) for row in dearer.rows]
    assert asked(made, as_of=datetime(2026, 11, 1, tzinfo=UTC)).total.tokens == plain.total.tokens


def test_forks_say_how_many_requests_they_hold_of_others() -> None:
    rows = [sight(0, at=NOON, output=5), sight(1, at=NOON + 1, output=5)]
    told = [UsageBlock(file=n, names=list(NAMES), keys=[b"k"], rows=pack(*row)) for n, row in enumerate(rows)]
    found = asked(ledger_of(told), "session")
    assert [(row.key, row.requests, row.inherited_requests) for row in found.rows] == [
        ("session-a", 1, 0),
        ("session-b", 0, 1),
    ]
    assert asked(ledger_of(told), "daily").total.inherited_requests == 0


def test_models_without_a_price_are_named_with_how_often_they_answered() -> None:
    made = ledger(sight(0, 0, model=2), sight(0, 1, model=2), sight(0, 2, model=2, output=NO_USAGE))
    assert asked(made).unpriced_models == {"nobodys-model": 2}


class CountedName(str):
    """A name that knows how often names were compared and hashed."""

    n_looked_at = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        CountedName.n_looked_at += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        CountedName.n_looked_at += 1
        return str.__hash__(self)


@pytest.mark.parametrize("totals", [None, ClientTotals(5, 6, {"claude-haiku-5-5": ((9,) * 8, 7)})])
def test_the_work_for_many_sessions_grows_with_their_number_alone(totals: ClientTotals | None) -> None:
    """Work is counted, not time: every look at a session's name."""
    n_sessions = 1000
    sources = [Source(f"{n:05d}", "claude", CountedName(f"{n:05d}"), "main") for n in range(n_sessions)]
    made = Ledger(sources)
    for n in range(n_sessions):
        row = pack(*sight(n, at=NOON, output=1))
        made.take(UsageBlock(file=n, names=list(NAMES), keys=[b"%d" % n], rows=row, totals=totals))
    CountedName.n_looked_at = 0
    assert len(asked(made, "session").rows) == n_sessions
    assert CountedName.n_looked_at < 200 * n_sessions
