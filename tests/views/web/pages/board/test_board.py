from __future__ import annotations

import os
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.routing import Route

from tests.live.live_home import ONE, TWO, LiveHome, a_process
from tests.store.made_index import AT_MS, made_index
from tests.test_ask_hook import ASKED, asking, run_folder
from tests.views.web.asking import app_of, ask
from tests.views.web.live_site import counted, live_site, soon, subagent
from tracklog.agents.discovery import roots_at
from tracklog.app.demo import write_sample
from tracklog.index.session_rows import settle_sessions
from tracklog.index.sync import sync
from tracklog.sources.log_file import Root
from tracklog.store.database import writing
from tracklog.store.scope import Scope
from tracklog.views.web.pages.board import page as board_page
from tracklog.views.web.pages.board import rows
from tracklog.views.web.pages.board.page import lasted
from tracklog.views.web.pages.board.rows import FOLDED, spark
from tracklog.views.web.site import Site

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def page(site: Site, address: str = "/") -> str:
    routes = [Route("/", board_page.board), Route("/_/board", board_page.rows)]
    answer = ask(app_of(routes, site), "GET", address)
    assert answer.status == 200
    return answer.text


def group(html: str, name: str) -> str:
    found = re.search(rf'<section class="b-group" id="g-{name}".*?</section>', html, re.S)
    return found[0] if found else ""


def titles(html: str) -> list[str]:
    return re.findall(r'<a class="b-title[^>]*>(.*?)</a>', html)


def test_who_needs_you_who_works_and_who_is_quiet_stand_apart(home: LiveHome) -> None:
    three = "33333333-cccc-4ccc-8ccc-333333333333"
    home.prompt("may I?")
    home.call("t1", "Bash", command="rm x")
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    home.prompt("works", session=TWO)
    home.prompt("said", session=three)
    home.reply("Done.", session=three)
    with live_site(home) as site:
        counted(site)
        html = page(site)
    shown = {name: titles(group(html, name)) for name in ("needs", "working", "quiet")}
    assert shown == {"needs": ["may I?"], "working": ["works"], "quiet": ["said"]}
    assert "<title>(1) Board · tracklog</title>" in html
    assert f'href="/s/claude/{ONE}#ct1"' in html
    assert "Bash: rm x" in group(html, "needs")


def test_a_row_says_what_it_rests_on_and_what_it_has_used(home: LiveHome) -> None:
    home.line(type="user", gitBranch="fix/walk", message={"role": "user", "content": "fix the walk"})
    home.reply("I look.")
    with live_site(home) as site:
        counted(site)
        html = page(site)
    for words in ("log line 2", "opus-4-5", "fix/walk", "$0.0002", "I look.", "/work/app", "0%"):
        assert words in html, words
    assert re.search(r'<svg role="img" aria-label="2 lines in the last hour, 2 in the last 10 minutes"', html)


