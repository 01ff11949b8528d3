"""One number, one meaning: every count that is a link leads to just so many rows; that of a filter in force stands by its list."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Shown

# Fetches where each link leads, and compares what it promises with what stands there.
FOLLOWED = """async ([selector, most]) => {
  const number = (text) => Number((text.match(/[\\d,]+/) ?? ["NaN"])[0].replaceAll(",", ""));
  const read = async (address) => new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const total = (page) => number((page.querySelector(".sums dd, .sums b.mono, .total") ?? { textContent: "" }).textContent);
  const rows = (page) => page.querySelectorAll("main table.sessions > tbody > tr, main table.calls > tbody > tr").length;
  const wrong = [];
  let n = 0;
  for (const link of [...document.querySelectorAll(selector)].filter((one) => !one.ariaCurrent).slice(0, most)) {
    const said = number((link.querySelector(".num") ?? link).textContent);
    let page = await read(link.href), counted = rows(page);
    const stated = total(page);
    for (let turns = 0, next; turns < 4 && (next = page.querySelector('main a[rel=next]')); turns++) {
      page = await read(new URL(next.getAttribute("href"), location.href));
      counted += rows(page);
    }
    const isWhole = !page.querySelector("main a[rel=next]");
    n += 1;
    if (stated !== said || (isWhole && counted !== said)) wrong.push(`${link.textContent.trim()} (${link.getAttribute("href")}): ${said}, but ${stated} and ${counted} rows`);
  }
  return { n, wrong };
}"""


@pytest.mark.parametrize(
    ("address", "selector", "least"),
    [
        ("/sessions", ".facets a", 8),
        ("/sessions?agent=claude", ".facets a", 6),
        ("/sessions", "td.c-calls a", 5),
        ("/sessions", "td.c-errors a", 3),
        ("/sessions", ".sums a", 0),
        ("/calls", ".verdicts a", 4),
        ("/calls?verdict=error", ".verdicts a", 3),
        ("/calls", "table.tools td:nth-child(2) a", 4),
    ],
)
def test_every_count_equals_its_list(open_page: Any, address: str, selector: str, least: int) -> None:
    page = open_page(address)
    if least:  # counts come as soon as all sessions are known
        page.locator(selector).nth(least - 1).wait_for(state="attached")
    followed = page.evaluate(FOLLOWED, [selector, 14])
    assert followed["wrong"] == []
    assert followed["n"] >= least


def test_the_figures_of_a_session_lead_to_just_so_many_calls(open_page: Any, lab: Shown) -> None:
    page = open_page(f"/s/claude/{lab.made['short'].id}")
    page.locator('.figures a[href^="/calls"]').nth(3).wait_for(state="attached")
    followed = page.evaluate(FOLLOWED, ['.figures a[href^="/calls"]', 12])
    assert followed["wrong"] == []
    assert followed["n"] >= 4


def test_the_total_of_all_sessions_is_that_of_the_api(open_page: Any, lab: Shown) -> None:
    page = open_page("/sessions")
    known = lab.served.api("sessions")["sessions"]
    assert page.locator("table.sessions > tbody > tr").count() == len(known)


def test_the_board_counts_what_it_shows(open_page: Any) -> None:
    page = open_page("/?all=1")
    groups = page.evaluate(
        """() => [...document.querySelectorAll("section.b-group")].map((one) =>
          [Number(one.querySelector(".b-count")?.textContent ?? 0), one.querySelectorAll(".b-row:not([class*=' d-'])").length])"""
    )
    assert groups
    assert [said for said, _ in groups] == [rows for _, rows in groups]
    waiting = page.locator("#g-needs .b-row, #g-waiting .b-row").count()
    assert page.title().startswith(f"({waiting}) ")
