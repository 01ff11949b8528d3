"""Changes of files as HTML."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from tests.cases import for_each
from tests.views.html.diff.test_diffs import PATCH
from tests.views.html.diff.test_patches import CODEX
from tests.views.html.diff.views import files_in, of_new_file, of_patch, of_patch_text, of_texts
from tests.views.html.hostile import HOSTILE
from tests.views.html.safe_html import held
from tracklog.views.html.diffs import DiffView, FileDiff
from tracklog.views.html.legible import legible

TEMPLATES = Environment(
    loader=PackageLoader("tracklog.views.html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ALLOWED = {
    "div",
    "p",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ins",
    "del",
    "span",
    "a",
    "section",
    "code",
}


def diff(view: DiffView, **values: object) -> str:
    page = '{% from "_diff.html" import diff %}{{ diff(view, **values) }}'
    return TEMPLATES.from_string(page).render(view=view, values=values)


def diff_files(files: list[FileDiff]) -> str:
    return TEMPLATES.from_string('{% from "_diff.html" import diff_files %}{{ diff_files(files) }}').render(
        files=files
    )


def test_a_line_has_its_numbers_its_sign_and_its_marks() -> None:
    html = diff(of_patch([{"oldStart": 9, "newStart": 9, "lines": ["-return old(x)", "+return new(x)"]}]))
    assert (
        '<tr class="d-del"><td class="d-n">9</td><td class="d-n"></td><td class="d-t">-return <del>old</del>(x)</td></tr>'
        in html
    )
    assert (
        '<tr class="d-add"><td class="d-n"></td><td class="d-n">9</td><td class="d-t">+return <ins>new</ins>(x)</td></tr>'
        in html
    )
    assert "line 9" in html


def test_the_space_at_the_beginning_of_a_line_stays() -> None:
    html = diff(of_patch([{"oldStart": 1, "newStart": 1, "lines": ["     four", "+\ttab  "]}]))
    assert '<td class="d-t">     four</td>' in html
    assert '<td class="d-t">+\ttab  </td>' in html


def test_a_place_that_is_unknown_is_said_to_be() -> None:
    html = diff(of_texts("a", "b"))
    assert ("position unknown" in html, 'class="d-nowhere"' in html) == (True, True)


def test_more_than_is_shown_is_counted_and_leads_to_all_of_it() -> None:
    html = diff(of_new_file("x\n" * 1_000), whole={"page": "/s/claude/x?lines=all&y", "part": "/_/x"})
    assert html.count('<tr class="d-add">') == 400
    assert '<a href="/s/claude/x?lines=all&amp;y" data-whole="/_/x">show all: 600 lines more</a>' in html
    assert "… 600 lines more" in diff(of_new_file("x\n" * 1_000))
    assert diff(of_new_file("x\n" * 1_000), most=5_000).count('<tr class="d-add">') == 1_000


def test_a_line_without_its_end_says_so() -> None:
    assert "no line end" in diff(of_patch(PATCH))


def test_files_stand_below_their_names() -> None:
    text = " ".join(held(diff_files(files_in(CODEX))).text.split())
    assert "add new.txt +2 −0" in text
    assert "move src/a.py → src/b.py +1 −2" in text
    assert "delete dead.txt +0 −0 no lines changed" in text


@for_each("text", HOSTILE)
def test_a_hostile_text_stays_text_in_a_diff(text: str) -> None:
    whole = "".join(text.split("\n"))[:1_500]
    for view in (
        of_new_file(whole),
        of_texts(whole, f"x{whole}"),
        of_patch_text(f"*** Update File: {whole}\n@@ {whole}\n+{whole}\n"),
    ):
        found = held(diff(view))
        assert set(found.tags) <= ALLOWED
        assert {name for _, name, _ in found.attributes} <= {"class", "title", "href"}
        assert legible(whole) in found.text
    found = held(diff_files(files_in(f"*** Add File: {whole}\n+{whole}\n")))
    assert set(found.tags) <= ALLOWED
