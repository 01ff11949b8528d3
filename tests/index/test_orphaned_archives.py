"""What a killed process had archived and not yet counted is not lost when the log is gone by then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.killing import killed_at
from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    claude_turn,
    fresh_index,
    index_of,
    snapshot,
    stored_bytes,
    transcript,
    two_sessions,
    write,
)
from tests.soak import IS_SOAK
from tracklog.archive.files import archived_logs

ONE = "00000001-0000-4000-8000-000000000001"
POINTS = range(40) if IS_SOAK else range(0, 40, 7)


def settled(made: Made) -> dict[str, object]:
    """What is known when all is read again; a fresh index must know the same."""
    index_of(made)
    fresh = fresh_index(made, made.top / "fresh")
    assert snapshot(made.home) == snapshot(fresh)
    assert stored_bytes(made.home) == stored_bytes(fresh)
    return snapshot(made.home)


def states(known: dict[str, object]) -> dict[str, str]:
    """Whether each log is here or kept, by its name."""
    logs = known["logs"]
    assert isinstance(logs, list)
    return {Path(row[0]).name: row[5] for row in logs}


@pytest.mark.parametrize("at", POINTS)
def test_a_new_log_that_is_gone_after_the_kill_is_kept_if_it_was_archived(tmp_path: Path, at: int) -> None:
    made = two_sessions(tmp_path)
    killed_at(at, lambda: index_of(made))
    path = transcript(made, ONE)
    n_archived = sum(
        found.archived.contents_bytes
        for found in archived_logs(made.home.archive)
        if found.about["path"] == str(path)
    )
    path.unlink()
    assert states(settled(made)).get(path.name) == ("kept" if n_archived else None)


@pytest.mark.parametrize("at", POINTS)
def test_a_log_that_grew_and_is_gone_after_the_kill_is_kept_whole(tmp_path: Path, at: int) -> None:
    made = two_sessions(tmp_path)
    index_of(made)
    path = transcript(made, ONE)
    append(path, claude_turn(claude_session(1), 1))
    killed_at(at, lambda: index_of(made))
    path.unlink()
    assert states(settled(made))[path.name] == "kept"


@pytest.mark.parametrize("at", POINTS)
def test_a_log_that_was_written_again_elsewhere_after_the_kill_counts_once(tmp_path: Path, at: int) -> None:
    made = two_sessions(tmp_path)
    killed_at(at, lambda: index_of(made))
    path = transcript(made, ONE)
    write(transcript(made, ONE, slug="-elsewhere"), path.read_bytes())
    path.unlink()
    settled(made)
    assert [name for name in stored_bytes(made.home) if name.endswith(path.name)] == [
        str(transcript(made, ONE, slug="-elsewhere"))
    ]


@pytest.mark.parametrize("at", POINTS)
def test_a_log_that_moved_is_shown_where_it_is_whenever_we_were_killed(tmp_path: Path, at: int) -> None:
    made = two_sessions(tmp_path)
    index_of(made)
    there = transcript(made, ONE, slug="-elsewhere")
    there.parent.mkdir()
    transcript(made, ONE).rename(there)
    killed_at(at, lambda: index_of(made))
    known = settled(made)
    sessions = known["sessions"]
    assert isinstance(sessions, list)
    assert str(there) in [row[5] for row in sessions]
