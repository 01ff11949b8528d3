"""Logs in which every text attacks, through every page: nothing of them runs, calls out, or changes a page.

What a browser makes of a text is asked for, not what we think it makes of it: a script that ran says so, a request to
elsewhere is heard by the canary, and what stands in the document is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.attacks import ATTACKS, armed
from tests.browser.browsing import Troubles, browsing, until
from tests.browser.conftest import Enemy
from tests.browser.homes import HOSTILE_IDS, HOSTILE_NAMES, PICTURES_ID
from tests.browser.hostile import PICTURES
from tests.soak import IS_SOAK

SESSIONS = {
    **{f"claude {way}": f"/s/claude/{id}" for way, id in HOSTILE_IDS.items()},
    **{f"codex {way}": f"/s/codex/0198{id[4:]}" for way, id in HOSTILE_IDS.items()},
    "demo": "/s/claude/64c2b3d3-02a7-45ea-9075-0b01f88daf64",
    "demo of codex": "/s/codex/01a1e154-a0c6-7710-adcf-811e5f7e7cdb",
}
LISTS = {
    "board": "/?all=1",
    "sessions": "/sessions",
    "sessions by cost": "/sessions?sort=-cost",
    "calls": "/calls",
    "calls that failed": "/calls?verdict=error",
    "doctor": "/doctor",
    "search for a script": "/search?q=script",
    "search for a picture": "/search?q=onerror",
    "search for a phrase": "/search?q=%22img+src%22",
}
QUERIES = (
    "q",
    "project",
    "agent",
    "model",
    "tool",
    "verdict",
    "since",
    "sort",
    "after",
    "session",
    "thread",
    "at",
    "find",
    "file",
)

# What must not be in a document, whoever wrote the text that became it.
FOREIGN = """(base, page) => {
  const OURS = '<noscript><meta http-equiv="refresh" content="5"></noscript>'; // loads a page again while logs are read
  const bad = [];
  const see = (what, one) => bad.push(`${what}: ${one.outerHTML.slice(0, 200)}`);
  for (const one of page.querySelectorAll("*")) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on")) see(name, one);
      if (["src", "href", "action", "formaction", "data", "poster", "srcset", "xlink:href", "background"].includes(name)) {
        const address = (() => { try { return new URL(value, base); } catch { return null; } })();
        if (address && /^(javascript|vbscript|data|file|blob):/.test(address.protocol) && !(one.tagName === "IMG" && /^data:image\\/(png|jpeg|gif|webp)[;,]/.test(value))) see("address", one);
        if (address && name !== "href" && /^https?:/.test(address.protocol) && address.origin !== base) see("elsewhere", one);
        if (one.tagName === "LINK" && address && address.origin !== base) see("elsewhere", one);
      }
    }
  }
  for (const one of page.querySelectorAll("script:not([src]), style, iframe, object, embed, base, noscript, math, foreignObject, audio, video, frame, applet"))
    if (one.outerHTML !== OURS) see("element", one);
  for (const one of page.querySelectorAll("meta[http-equiv]")) see("meta", one);
  for (const one of page.querySelectorAll("a[name], img[name], form[name], [name=getElementById], [popover]:not(section.thread > #toast), [ping]")) see("clobbering", one);
  for (const [id, one] of Object.entries(Object.groupBy([...page.querySelectorAll("[id]")], (one) => one.id)))
    if (one.length > 1) see(`id ${id} stands twice`, one[1]);
  for (const one of page.querySelectorAll("a[href^=http]")) {
    if (new URL(one.getAttribute("href"), base).origin !== base && !(one.rel.includes("noreferrer") || one.rel.includes("noopener"))) see("link without noreferrer", one);
    if (one.target) see("link with a target", one);
  }
  for (const one of page.querySelectorAll("main [style]:not(.win)")) see("style attribute", one);
  if ((page.title + page.body.innerText).includes("700021")) bad.push("a template ran");
  return bad.slice(0, 10);
}"""


@pytest.fixture(scope="module")
def visit(browser: Browser, enemy: Enemy) -> Iterator[Any]:
    """Opens a page on the hostile home, and looks at all that came of it."""
    with browsing(browser, enemy.served.base, enemy.state) as (page, troubles):

        def visited(path: str, *, status: tuple[int, ...] = (200,)) -> Page:
            troubles.forget()
            troubles.expected = ("status of 4",)
            answer = page.goto(path)
            assert answer is not None
            assert answer.status in status, (path, answer.status)
            return page

        visited.troubles = troubles  # type: ignore[attr-defined]
        yield visited


def assert_harmless(page: Page, enemy: Enemy, troubles: Troubles) -> None:
    troubles.settle(page)
    found = [_traced(one, enemy) for one in troubles.left()]
    assert found == []
    assert page.evaluate(f"(base) => ({FOREIGN})(base, document)", enemy.served.base) == []
    assert page.url.startswith(enemy.served.base)
    assert [_traced(one, enemy) for one in enemy.canary.asked] == []


def _traced(complaint: str, enemy: Enemy) -> str:
    marks = [mark for mark in enemy.hostile.where if mark in complaint]
    return f"{complaint} [{'; '.join(enemy.hostile.where[mark] for mark in marks)}]"


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_hostile_sessions_is_harmless(visit: Any, enemy: Enemy, name: str) -> None:
    page = visit(LISTS[name])
    assert_harmless(page, enemy, visit.troubles)
    _unfold(page, visit.troubles)
    assert_harmless(page, enemy, visit.troubles)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_hostile_session_is_harmless_however_it_is_unfolded(visit: Any, enemy: Enemy, name: str) -> None:
    page = visit(SESSIONS[name])
    assert until(page, "() => document.querySelectorAll('.row').length > 2")
    for share in (0, 0.5, 1):
        page.evaluate("share => scrollTo(0, document.documentElement.scrollHeight * share)", share)
        page.wait_for_timeout(150)
        _unfold(page, visit.troubles)
        assert_harmless(page, enemy, visit.troubles)


def _unfold(page: Page, troubles: Troubles) -> None:
    """Opens every call, every thought and every fold in the page, and moves over them."""
    page.evaluate(
        """() => { for (const one of document.querySelectorAll("details:not([open])")) one.open = true; }"""
    )
    troubles.settle(page)
    page.evaluate(
        """() => {
          for (const one of document.querySelectorAll("main *")) {
            one.dispatchEvent(new PointerEvent("pointerenter", { bubbles: true }));
            one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
          }
          for (const one of document.querySelectorAll("main [tabindex]")) one.focus({ preventScroll: true });
        }"""
    )


# What the browser makes of many pages, without running them: what could run would be found in them.
FETCHED = """async ([base, links]) => {
  const foreign = IS_FOREIGN, found = { bad: [], statuses: {} };
  for (const link of links) {
    const answer = await fetch(link);
    found.statuses[answer.status] = (found.statuses[answer.status] ?? 0) + 1;
    if (answer.redirected) found.bad.push(`${link} leads elsewhere`);
    if (!/^text\\/(html|plain)|^application\\/json/.test(answer.headers.get("content-type"))) continue;
    if (!answer.headers.get("content-type").startsWith("text/html")) continue;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    found.bad.push(...foreign(base, page).map((one) => `${link}: ${one}`));
  }
  return found;
}""".replace("IS_FOREIGN", FOREIGN)


def fetched(page: Page, enemy: Enemy, links: Iterable[str]) -> dict[str, int]:
    """How these addresses were answered; nothing foreign stands in any answer."""
    found = page.evaluate(FETCHED, [enemy.served.base, sorted(set(links))])
    assert [_traced(one, enemy) for one in found["bad"]] == []
    statuses: dict[str, int] = found["statuses"]
    return statuses


_PART = 1 if IS_SOAK else 3  # of the links and lines of a session, and of the attacks at an address


@pytest.mark.parametrize("name", SESSIONS)
def test_all_that_a_hostile_session_leads_to_is_harmless(visit: Any, enemy: Enemy, name: str) -> None:
    """Raw lines, subagents, calls unfolded, filters, parts of pages: links of the page, and every window.

    One of three links and lines is tried in each session, others in the next; a soak run tries all.
    """
    first = list(SESSIONS).index(name) % _PART
    page = visit(SESSIONS[name])
    links = page.evaluate(
        """() => [...document.querySelectorAll("main a[href]")].map((one) => one.getAttribute("href")).filter((one) => one.startsWith("/"))"""
    )
    windows = [f"/_{SESSIONS[name]}/rows?from={n}&n=100" for n in (1, 101, 201)]
    raws = [f"/raw{SESSIONS[name][2:]}?seq={n}" for n in range(1, 60, 3)]
    tried = [*links[:80][first::_PART], *raws[first::_PART]]
    statuses = fetched(page, enemy, [*windows, *tried])
    assert set(statuses) <= {"200", "404"}
    assert statuses["200"] >= 20 // _PART
    assert_harmless(page, enemy, visit.troubles)


def test_a_hostile_home_is_harmless_without_scripts(browser: Browser, enemy: Enemy) -> None:
    with browsing(browser, enemy.served.base, enemy.state, java_script_enabled=False) as (page, troubles):
        for path in (*SESSIONS.values(), *LISTS.values()):
            answer = page.goto(path)
            assert answer is not None
            assert answer.status == 200
        assert troubles.left() == []
    assert enemy.canary.asked == []


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_session_with_a_hostile_name_has_a_page_that_its_links_lead_to(
    visit: Any, enemy: Enemy, name: str
) -> None:
    listed = [one for one in enemy.served.api("sessions")["sessions"] if one["id"] == name]
    assert len(listed) == 1
    page = visit(f"/s/claude/{quote(name, safe='')}")
    assert until(page, "() => document.querySelectorAll('.row').length > 2")
    _unfold(page, visit.troubles)
    assert_harmless(page, enemy, visit.troubles)


REFLECTING = (
    "/sessions",
    "/calls",
    "/search",
    "/_/search",
    "/_/palette",
    "/api/v1/sessions",
    SESSIONS["demo"],
)
WITHOUT_QUERIES = ("/", "/doctor")


@pytest.mark.parametrize("path", [*REFLECTING, *WITHOUT_QUERIES])
def test_an_attack_in_the_address_is_harmless_in_every_answer(visit: Any, enemy: Enemy, path: str) -> None:
    page = visit("/search")
    words = _quoted(enemy)
    first = [*REFLECTING, *WITHOUT_QUERIES].index(path)
    one = [f"{path}?{QUERIES[n % len(QUERIES)]}={words[n]}" for n in range(first % _PART, len(words), _PART)]
    together = [
        f"{path}?" + "&".join(f"{name}={word}" for name in QUERIES) for word in words[first % 4 :: 4 * _PART]
    ]
    statuses = fetched(page, enemy, [*(one if path in REFLECTING else ()), *together])
    assert set(statuses) <= {"200", "400", "404"}


def test_an_attack_in_the_path_is_harmless_in_the_answer(visit: Any, enemy: Enemy) -> None:
    page = visit("/search")
    paths = [*REFLECTING, *WITHOUT_QUERIES]
    statuses = fetched(
        page, enemy, [f"/x{word}{paths[n % len(paths)]}" for n, word in enumerate(_quoted(enemy))]
    )
    assert set(statuses) <= {"400", "404"}


def _quoted(enemy: Enemy) -> list[str]:
    return [quote(_given(attack, enemy)[:160], safe="") for attack in ATTACKS]


@pytest.mark.parametrize(
    "attack", ["script", "attribute-double", "template-end", "beacon", "javascript-template"]
)
def test_an_attack_in_the_address_is_harmless_when_the_page_runs(
    visit: Any, enemy: Enemy, attack: str
) -> None:
    word = quote(_given(attack, enemy), safe="")
    for path in ("/search?q=", "/sessions?q=", f"{SESSIONS['demo']}?find="):
        assert_harmless(visit(f"{path}{word}"), enemy, visit.troubles)


def _given(attack: str, enemy: Enemy) -> bytes:
    return armed(attack, mark=f"given-{attack}", canary=enemy.canary.address).encode("utf-8", "replace")


@pytest.mark.parametrize("attack", ["script", "attribute-double", "beacon", "bidi"])
def test_an_attack_that_is_typed_is_harmless(visit: Any, enemy: Enemy, attack: str) -> None:
    text = _given(attack, enemy).decode()[:300]
    page = visit("/search")
    with page.expect_response(lambda answer: "/_/search?" in answer.url):
        page.locator("main input[name=q]").fill(text)
    assert_harmless(page, enemy, visit.troubles)
    visit("/doctor")
    page.keyboard.press("Control+k")
    with page.expect_response(lambda answer: "/_/palette?q=" in answer.url):
        page.keyboard.insert_text(text)
    assert_harmless(page, enemy, visit.troubles)
    visit(SESSIONS["demo"])
    page.keyboard.press("/")
    with page.expect_response(lambda answer: "/find?" in answer.url):
        page.keyboard.insert_text(text)
    assert_harmless(page, enemy, visit.troubles)


def test_a_hash_that_attacks_is_harmless(visit: Any, enemy: Enemy) -> None:
    page = visit(SESSIONS["demo"])
    for attack in (
        "script",
        "onerror",
        "attribute-double",
        "javascript-template",
        "traversal",
        "nul",
        "prototype",
    ):
        for kind in "rLtc":
            page.evaluate("hash => { location.hash = hash }", kind + _given(attack, enemy).decode())
            visit.troubles.settle(page)
    assert_harmless(page, enemy, visit.troubles)


@pytest.mark.parametrize("name", PICTURES)
def test_what_a_log_calls_a_picture_is_one_or_nothing(visit: Any, enemy: Enemy, name: str) -> None:
    """By its own first bytes, in a box, and nothing of it runs, opened by itself or as a part of a page."""
    address = f"/picture/claude/{PICTURES_ID}?seq={list(PICTURES).index(name) + 1}&n=0"
    status, headers, body = enemy.served.ask(address)
    data, kind = PICTURES[name]
    if kind is None:
        assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")
    else:
        assert (status, headers["content-type"], body) == (200, kind, data)
        assert headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert headers["content-disposition"].startswith("attachment; filename=")
    page = visit(address, status=(200,) if kind else (404,))
    assert (page.locator("img.whole-picture").count() == 1) == (kind is not None)
    visit.troubles.settle(page)
    assert visit.troubles.left() == []
    assert enemy.canary.asked == []


def test_a_session_of_hostile_pictures_is_harmless(visit: Any, enemy: Enemy) -> None:
    page = visit(f"/s/claude/{PICTURES_ID}")
    assert until(page, "() => document.querySelectorAll('.pictures img').length > 2")
    _unfold(page, visit.troubles)
    assert_harmless(page, enemy, visit.troubles)


def test_the_server_says_nothing_of_a_mistake_of_its_own(enemy: Enemy) -> None:
    said = enemy.served.said.read_text()
    assert "Traceback" not in said, said[-3_000:]
