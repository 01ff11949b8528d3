from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.index.known_homes import Made, index_of, two_sessions
from tracklog.app.scope.filters import Filters
from tracklog.app.sessions import SessionList, SessionsQuery, list_sessions
from tracklog.views.documents.sessions import sessions_document

FROM_BOTH = pytest.mark.parametrize("is_indexed", [False, True], ids=["logs", "index"])


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = two_sessions(tmp_path)
    index_of(made)
    return made


def listed(
    made: Made, *, is_indexed: bool, since: datetime | None = None, limit: int | None = None
) -> SessionList:
    home = made.home.path if is_indexed else made.top / "none"
    return list_sessions(
        SessionsQuery([root.path for root in made.roots], filters=Filters(since), limit=limit, home=home)
    )


def test_the_index_lists_the_same_sessions_as_the_logs(made: Made) -> None:
    from_logs, from_index = (listed(made, is_indexed=is_indexed) for is_indexed in (False, True))
    assert len(from_logs.sessions) > 1
    assert from_index == from_logs
    assert sessions_document(from_index) == sessions_document(from_logs)


@FROM_BOTH
def test_a_limit_keeps_the_newest_and_counts_the_others(made: Made, is_indexed: bool) -> None:
    every = listed(made, is_indexed=is_indexed).sessions
    times = [one.last_at or "" for one in every]
    assert times == sorted(times, reverse=True)
    newest = listed(made, is_indexed=is_indexed, limit=1)
    assert (newest.sessions, newest.n_more) == (every[:1], len(every) - 1)


@FROM_BOTH
def test_only_with_a_period_a_session_says_what_was_spent_in_it(made: Made, is_indexed: bool) -> None:
    whole = listed(made, is_indexed=is_indexed).sessions
    ever = listed(made, is_indexed=is_indexed, since=datetime(2000, 1, 1, tzinfo=UTC)).sessions
    assert [one.period_cost for one in whole] == [None] * len(whole)
    assert [one.period_cost for one in ever] == [one.cost for one in ever] == [one.cost for one in whole]
    assert all(one.cost.cost_pico_usd for one in whole)
