"""What two sequences have in common."""

from __future__ import annotations

import time
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.model.diff.lines import DiffStep, matches, steps

WORDS = st.lists(st.sampled_from("abc"), max_size=10)


def longest(old: list[str], new: list[str]) -> int:
    """The length of the longest common subsequence, as one learns it at school."""

    @cache
    def best(n: int, m: int) -> int:
        if n == len(old) or m == len(new):
            return 0
        if old[n] == new[m]:
            return 1 + best(n + 1, m + 1)
        return max(best(n + 1, m), best(n, m + 1))

    return best(0, 0)


@given(WORDS, WORDS)
@settings(deadline=None)
def test_the_matches_are_as_many_as_there_can_be_and_in_order(old: list[str], new: list[str]) -> None:
    found = matches(old, new, 100)
    assert [old[n] for n, _ in found] == [new[m] for _, m in found]
    assert len(found) == longest(old, new)
    assert sorted({n for n, _ in found}) == [n for n, _ in found]
    assert sorted({m for _, m in found}) == [m for _, m in found]


@given(WORDS, WORDS, st.integers(0, 4))
@settings(deadline=None)
def test_the_steps_lead_from_one_to_the_other_however_early_one_gives_up(
    old: list[str], new: list[str], most: int
) -> None:
    before: list[str] = []
    after: list[str] = []
    for step in steps(matches(old, new, most), len(old), len(new)):
        same = [] if step.same is None else [old[step.same]]
        before += [*old[step.old_from : step.old_to], *same]
        after += [*new[step.new_from : step.new_to], *same]
    assert (before, after) == (old, new)


def test_what_differs_too_much_matches_at_its_ends_only() -> None:
    old, new = ["a", *"xyzxyz", "b"], ["a", *"uvwuvw", "b"]
    assert matches(old, new, 3) == [(0, 0), (7, 7)]


def test_the_steps_of_nothing_are_one_that_ends() -> None:
    assert list(steps([], 0, 0)) == [DiffStep(0, 0, 0, 0, None)]


def test_two_long_texts_without_likeness_are_given_up_in_time() -> None:
    before = time.thread_time()
    assert (
        matches([f"a{n % 7}" for n in range(20_000)], [f"a{n % 5}" for n in range(20_000)][::-1], 400)
        is not None
    )
    assert time.thread_time() - before < 3
