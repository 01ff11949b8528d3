from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_ask_hook import ASKED, Asking, asking, run_folder, said
from tracklog.app.run.answer import LAST, answer_request, digest_of, open_request, open_requests
from tracklog.errors import NotThere
from tracklog.home import Home
from tracklog.run.process.supervise import MARK


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[Asking]:
    with asking(run_folder(tmp_path)) as one:
        one.question()
        yield one


@pytest.fixture
def ours(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_digest_is_of_all_that_is_shown(ours: Home, hook: Asking) -> None:
    (one,) = open_requests(ours)
    others = [
        one._replace(input={"command": "rm -rf /"}),
        one._replace(cwd="/"),
        one._replace(tool="Write"),
        one._replace(thread="a1"),
        one._replace(at_ms=one.at_ms + 1),
        one._replace(run="f" * 16),
    ]
    assert len({digest_of(ask) for ask in (one, *others)}) == len(others) + 1
    assert digest_of(one) == digest_of(one._replace(until_ms=0))


def test_the_same_request_is_found_by_session_and_by_run_and_id(ours: Home, hook: Asking) -> None:
    (one,) = open_requests(ours, LAST)
    assert open_requests(ours, one.session[:4], call=one.id[:3]) == [one]
    assert open_request(ours, one.run, one.id) == one
    assert open_request(ours, one.run, "other") is None
    with pytest.raises(NotThere, match="no open question of nobody"):
        open_requests(ours, "nobody")


def test_a_request_that_is_not_the_one_shown_stays_open(ours: Home, hook: Asking) -> None:
    (one,) = open_requests(ours)
    assert answer_request(one, "allow", shown=digest_of(one._replace(cwd="/"))) == "changed"
    assert open_requests(ours) == [one]


def test_a_session_cannot_answer_its_own_request(
    ours: Home, hook: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = open_requests(ours)
    monkeypatch.setenv(MARK, one.run)
    assert answer_request(one, "deny") == "own"
    assert open_requests(ours) == [one]


def test_of_a_request_that_is_shown_in_part_only_a_denial_is_taken(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), {**ASKED, "tool_input": {"command": "x" * 100_000}}) as hook:
        hook.question()
        (one,) = open_requests(Home(tmp_path))
        assert answer_request(one, "allow", shown=digest_of(one)) == "cut"
        assert answer_request(one, "deny", reason="too long", shown=digest_of(one)) == "taken"
        assert said(hook.ended())["message"] == "too long"
