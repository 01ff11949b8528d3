"""What pages of other sites get from the server, in a browser that is signed in to it: nothing, not even whether it is there.

A cookie knows no ports: to a page at another port of 127.0.0.1 the browser hands ours over. What keeps it out is what the
browser says of it, in Origin and Sec-Fetch-Site.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response

from tests.browser.browsing import EVIL
from tests.browser.canary import Canary, canary_at_work
from tests.browser.conftest import Shown

Json = dict[str, Any]
ATTEMPTS = (Path(__file__).parent / "evil.js").read_text()
WAYS = [
    "fetch a page", "fetch the api", "fetch without cors", "fetch with a header", "post a form by fetch", "post json", "beacon",
    "old request", "event stream", "web socket", "picture", "script", "module", "style", "prefetch", "frame", "object", "form",
    "window", "worker",
]  # fmt: skip
# Where the other page is, and by which name it calls us.
PLACES = {
    "another site": (f"http://{EVIL}:{{theirs}}", "http://127.0.0.1:{ours}"),
    "another port": ("http://127.0.0.1:{theirs}", "http://127.0.0.1:{ours}"),
    "another name of this machine": ("http://localhost:{theirs}", "http://127.0.0.1:{ours}"),
    "a name that was rebound": (f"http://{EVIL}:{{theirs}}", f"http://{EVIL}:{{ours}}"),
    "a page without an origin": ("data:text/html,<body>", "http://127.0.0.1:{ours}"),
}


@pytest.fixture(scope="module")
def evil() -> Iterator[Canary]:
    with canary_at_work(page="<!doctype html><title>x</title><body>") as canary:
        yield canary


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, browser: Browser, lab: Shown, evil: Canary) -> Iterator[Elsewhere]:
    theirs, ours = PLACES[request.param]
    context = browser.new_context(storage_state=lab.state)
    page = context.new_page()
    page.goto(theirs.format(theirs=evil.server_port))
    page.evaluate(f"() => {{ {ATTEMPTS}; globalThis.attempt = attempt; }}")
    yield Elsewhere(page, ours.format(ours=lab.served.port))
    context.close()


class Elsewhere:
    """A page of another site, and what our server said to it, as the network saw it: the browser shows the page less."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.statuses: list[int] = []
        self.sent: list[Json] = []  # headers
        self._ours: set[str] = set()
        network = page.context.new_cdp_session(page)
        network.on("Network.requestWillBeSentExtraInfo", self._asked)
        network.on("Network.responseReceivedExtraInfo", self._answered)
        network.send("Network.enable")
        page.context.on("page", lambda window: window.on("response", self._opened))

    @property
    def is_kept_back(self) -> bool:
        """Whether the browser does not even ask: a page of no address may not ask this machine."""
        return self.page.url.startswith("data:") and not self.sent

    def _asked(self, event: Json) -> None:
        headers = {name.lower(): value for name, value in event["headers"].items()}
        if headers.get("host") == self.base.removeprefix("http://"):
            self._ours.add(event["requestId"])
            self.sent.append(headers)

    def _answered(self, event: Json) -> None:
        if event["requestId"] in self._ours:
            self.statuses.append(event["statusCode"])

    def _opened(self, response: Response) -> None:
        """A window that the page opened has a network of its own."""
        if response.url.startswith(f"{self.base}/"):
            self.statuses.append(response.status)

    def attempt(self, *ways: str) -> dict[str, str]:
        """What each way got; all are tried at the same time."""
        self.statuses.clear()
        self.sent.clear()
        self._ours.clear()
        got: dict[str, str] = self.page.evaluate(
            """async ([ways, base]) => Object.fromEntries(
              await Promise.all(ways.map(async (way) => [way, await attempt(way, base)])))""",
            [ways, self.base],
        )
        for _ in range(100):  # what the page is not told may come later
            if len(self.statuses) >= len(self._ours):
                break
            self.page.wait_for_timeout(10)
        return got


def test_a_page_of_another_site_gets_nothing(place: Elsewhere) -> None:
    assert place.attempt(*WAYS) == dict.fromkeys(WAYS, "refused")
    assert set(place.statuses) <= {401, 403, 405}
    assert len(place.statuses) > 10 or place.page.url.startswith("data:")


WORKS_WITHIN = (
    "fetch a page",
    "fetch the api",
    "old request",
    "event stream",
    "picture",
    "script",
    "module",
    "style",
)


def test_the_same_ways_lead_in_from_a_page_of_ours(browser: Browser, lab: Shown) -> None:
    """So that what is refused above is refused for where it comes from."""
    context = browser.new_context(storage_state=lab.state)
    page = context.new_page()
    page.goto(f"{lab.served.base}/doctor")
    page.evaluate(f"() => {{ {ATTEMPTS}; globalThis.attempt = attempt; }}")
    for way in WORKS_WITHIN:
        got = page.evaluate("([way, base]) => attempt(way, base)", [way, lab.served.base])
        assert got != "refused", way
    context.close()


def test_the_server_itself_refuses_and_not_the_browser_alone(place: Elsewhere) -> None:
    place.attempt("fetch without cors")
    assert place.statuses == [403] or place.is_kept_back


def test_a_cookie_does_go_out_to_us_from_another_port(
    place: Elsewhere, request: pytest.FixtureRequest
) -> None:
    """Browsers take all ports of a host for one site: the cookie alone would let such a page in."""
    place.attempt("fetch without cors")
    is_near = request.node.callspec.params["place"] == "another port"
    assert ["cookie" in headers for headers in place.sent] == [is_near] or place.is_kept_back


def test_all_ways_are_tried(place: Elsewhere) -> None:
    assert place.page.evaluate("attempt()") == WAYS


def test_a_name_that_was_rebound_is_not_answered_to(browser: Browser, lab: Shown) -> None:
    context = browser.new_context(storage_state=lab.state)
    page = context.new_page()
    answer = page.goto(f"http://{EVIL}:{lab.served.port}/")
    assert answer is not None
    assert answer.status == 403
    assert EVIL not in page.content()
    context.close()


def test_a_link_on_another_site_leads_to_a_page_that_asks_first(
    browser: Browser, lab: Shown, evil: Canary
) -> None:
    """Who follows it sees no board; a click on the page, which is ours, goes on."""
    context = browser.new_context(storage_state=lab.state)
    page = context.new_page()
    page.goto(f"http://{EVIL}:{evil.server_port}/")
    page.evaluate("address => { location = address }", f"{lab.served.base}/sessions")
    page.wait_for_url("**/sessions")
    assert page.locator("table").count() == 0
    page.get_by_role("link").click()
    page.wait_for_selector("table")
    context.close()


def test_the_cookie_is_for_requests_of_ours_alone(lab: Shown) -> None:
    (cookie,) = lab.state["cookies"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie["domain"] == "127.0.0.1"
    assert cookie["name"].startswith("tracklog_")
