"""The browser, and all that a page may do wrong in it.

Rules of this room
  1. Debian's Chromium, or the one that CHROMIUM names; nothing is downloaded. Its headless build goes first: the same
     engine, for a fifth less CPU.
  2. Whatever a page complains of, opens, or asks for elsewhere is kept; no test passes with any of it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
)

EVIL = "evil.test"  # a name whose owner lets it point at this machine
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    f"--host-resolver-rules=MAP {EVIL} 127.0.0.1",
)
_SPIES = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample} ${event.sourceFile}:${event.lineNumber}`));
addEventListener("unhandledrejection", (event) => console.error(`unhandled: ${event.reason}`));
"""
# Two frames and a task: what an answer that has arrived does to a page is done by then.
_SHOWN = """() => new Promise((done) => {
  const frame = (then) => { const late = setTimeout(then, 100); requestAnimationFrame(() => (clearTimeout(late), then())); };
  frame(() => frame(() => setTimeout(done)));
})"""
PATIENCE_S = 60.0


class NoBrowser(Exception):  # noqa: N818 (it says what is the case)
    """No Chromium on this machine."""


def chromium() -> str:
    """Path of the browser: the first of the Makefile's BROWSERS that is installed."""
    for name in (os.environ.get("CHROMIUM"), *BROWSERS):
        if name and (found := shutil.which(name)):
            return found
    raise NoBrowser("install chromium (`make browser`), or say where one is: CHROMIUM=…")


def launch(playwright: Playwright, *more: str) -> Browser:
    """A browser without a window."""
    return playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, *more])


