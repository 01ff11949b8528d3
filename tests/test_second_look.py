from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.second_look import FAILED, MOST, to_look_at, without_group

TESTS = """
from pathlib import Path

def test_that_passes_the_second_time():
    seen = Path("seen")
    was_seen = seen.exists()
    seen.touch()
    assert was_seen

def test_that_always_fails():
    assert False
"""


def test_the_group_of_xdist_is_no_part_of_a_name() -> None:
    assert without_group("tests/a.py::test_it@browser") == "tests/a.py::test_it"
    assert without_group("tests/a.py::test_it[a@b]@browser") == "tests/a.py::test_it[a@b]"
    assert without_group("tests/a.py::test_it[a@b]") == "tests/a.py::test_it[a@b]"
    assert without_group("tests/a@b.py") == "tests/a@b.py"


def test_few_failures_are_looked_at_again_and_many_are_not() -> None:
    few = [f"tests/a.py::test_{n}@browser" for n in range(MOST)]
    assert to_look_at(few) == [f"tests/a.py::test_{n}" for n in range(MOST)]
    assert to_look_at([*few, "tests/a.py::test_more"]) == []
    assert to_look_at(["tests/a.py"]) == []


def looked_at(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_made.py").write_text(TESTS)
    (folder / FAILED).parent.mkdir(parents=True)
    (folder / FAILED).write_text(json.dumps({f"test_made.py::{name}": True for name in names}))
    (folder / "seen").touch()
    return subprocess.run(
        [sys.executable, "-m", "tests.second_look"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_passes_alone_is_named(tmp_path: Path) -> None:
    done = looked_at(tmp_path, "test_that_passes_the_second_time")
    assert done.returncode == 0
    assert done.stdout.endswith(
        "PASSED ONLY ALONE, so they depend on chance:\n  test_made.py::test_that_passes_the_second_time\n"
    )


def test_what_fails_again_has_failed(tmp_path: Path) -> None:
    done = looked_at(tmp_path, "test_that_passes_the_second_time", "test_that_always_fails")
    assert done.returncode == 1
    assert "PASSED ONLY ALONE" not in done.stdout
