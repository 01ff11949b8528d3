"""What happens while a page is open: it is there by itself, in a moment, and disturbs nobody."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Browser, Page, Route

from bench.serve_browser import appends
from tests.browser.browsing import browsing, settle, until
from tests.browser.conftest import Shown
from tests.browser.homes import LIVING

SHOWS_WHAT_THE_SERVER_SAYS = """async () => {
  const board = new DOMParser().parseFromString(await (await fetch("/_/board")).text(), "text/html");
  const marks = (page) => [...page.querySelectorAll("#board [data-mark]")].map((one) => one.id + one.dataset.mark).join();
  return marks(document) === marks(board);
}"""
ROW = "() => [...document.querySelectorAll('.b-row')].find((one) => one.textContent.includes('{}'))"


def test_the_board_has_its_groups_with_state_evidence_and_what_is_done(open_page: Any) -> None:
    page = open_page("/")
    assert until(page, "() => document.querySelectorAll('.b-row').length >= 5")
    titles = page.locator("section.b-group h2").all_inner_texts()
    assert [title.split("\n")[0].split(" ")[0] for title in titles][:2] == ["Needs", "Working"]
    waiting = page.locator(".b-row", has_text="the waiting thing")
    assert "permission" in waiting.inner_text()
    assert "make waiting" in waiting.inner_text()
    assert waiting.locator("summary").get_attribute("title")


def test_title_and_icon_count_who_waits(open_page: Any) -> None:
    page = open_page("/sessions")
    assert page.title().startswith("(2) ")
    icon = "() => document.querySelector('link[rel=icon]').href"
    assert until(page, f"() => ({icon})().startsWith('data:image/png')")
    when_nobody_waits = f"async () => ((await import('/static/favicon.js')).count(0), ({icon})())"
    assert "/static/favicon.svg" in page.evaluate(when_nobody_waits)


def test_a_session_that_begins_to_wait_comes_to_the_top_by_itself(open_page: Any, lab: Shown) -> None:
    page = open_page("/")
    assert until(page, "() => document.querySelectorAll('.b-row').length >= 5")
    path = _registration(lab, "idle")
    was = path.read_text()
    try:
        path.write_text(
            json.dumps({**json.loads(was), "status": "waiting", "waitingFor": "permission prompt"})
        )
        assert until(page, "() => document.title.startsWith('(3) ')")
        needs = "() => document.querySelector('section.b-group').textContent.includes('the idle thing')"
        assert until(page, needs)
    finally:
        path.write_text(was)
    assert until(page, "() => document.title.startsWith('(2) ')")


def test_rows_do_not_jump_under_the_pointer(open_page: Any, lab: Shown) -> None:
    page = open_page("/")
    assert until(page, "() => document.querySelectorAll('.b-row').length >= 5")
    page.locator(".b-row", has_text="the working thing").hover()
    order = "() => [...document.querySelectorAll('.b-row')].map((one) => one.id)"
    before = page.evaluate(order)
    path = _registration(lab, "idle")
    was = path.read_text()
    try:
        path.write_text(
            json.dumps({**json.loads(was), "status": "waiting", "waitingFor": "permission prompt"})
        )
        assert until(page, "() => !document.querySelector('.b-held').hidden")
        assert page.evaluate(order) == before
        page.locator("#show-held").click()
        assert until(
            page, "() => document.querySelector('section.b-group').textContent.includes('the idle thing')"
        )
    finally:
        path.write_text(was)


def test_what_is_selected_stays_selected_while_other_rows_change(open_page: Any, lab: Shown) -> None:
    page = open_page("/")
    assert until(page, "() => document.querySelectorAll('.b-row').length >= 5")
    assert until(
        page, "() => !document.querySelector('#board [title=\"not counted yet\"]')"
    )  # else rows change by that
    assert until(page, SHOWS_WHAT_THE_SERVER_SAYS)
    title = page.locator(".b-row", has_text="the waiting thing").locator(".b-title")
    title.evaluate("(one) => getSelection().selectAllChildren(one)")
    lab.live.reply("words that change a row", session=LIVING["growing"], stop=None)
    assert until(
        page, "() => document.getElementById('board').textContent.includes('words that change a row')"
    )
    assert page.evaluate("getSelection().toString()") == title.inner_text()


def test_an_answer_that_breaks_off_does_not_end_the_news(open_page: Any, lab: Shown) -> None:
    page = open_page("/")
    assert until(page, "() => document.querySelectorAll('.b-row').length >= 5")
    page.evaluate("""() => {
      const text = Response.prototype.text;
      Response.prototype.text = function () {
        Response.prototype.text = text;
        document.documentElement.dataset.broke = "yes";
        return Promise.reject(new TypeError("network error"));
      };
    }""")
    lab.live.reply("words that are lost on the way", session=LIVING["growing"], stop=None)
    assert until(page, "() => document.documentElement.dataset.broke === 'yes'")
    lab.live.reply("words that come after all", session=LIVING["growing"], stop=None)
    assert until(
        page, "() => document.getElementById('board').textContent.includes('words that come after all')"
    )


def _registration(lab: Shown, name: str) -> Any:
    paths = lab.served.homes.claude.glob("sessions/*.json")
    return next(one for one in paths if json.loads(one.read_text())["sessionId"] == LIVING[name])


def test_lines_appear_in_a_session_that_runs_as_they_are_written(open_page: Any, lab: Shown) -> None:
    """How soon is measured by bench/serve.py, on a machine that does nothing else."""
    id = LIVING["growing"]
    page = open_page(f"/s/claude/{id}")
    assert until(page, "() => document.querySelectorAll('.row').length >= 2")
    settle(page)
    late_ms = appends(page, lab.live.log(id), id, n=15, gap_s=0.05)
    assert len(late_ms) == 15


def test_who_is_at_the_end_stays_at_the_end(open_page: Any, lab: Shown) -> None:
    id = LIVING["growing"]
    page = open_page(f"/s/claude/{id}")
    assert until(page, "() => document.querySelectorAll('.row').length >= 2")
    for n in range(25):
        lab.live.reply(f"a long word of mine, number {n}.\n\nAnd more of it.", session=id, stop=None)
    assert until(page, "() => document.querySelector('#rows').textContent.includes('number 24')")
    assert until(page, "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 90")


def test_a_call_that_runs_gets_its_verdict_by_itself(open_page: Any, lab: Shown) -> None:
    id = LIVING["growing"]
    page = open_page(f"/s/claude/{id}")
    lab.live.call("toolu_grown", "Bash", session=id, command="echo grown")
    assert until(page, "() => document.querySelector('[data-call=toolu_grown]')")
    lab.live.result("toolu_grown", "grown and done", session=id)
    assert until(page, "() => document.querySelector('[data-call=toolu_grown] .v-ok')")


def test_a_call_that_is_chosen_or_unfolded_stays_so_and_shows_its_result(open_page: Any, lab: Shown) -> None:
    """Long after the page was opened: nothing but the result itself makes the page ask."""
    page = open_page(f"/s/claude/{LIVING['growing']}")
    page.wait_for_timeout(2_500)
    for is_open in (False, True):
        _call_and_result(page, lab, is_open=is_open)


def _call_and_result(page: Page, lab: Shown, *, is_open: bool) -> None:
    id, name = LIVING["growing"], f"toolu_late_{is_open}"
    lab.live.call(name, "Bash", session=id, command=f"echo {name}")
    row = f"document.querySelector('[data-call={name}]')"
    assert until(page, f"() => {row}")
    page.evaluate(f"() => {row}.focus()")
    if is_open:
        page.evaluate(f"() => {row}.querySelector('summary').click()")
        assert until(page, f"() => {row}.querySelector('.inside .proof')")
    lab.live.result(name, f"{name} is done", session=id)
    assert until(page, f"() => {row}.querySelector('.v-ok')")
    assert page.evaluate("() => document.activeElement.dataset.call") == name
    if is_open:
        assert until(page, f"() => {row}.querySelector('.inside')?.textContent.includes('{name} is done')")


def test_a_stream_that_broke_goes_on_where_it_was(lab: Shown) -> None:
    import socket

    def heard(last: str | None, end: bytes) -> bytes:
        """All that a new stream tells, until it has told this."""
        with socket.create_connection(("127.0.0.1", lab.served.port), timeout=60) as one:
            more = f"Last-Event-ID: {last}\r\n" if last else ""
            head = f"GET /_/events HTTP/1.1\r\nHost: 127.0.0.1:{lab.served.port}\r\nAuthorization: Bearer {lab.served.token}\r\n{more}\r\n"
            one.sendall(head.encode())
            data = b""
            while end not in data or not data.endswith(b"\r\n"):
                part = one.recv(65_536)
                assert part, data
                data += part
            return data

    first = heard(None, b"event: hello")
    id = first.split(b"id: ")[1].split(b"\n")[0].decode()
    lab.live.reply("something new", session=LIVING["growing"], stop=None)
    assert b"event: reset" not in heard(id, b"event: append")
    assert heard("0000000000000000-7", b"event: reset")


def test_many_tabs_take_one_stream(open_page: Any) -> None:
    """A browser has six connections to a server: with a stream each, the seventh tab would get none."""
    page = open_page("/")
    tabs = [page, *(page.context.new_page() for _ in range(6))]
    for tab in tabs[1:]:
        tab.goto("/sessions")
    for tab in tabs:
        assert until(tab, "() => document.getElementById('live-dot').dataset.state === 'on'")
    assert tabs[-1].evaluate("async () => (await fetch('/_/foot')).status") == 200


FIGURE = """(name) => Number([...document.querySelectorAll("#head .figure")]
  .find((one) => one.textContent.includes(name)).querySelector("b").textContent)"""


def test_header_outline_and_costs_of_a_session_that_runs_go_on_by_themselves(
    open_page: Any, lab: Shown
) -> None:
    id = LIVING["growing"]
    page = open_page(f"/s/claude/{id}")
    assert until(page, "() => document.querySelector('#spent + dl')")
    before = page.evaluate(FIGURE, "request")
    lines = page.locator("#n-lines").inner_text()
    page.locator("#copy-resume").focus()
    page.evaluate("() => getSelection().selectAllChildren(document.querySelector('#head h1'))")
    marked = page.evaluate("getSelection().toString()")
    lab.live.prompt("And now the very next thing", session=id)
    lab.live.reply("I look at that, too.", session=id, stop=None)
    is_more = f"(before) => ({FIGURE})('request') > before"
    assert until(page, "() => document.querySelector('#rows').textContent.includes('I look at that, too.')")
    assert until(page, is_more, before, patience_ms=180_000)  # the index rests long after a long pass
    assert until(page, "() => document.querySelector('#turns').textContent.includes('the very next thing')")
    is_equal = (
        f"() => document.querySelector('#spent + dl dd').textContent.trim() === String(({FIGURE})('request'))"
    )
    assert until(
        page, is_equal, patience_ms=180_000
    )  # each is asked for when the index says that it has grown
    assert page.locator("#n-lines").inner_text() != lines
    assert page.evaluate("document.activeElement.id") == "copy-resume"
    assert page.evaluate("getSelection().toString()") == marked
    page.locator("#find-open").click()
    assert page.locator(".find-bar").is_visible()


def test_the_mark_of_a_session_follows_its_state(open_page: Any, lab: Shown) -> None:
    page = open_page(f"/s/claude/{LIVING['idle']}")
    path = _registration(lab, "idle")
    was = path.read_text()
    mark = "(word) => document.querySelector('#head .mark').outerHTML.includes(word)"
    assert until(page, mark, "idle")
    try:
        path.write_text(
            json.dumps({**json.loads(was), "status": "waiting", "waitingFor": "permission prompt"})
        )
        assert until(page, mark, "waiting")
    finally:
        path.write_text(was)


IS_AT_END = "() => Math.abs(document.documentElement.scrollHeight - innerHeight - scrollY) <= 1"


def test_who_goes_to_the_end_follows_it_also_while_lines_come_in(open_page: Any, lab: Shown) -> None:
    id = LIVING["growing"]
    for n in range(20):
        lab.live.reply(f"something to scroll over {n}.\n\nAnd more.", session=id, stop=None)
    page = open_page(f"/s/claude/{id}#r1")
    assert until(page, "() => document.querySelectorAll('.row').length > 10")
    for n in range(4):
        lab.live.reply(f"while a key is pressed, {n}.\n\nAnd more.", session=id, stop=None)
        page.keyboard.press("G")
    words = "(words) => document.querySelector('#rows').textContent.includes(words)"
    assert until(page, words, "while a key is pressed, 3")
    assert until(page, IS_AT_END)
    for n in range(4):
        lab.live.reply(f"after the key, {n}.\n\nAnd more.", session=id, stop=None)
    assert until(page, words, "after the key, 3")
    assert until(page, IS_AT_END)
    assert page.locator("#new-rows").is_hidden()
    page.mouse.wheel(0, -400)
    assert until(page, f"() => !({IS_AT_END})()")
    settle(page)
    lab.live.reply("for nobody who reads above", session=id, stop=None)
    assert until(page, "() => !document.getElementById('new-rows').hidden")
    assert not page.evaluate(IS_AT_END)


FOOT = "(words) => document.getElementById('foot').textContent.includes(words)"
# An event stream that a test opens and breaks by hand.
STREAM = """
delete globalThis.SharedWorker;
globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 1;
  constructor() {
    super();
    globalThis.stream = this;
  }
  close() {}
};
"""
HELLO = "() => stream.dispatchEvent(new MessageEvent('hello', { data: '{}' }))"
BREAK = "() => stream.dispatchEvent(new Event('error'))"


def test_a_late_answer_does_not_replace_the_words_that_the_server_is_gone(
    browser: Browser, lab: Shown
) -> None:
    with browsing(browser, lab.served.base, lab.state) as (page, troubles):
        page.context.add_init_script(STREAM)
        page.goto("/sessions")
        held: list[Route] = []
        page.route("**/_/foot", lambda route: held.append(route))
        with page.expect_request("**/_/foot"):
            page.evaluate(HELLO)
        page.evaluate(BREAK)
        assert until(page, FOOT, "`tracklog serve` starts it again")
        with page.expect_response("**/_/foot"):
            held[0].fulfill(body='<footer id="foot" data-waiting="0">indexed, up to date</footer>')
        troubles.settle(page)
        assert page.evaluate(FOOT, "`tracklog serve` starts it again")
        page.unroute("**/_/foot")
        page.evaluate(HELLO)
        assert until(page, f"() => ({FOOT})('indexed') && !({FOOT})('tracklog serve')")
        assert troubles.left() == []
