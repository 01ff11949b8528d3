"""The header of a session's page: what it says of a subagent is the subagent's."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.routing import Route

import tracklog
from tests.conversation.test_thread_page import ID, write_home
from tests.model.lines import Line, at, log, reply, user
from tests.views.web.asking import app_of
from tests.views.web.list_pages import total
from tests.views.web.pages.session.test_page import ROUTES, get
from tests.views.web.read_site import site_over
from tracklog.conversation.session import SessionHead, session_head
from tracklog.live.board.board import BoardRow
from tracklog.live.board.counts import SessionUsage
from tracklog.model.states import LiveState
from tracklog.store.database import reading
from tracklog.views.web.pages.calls.page import calls
from tracklog.views.web.pages.session.header import HeaderFigure, head_view

DEMO = Path(tracklog.__file__).parent / "demo"
PARENT = "64c2b3d3-02a7-45ea-9075-0b01f88daf64"
CHILD = "a27f6c8fa0332ba49"


def app_of_demo(tmp_path: Path) -> Starlette:
    return app_of(ROUTES, site_over(DEMO, tmp_path / "home"))


def figures(html: str) -> dict[str, tuple[str, str | None]]:
    """Each with its value and where it leads."""
    found = re.findall(
        r'<(?:a|span) class="figure[^"]*"(?: href="([^"]*)")?[^>]*><b class="num">(.*?)</b> ([^<]+)</', html
    )
    return {name: (re.sub(r"<[^>]+>", "", value), address or None) for address, value, name in found}


def test_the_figures_on_the_page_of_a_subagent_are_its_own(tmp_path: Path) -> None:
    app = app_of_demo(tmp_path)
    whole, own = (figures(get(app, f"/s/claude/{PARENT}{of}").text) for of in ("", f"?thread={CHILD}"))
    assert (whole["requests"], whole["cost"]) == (("8", "#spent"), ("$0.0896", "#spent"))
    assert own == {
        "requests": ("2", "#spent"),
        "calls": ("2", f"/calls?agent=claude&amp;session={PARENT}&amp;copies=no&amp;thread={CHILD}"),
        "errors": (
            "0",
            f"/calls?agent=claude&amp;session={PARENT}&amp;copies=no&amp;thread={CHILD}&amp;verdict=error",
        ),
        "cost": ("$0.0199", "#spent"),
    }


def test_the_calls_of_every_thread_are_as_many_as_its_page_says(tmp_path: Path) -> None:
    site = site_over(DEMO, tmp_path / "home")
    app = app_of([*ROUTES, Route("/calls", calls)], site)
    for thread in (CHILD, "af3a9b1c6e80706b4"):
        told = figures(get(app, f"/s/claude/{PARENT}?thread={thread}").text)
        leading = [(n, address) for n, address in told.values() if address and address.startswith("/calls")]
        assert len(leading) >= 2
        for n, address in leading:
            assert total(get(app, unescape(address)).text) == int(n)


def test_the_list_of_agents_says_what_it_counts(tmp_path: Path) -> None:
    html = get(app_of_demo(tmp_path), f"/s/claude/{PARENT}").text
    assert 'id="agents">Agents <span class="muted">main and 2 subagents</span>' in html
    listed = re.search(r'<ul class="agents">(.*?)</ul>', html, re.S)
    assert listed
    assert listed[1].count("<li>") == 3


@pytest.fixture
def head(tmp_path: Path) -> SessionHead:
    site = site_over(DEMO, tmp_path / "home")
    with reading(site.home) as database:
        found = session_head(database, "claude", PARENT, roots=site.roots, scope=site.scope)
    assert found is not None
    return found


def running(state: LiveState) -> BoardRow:
    spent = SessionUsage(context_tokens=317, window=1000)
    return BoardRow(PARENT, "claude", state, "app", None, None, None, spent, 0, [], None, None, 1, None)


def view_figures(head: SessionHead, live: BoardRow | None) -> list[HeaderFigure]:
    return head_view(head, None, live, thread="main", n_lines=14, now=datetime.now(UTC)).figures


def test_a_session_that_runs_says_how_much_of_the_context_is_used(head: SessionHead) -> None:
    told = HeaderFigure("context used", Markup("32%"), None, "31.7% of the model's memory is used")
    assert view_figures(head, running(LiveState(state="working")))[-1] == told
    for other in (None, running(LiveState(state="ended"))):
        assert "context used" not in [one.name for one in view_figures(head, other)]


def test_a_subagent_that_is_done_is_not_shown_as_working_with_its_session(head: SessionHead) -> None:
    live = running(LiveState(state="working", doing="Bash: make"))
    view = head_view(head, None, live, thread=CHILD, n_lines=5, now=datetime.now(UTC))
    assert (view.state, view.doing, view.evidence) == ("ended", None, ["as its log tells"])


def head_of(tmp_path: Path, *lines: Line) -> str:
    """The header of a session of these lines."""
    write_home(tmp_path / "logs", *lines)
    page = get(app_of(ROUTES, site_over(tmp_path / "logs", tmp_path / "home")), f"/s/claude/{ID}").text
    return page[: page.index("</header>", page.index('id="head"'))] + page[page.index('<div id="beside"') :]


@pytest.mark.parametrize(
    ("cwd", "command"),
    [
        ("/work/a b", f"cd &#39;/work/a b&#39; &amp;&amp; claude --resume {ID}"),
        ("/x\x03\nid>/tmp/made\n#", f"claude --resume {ID}"),
        ("/x\x1b[201~\rid", f"claude --resume {ID}"),
        ("/x\u202e", f"claude --resume {ID}"),
        ("-", f"claude --resume {ID}"),
        ("/x\x7f\x85", f"claude --resume {ID}"),
    ],
)
def test_no_folder_of_a_log_puts_keys_into_the_command_that_goes_on(
    tmp_path: Path, cwd: str, command: str
) -> None:
    html = head_of(
        tmp_path, user("a", None, "do it", cwd=cwd, timestamp=at(1)), reply("b", "a", "m1", "Done.")
    )
    assert re.findall(r'data-copy="([^"]*)"', html) == [command]


@pytest.mark.parametrize("id", ["--settings={}", "-cnotify=[]", "a b", "a\u202e", "$(id)", "", "x" * 201])
def test_an_id_that_could_be_an_option_of_the_client_is_in_no_command(head: SessionHead, id: str) -> None:
    other = head._replace(id=id)
    view = head_view(other, None, None, thread="main", n_lines=14, now=datetime.now(UTC))
    assert view.resume is None


def test_what_hides_in_a_header_is_spelled_out(tmp_path: Path) -> None:
    odd = "x\u202e\x1b[31m"
    html = head_of(
        tmp_path,
        user("a", None, f"do {odd}", cwd=f"/{odd}", gitBranch=odd, timestamp=at(1)),
        reply("b", "a", "m1", "Done.", timestamp=at(2)),
    )
    text = re.sub(r'(?:href|data-copy)="[^"]*"', "", html)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("x⟨U+202E⟩␛[31m") >= 3


def test_what_no_request_says_is_missing_and_no_zero(tmp_path: Path) -> None:
    bare = {**reply("b", "a", "m1", "Done.", timestamp=at(2))}
    bare["message"] = {name: value for name, value in bare["message"].items() if name != "usage"}
    html = head_of(tmp_path, user("a", None, "do it", timestamp=at(1)), bare)
    assert figures(html)["cost"][0] == "–"
    told = dict(re.findall(r"<dt>([^<]+)</dt><dd class=\"num\">(.*?)</dd>", html))
    assert {
        re.sub(r"<[^>]+>", "", told[name]) for name in ("output", "input, not cached", "of it reasoning")
    } == {"–"}


def test_turns_whose_times_contradict_each_other_were_active_for_no_longer_than_there_was(
    head: SessionHead,
) -> None:
    told = {one.name: one for one in view_figures(head._replace(active_ms=9e9), None)}
    assert told["active"].html.startswith("≤ ")
    assert "contradict" in told["active"].title
    assert not {one.name: one for one in view_figures(head, None)}["active"].html.startswith("≤")


def test_a_session_of_one_agent_is_not_shown_as_another_ones(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / f"{ID}.jsonl").write_bytes(
        log([user("a", None, "do it", sessionId=ID, timestamp=at(1))]) + b"\n"
    )
    app = app_of(ROUTES, site_over(plain, tmp_path / "home"))
    assert get(app, f"/s/claude/{ID}").status == 200
    assert get(app, f"/s/codex/{ID}").status == 404
