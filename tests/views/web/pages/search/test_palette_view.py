from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.test_results import TWO, words
from tests.search.test_searching import ONE, write_log
from tests.views.web.search_site import asked, site_over
from tracklog.live.board.board import BoardRow
from tracklog.live.board.counts import SessionUsage
from tracklog.model.states import LiveState
from tracklog.views.web.pages.search.page import palette_groups
from tracklog.views.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    write_log(tmp_path / "logs", *words("Fix the parser"), session=ONE)
    write_log(tmp_path / "logs", *words("Write the docs", first=30), session=TWO)
    return site_over(tmp_path / "logs", tmp_path / "home")


def offered(site: Site, text: str) -> dict[str, list[str]]:
    groups = palette_groups(site, text)
    return {group.title: [option.words for option in group.options] for group in groups}


def test_without_words_the_last_sessions_and_all_pages_are_offered(site: Site) -> None:
    assert offered(site, "") == {
        "Sessions": ["Write the docs", "Fix the parser"],
        "Pages": ["Board", "Sessions", "Calls", "Search", "Doctor"],
        "Here": ["Change the colours", "Keys on this page"],
    }


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("parser", {"Sessions": ["Fix the parser"], "Search": ["Search for parser"]}),
        (TWO[:6], {"Sessions": ["Write the docs"], "Search": [f"Search for {TWO[:6]}"]}),
        ("bo", {"Pages": ["Board"], "Search": ["Search for bo"]}),
        ("dark", {"Here": ["Change the colours"], "Search": ["Search for dark"]}),
        ("zzz", {"Search": ["Search for zzz"]}),
    ],
)
def test_words_choose_among_pages_sessions_and_what_can_be_done(
    site: Site, text: str, options: dict[str, list[str]]
) -> None:
    assert offered(site, text) == options


def test_what_runs_stands_on_top_with_its_state(site: Site) -> None:
    state = LiveState(state="waiting", waiting_for="permission")
    row = BoardRow(
        ONE, "claude", state, "app", None, "Fix the parser", None, SessionUsage(), 0, [], None, None, 1, None
    )
    running = site_over(Path(site.scope.paths[0]), site.home.path, rows=[row], is_indexed=False)
    assert offered(running, "")["Sessions"] == ["Fix the parser", "Write the docs"]
    html = asked(running, "/_/palette?q=").text
    assert "waiting for permission" in html


def test_a_session_that_runs_is_called_and_found_as_in_every_list(site: Site) -> None:
    state = LiveState(state="working")
    unnamed = BoardRow(
        ONE, "claude", state, "app", None, None, None, SessionUsage(), 0, [], None, "go on", 1, None
    )
    unknown = unnamed._replace(id="not-indexed-yet", last_prompt="a new one")
    rows = [unnamed, unknown]
    running = site_over(Path(site.scope.paths[0]), site.home.path, rows=rows, is_indexed=False)
    assert offered(running, "")["Sessions"] == ["Fix the parser", "a new one", "Write the docs"]
    assert offered(running, "parser")["Sessions"] == ["Fix the parser"]
    assert offered(running, "new")["Sessions"] == ["a new one"]


def test_without_an_index_pages_are_offered(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    site = site_over(tmp_path / "logs", tmp_path / "home", is_indexed=False)
    answer = asked(site, "/_/palette?q=")
    assert answer.status == 200
    assert 'role="option"' in answer.text


def test_every_option_is_a_link_or_a_deed(site: Site) -> None:
    html = asked(site, "/_/palette?q=").text
    assert html.count('role="option"') == html.count("<a href=") + html.count("data-act=")
