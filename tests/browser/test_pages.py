"""Every page: whole, without complaint, with its landmarks, for eyes, ears, keyboards and narrow screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import Tab, Tabs, Troubles, until
from tests.browser.conftest import Shown
from tests.browser.pages import MISSING, NAMES, pages


class OnePage(NamedTuple):
    """A page that was opened once, for all that is looked at in it."""

    page: Page
    troubles: Troubles
    status: int


@pytest.fixture(scope="module")
def tab(tabs: Tabs) -> Iterator[Tab]:
    """One page for all of them, far from the server's time zone."""
    tab = tabs.take(timezone_id="Asia/Tokyo")
    yield tab
    tabs.give_back(tab)


@pytest.fixture(scope="module", params=NAMES)
def one(request: pytest.FixtureRequest, tab: Tab, lab: Shown) -> OnePage:
    """Each page, opened and come to rest."""
    tab.troubles.forget()
    if request.param in MISSING:  # the browser itself says so
        tab.troubles.expected = ("status of 404",)
    tab.page.emulate_media(color_scheme="null", reduced_motion="null")
    answer = tab.page.goto(pages(lab.made["short"].id)[request.param])
    assert answer is not None
    tab.troubles.settle(tab.page)
    return OnePage(tab.page, tab.troubles, answer.status)


def test_a_page_is_whole(one: OnePage, request: pytest.FixtureRequest) -> None:
    assert one.status == (404 if request.node.callspec.params["one"] in MISSING else 200)
    assert one.page.locator("h1").count() == 1
    assert one.page.title()
    parts = ("header", "main", "footer")
    assert [one.page.locator(f"body > {part}").count() for part in parts] == [1, 1, 1]
    assert one.page.get_by_role("navigation", name="Pages", exact=True).count() == 1


# What a page must have so that it can be heard and used without a mouse; each check returns what is wrong.
CHECKS = {
    "headings in order": """() => {
      const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
        .filter((one) => one.checkVisibility() && !one.closest(".md, dialog")).map((one) => [Number(one.tagName[1]), one.textContent]);
      return levels.filter(([level], n) => level > (n ? levels[n - 1][0] : 0) + 1).map((one) => one.join(" "));
    }""",
    "fields have labels": """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
      .filter((one) => one.ariaHidden !== "true" && !one.labels?.length && !one.ariaLabel && !one.getAttribute("aria-labelledby")).map((one) => one.outerHTML)""",
    "buttons and links have names": """() => [...document.querySelectorAll("button, a[href], summary")]
      .filter((one) => one.checkVisibility())
      .filter((one) => !one.textContent.trim() && !one.ariaLabel && !one.title && !one.querySelector("img[alt]:not([alt=''])"))
      .map((one) => one.outerHTML)""",
    "pictures have words": """() => [...document.querySelectorAll("img:not([alt]), svg[role=img]:not([aria-label]):not(:has(title))")]
      .map((one) => one.outerHTML)""",
    "ids are unique": """() => {
      const all = [...document.querySelectorAll("[id]")].map((one) => one.id);
      return all.filter((id, n) => all.indexOf(id) !== n);
    }""",
    "what is referred to is there": """() => ["aria-labelledby", "aria-describedby", "aria-controls", "for"].flatMap((name) =>
      [...document.querySelectorAll(`[${name}]`)].flatMap((one) => one.getAttribute(name).split(" "))
        .filter((id) => id && !document.getElementById(id)))""",
    "no order of its own for the tab key": """() => [...document.querySelectorAll("[tabindex]")]
      .filter((one) => one.tabIndex > 0).map((one) => one.outerHTML)""",
    "tables have heads": """() => [...document.querySelectorAll("main table")].filter((one) => one.checkVisibility() && !one.querySelector("th"))
      .map((one) => one.outerHTML.slice(0, 200))""",
    "lists hold items": """() => [...document.querySelectorAll("ul > :not(li, template, script), ol > :not(li, template, script)")].map((one) => one.outerHTML.slice(0, 200))""",
    "nothing is clicked that is no control": """() => [...document.querySelectorAll("[role=button]:not(button), div[onclick], span[onclick]")].map((one) => one.outerHTML)""",
    "no style or script stands in the page": """() => [...document.querySelectorAll("style, script:not([src]), [onclick], [onload], [onerror]")].map((one) => one.outerHTML)""",
    "the language is said": "() => document.documentElement.lang ? [] : ['no lang']",
}  # fmt: skip


