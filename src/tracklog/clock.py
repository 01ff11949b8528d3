"""Moments as milliseconds since 1970, which compare fast, and time zones by name."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, tzinfo

NO_TIME = -1
_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_parse = datetime.fromisoformat
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
_END = 253_370_764_800_000  # the year 9999: what follows must still have a name


def moment_ms(text: str | None) -> int:
    """The moment that a log states; NO_TIME for what is none."""
    if not text:
        return NO_TIME
    try:
        since = _parse(text) - _EPOCH
    except TypeError:  # it names no zone
        since = _parse(text).replace(tzinfo=UTC) - _EPOCH
    except (ValueError, OverflowError):
        return NO_TIME
    ms = since.days * _DAY_MS + since.seconds * 1000 + (since.microseconds + 500) // 1000
    return ms if 0 <= ms < _END else NO_TIME


def moment_text(ms: int) -> str | None:
    """The moment as the documents write it."""
    if ms == NO_TIME:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def nearest_moment_text(ms: int) -> str:
    """The moment as the logs write it; for one that no calendar has, the nearest that it has."""
    ms = min(max(ms, 0), _LAST_MS)
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


LOCAL = "local"
_LOCALTIME = "/etc/localtime"


class LocalZone(tzinfo):
    """The zone of this machine as its C library knows it; where that zone has a name, `ZoneInfo` is faster."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """The offset at a time on this machine's clock."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> None:
        """Not known apart from the offset."""

    def tzname(self, moment: datetime | None) -> str:  # noqa: ARG002
        """Local, whatever it is."""
        return LOCAL

    def fromutc(self, moment: datetime) -> datetime:
        """The time on this machine's clock; of an hour that comes twice it says which one it is."""
        exact = moment.replace(tzinfo=UTC).astimezone()
        shown = exact.replace(tzinfo=self, fold=0)
        return shown if shown.utcoffset() == exact.utcoffset() else shown.replace(fold=1)


def zone_named(name: str) -> tzinfo:
    """The zone of an IANA name; raises ValueError for what is none."""
    if name.lower() in ("utc", "z"):
        return UTC
    from zoneinfo import ZoneInfo  # most commands name no zone

    try:
        return ZoneInfo(name)
    except OSError as error:  # the name of a folder, or a longer one than files may have
        raise ValueError(name) from error
    except KeyError as error:  # how zoneinfo says that it knows none
        raise ValueError(name) from error


def local_zone() -> tzinfo:
    """The zone of this machine, by its name if it has one."""
    name = _name_of_the_local_zone()
    if name is None:
        return LocalZone()
    try:
        return zone_named(name)
    except ValueError:  # a rule such as `CET-1CEST` and no name
        return LocalZone()


def name_of(zone: tzinfo) -> str:
    """What the zone is called."""
    return LOCAL if isinstance(zone, LocalZone) else str(zone)


def _name_of_the_local_zone() -> str | None:
    """The name in TZ, else that of the file that /etc/localtime leads to; without either a machine has UTC."""
    stated = os.environ.get("TZ")
    if stated is not None:
        return stated.removeprefix(":") or "UTC"
    if not os.path.lexists(_LOCALTIME):
        return "UTC"
    _, found, name = os.path.realpath(_LOCALTIME).partition("/zoneinfo/")
    return name if found else None
