from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.model.lines import at, reply, result, use, user
from tests.search.test_results import KEY, TWO, words
from tests.search.test_searching import ONE, write_log
from tests.views.web.search_site import asked, site_over
from tracklog.app.index.background import IndexStatus
from tracklog.search.results import SESSIONS
from tracklog.views.web.site import Site

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> \" ' javascript:alert(1) \u202e\x1b[31m"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    write_log(
        tmp_path / "logs",
        user("u1", None, "Why does the build fail?", timestamp=at(1), cwd="/w/app"),
        reply("a1", "u1", "m1", "Let me look.", use("c1", command="make build"), timestamp=at(2)),
        result("u2", "a1", "c1", "build failed: no rule", is_error=True, timestamp=at(3)),
        session=ONE,
    )
    write_log(tmp_path / "logs", *words("build it", "build it again", first=10), session=TWO)
    return site_over(tmp_path / "logs", tmp_path / "home")


def page(site: Site, query: str, **more: str) -> str:
    given = "".join(f"&{key}={quote(value)}" for key, value in more.items())
    answer = asked(site, f"/search?q={quote(query)}{given}")
    assert answer.status == 200
    return answer.text


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def links(html: str) -> list[tuple[str, str]]:
    """Where each link leads, and its words."""
    return [
        (unescape(address), plain(inside))
        for address, inside in re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html, re.DOTALL)
    ]


def test_hits_stand_by_session_with_their_words_marked(site: Site) -> None:
    html = page(site, "build")
    assert "5 hits in 2 sessions" in html
    assert "Why does the <mark>build</mark> fail?" in html
    assert "<mark>build</mark> failed: no rule" in html
    assert html.index("<mark>build</mark> it again") < html.index("Why does the <mark>")
    assert re.search(r'<time datetime="2026-11-15T10:00:03.000Z"[^>]*>1 h ago</time>', html)


def test_a_hit_leads_to_its_line_with_the_find_bar_open(site: Site) -> None:
    hits = [address for address, words in links(page(site, "build")) if "no rule" in words]
    assert hits == [f"/s/claude/{ONE}?find=build&line=3#L3"]


