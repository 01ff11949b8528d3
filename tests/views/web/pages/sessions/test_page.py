"""The page of all sessions, asked as a browser asks: every count is what its link leads to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.conversation.test_thread_page import ID, write_home
from tests.index.known_homes import append, claude_session, claude_turn, codex_session, write
from tests.model.lines import Line, at, reply, use, user
from tests.views.cli.written import tool, working_day
from tests.views.web.list_pages import facets, got, links, main_links, next_page, total, walked
from tests.views.web.many_sessions import session_id, write_many
from tests.views.web.read_site import site_over
from tracklog.app.index.background import IndexStatus
from tracklog.app.live.board import BoardShot
from tracklog.live.board.board import BoardRow
from tracklog.views.web.pages.sessions.page import sessions
from tracklog.views.web.server.routes import unguarded_app
from tracklog.views.web.site import Site

MANY, PAGE = 110, 20
HOSTILE = "<script>alert(1)</script> \"'&` \u202e half \ud800"
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def app_over(site: Site) -> Starlette:
    site.now = lambda: NOW
    return unguarded_app(site, [Route("/sessions", sessions)])


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracklog.views.web.pages.sessions.page.PAGE", PAGE)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many sessions of Claude Code, one of Codex, one with a subagent, one whose every name attacks."""
    top = tmp_path_factory.mktemp("logs")
    write_many(top / ".claude", MANY)
    write(top / codex_session(2).path, codex_session(2).bytes())
    folder = top / ".claude/projects/-home-dev-project"
    one = claude_session(7)
    write(folder / f"{one.session}.jsonl", one.bytes())
    below = folder / one.session / "subagents"
    write(below / "agent-a1.jsonl", claude_session(7, agent="a1").bytes())
    write(
        below / "agent-a1.meta.json",
        json.dumps({"agentType": "Explore", "description": "Look <b>around"}).encode(),
    )
    hostile = working_day("99999999-aaaa-4aaa-8aaa-111111111111", cwd=f"/work/{HOSTILE}")
    hostile.answer("msg_9", tool("toolu_9", HOSTILE, command="ls"), stop="tool_use")
    hostile.lines[0]["message"]["content"] = HOSTILE
    for line in hostile.lines:
        if "model" in line["message"]:
            line["message"]["model"] = HOSTILE
    hostile.write(folder / "99999999-aaaa-4aaa-8aaa-111111111111.jsonl")
    return top


