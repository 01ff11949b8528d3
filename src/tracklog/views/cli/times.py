"""Times as people read them, in this machine's zone; documents say them in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from tracklog.sources.zones import local_zone
from tracklog.views.cli.filters import moment_of

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def when(at: str | None, *, now: datetime) -> str:
    """A moment in few letters: `11-15 22:29`, and the day alone if it lies in another year."""
    moment = local_moment(at)
    if moment is None:
        return ""
    is_this_year = moment.year == now.astimezone(moment.tzinfo).year
    return f"{moment:%m-%d %H:%M}" if is_this_year else f"{moment:%Y-%m-%d}"


def day_and_time(at: str | None) -> str:
    """A moment to the second: `2026-11-15 22:29:41`."""
    moment = local_moment(at)
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def local_moment(at: str | None) -> datetime | None:
    """A time of a log on this machine's clock; None for what is none."""
    moment = moment_of(at)
    try:
        return None if moment is None else moment.astimezone(local_zone())
    except OverflowError:  # at the end of all days the zone makes no difference
        return moment


def moment_in_seconds(ns: int) -> str:
    """The time of a file as the documents write it."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def took(ms: float | None) -> str:
    """How long something took: `340 ms`, `1.2 s`, `2 min 5 s`, `3 h 12 min`."""
    if ms is None:
        return ""
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < _MINUTE_MS:
        return f"{ms / 1000:.1f} s"
    if ms < _HOUR_MS:
        return f"{ms // _MINUTE_MS:.0f} min {ms % _MINUTE_MS // 1000:.0f} s"
    return f"{ms // _HOUR_MS:.0f} h {ms % _HOUR_MS // _MINUTE_MS:.0f} min"
