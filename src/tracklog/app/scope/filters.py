"""Filter sessions by time, project and model.

Rules
  1. A day is one in this machine's zone, as in `usage`, or in that of --zone, which the answer names. As an end it
     includes the whole day. A time without an offset is in that zone, too.
  2. A session has a time from its first line to its last, and fits a span that touches it. One without times fits none.
  3. A day begins at midnight in its zone, also where the clocks change: it may have 23 or 25 hours.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tracklog.clock import LOCAL, local_zone, zone_named

if TYPE_CHECKING:
    from tracklog.ledger.pricing import RequestFilter


_AGO = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Described(Protocol):
    """The facts about a session that the filters need."""

    @property
    def started_at(self) -> str | None: ...
    @property
    def last_at(self) -> str | None: ...
    @property
    def cwd(self) -> str | None: ...
    @property
    def cwds(self) -> list[str]: ...
    @property
    def models(self) -> list[str]: ...


class Filters(NamedTuple):
    """What a session must be like; None asks for nothing."""

    since: datetime | None = None
    until: datetime | None = None
    project: str | None = None
    model: str | None = None

    @property
    def asks(self) -> bool:
        """Whether anything is asked for."""
        return any(one is not None for one in self)

    @property
    def has_period(self) -> bool:
        """Whether a period is asked for."""
        return self.since is not None or self.until is not None

    @property
    def requests_meant(self) -> RequestFilter:
        """The requests of the period that is asked for."""
        from tracklog.ledger.pricing import RequestFilter  # prices come with it: most commands need none

        return RequestFilter(self.since, self.until)

    def fits(self, session: Described) -> bool:
        """Whether a session passes the filters."""
        return (
            self._touches(session)
            and (self.project is None or any(is_in_project(cwd, self.project) for cwd in _cwds(session)))
            and self.fits_model(*session.models)
        )

    def fits_model(self, *models: str | None) -> bool:
        """Whether one of these models passes the filter."""
        wanted = (self.model or "").lower()
        return self.model is None or any(wanted in (model or "").lower() for model in models)

    def fits_time(self, at: str | None) -> bool:
        """Whether a moment passes the filter."""
        if not self.has_period:
            return True
        moment = moment_of(at)
        return moment is not None and not self._is_before(moment) and not self._is_behind(moment)

    def _touches(self, session: Described) -> bool:
        if not self.has_period:
            return True
        first, last = moment_of(session.started_at), moment_of(session.last_at)
        if first is None or last is None:
            return False
        return not self._is_before(last) and not self._is_behind(first)

    def _is_before(self, moment: datetime) -> bool:
        return self.since is not None and moment < self.since

    def _is_behind(self, moment: datetime) -> bool:
        return self.until is not None and moment >= self.until


def moment_meant(text: str, *, now: datetime, is_end: bool, zone: tzinfo | None = None) -> datetime:
    """The moment that a person in a zone (this machine's) means; raises ValueError, with what to do, for what is none."""
    try:
        return _moment_meant(text, now=now, is_end=is_end, zone=zone)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time: give a day such as 2026-03-01, or 7d, 12h, 30m") from None


def zone_meant(text: str) -> tzinfo:
    """The zone that a person means; raises ValueError, with what to do, for what is none."""
    if text.lower() == LOCAL:
        return local_zone()
    try:
        return zone_named(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is no time zone: give a name such as Europe/Berlin, utc or local"
        ) from None


def _moment_meant(text: str, *, now: datetime, is_end: bool, zone: tzinfo | None) -> datetime:
    ago = _AGO.fullmatch(text.strip())
    if ago:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    moment = datetime.fromisoformat(text.strip())
    if is_end and _is_a_day(text.strip()):
        moment += min(timedelta(days=1), datetime.max - moment)  # behind the last day there is none
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone or local_zone())
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # at the end of all days the zone makes no difference
        return moment.replace(tzinfo=UTC)


def moment_of(at: str | None) -> datetime | None:
    """A time of a log; None for what is none."""
    try:
        moment = datetime.fromisoformat(at or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_a_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _cwds(session: Described) -> list[str]:
    return [*session.cwds, session.cwd] if session.cwd else session.cwds


def is_in_project(cwd: str, project: str) -> bool:
    """Whether a folder belongs to a project, which is given by its name or its folder."""
    if os.sep not in project and project not in (".", ".."):
        from tracklog.model.session_rules import last_part  # the model comes with it: `path` needs none of it

        return last_part(cwd).lower() == project.lower()
    folder = os.path.abspath(os.path.expanduser(project)).rstrip(os.sep)
    return f"{cwd.rstrip(os.sep)}{os.sep}".startswith(f"{folder}{os.sep}")
