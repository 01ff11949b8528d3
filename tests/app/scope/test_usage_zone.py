from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from tracklog.app.scope.filters import moment_meant
from tracklog.clock import LocalZone, local_zone, name_of, zone_named

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")


@pytest.fixture
def machine_in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose zone is a rule without a name."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "is_end", "zone", "moment"),
    [
        ("2026-03-01", False, KOLKATA, "2026-02-28T18:30:00+00:00"),
        ("2026-03-01", True, KOLKATA, "2026-03-01T18:30:00+00:00"),
        ("2026-03-29", False, BERLIN, "2026-03-28T23:00:00+00:00"),
        ("2026-03-29", True, BERLIN, "2026-03-29T22:00:00+00:00"),  # 23 hours long
        ("2026-10-25", True, BERLIN, "2026-10-25T23:00:00+00:00"),  # 25 hours long
        ("2026-03-01T08:00", False, BERLIN, "2026-03-01T07:00:00+00:00"),
        ("2026-03-01T08:00Z", False, BERLIN, "2026-03-01T08:00:00+00:00"),
        ("2026-03-01T08:00+05:30", True, BERLIN, "2026-03-01T02:30:00+00:00"),
        ("12h", False, KOLKATA, "2026-11-15T00:00:00+00:00"),
        ("2026-03-01", False, UTC, "2026-03-01T00:00:00+00:00"),
    ],
)
def test_a_day_without_an_offset_is_one_of_the_zone(
    text: str, is_end: bool, zone: tzinfo, moment: str
) -> None:
    assert moment_meant(text, now=NOW, is_end=is_end, zone=zone).isoformat() == moment


def test_the_first_and_the_last_day_of_all_can_be_asked_for() -> None:
    west = ZoneInfo("America/New_York")
    assert moment_meant("9999-12-31", now=NOW, is_end=True, zone=west) > datetime(9999, 12, 31, tzinfo=UTC)
    assert moment_meant("0001-01-01", now=NOW, is_end=False, zone=KOLKATA) == datetime.min.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "name", ["", "Nowhere/City", "../../etc/passwd", "/etc/localtime", "x" * 5_000, "a\0b", "America"]
)
def test_what_is_no_zone_is_none(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (which one is for the caller to say)
        zone_named(name)


def test_utc_is_known_in_any_case() -> None:
    assert [name_of(zone_named(name)) for name in ("utc", "UTC", "z", "Europe/Berlin")] == [
        "UTC",
        "UTC",
        "UTC",
        "Europe/Berlin",
    ]


@pytest.mark.parametrize(
    ("stated", "name"), [("Asia/Kolkata", "Asia/Kolkata"), (":Europe/Berlin", "Europe/Berlin"), ("", "UTC")]
)
def test_the_machine_s_zone_is_the_one_that_tz_names(
    monkeypatch: pytest.MonkeyPatch, stated: str, name: str
) -> None:
    monkeypatch.setenv("TZ", stated)
    assert name_of(local_zone()) == name


@pytest.mark.usefixtures("machine_in_berlin")
def test_a_machine_with_a_rule_in_place_of_a_name_has_the_same_times() -> None:
    zone = local_zone()
    assert isinstance(zone, LocalZone)
    assert name_of(zone) == "local"
    for moment in _hours_of_a_year():
        ours, theirs = moment.astimezone(zone), moment.astimezone(BERLIN)
        assert (ours.replace(tzinfo=None), ours.fold, ours.utcoffset()) == (
            theirs.replace(tzinfo=None),
            theirs.fold,
            theirs.utcoffset(),
        )
    assert (
        moment_meant("2026-03-29", now=NOW, is_end=True, zone=zone).isoformat() == "2026-03-29T22:00:00+00:00"
    )


def _hours_of_a_year() -> Iterator[datetime]:
    """Steps that meet the hours that come twice."""
    return (datetime(2026, 1, 1, 0, 30, tzinfo=UTC) + timedelta(hours=n) for n in range(8_760))


def test_without_tz_the_machine_s_own_file_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    time.tzset()
    now = datetime.now(UTC)
    assert now.astimezone(local_zone()).utcoffset() == now.astimezone().utcoffset()
    assert "TZ" not in os.environ