ALL_CHECKS = f"""() => {{
  const checks = {{ {", ".join(f'"{name}": {check}' for name, check in CHECKS.items())} }};
  return Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, check()]).filter(([, bad]) => bad.length));
}}"""


def test_a_page_can_be_heard_and_used_without_a_mouse(one: OnePage) -> None:
    assert one.page.evaluate(ALL_CHECKS) == {}


SIDEWAYS = """() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const boxes = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1);
  const clipped = (one) => { for (let up = one.parentElement; up; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return true; return false; };
  return boxes.filter((one) => !clipped(one)).slice(0, 5).map((one) => one.outerHTML.slice(0, 160)).concat(`${document.documentElement.scrollWidth} px`);
}"""


def test_nothing_is_beside_the_page_however_narrow_it_is(one: OnePage) -> None:
    wide = {}
    for width in (390, 768, 2400, 1280):
        one.page.set_viewport_size({"width": width, "height": 800 if width == 1280 else 844})
        assert until(one.page, "(width) => innerWidth === width", width)
        wide[width] = one.page.evaluate(SIDEWAYS)
    assert wide == {390: [], 768: [], 2400: [], 1280: []}


# Every text against the ground that it stands on: at least 4.5, or 3 where it is large.
CONTRAST = """() => {
  const channel = (value) => (value /= 255, value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const drawn = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const colours = new Map();
  const rgba = (colour) => colours.get(colour) ?? (colours.set(colour, drawn(colour)), colours.get(colour));
  const over = (top, under) => top.slice(0, 3).map((value, n) => value * top[3] + under[n] * (1 - top[3]));
  const ground = (element) => {
    const layers = [];
    for (let up = element; up; up = up.parentElement) {
      const colour = rgba(getComputedStyle(up).backgroundColor);
      if (colour[3]) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((under, top) => over(top, under), [255, 255, 255]);
  };
  const opacity = (element) => { let all = 1; for (let up = element; up; up = up.parentElement) all *= Number(getComputedStyle(up).opacity); return all; };
  const faded = (colour, element) => [...colour.slice(0, 3), colour[3] * opacity(element)];
  const poor = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("meter, progress, select, option") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element);
    if (style.color === "rgba(0, 0, 0, 0)" || style.fontSize === "0px") continue;
    const under = ground(element);
    const [a, b] = [light(over(faded(rgba(style.color), element), under)), light(under)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.7 && Number(style.fontWeight) >= 600);
    if (ratio < (large ? 3 : 4.5)) poor.set(`${element.className || element.tagName} ${style.color}`, `${ratio.toFixed(2)} ${node.textContent.trim().slice(0, 40)}`);
  }
  return Object.fromEntries(poor);
}"""


def test_every_text_can_be_told_from_its_ground_by_day_and_by_night(one: OnePage) -> None:
    one.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    light = one.page.evaluate(CONTRAST)
    one.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert (light, one.page.evaluate(CONTRAST)) == ({}, {})


def test_nothing_moves_for_those_who_want_no_motion(one: OnePage) -> None:
    one.page.emulate_media(reduced_motion="reduce")
    assert one.page.evaluate("() => document.getAnimations().length") == 0
    assert one.page.evaluate(MOVING) == []


