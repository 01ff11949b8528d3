from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.search.test_results import words
from tests.search.test_searching import ONE, write_log
from tracklog.app.scope.filters import Filters
from tracklog.app.search import SearchQuery, search
from tracklog.errors import NotThere, UserError
from tracklog.views.documents.search import search_document


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_log(tmp_path / "logs", *words("Fix the parser", "The parser is fixed"))
    return tmp_path / "logs"


def query(logs: Path, text: str) -> SearchQuery:
    return SearchQuery(text, roots=[logs], home=logs.parent / "home")


def test_a_hit_says_where_it_is_and_what_its_session_is_called(logs: Path) -> None:
    found = search(query(logs, "fixed"))
    (hit,) = found.hits
    assert (found.total, found.is_exact, found.n_gone) == (1, True, 0)
    assert (hit.session, hit.agent, hit.line, hit.role) == (ONE, "claude", 2, "prompt")
    assert [hit.snippet[first:last] for first, last in hit.marks] == ["fixed"]
    assert hit.title == "Fix the parser"
    (row,) = search_document(found)["hits"]
    assert (row["snippet"], row["source"], row["at"]) == (hit.snippet, None, hit.at)


def test_filters_beside_the_words_hold_too(logs: Path) -> None:
    until = Filters(until=datetime(2000, 1, 1, tzinfo=UTC))
    assert search(query(logs, "parser")).total == 2
    assert search(query(logs, "parser")._replace(filters=until)).total == 0
    assert search(query(logs, "parser role:prompt")._replace(agent="codex")).total == 0


def test_without_an_index_a_search_that_may_not_make_one_says_so(logs: Path) -> None:
    with pytest.raises(NotThere, match="there is no index yet"):
        search(query(logs, "parser")._replace(syncs=False))
    assert not (logs.parent / "home").exists()


def test_a_wrong_query_makes_no_index(logs: Path) -> None:
    with pytest.raises(UserError):
        search(query(logs, "re:/(/"))
    assert not (logs.parent / "home").exists()
