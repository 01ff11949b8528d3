"""Everything by the keyboard alone: pages, rows, prompts, errors, unfolding, raw lines, find, palette, help."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import settle, until
from tests.browser.conftest import Shown
from tests.browser.pages import DEMO_CLAUDE

HERE = "() => document.activeElement?.closest('.row')?.dataset.seq ?? null"
IS_OPEN = "() => document.activeElement?.closest('.row')?.open ?? null"


@pytest.fixture
def session(open_page: Any, lab: Shown) -> Page:
    """The session with every incident, come to rest."""
    page: Page = open_page(f"/s/claude/{lab.made['short'].id}")
    assert until(page, "() => document.querySelectorAll('.row').length > 20")
    settle(page)
    return page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wait_for(page: Page, is_so: str, arg: Any = None) -> None:
    assert until(page, is_so, arg), is_so


@pytest.mark.parametrize(
    ("keys", "path"), [("gb", "/"), ("gs", "/sessions"), ("gc", "/calls"), ("gd", "/doctor")]
)
def test_two_letters_lead_to_every_page(open_page: Any, keys: str, path: str) -> None:
    page = open_page("/" if path == "/sessions" else "/sessions")
    press(page, *keys)
    page.wait_for_url(f"**{path}")


def test_the_slash_goes_to_the_search_field_and_escape_out_of_it(open_page: Any) -> None:
    page = open_page("/sessions")
    press(page, "/")
    assert page.evaluate("() => document.activeElement.id") == "q"
    press(page, "Escape")
    assert page.evaluate("() => document.activeElement.id") != "q"


@pytest.mark.parametrize(
    ("path", "field"),
    [("/sessions", "#q"), ("/sessions", "#f-q"), ("/calls", "#f-since"), ("/search?q=test", "#search-q")],
)
def test_escape_lets_go_of_a_field_and_keeps_what_was_typed(open_page: Any, path: str, field: str) -> None:
    page = open_page(path)
    page.locator(field).fill("words")
    press(page, "Escape")
    assert page.evaluate("() => document.activeElement === document.body")
    assert page.locator(field).input_value() == "words"
    press(page, "g", "b")
    page.wait_for_url("**/")


def test_the_question_mark_lists_every_key_of_the_page(open_page: Any, session: Page) -> None:
    press(session, "?")
    said = session.locator("#help").inner_text()
    for words in (
        "next row",
        "next prompt",
        "next error",
        "the line itself",
        "board",
        "find in this session",
    ):
        assert words in said
    press(session, "Escape")
    assert not session.locator("#help").is_visible()


LISTED = (
    "() => [...document.querySelectorAll('#help-keys section:first-child dd')].map((one) => one.textContent)"
)
OF_ROWS = ["next row", "previous row", "first row", "last row", "open the row"]


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/sessions?agent=claude", [*OF_ROWS, "open its subagents", "close them", "filter by words"]),
        ("/sessions?agent=codex", [*OF_ROWS, "filter by words"]),
        ("/sessions?project=nothing-of-the-kind", ["filter by words"]),
        ("/calls", [*OF_ROWS, "filter by project", "next page"]),
        ("/calls?agent=codex", [*OF_ROWS, "filter by project"]),
    ],
)
def test_the_keys_of_a_list_are_just_those_that_do_something_there(
    open_page: Any, path: str, keys: list[str]
) -> None:
    page = open_page(path)
    press(page, "?")
    assert page.evaluate(LISTED) == keys


def test_a_word_that_is_typed_is_a_beginning_until_enter(open_page: Any) -> None:
    page = open_page("/search")
    said = page.locator("#search-said")
    page.keyboard.type("tall")
    page.locator("#search-begun").wait_for()
    assert "for tall* while you type" in said.inner_text()
    assert page.title() == "(2) tall · Search · tracklog"
    with page.expect_navigation(url="**/search?q=tall"):
        press(page, "Enter")
    assert said.inner_text() == "Nothing found"
    page.locator("#search-q").fill("tally ")
    wait_for(page, "() => /hits in/.test(document.getElementById('search-said').textContent)")
    assert not page.locator("#search-begun").count()


PRESSED = """(keys) => keys.forEach(([key, code, more]) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true, ...more })))"""


def test_on_a_keyboard_of_another_script_the_places_of_keys_count(open_page: Any) -> None:
    page = open_page("/sessions")
    page.evaluate(PRESSED, [["л", "KeyK", {"ctrlKey": True}]])
    assert page.locator("dialog.palette").is_visible()
    press(page, "Escape")
    wait_for(page, "() => !document.querySelector('dialog:modal')")
    page.evaluate(PRESSED, [["؟", "Slash", {"shiftKey": True}]])
    assert page.locator("#help").is_visible()
    press(page, "Escape")
    wait_for(page, "() => !document.querySelector('dialog:modal')")
    page.evaluate(PRESSED, [["о", "KeyJ", {}]])
    assert page.evaluate("() => document.activeElement.className") == "srow"
    page.evaluate(PRESSED, [["п", "KeyG", {}], ["с", "KeyC", {}]])
    page.wait_for_url("**/calls")


def test_a_key_counts_at_once_when_the_palette_is_closed(open_page: Any) -> None:
    """Its field has the focus for a moment still: there a key was swallowed, about once in ten times on a busy machine."""
    page = open_page("/sessions")
    press(page, "Control+k")
    page.locator("dialog.palette").wait_for(state="visible")
    pressed = f"(keys) => (document.querySelector('dialog.palette').close(), ({PRESSED})(keys))"
    page.evaluate(pressed, [["?", "Slash", {"shiftKey": True}]])
    assert page.locator("#help").is_visible()


def test_a_sign_that_is_written_with_altgr_is_a_key(open_page: Any) -> None:
    page = open_page("/calls")
    page.evaluate(PRESSED, [["]", "Digit9", {"ctrlKey": True, "altKey": True, "modifierAltGraph": True}]])
    page.wait_for_url("**/calls?after=*")


def test_keys_are_letters_again_in_a_field(open_page: Any) -> None:
    page = open_page("/")
    page.locator("#q").click()
    page.keyboard.type("gs?jk")
    assert page.locator("#q").input_value() == "gs?jk"
    assert not page.locator("#help").is_visible()
    assert page.url.endswith("/")


def test_keys_with_control_are_the_browsers(open_page: Any) -> None:
    page = open_page("/")
    press(page, "Control+g", "Control+s", "Alt+j")
    settle(page)
    assert page.url.endswith("/")


@pytest.mark.parametrize("path", ["/", "/sessions", "/calls", "/search?q=test"])
def test_j_and_k_walk_along_rows_and_enter_opens_one(open_page: Any, path: str) -> None:
    page = open_page(path)
    settle(page)
    text = "() => document.activeElement.closest('tr, li, .hit, article')?.textContent.slice(0, 200) ?? document.activeElement.textContent"
    press(page, "j")
    first = page.evaluate(text)
    press(page, "j")
    second = page.evaluate(text)
    press(page, "k")
    assert page.evaluate(text) == first
    assert first != second
    press(page, "Enter")
    page.wait_for_url("**/s/**")


def test_rows_of_a_session_are_walked_by_j_and_k(session: Page) -> None:
    seen = [session.evaluate(HERE)]
    for key in "jjjk":
        press(session, key)
        wait_for(session, f"(before) => ![null, before].includes(({HERE})())", seen[-1])
        seen.append(session.evaluate(HERE))
    del seen[0]
    assert seen[3] == seen[1]
    assert len(set(seen)) == 3


def test_prompts_and_errors_are_walked_by_their_own_letters(session: Page) -> None:
    press(session, "J")
    wait_for(session, "() => document.activeElement.closest('.row')?.classList.contains('k-prompt')")
    first = session.evaluate(HERE)
    press(session, "J")
    wait_for(
        session,
        "(seq) => document.activeElement.closest('.row.k-prompt') && document.activeElement.dataset.seq !== seq",
        first,
    )
    press(session, "K")
    wait_for(session, "(seq) => document.activeElement.dataset.seq === seq", first)
    press(session, "e")
    wait_for(
        session,
        "() => document.activeElement.closest('.row')?.querySelector('.v-error, .v-lost, .v-timed_out') || document.activeElement.classList.contains('is-bad')",
    )


def test_a_call_is_unfolded_and_folded(session: Page) -> None:
    session.evaluate("() => document.querySelector('details.row[data-call]').focus()")
    press(session, "Enter")
    wait_for(
        session,
        "() => document.activeElement.open && document.activeElement.querySelector('.inside')?.textContent.length > 20",
    )
    press(session, "ArrowLeft")
    assert session.evaluate(IS_OPEN) is False
    press(session, "ArrowRight")
    assert session.evaluate(IS_OPEN) is True


def test_x_unfolds_all_calls_of_a_turn(session: Page) -> None:
    press(session, "J", "x")
    wait_for(session, "() => document.querySelectorAll('details.row[data-call][open]').length >= 2")


def test_r_shows_the_line_itself_and_escape_hides_it(session: Page) -> None:
    press(session, "j", "r")
    dialog = session.locator("#raw-dialog")
    dialog.wait_for(state="visible")
    assert "uuid" in dialog.inner_text() or "type" in dialog.inner_text()
    press(session, "Escape")
    assert not dialog.is_visible()


def test_the_ends_are_reached_by_g_and_shift_g(session: Page) -> None:
    press(session, "G")
    wait_for(session, "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 120")
    press(session, "g", "g")
    wait_for(session, "() => scrollY < 200")


def test_t_unfolds_what_the_model_thought(session: Page) -> None:
    press(session, "t")
    wait_for(session, "() => document.querySelectorAll('details.k-thinking[open]').length > 0")


def test_find_marks_counts_and_walks(session: Page) -> None:
    press(session, "/")
    session.keyboard.type("test")
    wait_for(session, "() => /\\d/.test(document.querySelector('.find-said')?.textContent ?? '')")
    before = session.locator(".find-said").inner_text()
    press(session, "Enter")
    wait_for(session, "(said) => document.querySelector('.find-said').textContent !== said", before)
    assert (
        session.evaluate("() => (CSS.highlights?.size ?? 0) + document.querySelectorAll('#rows mark').length")
        > 0
    )
    press(session, "Escape")
    assert not session.locator(".find-bar").is_visible()


def test_the_palette_leads_to_a_session_by_a_few_letters(open_page: Any) -> None:
    page = open_page("/doctor")
    press(page, "Control+k")
    page.locator("dialog.palette").wait_for(state="visible")
    page.keyboard.type("tally")
    wait_for(page, "() => document.querySelectorAll('dialog.palette [role=option]').length > 0")
    press(page, "ArrowDown", "ArrowUp", "Enter")
    page.wait_for_url(lambda url: "/s/" in url or "/search" in url)


def test_the_palette_closes_and_gives_the_focus_back(open_page: Any) -> None:
    page = open_page("/sessions")
    press(page, "j")
    before = page.evaluate("() => document.activeElement.textContent")
    press(page, "Control+k")
    page.locator("dialog.palette").wait_for(state="visible")
    press(page, "Escape")
    assert page.evaluate("() => document.activeElement.textContent") == before


def test_a_link_to_a_row_is_copied(open_page: Any, lab: Shown) -> None:
    page = open_page(f"/s/claude/{DEMO_CLAUDE}", permissions=["clipboard-read", "clipboard-write"])
    settle(page)
    press(page, "j", "y")
    wait_for(page, "() => document.getElementById('said').textContent.includes('opied')")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith(f"{lab.served.base}/s/claude/{DEMO_CLAUDE}")
    assert "#" in copied
    press(page, "c")
    wait_for(page, "async () => (await navigator.clipboard.readText()).includes('resume')")
