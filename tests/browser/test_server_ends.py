"""The server ends while pages are open, and comes back: they say so, and go on by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.made.long_session import write_claude
from bench.made.words import Words
from tests.browser.browsing import browsing, until
from tests.browser.homes import LIVING, LONG_NAMED, living
from tests.browser.serving import Homes, Served, free_port, serving
from tests.fork_server import run

DOT = "(state) => document.getElementById('live-dot').dataset.state === state"
FOOT = "(words) => document.getElementById('foot').textContent.includes(words)"
FRESH = f"() => ({FOOT})('indexed') && !({FOOT})('tracklog serve')"
BOARD = "(words) => document.getElementById('board').textContent.includes(words)"
GONE = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "status of 401")


def test_tabs_say_that_the_server_is_gone_and_go_on_when_it_is_back_and_its_link_was_opened(
    browser: Browser, tmp_path: Path
) -> None:
    """Two tabs that share one stream, and two that have one each, in a browser without shared workers."""
    homes, port = Homes(tmp_path), free_port()
    base, words = f"http://127.0.0.1:{port}", ("--port", str(port))
    with (
        living(homes) as live,
        browsing(browser, base, None) as (shared, troubles),
        browsing(browser, base, None) as (alone, more_troubles),
    ):
        troubles.expected = more_troubles.expected = GONE
        alone.context.add_init_script("delete globalThis.SharedWorker")
        boards = [shared, alone]
        lists = [page.context.new_page() for page in boards]
        with serving(homes, *words) as served:
            _sign_in(served, boards)
            for page in lists:
                page.goto("/calls")
            for page in (*boards, *lists):
                assert until(page, DOT, "on")
        for page in (*boards, *lists):
            assert until(page, DOT, "lost")
            assert until(page, FOOT, "`tracklog serve` starts it again")
        live.reply("said while nobody listened", session=LIVING["idle"])
        with serving(homes, *words) as served:
            _sign_in(served, [page.context.new_page() for page in boards])
            for page in (*boards, *lists):
                assert until(page, DOT, "on")
                assert until(page, FRESH)  # that it is indexed may stand among the last words, too
            for page in boards:
                assert until(page, BOARD, "said while nobody listened")
        assert troubles.left() + more_troubles.left() == []


def _sign_in(served: Served, pages: Iterable[Page]) -> None:
    """Open a link in each page: a link works once, and a second `tracklog serve` prints another."""
    for page in pages:
        again = ["serve", "--no-open", "--port", str(served.port)]
        printed = run(again, env=served.homes.environment(), cwd=served.homes.top, timeout_s=60)
        page.goto(printed.stdout.decode().split()[0])
        page.wait_for_selector("nav")  # the link leads on to the board


SAID = "() => document.getElementById('rows').innerText"
N_SHOWN = "document.querySelectorAll('.win > .row').length"
UNFETCHED = "() => document.getElementById('rows').textContent.includes('could not be fetched')"


def test_what_is_read_stays_while_the_server_is_gone_and_the_rest_comes_when_it_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    """One key emptied a session, and asked sixty times a second for what nobody could give."""
    homes, port = Homes(tmp_path), free_port()
    words = ("--port", str(port))
    made = write_claude(homes.claude, n_records=900, seed=5, words=Words(1, lines=2_000))
    with living(homes), browsing(browser, f"http://127.0.0.1:{port}", None) as (page, troubles):
        troubles.expected = GONE
        other = page.context.new_page()
        with serving(homes, *words) as served:
            page.goto(served.link)
            page.wait_for_selector("nav")
            page.goto(f"/s/claude/{LONG_NAMED}")  # its last line is folded into its call
            other.goto(f"/s/claude/{made.id}")
            assert until(page, DOT, "on")
            assert until(other, DOT, "on")
            failed = _failed_windows(page)
        assert until(page, DOT, "lost")
        page.bring_to_front()  # a page behind another one takes one turn of the wheel a second
        before, n_before = page.evaluate(SAID), page.evaluate(f"() => {N_SHOWN}")
        asked = _windows_asked(page)
        page.keyboard.press("G")
        while not failed:  # by this key, or by a line that came as the server ended; the page asks once
            page.wait_for_event("requestfailed")
        for _ in range(20):
            page.keyboard.press("G")
            page.mouse.wheel(0, 100)
        page.keyboard.press("a")
        assert until(page, "() => document.getElementById('all-lines').ariaPressed === 'true'")
        assert page.evaluate(SAID) == before
        assert len(asked) < 6
        other.keyboard.press("G")
        assert until(other, UNFETCHED)
        with serving(homes, *words) as served:
            third = page.context.new_page()
            third.goto(served.link)
            third.wait_for_selector("nav")
            assert until(page, f"(n) => {N_SHOWN} > n", n_before)  # every line, as was wanted meanwhile
            assert until(other, f"() => !({UNFETCHED})() && {N_SHOWN} > 0")
        assert troubles.left() == []


def _failed_windows(page: Page) -> list[str]:
    """The addresses of windows that a page asks for in vain, from now on."""
    failed: list[str] = []
    page.on("requestfailed", lambda one: failed.append(one.url) if "/rows?" in one.url else None)
    return failed


def _windows_asked(page: Page) -> list[str]:
    """The addresses of windows that a page asks for, from now on."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/rows?from=1&" in one.url else None)
    return asked
