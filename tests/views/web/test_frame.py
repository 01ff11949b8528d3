"""The frame around every page: landmarks, the lit word, marks, colours, and no way in for what a log says."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.cases import for_each
from tests.views.web.asking import Answer, app_of, ask
from tracklog.app.index.background import IndexStatus
from tracklog.model.session import Outcome, ThreadState, Verdict
from tracklog.model.states import State, WaitingFor
from tracklog.views.web.frame import (
    STATIC,
    NextLink,
    environment,
    fragment,
    page,
    problem,
    quoted,
    static_address,
    with_code,
)

VIEWS = STATIC.parent.parent
TEMPLATES = sorted([*VIEWS.glob("web/templates/*.html"), *VIEWS.glob("html/templates/*.html")])
SCRIPTS = sorted(STATIC.glob("*.js"))
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}\ud800\u202e"


def got(endpoint: object, target: str = "/", *, waiting: int = 0) -> Answer:
    site = SimpleNamespace(
        indexing=SimpleNamespace(status=lambda: IndexStatus(state="fresh", files=2, files_known=2, passes=1)),
        live=SimpleNamespace(waiting=lambda: waiting),
        now=lambda: datetime(2026, 11, 1, tzinfo=UTC),
    )
    return ask(app_of([Route("/", endpoint)], site), "GET", target)  # type: ignore[arg-type]  # any endpoint


def lost(request: Request) -> Response:
    return problem(
        request,
        404,
        "No such session",
        "Try `tracklog doctor`.",
        ways=[NextLink("/sessions", "All sessions")],
    )


def test_a_page_has_its_landmarks_and_a_way_around_the_bar() -> None:
    text = got(lost).text
    for part in (
        '<html lang="en"',
        '<a class="skip" href="#main">',
        '<header class="bar">',
        '<nav class="bar-pages" aria-label="Pages">',
        'role="search"',
        '<main id="main" tabindex="-1"',
        "<footer",
        '<dialog id="help"',
    ):
        assert text.count(part) == 1, part


def test_the_word_of_the_page_is_lit_and_no_other() -> None:
    answer = got(lambda request: page(request, "base.html", nav="sessions"))
    assert re.findall(r"<a [^>]*aria-current[^>]*>[^<]*</a>", answer.text) == [
        '<a href="/sessions" aria-current="page">Sessions</a>'
    ]


def test_the_title_counts_those_who_wait() -> None:
    assert "<title>No such session · tracklog</title>" in got(lost).text
    assert "<title>(3) No such session · tracklog</title>" in got(lost, waiting=3).text


def test_the_search_field_keeps_the_words_of_the_search_page_only() -> None:
    def searching(request: Request) -> Response:
        return page(request, "base.html", nav="search")

    assert 'name="q" value="a&#34;b"' in got(searching, "/?q=a%22b").text
    assert 'name="q" value=""' in got(lost, "/?q=a").text


def test_a_problem_says_what_happened_and_leads_on() -> None:
    answer = got(lost)
    assert answer.status == 404
    assert '<p class="prose">Try <code>tracklog doctor</code>.</p>' in answer.text
    assert '<li><a href="/sessions">All sessions</a></li>' in answer.text


def test_a_problem_that_knows_no_way_leads_to_the_main_pages() -> None:
    answer = got(lambda request: problem(request, 500, "A mistake", "Sorry."))
    assert re.findall(r'<li><a href="([^"]*)">', answer.text) == ["/", "/sessions", "/doctor"]


def test_hostile_words_are_text_and_half_a_character_breaks_nothing() -> None:
    answer = got(lambda request: problem(request, 404, HOSTILE, HOSTILE, ways=[NextLink("/x", HOSTILE)]))
    assert answer.status == 404
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    assert "{{ 7 * 7 }}" in answer.text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("run `a < b` now", "run <code>a &lt; b</code> now"),
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("one ` alone <b>", "one ` alone &lt;b&gt;"),
    ],
)
def test_what_stands_between_backticks_is_code(text: str, html: str) -> None:
    assert with_code(text) == Markup(html)


def test_a_style_has_another_address_for_another_content_and_a_script_has_one() -> None:
    assert re.fullmatch(r"/static/base\.css\?v=[0-9a-f]{12}", static_address("base.css"))
    assert static_address("keys.js") == "/static/keys.js"


@for_each("template", TEMPLATES)
def test_no_template_has_a_script_a_style_or_an_act_inside(template: Path) -> None:
    text = re.sub(r"\{[%#].*?[%#]\}", "", template.read_text(), flags=re.DOTALL)
    assert not re.search(
        r"<style|\sstyle\s*=|\son\w+\s*=|javascript:|<base|<iframe|<object|<embed", text, re.IGNORECASE
    )
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"autoescape|\|\s*safe\b", template.read_text())


@for_each("script", SCRIPTS)
def test_no_script_makes_code_of_text_or_asks_elsewhere(script: Path) -> None:
    text = script.read_text()
    assert not re.search(
        r"\beval\(|new Function|document\.write|insertAdjacentHTML|outerHTML\s*=|setAttribute\(\"style", text
    )
    assert not re.search(r"https?://|//\w+\.\w+/", text.replace("http://www.w3.org/2000/svg", ""))
    for target in re.findall(r"(\w+)\.innerHTML\s*=", text):
        assert re.search(rf"{target}\s*=\s*document\.createElement\(\"template\"\)", text), target


# Marks


def mark(call: str) -> str:
    source = '{% from "_marks.html" import state_mark, verdict_mark %}{{ ' + call + " }}"
    return environment().from_string(source).render()


def shapes() -> dict[str, str]:
    """The shape of every class that has one."""
    css = (STATIC / "marks.css").read_text()
    rules = re.findall(r"((?:\.[\w.-]+,?\s*)+)\{[^}]*?--shape: url\(\"([^\"]*)\"\)", css)
    return {name.strip(): shape for names, shape in rules for name in names.split(",")}


def test_every_verdict_and_every_outcome_has_a_shape_of_its_own() -> None:
    wanted = [f".v-{verdict}" for verdict in get_args(Verdict)]
    wanted += [f".v-backgrounded.o-{outcome}" for outcome in get_args(Outcome)]
    assert len({shapes()[name] for name in wanted}) == len(wanted)


def test_every_state_has_a_shape_of_its_own() -> None:
    of_sessions = [f".s-{state}" for state in get_args(State)]
    of_sessions += [f".s-waiting.w-{what}" for what in get_args(WaitingFor)]
    of_threads = [f".s-{state}" for state in get_args(ThreadState)]
    for wanted in (of_sessions, of_threads):
        assert len({shapes()[name] for name in wanted}) == len(wanted)


@pytest.mark.parametrize(
    ("call", "html"),
    [
        ("verdict_mark('ok')", '<span class="mark v-ok" title="ok">ok</span>'),
        (
            "verdict_mark('lost', 'inferred')",
            '<span class="mark v-lost inferred" title="lost (inferred)">lost (inferred)</span>',
        ),
        (
            "verdict_mark('backgrounded', 'stated', 'killed', true)",
            '<span class="mark v-backgrounded o-killed" title="backgrounded, killed, time limit">'
            "backgrounded, killed, time limit</span>",
        ),
        (
            "verdict_mark('timed_out', timed_out=true)",
            '<span class="mark v-timed_out" title="timed out">timed out</span>',
        ),
        (
            "state_mark('working', none, ['hook Stop', '<3 s'])",
            '<span class="mark s-working" title="working: hook Stop, &lt;3 s">working</span>',
        ),
        (
            "state_mark('waiting', 'permission')",
            '<span class="mark s-waiting w-permission" title="waiting for permission">waiting for permission</span>',
        ),
        (
            "state_mark('waiting')",
            '<span class="mark s-waiting" title="waiting at a dialog">waiting at a dialog</span>',
        ),
    ],
)
def test_a_mark_is_a_word_with_its_evidence(call: str, html: str) -> None:
    assert mark(call) == html


# Colours

TEXTS = ["text", "muted", "link", "assistant", "tool", "agent", "running", "needs", "ok", "failed"]
GROUNDS = ["page", "panel", "raised"]
PAIRS = [
    *[(text, ground) for text in TEXTS for ground in GROUNDS],
    ("add", "add-bg"),
    ("del", "del-bg"),
    ("text", "found-bg"),
]


def colours(selector: str) -> dict[str, str]:
    css = (STATIC / "base.css").read_text()
    body = css.split(f"{selector} {{", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", body))


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


LIGHT, DARK = colours(":root"), colours(':root[data-theme="dark"]')


@for_each("text, ground", PAIRS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_can_be_read(theme: dict[str, str], text: str, ground: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_ring_of_the_focus_can_be_seen(theme: dict[str, str], ground: str) -> None:
    assert contrast(theme["link"], theme[ground]) >= 3
    assert "outline: 2px solid var(--link)" in (STATIC / "base.css").read_text()


def test_the_systems_dark_is_the_chosen_dark() -> None:
    assert colours(':root:not([data-theme="light"])') == DARK
    assert set(DARK) == set(LIGHT)


@pytest.mark.parametrize("sheet", sorted(STATIC.glob("*.css")), ids=lambda path: path.name)
def test_no_style_names_a_colour_that_is_not_there(sheet: Path) -> None:
    text = sheet.read_text()
    named = set(re.findall(r"var\(--([\w-]+)", text))
    defined = set(
        re.findall(
            r"--([\w-]+):", (STATIC / "base.css").read_text() + text + (STATIC / "marks.css").read_text()
        )
    )
    assert named - defined == set()


# Keys


_KEY = re.compile(r'\bkey\(\s*(\[[^\]]*\]|"[^"]*"),')
IN_A_SESSION = {"session.js", "window.js", "nav.js", "find.js"}
IN_LISTS = {"sessions.js", "calls.js", "board.js"}


def keys_declared(text: str) -> set[str]:
    return {name for keys in _KEY.findall(text) for name in re.findall(r'"([^"]*)"', keys)}


def keys_in(names: set[str]) -> set[str]:
    return keys_declared("".join(script.read_text() for script in SCRIPTS if script.name in names))


def keys_of_rows() -> set[str]:
    text = (STATIC / "keys.js").read_text()
    return keys_declared(text.split("export function rows")[1].split("\n}\n")[0])


def keys_documented(heading: str) -> set[str]:
    page = (STATIC.parents[4] / "docs/browser.md").read_text()
    table = page.split(f"### {heading}\n")[1].split("\n#")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_keys_of_lists_are_documented() -> None:
    assert keys_documented("In lists") == keys_of_rows() | keys_in(IN_LISTS)


def test_the_keys_of_a_session_are_documented() -> None:
    assert keys_documented("In a session") == keys_in(IN_A_SESSION)


def test_the_keys_of_all_pages_are_documented() -> None:
    elsewhere = {script.name for script in SCRIPTS} - IN_A_SESSION - IN_LISTS
    assert keys_documented("Everywhere") == keys_in(elsewhere) - keys_of_rows()


def test_half_a_character_in_an_address_is_a_question_mark() -> None:
    assert quoted("agent-\udcff \ud800/&é") == "agent-%3F%20%3F%2F%26%C3%A9"


def test_a_fragment_has_no_frame() -> None:
    assert bytes(fragment("_help.html").body).startswith(b"<dialog")
