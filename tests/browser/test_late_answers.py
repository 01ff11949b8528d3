"""Answers that come late: whoever has gone on, closed or taken back something by then is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route

from tests.browser.browsing import settle, until
from tests.browser.conftest import Shown

HERE = "document.querySelector('.is-here')?.id"
CALL = "details.k-call[data-call]"


class Held:
    """Requests that are kept waiting until they are let go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.page, self.pattern = page, pattern
        self.routes: list[Route] = []
        page.route(pattern, lambda route: self.routes.append(route))

    def wait(self, n: int = 1) -> None:
        """Until there are so many."""
        for _ in range(6_000):
            if len(self.routes) >= n:
                return
            self.page.wait_for_timeout(10)
        pytest.fail(f"nobody asked for {self.pattern}")

    def let_go(self) -> None:
        """All of them, the last one first, and those that come."""
        for route in reversed(self.routes):
            with self.page.expect_response(route.request.url):
                route.continue_()
        self.page.unroute(self.pattern)
        settle(self.page)


@pytest.fixture
def session(open_page: Any, lab: Shown) -> Page:
    page: Page = open_page(f"/s/claude/{lab.made['short'].id}")
    return page


def test_what_is_chosen_in_the_palette_and_taken_back_is_not_opened(session: Page) -> None:
    before = session.url
    session.keyboard.press("Control+k")
    session.locator("#palette-list [role=option]").first.wait_for()
    held = Held(session, "**/_/palette?q=d*")
    session.keyboard.type("d")
    session.keyboard.press("Enter")
    held.wait()
    session.keyboard.press("Escape")
    session.unroute("**/_/palette?q=d*")  # the page itself has taken the question back
    settle(session)
    assert session.url == before
    assert not session.locator("dialog.palette").is_visible()


def test_who_goes_on_while_the_end_is_fetched_does_not_land_there(open_page: Any, lab: Shown) -> None:
    page: Page = open_page(f"/s/claude/{lab.made['long'].id}")
    page.keyboard.press("j")
    held = Held(page, "**/rows?*want=*")
    page.keyboard.press("G")
    held.wait()
    page.keyboard.press("j")
    held.let_go()
    seq = page.evaluate("() => Number(document.activeElement.dataset.seq)")
    assert seq < 200
    assert page.evaluate("() => scrollY") < 5_000


def test_a_call_that_could_not_be_fetched_is_fetched_when_it_is_opened_again(
    session: Page, troubles: list[Any]
) -> None:
    troubles[-1].expected = ("ERR_FAILED",)
    session.route("**/call?*", lambda route: route.abort())
    call = session.locator(CALL).first
    summary = call.locator("summary").first
    summary.click()
    call.get_by_text("close it and open it again").wait_for()
    session.unroute("**/call?*")
    summary.click()
    call.locator(".inside").wait_for(state="detached")
    summary.click()
    call.locator(".proof").wait_for()


def test_copying_an_answer_moves_nothing(open_page: Any, lab: Shown) -> None:
    session: Page = open_page(
        f"/s/claude/{lab.made['short'].id}", permissions=["clipboard-read", "clipboard-write"]
    )
    answer = session.locator(".row.speech").first
    before = session.evaluate("() => [history.length, location.hash]")
    answer.hover()
    answer.locator("a.copy").click()
    assert until(session, "() => document.getElementById('toast').textContent === 'Copied'")
    assert session.evaluate("() => [history.length, location.hash]") == before


def test_a_row_that_was_clicked_is_the_one_that_keys_act_on(session: Page) -> None:
    session.keyboard.press("j")
    call = session.locator(CALL).nth(2)
    call.locator("summary").first.click()
    assert until(session, "(id) => document.querySelector('.is-here')?.id === id", call.get_attribute("id"))


def test_esc_closes_find_also_from_a_row(session: Page) -> None:
    session.keyboard.press("/")
    session.keyboard.type("the")
    session.keyboard.press("Enter")
    assert until(session, "() => document.querySelector('.find-said').textContent.includes(' of ')")
    session.evaluate("() => document.querySelector('.win > .row').focus()")
    session.keyboard.press("Escape")
    assert not session.locator(".find-bar").is_visible()


def test_who_chooses_a_row_by_hand_is_not_taken_elsewhere(session: Page) -> None:
    held = Held(session, "**/rows?*want=5*")
    session.evaluate("() => { location.hash = '#r5'; }")  # a line that is folded away: it must be fetched
    held.wait()
    session.keyboard.press("J")
    assert until(session, f"() => {HERE} !== undefined")
    chosen = session.evaluate(f"() => {HERE}")
    held.let_go()
    session.locator("#r5").wait_for(state="attached")
    assert session.evaluate(f"() => {HERE}") == chosen


def test_a_raw_line_does_not_open_a_dialog_that_was_closed(session: Page) -> None:
    session.keyboard.press("j")
    session.keyboard.press("r")
    dialog = session.locator("#raw-dialog")
    dialog.wait_for(state="visible")
    held = Held(session, "**/raw?*")
    session.locator("#raw-inside").get_by_text("after", exact=True).click()
    held.wait()
    session.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    held.let_go()
    assert not dialog.is_visible()
    session.keyboard.press("r")
    dialog.wait_for(state="visible")


def test_of_two_links_that_lead_nowhere_only_the_last_is_told(session: Page) -> None:
    held = Held(session, "**/where?*")
    for n, hash in enumerate(("#cone", "#ctwo"), 1):
        session.evaluate("(hash) => { location.hash = hash; }", hash)
        held.wait(n)
    held.let_go()
    told = session.locator("p.notice.missing").all_inner_texts()
    assert told == ["There is no call two in this session."]
