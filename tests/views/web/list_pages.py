"""Reads the pages of sessions and calls: what their facets, figures and rows say, and where they lead."""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

from starlette.applications import Starlette

from tests.views.web.asking import ask

_FACET = re.compile(
    r'<li><a href="([^"]+)"(?: title="[^"]*")?( aria-current="true")?><bdi>(.*?)</bdi><span class="num">([\d,]+)</span></a></li>'
)
_TOTAL = re.compile(
    r'<nav class="pages".*?<span>(?:([\d,]+)–([\d,]+) of )?([\d,]+) (?:session|call)s?</span>', re.S
)
_NEXT = re.compile(r'href="([^"]+)" rel="next"')
_MAIN_LINK = re.compile(r'<a class="main-link[^"]*" href="([^"]+)"')
_LINK = re.compile(r'href="(/[^"]*)"')


class Choice(NamedTuple):
    """A value of a facet: where it leads, and to how many."""

    address: str
    words: str
    n: int
    is_taken: bool


def got(app: Starlette, address: str, status: int = 200) -> str:
    """The text of a page."""
    answer = ask(app, "GET", address)
    assert answer.status == status, (address, answer.status, answer.text[:2000])
    return answer.text


def facets(text: str) -> list[Choice]:
    """All choices of all facets."""
    found = _FACET.findall(text)
    return [
        Choice(unescape(href), unescape(words), number(n), bool(taken)) for href, taken, words, n in found
    ]


def total(text: str) -> int:
    """How many fit, as the page says; 0 where it says that there are none."""
    found = _TOTAL.search(text)
    if found is None:
        assert 'class="empty"' in text
        return 0
    return number(found[3])


def next_page(text: str) -> str | None:
    """The address of the page that follows."""
    found = _NEXT.search(text)
    return unescape(found[1]) if found else None


def main_links(text: str) -> list[str]:
    """Where the rows lead."""
    return [unescape(href) for href in _MAIN_LINK.findall(text)]


def walked(app: Starlette, address: str) -> list[str]:
    """Where the rows of all pages lead, from the first page on."""
    found: list[str] = []
    following: str | None = address
    while following is not None:
        text = got(app, following)
        found += main_links(text)
        following = next_page(text)
        assert len(found) <= total(text)
    return found


def links(text: str) -> list[str]:
    """All addresses of ours on a page."""
    return [unescape(href) for href in _LINK.findall(text)]


def number(text: str) -> int:
    return int(text.replace(",", ""))