MOVING = """() => [...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  const longest = (words) => Math.max(...words.split(",").map((word) => parseFloat(word) * (word.endsWith("ms") ? 1 : 1000)));
  return longest(style.transitionDuration) > 1 || longest(style.animationDuration) > 1 || style.scrollBehavior === "smooth";
}).map((one) => one.outerHTML.slice(0, 100))"""


def test_times_are_relative_and_exact_when_pointed_at(one: OnePage) -> None:
    bare = """() => [...document.querySelectorAll("time")].filter((one) => !one.dateTime || (one.hasAttribute("data-rel") && !one.title))
      .map((one) => one.outerHTML)"""
    assert one.page.evaluate(bare) == []


def test_the_tab_key_reaches_controls_and_shows_where_it_is(one: OnePage) -> None:
    one.page.evaluate("() => (document.activeElement.blur(), scrollTo(0, 0))")
    one.page.evaluate(FOCUSED)
    for _ in range(12):
        one.page.keyboard.press("Tab")
    places = one.page.evaluate("() => focused")
    assert [place["what"] for place in places if not place["ring"]] == []
    assert len({place["what"] for place in places}) >= 8


# Keeps each control that gets the focus, and whether that can be seen.
FOCUSED = """() => {
  globalThis.focused = [];
  addEventListener("focusin", ({ target }) => {
    const style = getComputedStyle(target);
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    focused.push({ what: target.outerHTML.slice(0, 120), ring: ring || style.boxShadow !== "none" });
  });
}"""


def test_a_page_complains_of_nothing(one: OnePage) -> None:
    """The last one here: whatever was done with the page before, it said nothing."""
    assert one.troubles.left() == []


def test_colours_follow_the_system_and_the_choice_which_is_kept(open_page: Any) -> None:
    page = open_page("/")
    page.emulate_media(color_scheme="dark")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    assert dark != light
    for _ in range(3):
        page.locator("#theme").click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    assert page.evaluate(ground) == dark
    page.reload()
    assert page.evaluate(ground) == dark
    page.emulate_media(color_scheme="null")


def test_the_first_link_skips_to_the_content(open_page: Any) -> None:
    page = open_page("/sessions")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert until(page, "() => document.activeElement.id === 'main'")


TOUCHED = (
    "header.bar a",
    "button",
    ".button",
    "input:not([type=hidden])",
    "select",
    "a.chip",
    ".facet a",
    ".choice",
)
OPENED = (".main-link", "summary", "a.hit", ".b-title", ".c-session a")


@pytest.mark.parametrize("path", ["/?all=1", "/sessions?agent=claude", "/calls", "/search?q=test", "/doctor"])
def test_touched_things_are_large_enough_on_a_telephone(open_page: Any, path: str) -> None:
    page = open_page(path, width=390, height=844, is_mobile=True, has_touch=True)
    small = """(touched) => [...document.querySelectorAll(touched)]
      .filter((one) => one.checkVisibility()).map((one) => [one.outerHTML.slice(0, 120), Math.round(one.getBoundingClientRect().height)])
      .filter(([, height]) => height < 40)"""
    assert page.evaluate(small, ", ".join([*TOUCHED, *OPENED])) == []


def test_the_board_says_on_a_telephone_what_was_used_since_when_and_who_is_quiet_for_how_long(
    open_page: Any,
) -> None:
    page = open_page("/", width=390, height=844)
    row = page.locator(".b-row", has_text="the idle thing").inner_text()
    assert "tokens" in row
    assert "began" in row
    assert "since" in row


def test_pointing_at_a_changed_line_leaves_its_ground(open_page: Any, lab: Shown) -> None:
    page = open_page(f"/s/claude/{lab.made['short'].id}")
    page.locator("details.row[data-call]:has(.diffstat)").first.locator("summary").first.click()
    changed = page.locator(".diff tr.d-add").first
    ground = "(one) => getComputedStyle(one).backgroundColor"
    before = changed.evaluate(ground)
    changed.hover()
    assert changed.evaluate(ground) == before
