"""Code in colours: every letter stays, and nothing runs away."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from tests.cases import for_each
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.code import CLASSES, LANGUAGES, MOST_SPANS, code
from tracklog.views.html.legible import legible

PIECES = ["def f(x):\n", "/* ", "*/", "'", '"', '"""', "`", "<a b=", "</a>", "<script>", "#", "//", "$(", "{", "}", "\\", "\n", " ",
          "1.5e3", "if", "class X", "<<A\n", "é", "\ud800", "\0", "\r\n", "&", "<?php", "${", "=begin\n"]  # fmt: skip


def test_words_are_in_classes_by_what_they_are() -> None:
    assert code('def f():\n    return "<a>" + 1  # why\n', path="x.py") == Markup(
        '<pre class="code"><code class="language-python"><span class="k">def </span><span class="f">f</span>():\n'
        '    <span class="k">return </span><span class="s">&#34;&lt;a&gt;&#34; </span>+ <span class="m">1  </span>'
        '<span class="c"># why\n</span></code></pre>'
    )


def test_code_of_no_known_language_is_plain() -> None:
    assert code("<b>", language="nope") == Markup('<pre class="code"><code>&lt;b&gt;</code></pre>')


def test_a_large_piece_is_plain_and_whole() -> None:
    text = "x = 1\n" * 20_000
    assert code(text, language="python") == Markup(
        '<pre class="code"><code class="language-python">{}</code></pre>'
    ).format(text)


def test_a_line_that_no_person_wrote_is_plain() -> None:
    assert "<span" not in code("x = 1\n" + "1," * 1_500, language="python")


def test_there_are_only_so_many_colours_in_one_piece() -> None:
    html = code("if 1: 'a'\n" * 1_000, language="python")
    assert html.count("<span") <= MOST_SPANS
    assert held(html).text == "if 1: 'a'\n" * 1_000


@given(st.sampled_from(sorted(LANGUAGES)), st.lists(st.sampled_from(PIECES), max_size=30))
@settings(max_examples=100, deadline=None)
def test_every_letter_of_code_stays_in_its_order(language: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    found = held(code(text, language=language))
    assert found.text == legible(text)
    assert set(found.tags) <= {"pre", "code", "span"}
    assert {value for tag, _, value in found.attributes if tag == "span"} <= CLASSES


@for_each("text", HOSTILE)
@pytest.mark.parametrize("language", [None, "html", "markdown", "javascript"])
def test_a_hostile_text_stays_text_in_code(text: str, language: str | None) -> None:
    found = held(code(text, language=language))
    assert (found.text, set(found.tags) <= {"pre", "code", "span"}) == (legible(text), True)


@pytest.mark.parametrize(
    "language",
    ["python", "typescript", "html", "yaml", "bash", "swift"],
)
@pytest.mark.parametrize("unit", ["/*", "<!--", "'''", "((((", "a ", '"\\'])
def test_a_lexer_does_not_run_away(language: str, unit: str) -> None:
    lines = "\n".join([(unit * 1_000)[:1_900]] * 8)
    code("warm", language=language)
    before = time.thread_time()
    assert held(code(lines, language=language)).text == legible(lines)
    assert time.thread_time() - before < 3
