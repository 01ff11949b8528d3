"""What callers of the Python functions may pass: paths as texts, days as dates, one folder or several.

Rules
  1. `home` is the folder of tracklog's own files; None means `TRACKLOG_HOME`, else the system's place, as for the program.
  2. `roots` replace the homes of the agents, as `--root` does.
  3. A moment is a `datetime` (without a zone: this machine's), a `date` (the whole day), or a text as on the command
     line: `2026-03-01`, `2026-03-01T10:00`, `7d`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path

from tracklog.app.scope.filters import Filters, moment_meant
from tracklog.app.talk import Progress, Talk
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
