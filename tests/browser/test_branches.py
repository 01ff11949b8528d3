"""A session with branches that were left, and with a picture that cannot be shown."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.browsing import browsing, settle, sign_in, until
from tests.browser.serving import Homes, serving
from tests.browser.test_pages import CONTRAST
from tests.conversation.test_thread_page import ID, write_home
from tests.model.lines import at, log, reply, result, use, user

_SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()
_DRAWN = {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": _SVG}}
_LINES = [
    user("a", None, [_DRAWN, {"type": "text", "text": "begin"}], timestamp=at(1)),
    reply("b", "a", "m1", "Begun.", timestamp=at(2)),
    user("c", "b", "the wrong way", timestamp=at(3)),
    reply("d", "c", "m2", "**Wrong**, as `this` says.", timestamp=at(4)),
    reply("d2", "d", "m2b", use("t1", command="false"), timestamp=at(5)),
    result("d3", "d2", "t1", "it failed", is_error=True, timestamp=at(6)),
    user("e", "b", "the right way", timestamp=at(7)),
    reply("f", "e", "m3", "Right.", timestamp=at(8)),
]


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Any]]:
    homes = Homes(tmp_path_factory.mktemp("branches"))
    write_home(homes.claude, *_LINES)
    with serving(homes) as served:
        state = sign_in(browser, served.link)
        served.wait_until_indexed()
        with browsing(browser, served.base, state) as (page, troubles):
            page.goto(f"/s/claude/{ID}?left=1")
            settle(page)
            yield page, troubles


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_on_a_branch_that_was_left_can_be_read(
    page: tuple[Page, Any], scheme: Literal["light", "dark"]
) -> None:
    page[0].emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert page[0].locator(".row.is-left").count() == 3  # the result is part of its call
    assert page[0].locator(".turns .is-left").count() == 1
    assert page[0].evaluate(CONTRAST) == {}


def test_a_picture_that_cannot_be_shown_is_not_asked_for(page: tuple[Page, Any]) -> None:
    assert page[0].get_by_text("1 picture is not shown").count() == 1
    assert page[0].locator("main img").count() == 0
    assert page[1].left() == []


_WRITERS = [
    user("a", None, "begin", timestamp=at(1)),
    reply("b", "a", "m1", "Begun.", timestamp=at(2)),
    user("x", "b", "the other writer", timestamp=at(3)),
    reply("y", "x", "m2", "The other answer.", timestamp=at(4)),
    user("c", "b", "the one writer", timestamp=at(5)),
    reply("d", "c", "m3", "The one answer.", timestamp=at(6)),
]


def test_when_another_branch_comes_alive_an_open_page_shows_it(browser: Browser, tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    path = write_home(homes.claude, *_WRITERS)
    with serving(homes) as served:
        state = sign_in(browser, served.link)
        served.wait_until_indexed()
        with browsing(browser, served.base, state) as (page, troubles):
            page.goto(f"/s/claude/{ID}")
            assert until(page, "() => document.querySelector('#r6') && !document.querySelector('#r4')")
            with path.open("ab") as log_file:
                more = [
                    user("z", "y", "on with the other", timestamp=at(7)),
                    reply("w", "z", "m4", "Gone on.", timestamp=at(8)),
                ]
                log_file.write(log(more) + b"\n")
            lines = "[4, 7, 8].every((n) => document.querySelector(`#r${n}:not(.is-left)`))"
            assert until(page, f"() => {lines} && !document.querySelector('#r6')")
            assert troubles.left() == []
