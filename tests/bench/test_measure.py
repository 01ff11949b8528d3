"""Measuring is honest: fresh processes, contestants in turn, and a failure is no time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "measure.py"


def measure(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def contestants(*arguments: str) -> list[dict[str, Any]]:
    ran = measure("--json", *arguments)
    assert ran.returncode == 0, ran.stderr
    rows: list[dict[str, Any]] = json.loads(ran.stdout)["contestants"]
    return rows


def python(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


def diarist(name: str, diary: Path) -> str:
    code = f"open('{diary}', 'a').write('{name}')"
    return f"{name}={python(code)}"


def test_a_sleeper_takes_time_but_no_processor() -> None:
    (row,) = contestants("--rounds", "1", "sleeper=sleep 0.3")
    assert row["wall_s"] >= 0.3
    assert row["cpu_s"] < 0.1


def test_the_peak_memory_of_a_program_is_seen() -> None:
    small, large = contestants(
        "--rounds", "1", f"small={python('pass')}", f"large={python('bytearray(10**8)')}"
    )
    assert small["peak_rss_mb"] < 30
    assert 100 < large["peak_rss_mb"] < 130


def test_the_peak_memory_of_a_function_is_its_own_and_the_call_alone_is_timed(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (row,) = contestants("--rounds", "1", f"list=py:os:listdir {empty}")
    assert row["cpu_s"] < 0.005  # to start Python takes more
    assert row["peak_rss_mb"] < 40


def test_contestants_take_turns_and_the_first_one_changes(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    contestants("--rounds", "3", diarist("a", diary), diarist("b", diary))
    assert diary.read_text() == "abbaab"


def test_a_warm_round_does_not_count(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    (row,) = contestants("--rounds", "2", "--warm", diarist("a", diary))
    assert (diary.read_text(), row["rounds"], len(row["wall_s_each"])) == ("aaa", 2, 2)


def test_the_ratio_is_to_the_first_and_bytes_give_a_speed() -> None:
    slow, slower = contestants("--rounds", "1", "--bytes", "1000000", "slow=sleep 0.2", "slower=sleep 0.4")
    assert (slow["wall_s"] >= 0.2, slower["wall_s"] >= 0.4) == (True, True)
    assert slow["times_the_first"] == 1.0
    assert slower["times_the_first"] == pytest.approx(slower["wall_s"] / slow["wall_s"], rel=0.01)
    assert [one["mb_per_s"] * one["wall_s"] for one in (slow, slower)] == pytest.approx([1, 1], rel=0.05)


def test_the_table_names_everybody_and_both_kinds_of_numbers() -> None:
    head, first, second = measure("--rounds", "1", "left=true", "right=true").stdout.splitlines()
    assert head.split() == ["wall", "s", "min-max", "cpu", "s", "MB/s", "peak", "MB", "x", "first"]
    assert (first.split()[0], first.split()[-1], second.split()[0]) == ("left", "1.00", "right")


@pytest.mark.parametrize(("contestant", "code"), [("bad=false", 1), ("nonsense", 2)])
def test_what_cannot_be_measured_gives_no_numbers(contestant: str, code: int) -> None:
    ran = measure(contestant)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith("measure: ")
