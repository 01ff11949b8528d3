"""The page of all calls: every number is a link to exactly the calls behind it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.views.cli.command import tracklog
from tests.views.cli.written import Log, tool, working_day
from tests.views.web.list_pages import got, links, main_links, number, total, walked
from tests.views.web.many_sessions import write_many
from tests.views.web.read_site import site_over
from tracklog.views.web.pages.calls.page import calls
from tracklog.views.web.pages.sessions.page import sessions
from tracklog.views.web.server.routes import unguarded_app

HOSTILE = "<img src=x onerror=alert(1)> \"'`"
ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
_CHIP = re.compile(
    r'<a class="chip" href="([^"]+)"( aria-current="true")?>.*?<span class="num">([\d,]+)</span></a>'
)
_TOOL_ROW = re.compile(r'<th scope="row"><a href="([^"]+)"><bdi>(.*?)</bdi></a></th>\s*(.*?)</tr>', re.S)
_FIGURE = re.compile(r'<td class="num[^"]*">(?:<a href="([^"]+)"(?: title="([^"]*)")?>)?(.*?)(?:</a>)?</td>')


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracklog.views.web.pages.calls.page.PAGE", 50)


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("top")


@pytest.fixture(scope="module")
def app(top: Path) -> Starlette:
    """Many calls in many sessions, two that are known one by one, and one whose every name attacks."""
    logs = top / "logs"
    write_many(logs / ".claude", 80)
    folder = logs / ".claude/projects/-home-dev-project"
    working_day(ONE).write(folder / f"{ONE}.jsonl")
    hostile = Log(TWO, cwd="/work/x").prompt(HOSTILE)
    hostile.answer("msg_h", tool(f"toolu/{HOSTILE}", HOSTILE, command=HOSTILE), stop="tool_use")
    hostile.result(f"toolu/{HOSTILE}", HOSTILE, is_error=True)
    hostile.write(folder / f"{TWO}.jsonl")
    site = site_over(logs, top / "home")
    return unguarded_app(site, [Route("/calls", calls), Route("/sessions", sessions)])


def listed(top: Path, *words: str) -> list[dict[str, object]]:
    """The calls that the command lists."""
    answer = tracklog(
        "calls", *words, "--json", "--no-sync", "--root", top / "logs", "--home", top / "home", home=top
    )
    assert answer.code == 0, answer.err
    rows: list[dict[str, object]] = answer.json["calls"]
    return rows


def ids(addresses: list[str]) -> list[str]:
    return [unquote(address.partition("#c")[2]) for address in addresses]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", ()),
        ("?verdict=error", ("--verdict", "error")),
        ("?tool=bash", ("--tool", "Bash")),
        ("?tool=mcp__tracker", ("--tool", "mcp__tracker")),
        ("?project=project-1&verdict=ok", ("--project", "project-1", "--verdict", "ok")),
        ("?since=2026-02-28&until=2026-02-28", ("--since", "2026-02-28", "--until", "2026-02-28")),
        ("?min_ms=5000", ("--slow", "5000")),
        ("?agent=codex", ("--agent", "codex")),
    ],
)
def test_the_calls_are_those_that_the_command_lists(
    app: Starlette, top: Path, query: str, words: tuple[str, ...]
) -> None:
    found = ids(walked(app, f"/calls{query}"))
    assert sorted(found) == sorted(str(row["id"]) for row in listed(top, *words))
    assert total(got(app, f"/calls{query}")) == len(found)


def test_the_last_call_comes_first_and_the_slowest_if_that_is_asked(app: Starlette, top: Path) -> None:
    rows = {str(row["id"]): row for row in listed(top)}
    by_time = [str(rows[id]["called_at"]) for id in ids(walked(app, "/calls"))]
    assert by_time == sorted(by_time, reverse=True)
    slowest = [rows[id]["took_ms"] for id in ids(walked(app, "/calls?sort=-duration"))]
    known = [float(str(took)) for took in slowest if took is not None]
    assert known == sorted(known, reverse=True)
    assert slowest[len(known) :] == [None] * (len(slowest) - len(known))
    assert len(known) < len(slowest)


@pytest.mark.parametrize(
    "address", ["/calls", "/calls?verdict=ok", "/calls?tool=Bash&since=2026-02-01", "/calls?min_ms=3000"]
)
def test_every_figure_of_a_tool_leads_to_the_calls_that_it_counts(app: Starlette, address: str) -> None:
    rows = [
        (unescape(href), words, _FIGURE.findall(rest))
        for href, words, rest in _TOOL_ROW.findall(got(app, address))
    ]
    assert len(rows) > 4
    for href, words, figures in rows:
        n, errors, p50, p95, longest, together, unknown = figures
        counts = [total(got(app, unescape(one[0]))) if one[0] else 0 for one in figures]
        assert counts[0] == number(n[2]) == total(got(app, href)), words
        assert counts[1] == number((errors[1] or "0 of").split(" of")[0])
        for at, count in ((p50, counts[2]), (p95, counts[3]), (longest, counts[4])):
            assert count == number(at[1].split(" call")[0])
        assert counts[5] == number(together[1].removeprefix("of ").removesuffix(" calls"))
        assert counts[6] == number(unknown[2])
        assert counts[0] == counts[5] + counts[6] or "min_ms" in address


def test_every_verdict_leads_to_the_calls_that_ended_so(app: Starlette) -> None:
    for address in ("/calls", "/calls?tool=Read", "/calls?verdict=error"):
        chips = _CHIP.findall(got(app, address))
        assert len(chips) > 1
        for href, taken, n in chips:
            if not taken:
                assert total(got(app, unescape(href))) == number(n)


def test_the_numbers_on_the_page_of_sessions_are_those_of_the_calls_they_lead_to(app: Starlette) -> None:
    text = got(app, "/sessions")
    cells = re.findall(
        r'<td class="c-(?:calls|errors) num"><a(?: class="bad")? href="([^"]+)">([\d,]+)</a>', text
    )
    assert len(cells) > 60
    for href, n in cells[:30]:
        assert total(got(app, unescape(href))) == number(n)
    sums = re.findall(r'<dt>(?:calls|errors)</dt><dd><a href="([^"]+)">([\d,]+)</a>', text)
    assert len(sums) == 2
    for href, n in sums:
        assert total(got(app, unescape(href))) == number(n)


def test_a_call_leads_to_its_place_in_its_session(app: Starlette) -> None:
    text = got(app, f"/calls?session={ONE}")
    assert sorted(main_links(text)) == [f"/s/claude/{ONE}?call=toolu_{n}#ctoolu_{n}" for n in (1, 2)]
    assert "Exit code 2 make: *** [test] Error 2" in text


def test_the_calls_of_a_thread_are_those_that_it_made(app: Starlette) -> None:
    assert total(got(app, f"/calls?session={ONE}&thread=main")) == 2
    assert total(got(app, f"/calls?session={ONE}&thread=main&verdict=error")) == 1
    nothing = got(app, f"/calls?session={ONE}&thread=a123")
    assert total(nothing) == 0
    assert "without thread “a123”" in nothing
    for way in re.findall(r'<li><a href="([^"]+)">without ', nothing):
        got(app, unescape(way))


def test_how_long_it_took_says_how_that_is_known(app: Starlette) -> None:
    text = got(app, f"/calls?session={ONE}")
    assert 'class="by-log" title="between two lines of the log' in text
    missing = got(app, "/calls?took=unknown")
    assert total(missing) > 0
    assert len(re.findall(r'c-took num"><span class="none" title="[^"]+">–<', missing)) == total(missing)


def test_names_that_attack_are_only_text(app: Starlette) -> None:
    text = got(app, f"/calls?tool={quote(HOSTILE)}&verdict=error")
    assert total(text) == 1
    assert "<img" not in text
    assert ids(main_links(text)) == [f"toolu/{HOSTILE}"]
    assert all("<" not in link for link in links(text))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/calls?min_ms=soon", "is no number of milliseconds"),
        ("/calls?min_ms=nan", "is no number of milliseconds"),
        ("/calls?took=maybe", "is “known” or “unknown”"),
        ("/calls?thread=main", "A thread belongs to a session"),
        ("/calls?copies=yes", "Copies can only be left out"),
        ("/calls?sort=size", "There is no order"),
        ("/calls?since=whenever", "is no time"),
        ("/calls?after=W10", "does not say where the list goes on"),
        ("/calls?after=" + "W" * 399, "does not say where the list goes on"),
    ],
)
def test_what_cannot_be_meant_is_said_with_a_way_on(app: Starlette, address: str, words: str) -> None:
    text = got(app, address, 400)
    assert words in text
    assert "The list without it" in text


def test_odd_values_find_nothing_and_break_nothing(app: Starlette) -> None:
    for name in ("project", "agent", "session", "tool", "verdict"):
        for value in ("\x00", "../../etc/passwd", "%", "mcp__", "💥" * 300, "\\"):
            got(app, f"/calls?{name}={quote(value)}")
            got(app, f"/calls?session={ONE}&thread={quote(value)}")
    for value in ("-1", "inf", "-inf", "1e400", "0"):
        got(app, f"/calls?min_ms={value}")


def test_nothing_that_fits_says_which_filter_to_drop(app: Starlette) -> None:
    text = got(app, "/calls?tool=Bash&verdict=blocked")
    assert total(text) == 0
    assert "without verdict “blocked”" in text
    assert "without any filter" in text
