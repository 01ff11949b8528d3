"""What callers of the Python functions may pass: paths as texts, days as dates, one folder or several.

Rules
  1. `home` is the folder of tracklog's own files; None means `TRACKLOG_HOME`, else the system's place, as for the program.
  2. `roots` replace the homes of the agents, as `--root` does.
  3. A moment is a `datetime` (without a zone: this machine's), a `date` (the whole day), or a text as on the command
     line: `2026-03-01`, `2026-03-01T10:00`, `7d`.
  4. A word that is none of those that a parameter takes, and a number below zero, are a UserError: never an empty answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path

from tracklog.agents.supported import SUPPORTED
from tracklog.app.scope.filters import Filters, moment_meant, zone_meant
from tracklog.app.talk import Progress, Talk
from tracklog.clock import local_zone
from tracklog.errors import UserError
from tracklog.home import StrPath, usual_home

Roots = StrPath | Sequence[StrPath]
Moment = str | date | datetime
OnMessage = Callable[[str], object]


def paths_in(roots: Roots) -> list[Path]:
    """One folder or file, or several."""
    some = [roots] if isinstance(roots, (str, os.PathLike)) else roots
    return [Path(root) for root in some]


def home_in(home: StrPath | None) -> Path:
    """The folder of tracklog's own files."""
    return Path(home).absolute() if home is not None else usual_home()


def zone_in(zone: str | tzinfo | None) -> tzinfo:
    """The zone of this name; this machine's if none is given. Raises UserError for what is none."""
    if zone is None:
        return local_zone()
    try:
        return zone_meant(zone) if isinstance(zone, str) else zone
    except ValueError as error:
        raise UserError(str(error)) from error


def check_agent(agent: str | None) -> None:
    """Raises UserError for an agent that tracklog does not support."""
    if agent is not None:
        check_word("agent", agent, SUPPORTED)


def check_word(name: str, given: object, known: Collection[str]) -> None:
    """Raises UserError for a word that the parameter does not take."""
    if given not in known:
        raise UserError(f"{name}={given!r} is none of {', '.join(known)}")


def check_number(name: str, given: int | None) -> None:
    """Raises UserError for a number below zero."""
    if given is not None and given < 0:
        raise UserError(f"{name}={given!r} is below zero")


def filters_of(
    *,
    since: Moment | None,
    until: Moment | None,
    project: StrPath | None,
    model: str | None,
    zone: tzinfo | None = None,
) -> Filters:
    """The filters of a question. Raises UserError for a time that is none."""
    return Filters(
        since=_moment("since", since, is_end=False, zone=zone),
        until=_moment("until", until, is_end=True, zone=zone),
        project=None if project is None else os.fspath(project),
        model=model,
    )


def _moment(name: str, given: Moment | None, *, is_end: bool, zone: tzinfo | None) -> datetime | None:
    if given is None:
        return None
    text = given if isinstance(given, str) else given.isoformat()
    try:
        return moment_meant(text, now=datetime.now(UTC), is_end=is_end, zone=zone)
    except (ValueError, OverflowError) as error:
        raise UserError(f"{name}={given!r} is no time: give 2026-03-01, 2026-03-01T10:00 or 7d") from error


class Messages(Talk):
    """Gives each message of a use case to a function; drops them if there is none."""

    def __init__(self, on_message: OnMessage | None) -> None:
        self._on_message = on_message

    def say(self, text: str) -> None:
        """Passes a message on."""
        if self._on_message is not None:
            self._on_message(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:  # noqa: ARG002 (nothing is shown)
        """Shows nothing."""
        yield _ignore, _ignore


def _ignore(n_bytes: int) -> None:
    pass
