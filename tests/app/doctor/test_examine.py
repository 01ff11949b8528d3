"""An examination has every check, and is the same where another process makes it."""

from __future__ import annotations

import io
import os
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.index.indexed_logs import PRICES
from tests.index.known_homes import Made, claude_session, index_of, transcript, two_sessions
from tracklog.app.doctor.examine import Examination, examination_of, examine, main
from tracklog.app.doctor.health import IndexHealth
from tracklog.app.hooks import hook_status
from tracklog.sources.log_file import Root


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Two sessions, one of them 25 days old, in an index with an archive."""
    made = two_sessions(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(made.claude))
    monkeypatch.setenv("CODEX_HOME", str(made.codex))
    old = time.time() - 25 * 86_400
    os.utime(transcript(made, claude_session(1).session), (old, old))
    index_of(made)
    return made


def printed(made: Made) -> Examination:
    """The examination that a process of its own prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["--home", str(made.home.path)]) == 0
    return examination_of(out.getvalue().encode())


def without_live(found: Examination) -> Examination:
    """The examination but for whether folders can be watched: that depends on what else this machine watches now."""
    return found._replace(checks=[check for check in found.checks if check.name != "live"])


def test_an_examination_that_another_process_printed_is_the_same(made: Made) -> None:
    odd = made.claude / "projects" / os.fsdecode(b"-caf\xe9")
    odd.mkdir(parents=True)
    os.mkfifo(odd / os.fsdecode(b"\xff.jsonl"))
    found = examine((), home=made.home.path)
    assert [one.path for one in found.skipped] == [odd / os.fsdecode(b"\xff.jsonl")]
    assert without_live(printed(made)) == without_live(found)


def test_what_the_index_tells_of_deletion_and_archive_is_what_the_examination_says(made: Made) -> None:
    found = {check.name: check for check in examine((), home=made.home.path).checks}
    health = IndexHealth(made.home, [Root(made.claude, "claude"), Root(made.codex, "codex")], lambda: PRICES)
    known = health.at(datetime.now(UTC))
    at_once = {check.name: check for check in health.checks(known, hook_status(made.top, agent=None))}
    assert found["deletion"].evidence.endswith("; the archive has them all")
    assert at_once["deletion"] == found["deletion"]
    assert at_once["archive"] == found["archive"]
