"""The changes of a call written as a unified diff."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tracklog.model.diff.calls import changes_of_call
from tracklog.model.diff.patches import files_in

CODEX = """\
*** Begin Patch
*** Add File: new.txt
+one
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 same
-old
+new
*** Delete File: dead.txt
*** End Patch
"""


def written(asked: object, answered: object = None) -> str:
    return "".join(file.diff for file in changes_of_call(asked, answered))


def test_a_patch_of_codex_becomes_a_unified_diff_without_line_numbers() -> None:
    assert written(CODEX).splitlines() == [
        "--- /dev/null", "+++ new.txt", "@@ -0,0 +1 @@", "+one",
        "--- src/a.py", "+++ src/b.py", "@@ @@ def f():", " same", "-old", "+new",
        "--- dead.txt", "+++ /dev/null",
    ]  # fmt: skip


def test_a_patch_that_claude_code_states_keeps_its_line_numbers() -> None:
    patch = [{"oldStart": 3, "newStart": 3, "lines": [" a", "-b", "+B", "+C"]}]
    answer = {"filePath": "/home/dev/a.py", "structuredPatch": patch}
    assert written({"file_path": "/home/dev/a.py"}, answer) == (
        "--- /home/dev/a.py\n+++ /home/dev/a.py\n@@ -3,2 +3,3 @@\n a\n-b\n+B\n+C\n"
    )


@pytest.mark.parametrize(
    ("old", "new"), [("a\nb\nc\n", "a\nB\nc\nd\n"), ("", "x\ny\n"), ("a\nb\n", "b\n"), ("a\n", "a\n\nz\n")]
)
def test_patch_applies_what_is_written(tmp_path: Path, old: str, new: str) -> None:
    made = subprocess.run(
        ["diff", "-u", "old", "new"],
        cwd=_files(tmp_path, old, new),
        capture_output=True,
        text=True,
        check=False,
    )
    (file,) = files_in(made.stdout)
    file.path = "old"
    done = subprocess.run(
        ["patch", "-p0", "old"], cwd=tmp_path, input=file.diff, capture_output=True, text=True, check=False
    )
    assert (done.returncode, (tmp_path / "old").read_text()) == (0, new)


def _files(folder: Path, old: str, new: str) -> Path:
    (folder / "old").write_text(old)
    (folder / "new").write_text(new)
    return folder


def test_what_is_written_is_read_again_as_the_same_change() -> None:
    for file in files_in(CODEX):
        (again,) = files_in(file.diff) if file.act != "delete" else (file,)
        assert again.counts == file.counts


def test_a_name_of_several_lines_stays_on_one() -> None:
    assert written({"file_path": "a\nb", "content": "x"}).splitlines()[1] == "+++ a\\nb"
