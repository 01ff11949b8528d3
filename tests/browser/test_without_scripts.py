"""The whole way without scripts: every page is read, every filter and every link works."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import follow
from tests.browser.conftest import Shown
from tests.browser.homes import N_LONG
from tests.browser.pages import DEMO_CLAUDE, MISSING, NAMES, pages


@pytest.fixture
def plain(open_page: Any, troubles: Any) -> Any:
    """Opens a page in a browser that runs no scripts."""

    def opened(path: str, **options: Any) -> Page:
        page: Page = open_page(path, java_script_enabled=False, **options)
        return page

    return opened


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_read_without_scripts(plain: Any, lab: Shown, troubles: Any, name: str) -> None:
    page = plain(pages(lab.made["short"].id)[name])
    if name in MISSING:
        troubles[-1].expected = ("status of 404",)
    assert page.locator("h1").count() == 1
    assert page.locator("main").inner_text().strip()
    assert page.locator("footer").inner_text().strip()
    assert page.locator(".scripted-only:visible").count() == 0


def test_from_the_board_to_a_call_by_links_alone(plain: Any) -> None:
    page = plain("/")
    follow(page.get_by_role("navigation").get_by_role("link", name="Sessions"))
    follow(page.locator(f'main a[href*="{DEMO_CLAUDE}"]').first)
    assert f"/s/claude/{DEMO_CLAUDE}" in page.url
    follow(page.locator("a.unfold:visible").first)
    assert "open=" in page.url
    assert page.locator(".inside").first.count() == 1


def test_a_long_session_is_walked_by_links(plain: Any, lab: Shown) -> None:
    page = plain(f"/s/claude/{lab.made['long'].id}")
    seqs = [int(page.locator(".row").first.get_attribute("data-seq") or 0)]
    for _ in range(3):
        follow(page.get_by_role("link", name="later lines"))
        seqs.append(int(page.locator(".row").first.get_attribute("data-seq") or 0))
    follow(page.get_by_role("link", name="earlier lines"))
    seqs.append(int(page.locator(".row").first.get_attribute("data-seq") or 0))
    assert seqs == [*sorted(seqs[:4]), seqs[2]]
    assert len(set(seqs)) == 4


def test_a_line_of_a_long_session_is_shown_by_its_address(plain: Any, lab: Shown) -> None:
    middle = N_LONG // 2
    page = plain(f"/s/claude/{lab.made['long'].id}?at={middle}#r{middle}")
    numbers = [
        int(one) for one in page.locator(".row").evaluate_all("rows => rows.map((row) => row.dataset.seq)")
    ]
    assert min(numbers) <= middle <= max(numbers)


def test_the_search_field_searches(plain: Any) -> None:
    page = plain("/")
    page.locator("#q").fill("tally")
    with page.expect_navigation():
        page.locator("#q").press("Enter")
    assert "/search?q=tally" in page.url
    follow(page.locator('main a[href^="/s/"]').first)
    assert "/s/" in page.url
    assert page.locator(".row").count() > 0


def test_filters_of_lists_are_links_and_forms(plain: Any) -> None:
    page = plain("/sessions")
    follow(page.locator('main a[href*="agent=codex"]').first)
    assert "agent=codex" in page.url
    assert page.locator("main").get_by_text("codex").count() > 0
    page.go_back()
    form = page.locator('main form[method="get"]').first
    assert form.count() == 1