@pytest.fixture(scope="module")
def app(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return app_over(site_over(logs, tmp_path_factory.mktemp("home")))


def test_all_sessions_are_there_page_by_page_the_last_alive_first(app: Starlette) -> None:
    first = got(app, "/sessions")
    assert total(first) == MANY + 3
    assert len(main_links(first)) == PAGE
    every = walked(app, "/sessions")
    assert len(every) == len(set(every)) == MANY + 3
    made = [f"/s/claude/{session_id(n)}" for n in range(MANY)]
    assert [one for one in every if one in set(made)] == made


@pytest.mark.parametrize(
    "address",
    [
        "/sessions",
        "/sessions?project=project-1",
        "/sessions?tool=Bash&verdict=error",
        "/sessions?verdict=ok&since=2026-02-01",
        "/sessions?model=opus&agent=claude&q=fix&sort=-cost",
        "/sessions?since=90d&until=2026-02-20&state=ended",
        "/sessions?q=no+such+words",
    ],
)
def test_every_facet_leads_to_as_many_sessions_as_it_counts(app: Starlette, address: str) -> None:
    text = got(app, address)
    choices = facets(text)
    assert len(choices) > 15 or total(text) < 5
    for choice in choices:
        if not choice.is_taken:
            assert total(got(app, choice.address)) == choice.n, choice


def test_a_chosen_value_is_marked_counts_the_list_and_is_taken_back_by_its_link(app: Starlette) -> None:
    text = got(app, "/sessions?project=PROJECT-1&since=90d")
    [project, time] = [one for one in facets(text) if one.is_taken]
    assert (project.words, project.n, project.address) == ("project-1", total(text), "/sessions?since=90d")
    assert (time.words, time.n, time.address) == ("last 90 days", total(text), "/sessions?project=PROJECT-1")
    assert '<a class="chip" href="/sessions?since=90d" title="Take this filter away">' in text


@pytest.mark.parametrize(
    "sort", ["last", "started", "cost", "calls", "errors", "turns", "duration", "title", "tokens"]
)
def test_both_directions_of_an_order_show_the_same_sessions(app: Starlette, sort: str) -> None:
    up, down = walked(app, f"/sessions?sort={sort}"), walked(app, f"/sessions?sort=-{sort}")
    assert len(up) == len(set(up)) == MANY + 3
    assert set(up) == set(down)
    assert up != down


def test_the_form_offers_every_order_and_keeps_the_one_that_holds(app: Starlette) -> None:
    text = got(app, "/sessions?sort=cost")
    assert '<option value="cost" selected>cost ↑</option>' in text
    orders = re.findall(r'<option value="([^"]+)"', text)
    assert len(orders) == 12
    for order in orders:
        column = order.removeprefix("-")
        found = re.search(rf'c-{column} [^"]*" aria-sort="(\w+)"', got(app, f"/sessions?sort={order}"))
        assert found is not None
        assert found[1] == ("descending" if order.startswith("-") else "ascending")


def test_what_it_costs_is_summed_up_and_sorted(app: Starlette) -> None:
    text = got(app, "/sessions?sort=-cost&agent=claude")
    costs = [float(one) for one in re.findall(r'c-cost num"><span title="[^"]*\$([\d.]+)[^"]*">', text)]
    assert len(costs) > PAGE / 2
    assert costs == sorted(costs, reverse=True)


def test_a_new_session_shifts_no_page(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_many(logs / ".claude", PAGE + 10)
    app = app_over(site_over(logs, tmp_path / "home"))
    first = got(app, "/sessions")
    expected = walked(app, "/sessions")
    late = working_day("77777777-aaaa-4aaa-8aaa-111111111111").content
    newer = late.replace(b'"timestamp": "2026-03-01T', b'"timestamp": "2026-03-03T')
    write(logs / ".claude/projects/-late/77777777-aaaa-4aaa-8aaa-111111111111.jsonl", newer)
    read_again(app, logs, tmp_path / "home")
    following = next_page(first)
    assert following is not None
    rest = got(app, following)
    assert main_links(first) + main_links(rest) == expected
    assert total(rest) == PAGE + 11
    assert walked(app, "/sessions")[0] == "/s/claude/77777777-aaaa-4aaa-8aaa-111111111111"


def read_again(app: Starlette, logs: Path, home: Path) -> None:
    site_over(logs, home)


def test_a_session_that_grows_shows_what_it_has_now(tmp_path: Path) -> None:
    logs, log = tmp_path / "logs", claude_session(1)
    path = write(logs / f".claude/projects/-home-dev-project/{log.session}.jsonl", log.bytes())
    app = app_over(site_over(logs, tmp_path / "home"))
    assert ">1</a></td>" in got(app, "/sessions")
    append(path, claude_turn(log, 3))
    read_again(app, logs, tmp_path / "home")
    assert ">2</a></td>" in got(app, "/sessions")


def test_errors_lead_to_the_calls_that_failed(app: Starlette) -> None:
    text = got(app, "/sessions?q=script")
    id = "99999999-aaaa-4aaa-8aaa-111111111111"
    assert f"/calls?agent=claude&session={id}&verdict=error" in links(text)
    assert f"/calls?agent=claude&session={id}" in links(text)


def test_subagents_open_in_place_by_their_description(app: Starlette) -> None:
    text = got(app, "/sessions?project=project&agent=claude")
    id = claude_session(7).session
    assert (
        f'<a href="/s/claude/{id}?thread=a1"><bdi>Look &lt;b&gt;around</bdi></a> <span class="muted">Explore</span>'
        in text
    )


def test_a_subagent_without_a_log_of_its_own_leads_to_its_calls(tmp_path: Path) -> None:
    """As 2.1.29 wrote them: what the subagent did stands in the log of its session, as progress."""
    asked = {
        "type": "assistant",
        "uuid": "q",
        "timestamp": at(3),
        **reply("q", None, "m2", use("t2", command="ls")),
    }
    progress: Line = {
        "type": "progress",
        "uuid": "p",
        "parentUuid": "b",
        "timestamp": at(3),
        "data": {"type": "agent_progress", "agentId": "a1", "prompt": "look", "message": asked},
        "toolUseID": "agent_m2",
        "parentToolUseID": "t1",
    }
    write_home(
        tmp_path / "logs",
        user("a", None, "look", timestamp=at(1)),
        reply("b", "a", "m1", use("t1", name="Task", description="Look", prompt="look"), timestamp=at(2)),
        progress,
    )
    text = got(app_over(site_over(tmp_path / "logs", tmp_path / "home")), "/sessions")
    assert f'<a href="/calls?session={ID}&amp;thread=a1">' in text


def test_names_that_attack_are_only_text_and_can_be_chosen(app: Starlette) -> None:
    text = got(app, "/sessions?q=alert")
    assert total(text) == 1
    assert "<script>alert" not in text
    assert "⟨U+202E⟩" in text
    for choice in facets(text):
        assert total(got(app, choice.address)) in (choice.n, MANY + 3)


def test_names_of_every_kind_lead_to_as_many_sessions_as_they_count(tmp_path: Path) -> None:
    folder = tmp_path / "logs/.claude/projects/-odd"
    for n, name in enumerate(("/", "/work/app", "/work/ app ", "/work/ ", f"/work/{'long' * 200}")):
        odd = working_day(f"66666666-aaaa-4aaa-8aaa-{n:012}", cwd=name)
        odd.answer("msg_9", tool("toolu_9", name.removeprefix("/work/"), command="ls"), stop="tool_use")
        for line in odd.lines:
            if "model" in line["message"]:
                line["message"]["model"] = f"model {name}"
        odd.write(folder / f"66666666-aaaa-4aaa-8aaa-{n:012}.jsonl")
    app = app_over(site_over(tmp_path / "logs", tmp_path / "home"))
    choices = facets(got(app, "/sessions"))
    assert {"/", "app", "(none)"} <= {one.words for one in choices}
    for choice in choices:
        assert total(got(app, choice.address)) == choice.n, choice


def test_the_next_page_begins_behind_a_title_however_long_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "logs/.claude/projects/-long"
    for n in range(PAGE + 3):
        long = working_day(f"66666666-aaaa-4aaa-8aaa-{n:012}")
        long.lines[0]["message"]["content"] = "長い題名" * 60
        long.write(folder / f"66666666-aaaa-4aaa-8aaa-{n:012}.jsonl")
    app = app_over(site_over(tmp_path / "logs", tmp_path / "home"))
    assert len(set(walked(app, "/sessions?sort=title"))) == PAGE + 3


def test_nothing_that_fits_says_what_to_drop_and_where_there_is_something(app: Starlette) -> None:
    text = got(app, "/sessions?since=2026-03-03&project=project-1")
    assert total(text) == 0
    assert "No sessions since 2026-03-03; the latest is of 2026-0" in text
    ways = re.findall(r'<li><a href="([^"]+)">([^<]+)</a> <span class="muted">· ([\d,]+) session', text)
    assert len(ways) >= 3
    for address, _, n in ways:
        assert total(got(app, address.replace("&amp;", "&"))) == int(n.replace(",", ""))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/sessions?since=yesterday", "is no time"),
        ("/sessions?until=99999999w", "is no time"),
        ("/sessions?sort=colour", "There is no order"),
        ("/sessions?after=!!!", "does not say where the list goes on"),
        ("/sessions?after=WzEsMiwzXQ", "does not say where the list goes on"),
        ("/sessions?sort=title&after=WzEsICJhIiwgImIiXQ", "does not say where the list goes on"),
    ],
)
def test_what_cannot_be_meant_is_said_with_a_way_on(app: Starlette, address: str, words: str) -> None:
    text = got(app, address, 400)
    assert words in text
    assert "The list without it" in text


