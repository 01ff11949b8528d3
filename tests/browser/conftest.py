"""One browser and a few servers for all tests here; where there is no browser they are skipped, and fail where `CI=true`.

Everything is given back when the tests of this folder are over: while Playwright runs, no other test of the same process
could run a loop of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from bench.made.long_session import Made
from tests.browser.browsing import NoBrowser, Tabs, Troubles, chromium, launch, sign_in
from tests.browser.canary import Canary, canary_at_work
from tests.browser.homes import hostile_home, lab_home, living
from tests.browser.hostile import Hostile
from tests.browser.serving import Homes, Served, serving
from tests.live.live_home import LiveHome

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups, also if only this folder is asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two groups for two workers: each shares a browser, and one of them the lab's server."""
    for item in items:
        if item.path.is_relative_to(HERE):
            group = "browser" if "lab" in getattr(item, "fixturenames", ()) else "browser-other"
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium."""
    try:
        chromium()
    except NoBrowser as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no browser: {reason}", pytrace=False)
        pytest.skip(f"no browser: {reason}")
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()


class Shown(NamedTuple):
    """A server, and the cookies of a browser that is signed in."""

    served: Served
    state: Any
    made: dict[str, Made]
    live: LiveHome


@pytest.fixture(scope="package")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Replayed lab sessions, one with every incident, and a very long one; all of it is indexed."""
    homes = Homes(tmp_path_factory.mktemp("lab-home"))
    with living(homes) as live:
        made = lab_home(homes)
        with serving(homes) as served:
            state = sign_in(browser, served.link)
            served.wait_until_indexed()
            yield Shown(served, state, made, live)


class Enemy(NamedTuple):
    """A server over a home in which everything attacks."""

    served: Served
    state: Any
    hostile: Hostile
    canary: Canary


@pytest.fixture(scope="package")
def enemy(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enemy]:
    """Hostile logs, served; the canary hears if anything of them calls."""
    homes = Homes(tmp_path_factory.mktemp("hostile-home"))
    with canary_at_work() as canary:
        hostile = hostile_home(homes, canary.address)
        with serving(homes) as served:
            state = sign_in(browser, served.link)
            served.wait_until_indexed()
            yield Enemy(served, state, hostile, canary)


@pytest.fixture
def troubles(request: pytest.FixtureRequest) -> Iterator[list[Troubles]]:
    """The troubles of all pages of a test: there are none when it is over."""
    all_of_them: list[Troubles] = []
    yield all_of_them
    assert [one for troubles in all_of_them for one in troubles.left()] == []


@pytest.fixture(scope="package")
def tabs(browser: Browser, lab: Shown) -> Iterator[Tabs]:
    """Pages that are signed in to the lab's server, used by one test after the other."""
    tabs = Tabs(browser, lab.served.base, lab.state)
    yield tabs
    tabs.close()


@pytest.fixture
def open_page(tabs: Tabs, troubles: list[Troubles]) -> Iterator[Any]:
    """Opens pages on the lab's home, no two in one context: `open_page("/", width=390, …)`."""
    used = []

    def opened(path: str = "/", *, width: int = 1280, height: int = 800, **options: Any) -> Page:
        tab = tabs.take(viewport={"width": width, "height": height}, **options)
        used.append(tab)
        troubles.append(tab.troubles)
        tab.page.goto(path)
        return tab.page

    yield opened
    for tab in used:
        tabs.give_back(tab)
