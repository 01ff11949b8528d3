"""Which addresses may be links."""

from __future__ import annotations

import time

import pytest
from markupsafe import Markup

from tests.cases import for_each
from tracklog.views.html.markdown import leads_away, linked, misleads


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example", "http://a.example/", "HTTPS://A.Example:8443/x?y#z", "https://xn--mnchen-3ya.example/",
        "https://a.example/%22?q=<>", "mailto:a@b.example", "mailto:a@b.example?subject=x", "https://sub.a_b.example",
    ],
)  # fmt: skip
def test_a_place_with_a_name_in_the_world_may_be_a_link(address: str) -> None:
    assert leads_away(address)


@for_each(
    "address",
    [
        "", "/", "/answer", "//a.example", "answer", "?a=1", "#L1", "javascript:alert(1)", "data:text/html,x", "vbscript:x",
        "file:///etc/passwd", "ftp://a.example", "http:a.example", "http:/a.example", "http:\\\\a.example", "http://", "https://a",
        "http://localhost/", "http://x.localhost/", "http://127.0.0.1/", "http://127.1", "http://2130706433/", "http://0x7f.1/",
        "http://[::1]/", "http://a@b.example/", "http://a:b@c.example/", "http://a.example\\@b.example/", "http://a.example:port/",
        " https://a.example", "https://a.example:99999999/", "http://1.2.3.4.5/", "http://a.0x1/", "http://１２７.0.0.1/",
        "http://a..example/", "mailto:", "mailto:a", "mailto:a@localhost",
    ],
)  # fmt: skip
def test_all_else_is_text(address: str) -> None:
    assert not leads_away(address)


def test_an_address_of_many_pages_is_text() -> None:
    assert not leads_away("https://a.example/" + "x" * 5_000)


def test_words_mislead_when_they_name_another_place() -> None:
    pairs = [
        ("https://good.example", "https://evil.example"),
        ("see www.good.example now", "https://evil.example"),
        ("https://good.example/x", "https://www.good.example/y"),
        ("README.md", "https://good.example"),
        ("here", "https://good.example"),
    ]
    assert [misleads(*pair) for pair in pairs] == [True, True, False, False, False]


def test_addresses_in_a_text_become_links() -> None:
    rel = '<a href="https://a.example/?x=1&amp;y" title="https://a.example/?x=1&amp;y">https://a.example/?x=1&amp;y</a>'
    assert linked("<b> https://a.example/?x=1&y, http://127.0.0.1/ :// ") == Markup(
        f"&lt;b&gt; {rel}, http://127.0.0.1/ :// "
    )


@pytest.mark.parametrize("unit", ["https://", "https://a", "https://a.", "://", "https://a.example)"])
def test_many_addresses_take_little_time(unit: str) -> None:
    before = time.thread_time()
    linked(unit * 10_000)
    assert time.thread_time() - before < 10