@dataclass
class Troubles:
    """What went wrong in the pages of one context."""

    base: str
    found: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()  # parts of complaints that a test calls for
    unanswered: set[Request] = field(
        default_factory=set
    )  # of those that change a page when they are answered

    def watch(self, context: BrowserContext) -> None:
        """Listens to everything, in every page of a context."""
        _WATCHED[context] = self
        context.add_init_script(_SPIES)
        context.expose_binding("__pwned", lambda _, mark: self.found.append(f"script of a log ran: {mark}"))
        context.on("console", self._console)
        context.on("weberror", lambda error: self.found.append(f"uncaught: {error.error}"))
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on("requestfinished", self._answered)
        context.on("requestfailed", self._answered)
        context.on(
            "page", lambda page: page.on("download", lambda one: self.found.append(f"download: {one.url}"))
        )

    def forget(self) -> None:
        """Start again with nothing found and nothing expected."""
        self.found.clear()
        self.unanswered.clear()
        self.expected = ()

    def settle(self, page: Page) -> None:
        """Wait until every request is answered and the page has shown the answers."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            page.evaluate(_SHOWN)
            if not self.unanswered:
                return
            assert time.monotonic() < deadline, [one.url for one in self.unanswered]
            page.wait_for_timeout(10)

    def left(self) -> list[str]:
        """All that no test called for."""
        return [one for one in self.found if not any(part in one for part in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"console {message.type}: {message.text[:300]} ({message.location.get('url')})")

    def _dialog(self, dialog: Any) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _answered(self, request: Request) -> None:
        self.unanswered.discard(request)

    def _request(self, request: Request) -> None:
        if request.resource_type in ("fetch", "xhr", "image"):
            self.unanswered.add(request)
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if f"{parts.scheme}://{parts.netloc}" != self.base:
            self.found.append(f"request to elsewhere: {request.url[:200]}")


@contextmanager
def browsing(browser: Browser, base: str, state: Any, **options: Any) -> Iterator[tuple[Page, Troubles]]:
    """A page that is signed in, in a context of its own, with all its troubles kept."""
    context, troubles = _context(browser, base, state, options)
    try:
        yield context.new_page(), troubles
    finally:
        context.close()


def settle(page: Page) -> None:
    """Wait until all that a page has asked for is answered and shown."""
    _WATCHED[page.context].settle(page)


_WATCHED: WeakKeyDictionary[BrowserContext, Troubles] = WeakKeyDictionary()


def _context(
    browser: Browser, base: str, state: Any, options: dict[str, Any]
) -> tuple[BrowserContext, Troubles]:
    options = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "timezone_id": "UTC", **options}
    context = browser.new_context(base_url=base, storage_state=state, **options)
    context.set_default_timeout(PATIENCE_S * 1000)
    troubles = Troubles(base)
    troubles.watch(context)
    return context, troubles


@dataclass
class Tab:
    """A page in a context of its own."""

    page: Page
    troubles: Troubles
    options: str
    tools: CDPSession
    has_scripts: bool


class Tabs:
    """A pool of pages that are signed in: a new context costs a process, a page that is used again does not.

    Rules
      1. A page comes without history, storage, routes, extra tabs and with the pointer in the corner.
      2. Options of a context are those that it was made with: a test that changes them takes a `browsing` of its own.
    """

    def __init__(self, browser: Browser, base: str, state: Any) -> None:
        self._browser, self._base, self._state = browser, base, state
        self._free: dict[str, list[Tab]] = {}

    def take(self, **options: Any) -> Tab:
        """A page that no test uses now."""
        key = repr(sorted(options.items()))
        free = self._free.setdefault(key, [])
        if free:
            tab = free.pop()
            tab.troubles.forget()
            return tab
        context, troubles = _context(self._browser, self._base, self._state, options)
        page = context.new_page()
        has_scripts = options.get("java_script_enabled", True)
        return Tab(page, troubles, key, context.new_cdp_session(page), has_scripts=has_scripts)

    def give_back(self, tab: Tab) -> None:
        """Wait for what comes late, then make the page as good as new."""
        context = tab.page.context
        try:
            if tab.has_scripts:
                tab.page.evaluate(_SHOWN)
            for page in context.pages:
                if page is not tab.page:
                    page.close()
            tab.page.unroute_all(behavior="ignoreErrors")
            tab.troubles.expected += ("/favicon.ico",)  # asked for by a picture that is opened by itself
            tab.page.goto("/static/favicon.svg")  # of our site: Chromium keeps the process
            tab.page.evaluate("() => (localStorage.clear(), sessionStorage.clear())")
            tab.page.mouse.move(0, 0)
            tab.tools.send("Page.resetNavigationHistory")
        except Error:
            context.close()
            raise
        self._free[tab.options].append(tab)

    def close(self) -> None:
        """Close all that are free."""
        for tab in (one for free in self._free.values() for one in free):
            tab.page.context.close()


def sign_in(browser: Browser, link: str) -> Any:
    """The cookies that the link gives."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(link)
        page.wait_for_selector("nav")
        return context.storage_state()
    finally:
        context.close()


def follow(link: Locator) -> None:
    """Clicks, and waits for the page to which that leads."""
    with link.page.expect_navigation():
        link.click()


def until(page: Page, is_so: str, arg: Any = None, *, patience_ms: int = 60_000) -> bool:
    """Whether a JavaScript function says yes in time; it looks every 20 ms, whether the page is hidden or not.

    A page that loads itself anew meanwhile is looked at again. Playwright's own `wait_for_function` needs `eval`, which our
    policy forbids.
    """
    deadline = time.monotonic() + patience_ms / 1000
    while True:
        left_ms = max(0, round((deadline - time.monotonic()) * 1000))
        try:
            looked: bool = page.evaluate(_LOOKING.replace("IS_SO", is_so), [arg, left_ms])
        except Error as error:
            if not left_ms or not any(words in error.message for words in _LOADED_ANEW):
                raise
            page.wait_for_load_state("domcontentloaded")
        else:
            return looked


_LOADED_ANEW = ("Execution context was destroyed", "Cannot find context with specified id")


_LOOKING = """async ([arg, limit]) => {
  const began = performance.now(), isSo = IS_SO;
  while (!(await isSo(arg))) {
    if (performance.now() - began > limit) return false;
    await new Promise((go) => setTimeout(go, 20));  // frames would be drawn for us alone
  }
  return true;
}"""
