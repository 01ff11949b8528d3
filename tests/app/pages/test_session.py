from __future__ import annotations

from pathlib import Path

import pytest

from tests.conversation.test_thread_page import ID, TALK, write_home
from tests.views.web.read_site import site_over
from tracklog.app.live.site import Site
from tracklog.app.pages.session import NotFound, ThreadQuery, opened_thread, sessions_named_alike
from tracklog.model.ids import MAIN


@pytest.fixture
def site(tmp_path: Path) -> Site:
    write_home(tmp_path / "logs", *TALK)
    return site_over(tmp_path / "logs", tmp_path / "home")


def test_an_opened_thread_has_rows_calls_turns_and_lines(site: Site) -> None:
    with opened_thread(site, ThreadQuery("claude", ID)) as one:
        assert (one.thread, one.n, [placed.seq for placed in one.turns()]) == (MAIN, 8, [1, 7])
        kinds = [row.row.kind for row in one.rows(1, 3)]
        call = one.call(3, 0)
        assert kinds == ["prompt", "call", "call"]
        assert call is not None
        assert call.call.verdict == "error"
        assert one.next_line("error", after=1, before=None).seq == 3
        assert one.whole_text(6, 0) == ("answer", "Done.")
        line = one.line(8)
        assert line is not None
        assert b'"t3"' in line.line.raw
        assert one.line(9) is None
        assert one.usage() is not None


def test_a_call_leads_to_its_thread_and_line(site: Site) -> None:
    with opened_thread(site, ThreadQuery("claude", ID, call="t2")) as one:
        place = one.place_of_call("t2")
        assert place is not None
        assert (one.thread, one.lines.seq_of(*place)) == (MAIN, 3)
        assert one.place_of_call("nobody") is None


def test_a_session_or_thread_that_is_not_there_is_not_found(site: Site) -> None:
    for asked in (ThreadQuery("claude", "nobody"), ThreadQuery("claude", ID, thread="nobody")):
        with pytest.raises(NotFound), opened_thread(site, asked):
            pass
    assert sessions_named_alike(site, ID[:10]) == [("claude", ID)]


def test_a_site_without_an_index_has_rows_and_no_turns(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    site = site_over(tmp_path / "logs", tmp_path / "home", reads=False)
    with opened_thread(site, ThreadQuery("claude", ID)) as one:
        assert one.turns() == []
        assert one.usage() is None
        assert len(one.rows(1, 8)) == 8
