"""A session of very many records (50,000 in a soak run): light all the while, without a hole anywhere.

How fast is measured by bench/serve.py, on a machine that does nothing else; here limits are wide, as tests share theirs.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page

from bench.made.long_session import NEEDLE
from bench.serve_browser import ALIVE, ROWS_IN_VIEW, memory, scroll_through
from bench.serve_streams import line
from tests.browser.browsing import settle, until
from tests.browser.conftest import Shown
from tests.browser.homes import N_LONG

MOST_NODES = 6_000
MOST_HEAP_MB = 100
TOP_ROW = """() => {
  const row = [...document.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().bottom > 200);
  return [row.dataset.seq, Math.round(row.getBoundingClientRect().top)];
}"""


MIDDLE = N_LONG // 2
IN_VIEW = """(seq) => [...document.querySelectorAll(`[data-seq="${seq}"]`)].some((one) => {
  const box = one.getBoundingClientRect();
  return box.height && box.bottom > 0 && box.top < innerHeight;
})"""


def jump(page: Page, seq: int) -> None:
    """Go to a line by its address, and wait until it is in view."""
    page.evaluate("(seq) => { location.hash = `#L${seq}`; }", seq)
    assert until(page, IN_VIEW, seq), seq


@pytest.fixture
def long(open_page: Any, lab: Shown) -> Page:
    page: Page = open_page(f"/s/claude/{lab.made['long'].id}")
    assert until(page, ROWS_IN_VIEW)
    return page


def test_the_first_answer_is_small_and_has_the_head_the_outline_and_rows(lab: Shown) -> None:
    status, _, body = lab.served.ask(f"/s/claude/{lab.made['long'].id}")
    assert status == 200
    assert len(body) < 250_000
    assert body.count(b'class="row') > 20


def test_any_line_is_reached_by_its_address(long: Page) -> None:
    for seq in (N_LONG - 1, MIDDLE, 1, MIDDLE + 1_234, 777):
        jump(long, seq)
        assert long.evaluate(ALIVE) <= MOST_NODES


def test_scrolling_from_end_to_end_leaves_no_holes_and_few_nodes(long: Page) -> None:
    seen = scroll_through(long, steps=25, patience_ms=60_000)
    assert seen["holes"] == []
    assert seen["most_nodes"] <= MOST_NODES
    assert memory(long)["heap_mb"] <= MOST_HEAP_MB


def test_turning_the_wheel_fast_leaves_no_holes(long: Page) -> None:
    jump(long, MIDDLE - 3_000)
    for _ in range(60):
        long.mouse.wheel(0, 900)
    assert until(long, ROWS_IN_VIEW)
    assert long.evaluate(ALIVE) <= MOST_NODES


def test_find_counts_every_hit_and_leads_from_one_to_the_next(long: Page, lab: Shown) -> None:
    long.keyboard.press("/")
    long.keyboard.insert_text(NEEDLE)
    long.keyboard.press("Enter")
    assert until(long, "() => /\\d[\\d,]{2,}/.test(document.querySelector('.find-said')?.textContent ?? '')")
    is_all = (
        "() => !/[…+]/.test(document.querySelector('.find-said').textContent)"  # an answer may come in parts
    )
    assert until(long, is_all)
    said = long.locator(".find-said").inner_text()
    total = max(int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", said))
    lines = lab.made["long"].path.read_bytes().splitlines()
    truth = sum(1 for one in lines if NEEDLE.encode() in one)
    assert total >= N_LONG * 0.06
    assert total >= truth * 0.9
    first = long.evaluate("() => scrollY")
    long.keyboard.press("Escape")
    long.keyboard.press("n")
    settle(long)
    long.keyboard.press("n")
    assert until(long, "(y) => scrollY !== y", first)


def test_lines_that_come_in_do_not_move_the_page_under_a_reader(long: Page, lab: Shown) -> None:
    jump(long, MIDDLE)
    settle(long)
    before = long.evaluate(TOP_ROW)
    made = lab.made["long"]
    for n in range(5):
        with made.path.open("ab") as stream:
            stream.write(line(made.id, f"while somebody reads {n}"))
    assert until(long, "() => !document.getElementById('new-rows').hidden")
    assert "new" in long.locator("#new-rows").inner_text()
    assert long.evaluate(TOP_ROW) == before
    long.locator("#new-rows").click()
    assert until(long, "() => document.querySelector('#rows').textContent.includes('while somebody reads 4')")


def test_raw_of_any_line_is_the_line(long: Page, lab: Shown) -> None:
    jump(long, MIDDLE + 345)
    long.keyboard.press("r")
    dialog = long.locator("#raw-dialog")
    dialog.wait_for(state="visible")
    record = json.loads(lab.made["long"].path.read_bytes().splitlines()[MIDDLE + 344])
    assert record.get("uuid", record["type"]) in dialog.inner_text()
    long.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_rows_of_a_subagent_that_is_shown_in_its_place_are_passed_by(open_page: Any, lab: Shown) -> None:
    page: Page = open_page(f"/s/claude/{lab.made['short'].id}")
    some = page.locator(".win > details.k-call:has(a.spawned)").first
    for _ in range(20):
        if some.count():
            break
        page.mouse.wheel(0, 1_500)
        settle(page)
    id = some.get_attribute("data-call")
    page.evaluate("(id) => { location.hash = `#c${id}`; }", id)  # which unfolds it
    call = page.locator(f'.win > [data-call="{id}"]')
    call.locator("[data-inline-thread]").click()
    page.wait_for_selector(".inline-thread .row")
    call.evaluate("(row) => row.focus()")
    seq = int(call.get_attribute("data-seq") or 0)
    page.keyboard.press("j")
    assert until(page, "(seq) => Number(document.activeElement.dataset.seq) > seq", seq)
    assert page.evaluate("() => document.activeElement.matches('.win > .row')")
    page.keyboard.press("k")
    assert until(page, "(seq) => Number(document.activeElement.dataset.seq) === seq", seq)


ERROR_HERE = """(before) => {
  const row = document.activeElement?.closest(".win > .row");
  return row && row.id !== before && row.matches(".is-bad, :has(> summary > :is(.v-error, .v-timed_out, .v-lost))");
}"""
PROMPT_HERE = "(before) => { const row = document.activeElement; return row?.matches('.k-prompt') && row.id !== before; }"


@pytest.mark.parametrize(
    ("key", "is_there"), [("e", ERROR_HERE), ("K", PROMPT_HERE)], ids=["error", "prompt"]
)
def test_what_is_far_away_is_reached_without_walking_there(long: Page, key: str, is_there: str) -> None:
    """Every window on the way was fetched and shown: 17 seconds from one error to the next."""
    jump(long, MIDDLE)
    asked: list[str] = []
    long.on("request", lambda one: asked.append(one.url))
    for n in range(60):
        if n >= 12 and any("/next?" in url for url in asked):
            break
        before = long.evaluate("() => document.activeElement?.id")
        n_before = len(asked)
        long.keyboard.press(key)
        assert until(long, is_there, before)
        assert len([url for url in asked[n_before:] if "/next?" in url]) <= 1
    assert any("/next?" in url for url in asked)


def test_while_the_index_does_not_know_a_session_its_rows_are_looked_through(long: Page) -> None:
    long.route("**/next?*", lambda route: route.fulfill(json={"seq": None, "is_sure": False}))
    jump(long, MIDDLE)
    for key, is_there in (*[("e", ERROR_HERE)] * 6, *[("K", PROMPT_HERE)] * 6):
        before = long.evaluate("() => document.activeElement?.id")
        long.keyboard.press(key)
        assert until(long, is_there, before)
