from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.claude_code.places import CUT, project_dirs_for, slug

SLUGS = [
    ("/home/dev/my_app.v2", "-home-dev-my-app-v2"),
    ("C:\\Users\\Ann\\src", "C--Users-Ann-src"),
    ("/tmp/\N{GRINNING FACE}x", "-tmp---x"),
    ("/srv/" + 195 * "a", "-srv-" + 195 * "a"),
    ("/srv/" + 196 * "a", "-srv-" + 195 * "a" + "-c8xgnb"),
    ("/", "-"),
    ("/srv/Straße/日本", "-srv-Stra-e---"),
    ("/srv//a b:c", "-srv--a-b-c"),
    ("/srv/e\N{COMBINING ACUTE ACCENT}", "-srv--"),  # NFC joins the two
    ("/srv/\udcff", "-srv--"),  # a byte that is no UTF-8, as Python spells it
]

any_text = st.text(alphabet=st.characters(), max_size=600)
long_paths = st.builds(
    lambda text, n: "/" + text * n, st.text(alphabet="ab/_é\U0001f600", min_size=1), st.just(300)
)


@pytest.mark.parametrize(("cwd", "expected"), SLUGS)
def test_the_slug_is_the_one_claude_code_makes(cwd: str, expected: str) -> None:
    assert slug(cwd) == expected


@given(st.one_of(any_text, long_paths))
def test_a_slug_is_short_and_made_of_letters_digits_and_dashes(cwd: str) -> None:
    assert re.fullmatch(rf"[A-Za-z0-9-]{{0,{CUT}}}|[A-Za-z0-9-]{{{CUT}}}-[0-9a-z]{{1,6}}", slug(cwd))


@given(st.one_of(any_text, long_paths))
def test_a_slug_has_one_character_per_utf_16_unit_until_the_cut(cwd: str) -> None:
    composed = unicodedata.normalize("NFC", cwd)
    units = len(composed.encode("utf-16-le", "surrogatepass")) // 2
    assert len(slug(cwd)) == units if units <= CUT else len(slug(cwd)) > CUT + 1


@given(st.text(alphabet="abcXYZ019-", max_size=CUT))
def test_a_short_slug_is_its_own_slug(name: str) -> None:
    assert slug(name) == name


def test_long_paths_that_differ_late_differ_in_the_hash() -> None:
    stem = "/srv/" + 300 * "a"
    assert slug(stem + "x")[:CUT] == slug(stem + "y")[:CUT]
    assert slug(stem + "x") != slug(stem + "y")


def test_an_existing_project_is_found_by_its_exact_slug_only(tmp_path: Path) -> None:
    for name in ("-srv-app", "-srv-app-2", "-srv"):
        (tmp_path / "projects" / name).mkdir(parents=True)
    assert project_dirs_for(tmp_path, "/srv/app") == [tmp_path / "projects" / "-srv-app"]


def test_a_long_path_is_found_under_any_hash_the_exact_one_first(tmp_path: Path) -> None:
    cwd = "/srv/" + 196 * "a"
    exact = slug(cwd)
    prefix = exact[:CUT]
    for name in (prefix, f"{prefix}-0bun", exact, f"{prefix}x", "-srv-a"):
        (tmp_path / "projects" / name).mkdir(parents=True)
    assert [path.name for path in project_dirs_for(tmp_path, cwd)] == [exact, f"{prefix}-0bun"]


def test_a_home_without_projects_has_none_for_any_directory(tmp_path: Path) -> None:
    assert project_dirs_for(tmp_path, "/srv/app") == []


def test_a_project_folder_that_is_a_link_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "projects" / "-srv-app").symlink_to(tmp_path / "elsewhere")
    assert project_dirs_for(tmp_path, "/srv/app") == []
