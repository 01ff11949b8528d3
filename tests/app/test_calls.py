from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    claude_turn,
    index_of,
    transcript,
    two_sessions,
)
from tracklog.app.calls import CallsQuery, list_calls


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A home with an index that is sure of it."""
    made = two_sessions(tmp_path)
    for folder, _, _ in os.walk(tmp_path):
        os.utime(folder, (1, 1))  # what changed just now is looked at again
    index_of(made)
    return made


def said(made: Made, session: str, *, home: Path | None = None) -> list[tuple[str, str | None]]:
    """The calls of a session, with what they did as the index has it."""
    query = CallsQuery(roots=[root.path for root in made.roots], session=session, home=home or made.home.path)
    with list_calls(query, with_inputs=False) as found:
        return [(one.call.id, one.did) for one in found]


def test_of_a_session_that_the_index_knows_no_log_is_opened(made: Made, opened_files: list[str]) -> None:
    session = claude_session(1).session
    from_logs = said(made, session, home=made.top / "none")
    opened_files.clear()
    from_index = said(made, session[:9])
    assert [call for call, _ in from_index] == [call for call, _ in from_logs] != []
    assert all(did is not None for _, did in from_index)
    assert {str(path) for path in made.logs()}.isdisjoint(opened_files)


def test_of_a_session_that_has_grown_the_logs_are_read_and_the_index_is_left_alone(made: Made) -> None:
    log = claude_session(1)
    before = said(made, log.session)
    append(transcript(made, log.session), claude_turn(log, 7))
    after = said(made, log.session)
    assert {call for call, _ in before} < {call for call, _ in after}
    assert all(did is not None for _, did in before)
    assert all(did is None for _, did in after)
    assert index_of(made).n_files == 1
