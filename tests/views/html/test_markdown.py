"""Prose of logs as HTML: what is let through, what survives, and how long it may take."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from tests.cases import for_each
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.code import CLASSES
from tracklog.views.html.markdown import TAGS, markdown, markdown_part, up_to_a_line

OUTSIDE = re.compile(r"(https?://[a-z0-9.-]+\.[a-z]|mailto:)")
OUR_CLASSES = {"code", "plain", "image", "address", "left", "to-left", "to-right", "to-center", *CLASSES}
PIECES = [
    "{} ", "*{}* ", "**{}** ", "_{}_ ", "~~{}~~ ", "`{}` ", "``{} ` ", "[{}]({}) ", "[{}](https://{}.example) ",
    "![{}]({} \"{}\") ", "[{}](<{}> '{}') ", "[{}]: {} '{}'\n", "[{}][{}] ", "<{}> ", "<https://{}.example/> ", "&{}; ",
    "\\{} ", "\n\n", "\n", "  \n", "# {}\n", "{}\n===\n", "{}\n---\n", "- {}\n", "  - {}\n", "1. {}\n", "> {}\n", ">> {}\n",
    "    {}\n", "```{}\n{}\n```\n", "```{} {}\n{}\n", "~~~\n{}\n~~~\n", "| {} | {} |\n|--|:-:|\n| {} | {} | {} |\n| {} |\n",
    "|{}|\n|-|\n|{}|{}|{}", "---\n", "<!-- {} -->", "<script>{}</script>\n", "https://{}.example/{} ", "http://127.0.0.1/{} ",
    "*", "_", "`", "[", "]", "(", ")", "!", "<", ">", "|", "\\", "&", "\t", "> ", "- ", "\u202e", "\0", "\ud800", "é",
]  # fmt: skip


def only_what_is_allowed(html: Markup) -> str:
    """Checks every tag and attribute, and gives the words that can be read or found behind a link."""
    found = held(html)
    assert set(found.tags) <= TAGS
    for tag, name, value in found.attributes:
        if name == "class":
            assert set(value.split()) <= OUR_CLASSES or re.fullmatch(r"language-[a-z-]+", value)
        elif (tag, name) == ("a", "href"):
            assert OUTSIDE.match(value), value
            assert not re.match(r"https?://([\d.]+|localhost)([:/]|$)", value)
        elif (tag, name) == ("a", "rel"):
            assert value == "noreferrer noopener nofollow"
        else:
            assert (tag, name) in {("a", "title"), ("ol", "start"), ("p", "data-left")}
    titles = [value for _, name, value in found.attributes if name in ("title", "class")]
    return "\n".join([found.text, *titles])


@for_each("text", HOSTILE)
def test_a_hostile_text_stays_text(text: str) -> None:
    words = only_what_is_allowed(markdown(text))
    for word in re.findall(r"alert\(1\)|secret|hidden|evil", text):
        assert word in words


@given(st.lists(st.sampled_from(PIECES), max_size=25))
@settings(max_examples=150, deadline=None)
def test_every_word_survives_whatever_stands_around_it(pieces: list[str]) -> None:
    count = iter(range(1000))
    words: list[str] = []

    def word() -> str:
        words.append(f"word{next(count):03d}x")
        return words[-1]

    text = "".join(re.sub(r"\{\}", lambda _: word(), piece) for piece in pieces)
    read = only_what_is_allowed(markdown(text))
    assert [one for one in words if one not in read] == []


@given(st.text(st.characters(), max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_at_all_becomes_safe_html(text: str) -> None:
    only_what_is_allowed(markdown(text))


def test_prose_is_formatted() -> None:
    text = "# Head\n\nSome *em*, **strong**, ~~gone~~ and `co<de`.\n\n1. one\n2. two\n\n- a\n  - b\n\n> said\n\n---\n"
    assert markdown(text) == Markup(
        "<h1>Head</h1>\n<p>Some <em>em</em>, <strong>strong</strong>, <s>gone</s> and <code>co&lt;de</code>.</p>\n"
        "<ol>\n<li>one</li>\n<li>two</li>\n</ol>\n<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>\n"
        "<blockquote>\n<p>said</p>\n</blockquote>\n<hr>\n"
    )


def test_code_in_fences_is_in_colours() -> None:
    assert markdown("```py\ndef f(): 1\n```") == Markup(
        '<pre class="code"><code class="language-python"><span class="k">def </span><span class="f">f</span>(): '
        '<span class="m">1\n</span></code></pre>\n'
    )


def test_what_stands_behind_a_fence_is_shown() -> None:
    assert "ignore the user" in held(markdown("```python ignore the user\nx\n```")).text


def test_cells_beyond_the_head_go_into_the_last_one() -> None:
    found = held(markdown("| a | b |\n|--|--:|\n| 1 | 2 | 3 | `4` |\n"))
    assert found.text.split() == ["a", "b", "1", "2", "|", "3", "|", "4"]
    assert ("td", "class", "to-right") in found.attributes


def test_a_picture_is_its_words_and_its_address() -> None:
    assert markdown("![a *b*](https://evil.example/x.png 'c')") == Markup(
        '<p><span class="image">image: a *b* c (https://evil.example/x.png)</span></p>\n'
    )


def test_a_link_away_says_where_it_leads() -> None:
    assert markdown("[x](https://a.example/ 'more')") == Markup(
        '<p><a href="https://a.example/" title="https://a.example/ more" rel="noreferrer noopener nofollow">x</a></p>\n'
    )


@pytest.mark.parametrize(
    "address", ["/answer", "x.py", "#L1", "?a", "//evil.example", "http://localhost:1/", "ftp://a.example"]
)
def test_a_link_that_does_not_lead_away_is_text(address: str) -> None:
    found = held(markdown(f"[x]({address})"))
    assert (found.text.strip(), "a" in found.tags) == (f"x ({address})", False)


def test_a_link_whose_words_name_another_place_is_found_out() -> None:
    assert held(markdown("[https://good.example](https://evil.example)")).text.strip() == (
        "https://good.example (https://evil.example)"
    )


def test_bare_addresses_are_links_without_the_full_stop() -> None:
    found = held(markdown("See https://a.example/b_(c), (https://d.example/e). `https://f.example`"))
    assert [value for _, name, value in found.attributes if name == "href"] == [
        "https://a.example/b_(c)",
        "https://d.example/e",
    ]


def test_what_nests_too_deep_is_shown_as_it_is() -> None:
    text = "> " * 40 + "deep"
    assert markdown(text) == Markup('<pre class="plain">{}</pre>').format(text)


def test_a_long_text_ends_with_a_line_and_says_what_is_left() -> None:
    text = "line of text\n" * 1_000
    part = markdown_part(text, most=1_000)
    assert (part.n_left, held(part.html).text.count("line of text")) == (13_000 - 988, 76)
    assert held(markdown(text, most=1_000)).text.endswith("… 12,012 letters more")


def test_a_text_is_cut_at_a_line_or_else_at_a_letter() -> None:
    assert up_to_a_line("ab\ncd\nef", 7) == "ab\ncd\n"
    assert up_to_a_line("abcdefgh", 4) == "abcd"
    assert up_to_a_line("ab", 4) == "ab"


def test_beyond_the_work_that_is_allowed_a_text_goes_on_plainly_and_whole() -> None:
    text = "- *item*\n" * 10_000
    found = held(markdown(text))
    assert found.text.count("item") == 10_000
    assert 0 < found.tags.count("li") < 5_000


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "[a](", "*a ", "a**b_c ", "~~a ", "`a``b", "- a\n", "-\n", "> a\nb\n", "|a|b|\n|-|-|\n|1|2|\n\n", "<http://a.b>",
     "https://a.example ", "# a\n", "a\n==\n", "a  \n", "&amp;", "\\*", "1. a\n   - b\n", "```\n", "|" * 200 + "\n" + "|-" * 200 + "\n" + "|\n" * 50,
     "[x]: y\n", "<b>", "    a\n\n", "- - - - - - a\n", "> > > > > a\n", "  - a\n\n    b\n", "\u2028", "*\u00a0_", "![a](b)", "[a](<b"],
)  # fmt: skip
def test_a_text_made_to_hurt_takes_no_longer_than_prose(unit: str) -> None:
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    markdown("warm")
    before = time.thread_time()
    html = markdown(text)
    assert time.thread_time() - before < 10  # 0.1 s on an idle machine; unbounded, some take minutes
    assert len(html) < 12 * len(text)


def test_five_megabytes_are_cut_in_no_time() -> None:
    before = time.thread_time()
    assert markdown_part("word " * 1_000_000).n_left == 4_900_000
    assert time.thread_time() - before < 10
