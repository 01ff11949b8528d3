from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.conversation.test_thread_page import ID, TALK, write_home
from tests.model.lines import Line, at, reply, result, use, user
from tests.views.web.asking import app_of, ask
from tests.views.web.read_site import site_over
from tracklog.views.web.pages.session.rows import next_line

LEFT: list[Line | bytes] = [
    user("a", None, "begin", timestamp=at(1)),
    reply("b", "a", "m1", "Begun.", timestamp=at(2)),
    user("c", "b", "the wrong way", timestamp=at(3)),
    reply("d", "c", "m2", use("t1", command="false"), timestamp=at(4)),
    result("d2", "d", "t1", "it failed", is_error=True, timestamp=at(5)),
    user("e", "b", "the right way", timestamp=at(6)),
    reply("f", "e", "m3", "Right.", timestamp=at(7)),
]


def app_over(tmp_path: Path, *lines: Line | bytes, reads: bool = True) -> Starlette:
    write_home(tmp_path / "logs", *lines)
    site = site_over(tmp_path / "logs", tmp_path / "home", reads=reads)
    return app_of([Route("/_/s/{agent}/{id:path}/next", next_line)], site)


def told(app: Starlette, query: str) -> Any:
    return ask(app, "GET", f"/_/s/claude/{ID}/next?{query}").json()


@pytest.mark.parametrize(
    ("query", "seq"),
    [
        ("what=error&after=0", 3),
        ("what=error&after=3", 8),
        ("what=error&after=8", None),
        ("what=error&before=8", 3),
        ("what=prompt&after=1", 7),
        ("what=prompt&before=7", 1),
        ("what=prompt&before=1", None),
        ("what=prompt&after=99999999999999999999", 1),  # no number
    ],
)
def test_the_line_of_the_next_one_is_told(tmp_path: Path, query: str, seq: int | None) -> None:
    assert told(app_over(tmp_path, *TALK), query) == {"seq": seq, "is_sure": True}


def test_what_stands_on_a_branch_that_is_left_is_passed_by_unless_that_is_shown(tmp_path: Path) -> None:
    app = app_over(tmp_path, *LEFT)
    assert told(app, "what=error&after=1")["seq"] is None
    assert told(app, "what=error&after=1&left=1")["seq"] == 4
    assert told(app, "what=error&after=1&branch=c")["seq"] == 4
    assert told(app, "what=prompt&after=1")["seq"] == 3  # it is shown: another branch begins with it


def test_nothing_is_sure_before_there_is_an_index(tmp_path: Path) -> None:
    assert told(app_over(tmp_path, *TALK, reads=False), "what=error&after=1") == {
        "seq": None,
        "is_sure": False,
    }


def test_other_things_and_other_sessions_are_refused(tmp_path: Path) -> None:
    app = app_over(tmp_path, *TALK)
    assert ask(app, "GET", f"/_/s/claude/{ID}/next?what=picture").status == 400
    assert ask(app, "GET", f"/_/s/claude/{ID}/next").status == 400
    assert ask(app, "GET", "/_/s/claude/nothing/next?what=error").status == 404
