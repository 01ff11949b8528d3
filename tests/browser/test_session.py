"""The page of a session, as hands meet it: what its address says, small screens, what is copied, words that come up."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import until
from tests.browser.conftest import Shown

N_ROWS = "() => document.querySelectorAll('.win > .row').length"
PHONE = {"width": 390, "height": 844, "is_mobile": True, "has_touch": True}


@pytest.fixture
def address(lab: Shown) -> str:
    return f"/s/claude/{lab.made['short'].id}"


AT = "(end) => location.href.endsWith(end)"


def test_the_address_says_whether_every_line_is_shown(open_page: Any, address: str) -> None:
    page: Page = open_page(f"{address}#r5")
    button = page.locator("#all-lines")
    for all, left in (("a", "b"), ("b", "a")):
        page.keyboard.press(all)
        page.keyboard.press(left)
    assert until(page, AT, f"{address}#r5")
    page.keyboard.press("a")
    assert until(page, AT, f"{address}?all=1#r5")
    page.keyboard.press("b")
    assert until(page, AT, f"{address}?all=1&left=1#r5")
    page.reload()
    assert button.get_attribute("aria-pressed") == "true"
    many = page.evaluate(N_ROWS)
    page.keyboard.press("a")
    assert until(page, "(id) => document.getElementById(id).ariaPressed === 'false'", "all-lines")
    assert until(page, AT, f"{address}?left=1#r5")
    assert until(page, f"(many) => {{ const n = ({N_ROWS})(); return n > 0 && n < many; }}", many)


SMALL = """(selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
  .map((one) => one.getBoundingClientRect()).filter((box) => box.width < 40 || box.height < 40).length"""


def test_on_a_telephone_a_row_leads_to_its_line_and_is_copied(open_page: Any, address: str) -> None:
    page: Page = open_page(address, **PHONE)
    said = page.locator(".row.speech").first
    assert said.locator("a.raw").is_visible()
    assert said.locator("a.copy").is_visible()
    call = page.locator("details.row[data-call]").first
    assert not call.locator("a.raw").is_visible()
    call.locator("summary").first.click()
    call.locator(".inside").wait_for()
    assert page.evaluate(SMALL, ".tools a") == 0
    call.locator("a.raw").click()
    page.locator("#raw-dialog").wait_for(state="visible")
    assert page.evaluate(SMALL, "#raw-close") == 0
    page.locator("#raw-close").click()
    assert not page.locator("#raw-dialog").is_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_on_a_telephone_whatever_opens_something_is_large_enough_for_a_finger(
    open_page: Any, address: str
) -> None:
    for path in (address, f"/raw{address[2:]}?seq=2"):
        page: Page = open_page(path, **PHONE)
        assert page.locator("summary").count() > 1
        assert page.evaluate(SMALL, "summary") == 0


COPIED = """async () => {
  for (let n = 0; n < 100 && !(await navigator.clipboard.readText()); n++) await new Promise((go) => setTimeout(go, 20));
  return navigator.clipboard.readText();
}"""


def test_pointing_at_code_moves_nothing_and_copies_what_is_pointed_at(open_page: Any, address: str) -> None:
    page: Page = open_page(address, permissions=["clipboard-read", "clipboard-write"])
    page.locator("details.row[data-call]:has(.diffstat)").first.locator("summary").first.click()
    blocks = page.locator(".diff table, .inside pre:not(.numbers)")
    blocks.first.wait_for()
    tops = "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top + scrollY))"
    before = blocks.evaluate_all(tops)
    for n in range(blocks.count()):
        blocks.nth(n).hover(position={"x": 20, "y": 6})
        assert blocks.evaluate_all(tops) == before
        page.evaluate("() => navigator.clipboard.writeText('')")
        page.locator(".on-code").click()
        assert page.evaluate(COPIED) == blocks.nth(n).inner_text()


def test_words_that_come_up_are_above_the_raw_line(open_page: Any, address: str) -> None:
    page: Page = open_page(address, permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.locator("#toast").wait_for(state="visible")
    assert page.locator("#toast").inner_text() == "Link copied"
    before = _picture(page, "#toast")
    page.keyboard.press("r")
    page.locator("#raw-dialog").wait_for(state="visible")
    assert _picture(page, "#toast") == before  # neither the dialog lies over it, nor the shade around that


def _picture(page: Page, selector: str) -> bytes:
    box = page.locator(selector).bounding_box()
    assert box is not None
    clip = {"x": box["x"] + 4, "y": box["y"] + 2, "width": box["width"] - 8, "height": box["height"] - 4}
    return page.screenshot(clip=clip)  # type: ignore[arg-type]


def test_the_raw_line_leads_back_to_its_row_without_another_page(open_page: Any, address: str) -> None:
    page: Page = open_page(address)
    page.keyboard.press("a")
    assert until(page, f"() => ({N_ROWS})() > 0")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.locator("#raw-dialog").wait_for(state="visible")
    page.evaluate("() => { document.documentElement.dataset.same = 'yes'; }")
    page.locator("#raw-inside").get_by_text("after", exact=True).click()
    page.locator("#raw-inside").get_by_text("in the session").click()
    assert until(page, "() => !document.getElementById('raw-dialog').open")
    assert until(page, "() => `#${document.activeElement.id}` === location.hash")
    assert page.evaluate("() => [document.documentElement.dataset.same, location.search]") == [
        "yes",
        "?all=1",
    ]


@pytest.mark.parametrize(
    ("hash", "words"),
    [
        ("#t999", "There is no turn 999 in this session."),
        ("#cbogus", "There is no call bogus in this session."),
        ("#L99999", "There is no line 99999 in this session."),
        ("#r99999", "There is no line 99999 here: it has "),
        ("#c<b>x", "There is no call <b>x in this session."),
    ],
)
def test_what_an_address_names_that_is_not_there_is_said_on_top_until_another_place_is_wanted(
    open_page: Any, address: str, hash: str, words: str
) -> None:
    page: Page = open_page(address + hash)
    notice = page.locator("p.notice.missing")
    notice.wait_for()
    assert notice.inner_text().startswith(words)
    page.locator(".row a.at[href='#r1'], .row a.at").first.click()
    assert until(page, "() => !document.querySelector('.notice.missing')")


PLACE = """() => {
  const row = document.querySelector(".is-here");
  const { top, bottom } = row.getBoundingClientRect();
  return [row.id, top < innerHeight && bottom > 0];
}"""
TOAST = "(words) => document.getElementById('toast').textContent === words"


@pytest.mark.parametrize(
    ("forth", "back", "word"), [("J", "K", "prompt"), ("e", "E", "error")], ids=["prompts", "errors"]
)
def test_who_looks_for_one_more_than_there_is_stays_and_is_told(
    open_page: Any, address: str, forth: str, back: str, word: str
) -> None:
    page: Page = open_page(f"{address}#r5")
    for key, words in ((forth, f"no further {word}"), (back, f"no earlier {word}")):
        seen = _walked(page, key, words)
        assert len(seen) > 2
        assert seen == sorted(seen, reverse=key == back)
        place = page.evaluate(PLACE)
        page.evaluate("() => { document.getElementById('toast').textContent = ''; }")
        page.keyboard.press(key)
        assert until(page, TOAST, words)
        assert page.evaluate(PLACE) == place


HERE = "document.querySelector('.is-here')?.id"


def _walked(page: Page, key: str, end: str) -> list[float]:
    """The rows to which a key leads, one press after the other, until it says that there is none."""
    seen: list[float] = []
    while not page.evaluate(TOAST, end):
        before = page.evaluate(f"() => {HERE}")
        page.keyboard.press(key)
        is_moved = f"([before, end]) => ({HERE} ?? before) !== before || ({TOAST})(end)"
        assert until(page, is_moved, [before, end])
        seen.append(float(page.evaluate(f"() => {HERE}").removeprefix("r")))
    return seen
