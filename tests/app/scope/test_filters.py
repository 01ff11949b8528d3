from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tracklog.app.scope.filters import Filters, moment_meant
from tracklog.model.ids import MAIN, SessionId
from tracklog.model.session import Session, Thread
from tracklog.model.session_rules import project_of

NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


def session(
    cwd: str | None = "/home/dev/project", *, first: str | None = None, last: str | None = None
) -> Session:
    return Session(
        id=SessionId("s"),
        agent="claude",
        paths=[],
        main=Thread(id=MAIN),
        cwd=cwd,
        models=["claude-opus-4-6"],
        started_at=first,
        last_at=last,
    )


@pytest.mark.parametrize(
    ("text", "is_end", "meant"),
    [
        ("7d", False, datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("12h", False, datetime(2026, 3, 8, tzinfo=UTC)),
        ("2w", True, datetime(2026, 2, 22, 12, tzinfo=UTC)),
        ("30m", False, datetime(2026, 3, 8, 11, 30, tzinfo=UTC)),
        ("2026-03-01", False, datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01", True, datetime(2026, 3, 2, tzinfo=UTC)),
        ("2026-03-01T17:30", True, datetime(2026, 3, 1, 17, 30, tzinfo=UTC)),
        ("2026-03-01T17:30:00+02:00", False, datetime(2026, 3, 1, 15, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_day_a_time_or_how_long_ago(text: str, is_end: bool, meant: datetime) -> None:
    assert moment_meant(text, now=NOW, is_end=is_end) == meant


@pytest.mark.parametrize("text", ["", "soon", "7", "7y", "2026-13-01", "999999w", "-3d"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        moment_meant(text, now=NOW, is_end=False)


@pytest.mark.parametrize(
    ("since", "until", "fits"),
    [
        (None, None, True),
        ("2026-03-01", None, True),
        ("2026-03-03", None, True),
        ("2026-03-04", None, False),
        (None, "2026-03-02", True),
        (None, "2026-03-01", False),
        ("2026-03-02T12:00", "2026-03-02T13:00", True),
    ],
)
def test_a_session_fits_a_span_that_touches_its_life(
    since: str | None, until: str | None, fits: bool
) -> None:
    filters = Filters(
        since=moment_meant(since, now=NOW, is_end=False) if since else None,
        until=moment_meant(until, now=NOW, is_end=True) if until else None,
    )
    assert filters.fits(session(first="2026-03-02T10:00:00.000Z", last="2026-03-03T10:00:00.000Z")) is fits


def test_what_says_no_time_fits_no_span() -> None:
    filters = Filters(since=NOW)
    assert (filters.fits(session()), filters.fits_time(None), filters.fits_time("no time")) == (
        False,
        False,
        False,
    )
    assert Filters().fits(session())


@pytest.mark.parametrize(
    ("project", "fits"),
    [
        ("project", True),
        ("Project", True),
        ("proj", False),
        ("/home/dev", True),
        ("/home/dev/project/", True),
        ("/home/dev/proj", False),
        ("/", True),
    ],
)
def test_a_project_is_meant_by_its_name_or_its_folder(project: str, fits: bool) -> None:
    assert Filters(project=project).fits(session()) is fits


def test_the_project_of_this_folder_is_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Filters(project=".").fits(session(str(Path.cwd() / "inner")))
    assert not Filters(project=".").fits(session("/elsewhere"))


@pytest.mark.parametrize(("model", "fits"), [("opus", True), ("Claude-Opus-4-6", True), ("gpt", False)])
def test_a_part_of_a_model_s_name_will_do(model: str, fits: bool) -> None:
    assert Filters(model=model).fits(session()) is fits


@pytest.mark.parametrize(
    ("cwd", "project"),
    [("/home/dev/app", "app"), ("/home/dev/app/", "app"), ("C:\\work\\app", "app"), ("/", "/"), (None, None)],
)
def test_a_project_is_the_last_part_of_the_folder(cwd: str | None, project: str | None) -> None:
    assert project_of(session(cwd)) == project