@pytest.fixture
def _same_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture of the last hour moves on with every minute, and one may begin at any time."""
    now_ms = int(time.time() * 1000) + 60_000
    monkeypatch.setattr(rows, "spark", lambda minutes, _: spark(minutes, now_ms))


@pytest.mark.usefixtures("_same_minute")
def test_the_fragment_is_the_part_of_the_page_that_changes(home: LiveHome) -> None:
    home.prompt("one")
    with live_site(home) as site:
        counted(site)
        part = page(site, "/_/board")
        assert part.strip().startswith('<div id="board"')
        assert marks(part) == marks(page(site))


def marks(html: str) -> dict[str, str]:
    return dict(re.findall(r'id="b-(\w+)" data-mark="(\w+)"', html))


@pytest.mark.usefixtures("_same_minute")
def test_a_row_keeps_its_mark_until_it_says_something_else(home: LiveHome) -> None:
    home.prompt("one")
    home.prompt("two", session=TWO)
    with live_site(home) as site:
        counted(site)
        before = marks(page(site))
        time.sleep(1.2)
        assert marks(page(site)) == before
        home.reply("Done.", session=TWO)
        soon(lambda: "Done." in page(site))
        after = marks(page(site))
    assert {key for key in before if before[key] == after[key]} == {board_key(ONE)}


def board_key(session: str) -> str:
    from tracklog.views.web.pages.board.rows import key_of

    return key_of("claude", session)


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "script":
            self.scripts.append(dict(attrs).get("src") or "")


def test_nothing_that_a_log_says_is_markup(home: LiveHome) -> None:
    home.line(type="user", gitBranch=EVIL, cwd=f"/w/{EVIL}", message={"role": "user", "content": EVIL})
    home.reply(EVIL)
    home.call(EVIL, EVIL, command=EVIL)
    home.call("t2", "Agent", description=EVIL, prompt=EVIL)
    with live_site(home) as site:
        counted(site)
        html = page(site)
    tags = Tags(html)
    assert "img" not in tags.names
    assert all(one.startswith("/static/") for one in tags.scripts)
    assert {name for name in tags.attributes if name == "style" or name.startswith("on")} == set()
    assert "\u202e" not in html
    assert "⟨U+202E⟩" in html


def test_subagents_are_strips_beneath_their_session(home: LiveHome) -> None:
    home.prompt("look")
    home.call("t1", "Agent", description="read the docs", prompt="look")
    home.call("t2", "Agent", description="not yet begun", prompt="look")
    line = {"type": "user", "uuid": "s1", "isSidechain": True, "agentId": "a1", "sessionId": ONE}
    line |= {"timestamp": "2026-11-16T10:00:00.000Z", "message": {"role": "user", "content": "look"}}
    subagent(
        home, ONE, "a1", line, meta='{"agentType":"general","description":"read the docs","toolUseId":"t1"}'
    )
    with live_site(home) as site:
        counted(site)
        html = page(site)
    assert re.findall(r'<a class="b-name one-line"[^>]* href="(.*?)"[^>]*>(.*?)</a>', html) == [
        (f"/s/claude/{ONE}?thread=a1", "read the docs"),
        (f"/s/claude/{ONE}#ct2", "not yet begun"),
    ]
    assert "1/2 subagents run" in html
    assert "has no log yet" in html


def test_quiet_sessions_are_folded_until_all_are_asked_for(home: LiveHome) -> None:
    for n in range(FOLDED + 3):
        session = f"{n:08d}-aaaa-4aaa-8aaa-111111111111"
        home.prompt(f"prompt {n}", session=session)
        home.reply("Done.", session=session)
    with live_site(home) as site:
        counted(site)
        few, everything = page(site), page(site, "/?all=1")
    assert len(titles(group(few, "quiet"))) == FOLDED
    assert '<a href="/?all=1">3 more of the last 24 hours</a>' in few
    assert len(titles(group(everything, "quiet"))) == FOLDED + 3
    assert f'Quiet <span class="b-count">{FOLDED + 3}</span>' in few


def test_a_crash_is_quiet_and_says_in_what(home: LiveHome) -> None:
    process = a_process()
    home.prompt("one")
    home.call("t1", "Bash", command="make")
    home.register(process.pid, "busy")
    process.kill()
    process.wait()
    with live_site(home) as site:
        counted(site)
        html = group(page(site), "quiet")
    assert "crashed" in html
    assert "while Bash: make" in html


def test_who_is_quiet_says_since_when(home: LiveHome) -> None:
    process = a_process()
    home.prompt("work")
    home.call("t1", "Bash", command="make")
    home.register(process.pid, "busy")
    process.kill()
    process.wait()
    with live_site(home) as site:
        soon(lambda: "crashed" in page(site))
        html = page(site)
    facts = re.search(r"<dt>state</dt><dd>(.*?)</dd>", html)
    assert facts is not None
    assert re.fullmatch(r'crashed, for <span data-since="\d+">\d+s</span>', facts[1])
    assert re.search(r'<span class="b-for muted"><time [^>]*data-rel>', html)


def test_who_is_idle_says_since_when_in_the_row_and_who_works_does_not(home: LiveHome) -> None:
    home.prompt("works", session=TWO)
    home.prompt("said")
    home.reply("Done.")
    home.register(os.getpid(), "idle")
    with live_site(home) as site:
        counted(site)
        html = page(site)
    assert re.search(r'<span class="b-for muted">since <time ', group(html, "quiet"))
    assert "b-for" not in group(html, "working")


def test_a_question_has_its_buttons(home: LiveHome) -> None:
    home.prompt("one")
    folder = run_folder(home.ours)
    with live_site(home) as site, asking(folder, {**ASKED, "session_id": ONE}) as hook:
        id = hook.question().stem
        soon(lambda: site.live.waiting())
        html = group(page(site), "needs")
    assert f'href="/answer?run={folder.name}&amp;id={id}&amp;verdict=allow"' in html
    assert f'href="/answer?run={folder.name}&amp;id={id}&amp;verdict=deny"' in html


def test_without_any_log_the_page_says_where_was_looked_and_what_to_do(home: LiveHome) -> None:
    with live_site(home) as site:
        html = page(site)
    for words in (str(home.path), "tracklog demo", "tracklog hooks install"):
        assert words in html, words


def test_a_session_is_called_by_its_first_prompt_as_in_every_list(home: LiveHome) -> None:
    home.prompt("the first")
    home.reply("Done.")
    home.prompt("the second")
    with live_site(home) as site:
        assert titles(page(site)) == ["the second"]  # all that is known of it before there is an index
        with writing(site.home) as database:
            sync(database, site.roots)
            settle_sessions(database)
        assert titles(page(site)) == ["the first"]


def test_who_waits_is_told_by_the_name_of_what_is_waited_for(home: LiveHome) -> None:
    home.prompt("ask me")
    home.call("t1", "AskUserQuestion", questions=[{"question": "Which one?"}])
    home.register(os.getpid(), "waiting", waitingFor="permission prompt")
    with live_site(home) as site:
        html = group(page(site), "needs")
    assert '<span class="b-word" aria-hidden="true">answer</span>' in html
    assert re.search(r'<summary [^>]*title="waiting for an answer: ', html)


def test_the_board_of_the_sample_says_that_it_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))
    home = LiveHome(tmp_path)
    words = "These are the sessions of the sample that comes with tracklog."
    with live_site(home) as site:
        assert words not in page(site)
        site.roots = [root for one in write_sample(tmp_path / "demo").roots for root in roots_at(one)]
        html = page(site)
    assert words in html
    assert f"<code>{tmp_path / 'own'}</code>" in html


def test_where_nothing_runs_the_page_leads_to_the_latest_sessions(home: LiveHome) -> None:
    with writing(made_index(home.ours)) as database, database.transaction() as db:
        db.execute("update session_rows set last_ms = ?", (AT_MS,))
    with live_site(home) as site:
        site.scope = Scope(("/home/dev",))
        html = page(site)
    assert "Nothing active. Last:" in html
    assert html.count('<li><a class="one-line" href="/s/') == 2
    assert "tracklog demo" not in html


def test_before_the_first_look_the_page_says_that_it_looks(home: LiveHome) -> None:
    from tracklog.app.live.board import Live

    with live_site(home) as site:
        site.live = Live([Root(home.path, "claude")], site.home, site.prices(), site.events)
        assert "Looking at the logs for the first time" in page(site)


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (-5, "0s"),
        (999, "0s"),
        (8_000, "8s"),
        (72_000, "1m 12s"),
        (7_500_000, "2h 05m"),
        (273_600_000, "3d 4h"),
    ],
)
def test_how_long_it_lasts_is_said_in_two_units(ms: int, words: str) -> None:
    assert lasted(ms) == words
