"""The same request several times: groups, differences, spreads."""

from __future__ import annotations

from typing import Any

from tracklog.run.batch.compare import MatchingRuns, compare, groups_of
from tracklog.run.result import Result


def result(text: str | None, *, cost: int | None = 10, **more: Any) -> Result:
    return Result(
        {"ended_by": "completed", "result": text, "session_id": "s", "cost_micro_usd": cost, **more}
    )


def test_runs_that_said_the_same_but_for_blanks_are_one_group() -> None:
    results = [result("b"), result("a"), result(" a\n"), result(None), result("  ")]
    assert groups_of(results, runs=[1, 2, 3, 4, 5]) == [
        MatchingRuns("A", (2, 3), "a"),
        MatchingRuns("B", (1,), "b"),
        MatchingRuns("C", (4, 5), None),
    ]


def test_runs_are_told_side_by_side_with_the_least_the_middle_and_the_most() -> None:
    results = [
        result("one\ntwo", cost=30, duration_ms=100, num_turns=2, calls={"ok": 2}, files_changed=["/a"]),
        result("one\nzwei", cost=10, duration_ms=301, num_turns=1),
        result("one\ntwo ", cost=None, duration_ms=200, num_turns=None),
    ]
    row = {"session": "s", "ended_by": "completed", "calls": {}, "files_changed": []}
    assert compare(results, runs=[1, 2, 4]) == {
        "rows": [
            {
                **row,
                "run": 1,
                "cost_micro_usd": 30,
                "duration_ms": 100,
                "num_turns": 2,
                "calls": {"ok": 2},
                "files_changed": ["/a"],
                "group": "A",
            },
            {**row, "run": 2, "cost_micro_usd": 10, "duration_ms": 301, "num_turns": 1, "group": "B"},
            {**row, "run": 4, "cost_micro_usd": None, "duration_ms": 200, "num_turns": None, "group": "A"},
        ],
        "groups": [
            {"name": "A", "runs": [1, 4], "has_text": True},
            {"name": "B", "runs": [2], "has_text": True},
        ],
        "first": "A",
        "diffs": [
            {
                "from": "A",
                "to": "B",
                "diff": "--- A (run 1)\n+++ B (run 2)\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei",
                "is_cut": False,
            }
        ],
        "cost_micro_usd": {"min": 10, "median": 20, "max": 30},
        "duration_ms": {"min": 100, "median": 200, "max": 301},
        "num_turns": {"min": 1, "median": 2, "max": 2},
    }


def test_the_difference_begins_with_the_first_run_that_said_something() -> None:
    found = compare([result(None), result("x"), result("y"), result("y")], runs=[1, 2, 3, 4])
    assert (found["first"], [(one["from"], one["to"]) for one in found["diffs"]]) == ("B", [("B", "A")])


def test_no_run_at_all_compares_to_nothing() -> None:
    assert compare([], runs=[]) == {
        "rows": [],
        "groups": [],
        "first": None,
        "diffs": [],
        "cost_micro_usd": None,
        "duration_ms": None,
        "num_turns": None,
    }


def test_a_difference_of_huge_texts_is_cut_and_says_so() -> None:
    results = [result("\n".join(f"{word} {n}" for n in range(100_000))) for word in ("a", "b")]
    (found,) = compare(results, runs=[1, 2])["diffs"]
    assert found["is_cut"] is True
    assert len(found["diff"].splitlines()) == 200


def test_the_letters_of_many_groups_go_on_behind_z() -> None:
    names = [group.name for group in groups_of([result(f"{n:03}") for n in range(30)], runs=range(1, 31))]
    assert names[24:29] == ["Y", "Z", "AA", "AB", "AC"]
