"""Characters that turn the direction of a text came raw into pages, so a project, tool or agent could look like another.

The list of projects on /calls (`<option value>`), the names of tools in its table, hidden fields of forms, and the names of
agents on the page of a session held them as the log did, while all other places spell them: `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from starlette.applications import Starlette

from tests.browser.homes import DEMO
from tests.browser.hostile import WAYS, Hostile, arm_log
from tests.views.cli.written import Log, tool
from tests.views.web.asking import ask
from tests.views.web.list_pages import got, total
from tests.views.web.read_site import site_over
from tracklog.views.web.server.routes import routes, unguarded_app

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
NAME = "safe\u202egnp.exe\u202c"
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_STARTS = ("/", "/sessions", "/calls", "/search?q=gnp.exe", "/doctor", "/_/board", "/_/palette?q=m")
_HREF = re.compile(r'href="(/[^"#]*)')
_IDS = re.compile(r"[0-9a-f]{6,}[0-9a-f-]*|toolu?_\w+|\d+")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("HOME", ""), ("CLAUDE_CONFIG_DIR", ".claude"), ("CODEX_HOME", ".codex")):
        monkeypatch.setenv(name, str(tmp_path / folder))


class Turning(Hostile):
    """Arms every value with letters that turn the direction."""

    def arm(self, place: str, *, name: str | None = None) -> str:  # noqa: ARG002
        return super().arm(place, name="bidi")


class Visible(HTMLParser):
    """What a reader sees of a page: its text and its attributes, but for those that a script or a form sends back."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_hidden = tag == "input" and dict(attrs).get("type") == "hidden"
        for key, value in attrs:
            if not key.startswith("data-") and not (is_hidden and key == "value"):
                self.texts.append((f"{tag} {key}", value or ""))

    def handle_data(self, data: str) -> None:
        self.texts.append(("text", data))


def shape(address: str) -> tuple[str, ...]:
    """What kind of page it is: one of each is looked at."""
    parts = urlsplit(address)
    return (_IDS.sub("N", parts.path)[:60], *(name for name, _ in parse_qsl(parts.query)))


def pages(app: Starlette) -> dict[str, str]:
    """One page of each kind that can be reached by links."""
    todo, kinds, found = list(_STARTS), set[tuple[str, ...]](), dict[str, str]()
    while todo:
        address = todo.pop(0)
        if address.startswith("/static") or shape(address) in kinds or len(shape(address)) > 2:
            continue
        kinds.add(shape(address))
        answer = ask(app, "GET", address)
        if "html" in (answer.header("content-type") or ""):
            found[address] = answer.text
            todo += map(unescape, _HREF.findall(answer.text))
    return found


@pytest.mark.parametrize("way", ["said", "named"])
def test_no_page_holds_a_letter_that_turns_the_direction(way: str, tmp_path: Path) -> None:
    hostile = Turning("http://127.0.0.1:1/x")
    for log in DEMO.rglob("*.jsonl"):
        arm_log(log, tmp_path / "logs" / log.relative_to(DEMO), WAYS[way], hostile)
    found = pages(unguarded_app(site_over(tmp_path / "logs", tmp_path / "home"), routes()))
    assert len(found) > 20
    for address, text in found.items():
        assert not _TURNS.search(text), address
        seen = Visible()
        seen.feed(text)
        assert [one for one in seen.texts if _TURNS.search(one[1])] == [], address


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    folder = tmp_path / "logs/.claude/projects/-work"
    for session, cwd in ((ONE, f"/work/{NAME}"), (TWO, "/work/other")):
        log = Log(session, cwd=cwd).prompt("go")
        log.answer(
            f"msg_{session[0]}", tool(f"toolu_{session[0]}", f"use{NAME}", command="ls"), stop="tool_use"
        )
        log.result(f"toolu_{session[0]}", "done")
        log.write(folder / f"{session}.jsonl")
    return unguarded_app(site_over(tmp_path / "logs", tmp_path / "home"), routes())


def test_the_filter_takes_the_project_that_the_list_offers(app: Starlette) -> None:
    offered = re.findall(r'<option value="([^"]*)"></option>', got(app, "/calls"))
    assert offered == ["other", "safe⟨U+202E⟩gnp.exe⟨U+202C⟩"]
    for name in (*map(unescape, offered), NAME):
        text = got(app, f"/calls?project={quote(name)}")
        assert total(text) == 1
        assert (
            'name="project" value="{}"'.format(
                name.replace("\u202e", "⟨U+202E⟩").replace("\u202c", "⟨U+202C⟩")
            )
            in text
        )
    assert total(got(app, "/calls?project=safe")) == 0


def test_a_hidden_field_sends_back_what_the_log_says(app: Starlette) -> None:
    text = got(app, f"/calls?tool={quote('use' + NAME)}")
    (value,) = re.findall(r'<input type="hidden" name="tool" value="([^"]*)">', text)
    assert value == "usesafe&#x202E;gnp.exe&#x202C;"
    assert total(got(app, f"/calls?tool={quote(unescape(value))}")) == 2