def test_a_hit_in_another_log_of_the_session_names_it(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", *words("start"), session=ONE)
    folder = tmp_path / "logs/projects/-home-dev-project" / ONE / "subagents"
    folder.mkdir(parents=True)
    side = user("s1", None, "look for the needle", timestamp=at(2), isSidechain=True, agentId="abc")
    (folder / "agent-abc.jsonl").write_text(json.dumps(side) + "\n")
    html = page(site_over(tmp_path / "logs", tmp_path / "home"), "needle")
    assert f"/s/claude/{ONE}?file=agent-abc.jsonl&find=needle&line=1#L1" in dict(links(html))


def test_every_count_of_a_facet_is_what_its_link_shows(site: Site) -> None:
    html = page(site, "build")
    facets = re.findall(
        r'<a class="choice" href="([^"]+)">\s*<span class="choice-words">([^<]*)</span><span class="num">([\d,]+)</span>',
        html,
    )
    assert {words for _, words, _ in facets} >= {
        "claude",
        "app",
        "prompt",
        "input",
        "result",
        "Bash",
        "error",
    }
    for address, value, n in facets:
        there = asked(site, unescape(address)).text
        shown = re.search(r"([\d,]+) hits? in", there)
        assert shown is not None, value
        assert (value, shown[1]) == (value, n)


def test_a_filter_that_was_taken_can_be_taken_away(site: Site) -> None:
    html = page(site, "build role:prompt -tool:Read")
    ways = {
        words: parse_qs(urlsplit(address).query)["q"] for address, words in links(html) if "take" in words
    }
    assert ways == {
        "prompt : take this filter away ×": ["build -tool:Read"],
        "not Read : take this filter away ×": ["build role:prompt"],
    }


def test_all_hits_of_a_session_are_a_link_away(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", *words(*(f"word {n}" for n in range(5))), session=ONE)
    write_log(tmp_path / "logs", *words("word"), session=TWO)
    site = site_over(tmp_path / "logs", tmp_path / "home")
    (address,) = [address for address, words in links(page(site, "word")) if words.startswith("5 hits")]
    assert parse_qs(urlsplit(address).query)["q"] == [f"word session:{ONE}"]
    assert "5 hits in 1 session" in asked(site, address).text


def test_the_order_is_a_link_and_stays_with_the_filters(site: Site) -> None:
    html = page(site, "build", by="relevance")
    assert (
        '<a class="chip" href="/search?q=build&amp;by=relevance" aria-current="true">best first</a>' in html
    )
    assert all("by=relevance" in address for address, words in links(html) if words.startswith("claude "))


def test_without_a_query_the_language_is_shown(site: Site) -> None:
    html = page(site, "")
    assert 'href="/search?q=tool%3ABash%20verdict%3Aerror%20since%3A7d"' in html
    assert "autofocus" in html


def test_a_query_that_finds_nothing_says_which_word_is_nowhere(site: Site) -> None:
    told = plain(page(site, "build nowhere verdict:error"))
    assert "Nothing found" in told
    assert "nowhere has no hits anywhere" in told
    assert "build has 5 hits" in told
    assert "Search without the filters" in told


def test_a_wrong_filter_is_pointed_at_and_the_rest_is_searched(site: Site) -> None:
    html = page(site, "role:promt build")
    assert "There is no role:promt: did you mean prompt?" in html
    assert '<span class="wrong-here">role:promt</span>' in html
    assert "5 hits in 2 sessions" in html


def test_what_was_to_be_left_out_is_not_what_is_listed(site: Site) -> None:
    html = page(site, "-build")
    assert "A search needs something to find" in plain(html)
    assert ("/search?q=build", "build") in links(html)
    assert "<mark>" not in html
    assert "Searched instead" not in html


def test_a_query_of_signs_alone_is_answered_with_what_can_be_done_here(site: Site) -> None:
    html = page(site, "*")
    assert "--regex" not in html
    assert ("/search?q=re%3A%2F%5C%2A%2F", r"re:/\*/") in links(html)


@pytest.mark.parametrize(("query", "n_pages"), [("word", 2), (f"word session:{ONE}", 1)])
def test_behind_the_last_page_there_is_a_way_back_to_it(tmp_path: Path, query: str, n_pages: int) -> None:
    for n in range(SESSIONS + 1):
        session = ONE if n == 0 else f"{n:08d}-bbbb-4aaa-8aaa-111111111111"
        write_log(tmp_path / "logs", *words("word", first=n), session=session)
    site = site_over(tmp_path / "logs", tmp_path / "home")
    html = page(site, query, page="999")
    assert f"There is no page 999: the hits end on page {n_pages}." in plain(html)
    assert "page 999 of" not in html
    ways = {words for _, words in links(html)}
    assert not ways & {"older hits →", "← before", "next →"}
    (last,) = [address for address, words in links(html) if words == "To the last page"]
    assert "<mark>word</mark>" in asked(site, last).text
    assert "<mark>" not in html


@pytest.mark.parametrize(
    "query", ["=> ...", "-foo", "re:/(/", 'tool:""', "re:a re:b", "since:soon", "x" * 5000]
)
def test_whatever_is_typed_gets_an_answer_that_says_why(site: Site, query: str) -> None:
    assert 'role="alert"' in page(site, query)


def test_the_fragment_is_what_the_page_holds(site: Site) -> None:
    whole, part = page(site, "build"), asked(site, "/_/search?q=build")
    assert part.status == 200
    assert part.text.strip() in whole
    assert "<html" not in part.text


def test_without_a_key_to_mask_secrets_with_nothing_is_shown_and_the_page_says_what_to_do(
    tmp_path: Path, site: Site
) -> None:
    (tmp_path / "home" / "redaction.key").write_bytes(b"short")
    for address in ("/search?q=build", "/_/search?q=build"):
        answer = asked(site, address)
        assert answer.status == 200
        assert "secrets in it could not be masked" in answer.text
        assert "put the right one back" in answer.text
        assert "<mark>" not in answer.text


def test_while_somebody_types_the_last_word_is_a_beginning_and_that_is_said(site: Site) -> None:
    typed = asked(site, "/_/search?q=buil&typing=1").text
    assert "5 hits in 2 sessions for buil* while you type" in plain(typed)
    assert all("buil*" in parse_qs(urlsplit(to).query)["q"][0] for to, _ in links(typed) if "/search" in to)
    for address in ("/_/search?q=buil", "/search?q=buil", "/search?q=buil&typing=1"):
        exact = asked(site, address).text
        assert "Nothing found" in exact
        assert "search-begun" not in exact


def test_while_the_index_is_made_that_is_said_and_what_is_there_is_found(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", *words("word"))
    status = IndexStatus(state="reading", files=3, files_known=40)
    some = page(site_over(tmp_path / "logs", tmp_path / "home", status=status), "word")
    assert "The index is being made: 3 of 40 logs are read." in plain(some)
    assert "1 hit in 1 session" in some
    none = page(site_over(tmp_path / "logs", tmp_path / "none", status=status, is_indexed=False), "word")
    assert "As soon as the first logs are read, they can be searched" in plain(none)


def test_an_index_that_failed_is_no_secret(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", *words("word"))
    status = IndexStatus(state="failed", passes=1, why="no space")
    told = plain(page(site_over(tmp_path / "logs", tmp_path / "home", status=status), "word"))
    assert "The index could not be brought up to date." in told


def test_secrets_are_masked_until_somebody_asks(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", user("u1", None, f"use {KEY} for the needle", timestamp=at(1)))
    site = site_over(tmp_path / "logs", tmp_path / "home")
    html = page(site, "needle")
    assert KEY not in html
    assert html.count("«secret:github-pat:") == 2  # in the title and in the snippet
    (address,) = [address for address, words in links(html) if words == "Show them"]
    assert KEY in asked(site, address).text


def test_what_logs_hold_is_text_and_nothing_else(tmp_path: Path) -> None:
    write_log(
        tmp_path / "logs",
        user("u1", None, f"needle {HOSTILE}", timestamp=at(1), cwd=f"/w/{HOSTILE.replace('/', '')}"),
        reply("a1", "u1", "m1", use("c1", f"needle{HOSTILE}", command=HOSTILE), timestamp=at(2)),
        result("u2", "a1", "c1", f"needle {HOSTILE}", timestamp=at(3)),
    )
    site = site_over(tmp_path / "logs", tmp_path / "home")
    for address in (
        "/search?q=needle",
        "/_/palette",
        f"/search?q={quote(HOSTILE)}",
        f"/_/palette?q={quote(HOSTILE)}",
    ):
        html = re.sub(
            r'(value|data-q)="[^"]*"', "", asked(site, address).text
        )  # what was typed stays as it is
        for bad in ("<script>alert", "<img", 'href="javascript:', "\u202e", "\x1b", " style="):
            assert bad not in html, (address, bad)


@pytest.mark.parametrize(
    "given", ["page=0", "page=-1", "page=x", "page=99", "by=x", "secrets=1", "page=" + "9" * 400]
)
def test_odd_parameters_do_no_harm(site: Site, given: str) -> None:
    assert asked(site, f"/search?q=build&{given}").status == 200


def test_hits_behind_the_first_thousand_are_a_link_away(tmp_path: Path) -> None:
    def line(n: int) -> dict[str, Any]:
        stamp = f"2026-10-{1 + n // 60:02d}T10:{n % 60:02d}:00.000Z"
        return user(f"u{n}", None, f"word {n}", timestamp=stamp)

    write_log(tmp_path / "logs", *map(line, range(1300)))
    write_log(tmp_path / "logs", *words("word"), session=TWO)
    site = site_over(tmp_path / "logs", tmp_path / "home")
    html = page(site, "word", page="1")
    assert "More than 1,000 hits; the first 1,000 are here" in html
    (address,) = {address for address, words in links(html) if words == "older hits →"}
    assert address.endswith("until%3A2026-10-06T10%3A01%3A00.001Z")
    assert (
        "302 hits in 1 session" in asked(site, address).text
    )  # the last one again: others may be of its moment