def test_odd_values_find_nothing_and_break_nothing(app: Starlette) -> None:
    for name in ("project", "agent", "model", "tool", "verdict", "state", "q"):
        for value in (
            "\x00",
            "../../etc/passwd",
            "'; drop table x",
            "%",
            "💥" * 300,
            "/",
            "mcp__",
            "[",
            "\\",
        ):
            got(app, f"/sessions?{name}={quote(value)}")


def test_what_a_session_does_now_comes_from_the_board(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    site: Site = app.state.site
    row = BoardRow(**{**_no_row(), "id": session_id(3), "agent": "claude"})
    shot = BoardShot(rows=(row,))
    monkeypatch.setattr(site.live, "_shot", shot)
    text = got(app, "/sessions?state=working")
    assert main_links(text) == [f"/s/claude/{session_id(3)}"]
    assert '<span class="mark s-working" title="working">working</span>' in text


def _no_row() -> dict[str, Any]:
    from tracklog.model.states import LiveState

    given: dict[str, Any] = dict.fromkeys(BoardRow._fields)
    defaults = BoardRow._field_defaults
    return {**given, **defaults, "state": LiveState(state="working")}


def test_while_everything_is_read_for_the_first_time_that_is_said(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = IndexStatus(state="reading", files=12, files_known=345)
    monkeypatch.setattr(app.state.site.indexing, "_status", status)
    assert "12 of 345 files read, newest first." in got(app, "/sessions")
    monkeypatch.setattr(app.state.site.indexing, "_status", replace(status, passes=1))
    assert "files read, newest first." not in got(app, "/sessions")


def test_without_an_index_the_page_says_so_and_comes_again_by_itself(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    app = app_over(site_over(tmp_path / "logs", tmp_path / "home", reads=False))
    text = got(app, "/sessions")
    assert "being read for the first time" in text
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text


def test_no_script_no_style_and_no_handler_stands_in_the_page(app: Starlette) -> None:
    text = got(app, "/sessions?q=alert")
    assert not re.search(r"<script(?! (type=\"module\" )?src=)", text)
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style", text)
