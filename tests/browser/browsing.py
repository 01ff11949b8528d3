"""The browser, and all that a page may do wrong in it.

Rules of this room
  1. Debian's Chromium, or the one that CHROMIUM names; nothing is fetched from anywhere.
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

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
)

EVIL = "evil.test"  # a name whose owner lets it point at this machine
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


class NoBrowser(Exception):  # noqa: N818 (it says what is the case)
    """There is no Chromium on this machine."""


def chromium() -> str:
    """Where the browser is."""
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
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

    def watch(self, context: BrowserContext) -> None:
        """Listens to everything, in every page of a context."""
        context.add_init_script(_SPIES)
        context.expose_binding("__pwned", lambda _, mark: self.found.append(f"script of a log ran: {mark}"))
        context.on("console", self._console)
        context.on("weberror", lambda error: self.found.append(f"uncaught: {error.error}"))
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on(
            "page", lambda page: page.on("download", lambda one: self.found.append(f"download: {one.url}"))
        )

    def left(self) -> list[str]:
        """All that no test called for."""
        return [one for one in self.found if not any(part in one for part in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"console {message.type}: {message.text[:300]} ({message.location.get('url')})")

    def _dialog(self, dialog: Any) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if f"{parts.scheme}://{parts.netloc}" != self.base:
            self.found.append(f"request to elsewhere: {request.url[:200]}")


@contextmanager
def browsing(browser: Browser, base: str, state: Any, **options: Any) -> Iterator[tuple[Page, Troubles]]:
    """A page that is signed in, in a context of its own, with all its troubles kept."""
    options = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "timezone_id": "UTC", **options}
    context = browser.new_context(base_url=base, storage_state=state, **options)
    context.set_default_timeout(15_000)
    troubles = Troubles(base)
    troubles.watch(context)
    try:
        yield context.new_page(), troubles
    finally:
        context.close()


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


def until(page: Page, is_so: str, arg: Any = None, *, patience_ms: int = 10_000) -> bool:
    """Whether a JavaScript function says yes in time; it looks at every frame, and once more for pages that are hidden.

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
  const frame = () => new Promise((go) => { requestAnimationFrame(go); setTimeout(go, 50); });
  while (!isSo(arg)) {
    if (performance.now() - began > limit) return false;
    await frame();
  }
  return true;
}"""
