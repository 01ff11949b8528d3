"""Patches as text: unified ones, and those of Codex."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.views.html.diff.test_diffs import told
from tests.views.html.diff.views import files_in, files_of_changes, of_patch_text
from tracklog.views.html.diffs import DiffView, FileDiff

CODEX = """\
*** Begin Patch
*** Add File: new.txt
+one
+two
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 same
-old
+new
@@
-gone
*** Delete File: dead.txt
*** End Patch
"""
UNIFIED = """\
diff --git a/x.sql b/x.sql
index 111..222 100644
--- a/x.sql
+++ b/x.sql
@@ -7,3 +7,3 @@ create table t
 a
--- a comment that went
+++ a comment that came
 c
\\ No newline at end of file
diff --git a/y b/y
new file mode 100644
--- /dev/null
+++ b/y
@@ -0,0 +1 @@
+hi
diff --git a/z b/z
deleted file mode 100644
--- a/z
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


def heads(files: list[FileDiff]) -> list[tuple[str, str, str | None, int, int, bool]]:
    return [
        (one.path, one.act, one.moved_to, one.view.added, one.view.removed, one.view.has_places)
        for one in files
    ]


def test_a_patch_of_codex_names_its_files_and_not_its_places() -> None:
    assert heads(files_in(CODEX)) == [
        ("new.txt", "add", None, 2, 0, True),
        ("src/a.py", "move", "src/b.py", 1, 2, False),
        ("dead.txt", "delete", None, 0, 0, False),
    ]
    assert [hunk.heading for hunk in files_in(CODEX)[1].view.hunks] == ["def f():", ""]


def test_a_unified_diff_has_places_and_counts_its_lines() -> None:
    assert heads(files_in(UNIFIED)) == [
        ("x.sql", "update", None, 1, 1, True),
        ("y", "add", None, 1, 0, True),
        ("z", "delete", None, 0, 1, True),
    ]
    assert told(files_in(UNIFIED)[0].view) == [
        (" ", 7, 7, "a"),
        ("-", 8, None, "-- a comment that went"),
        ("+", None, 8, "++ a comment that came"),
        (" ", 9, 9, "c"),
    ]


def test_a_patch_of_many_files_as_one_view_says_which_file_a_hunk_is_of() -> None:
    assert [hunk.heading for hunk in of_patch_text(CODEX).hunks] == [
        "new.txt",
        "src/a.py · def f():",
        "src/a.py",
    ]


def test_a_diff_without_a_head_is_that_of_one_file() -> None:
    assert told(of_patch_text("@@ -258,2 +258,3 @@\n a\n+b\n c\n")) == [
        (" ", 258, 258, "a"),
        ("+", None, 259, "b"),
        (" ", 259, 260, "c"),
    ]


def test_what_codex_notes_of_an_applied_patch_has_places() -> None:
    changes = {
        "/a.py": {"type": "update", "unified_diff": "@@ -2 +2 @@\n-x\n+y\n", "move_path": None},
        "/b.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "/c.py"},
        "/new": {"type": "add", "content": "1\n2\n"},
        "/gone": {"type": "delete", "content": "1\n"},
        "/odd": {"type": "update"},
    }
    assert heads(files_of_changes(changes)) == [
        ("/a.py", "update", None, 1, 1, True),
        ("/b.py", "move", "/c.py", 1, 1, True),
        ("/new", "add", None, 2, 0, True),
        ("/gone", "delete", None, 0, 1, True),
    ]


def test_an_empty_line_in_a_patch_is_a_line_that_stayed() -> None:
    assert told(of_patch_text("*** Update File: a\n@@\n a\n\n+b\n")) == [
        (" ", None, None, "a"),
        (" ", None, None, ""),
        ("+", None, None, "b"),
    ]


def test_a_name_shows_what_it_hides() -> None:
    assert files_in("*** Add File: a\u202etxt.exe\n+x\n")[0].path == "a⟨U+202E⟩txt.exe"


@pytest.mark.parametrize(
    "text", ["", "nothing", "---\n+++\n", "@@", "*** ", "@@ -1,5 +1,5 @@\n", "+a\n-b\n", "*** Move to: x\n"]
)
def test_what_is_no_patch_changes_no_lines(text: str) -> None:
    view = of_patch_text(text)
    assert (view.added, view.removed, view.n_lines) == (0, 0, 0)


@given(
    st.lists(
        st.sampled_from([*CODEX.splitlines(), *UNIFIED.splitlines(), "\\", "\0", "@@ -1,999999999 +1 @@", ""])
    )
)
@settings(deadline=None)
def test_a_patch_of_any_lines_raises_nothing(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert isinstance(of_patch_text(text), DiffView)
    files_in(text)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["type", "content", "unified_diff", "move_path", "/x"]), inner)))  # fmt: skip
@settings(deadline=None)
def test_changes_of_anything_raise_nothing(changes: object) -> None:
    assert isinstance(files_of_changes(changes), list)


@pytest.mark.parametrize(
    "text",
    [
        "+\n" * 500_000,
        "@@\n" * 125_000,
        "*** Add File: x\n" * 75_000,
        "@@ -1,999999999 +1,999999999 @@\n" + "+x\n" * 250_000,
    ],
    ids=["lines", "hunks", "files", "a hunk that never ends"],
)
def test_a_huge_patch_is_read_in_bounded_time(text: str) -> None:
    before = time.thread_time()
    files_in(text)
    of_patch_text(text)
    assert time.thread_time() - before < 5


def test_lines_of_a_huge_patch_that_are_not_read_are_counted() -> None:
    view = of_patch_text("*** Add File: x\n" + "+x\n" * 60_000)
    assert (view.n_lines, view.n_left) == (5_000, 55_000)
